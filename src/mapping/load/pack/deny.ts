/**
 * Reads the `deny:` list of pack.yaml: columns that must never be read. Out: a test of a column. It is used wherever a
 * mapping names a column, as conditions and lookups reveal values just as elements do.
 */

/** Tells the rule that forbids a column, or undefined. */
export type DenyList = (schema: string | undefined, table: string, column: string) => string | undefined;

/** `COLUMN`, `TABLE.COLUMN` or `schema.TABLE.COLUMN`, each part with `*`; case does not count. */
export function denyList(rules: readonly string[]): DenyList {
  const compiled = rules.map(rule => ({ rule, parts: rule.split('.').map(globPart).reverse() }));
  return (schema, table, column) =>
    compiled.find(({ parts }) => {
      const names = [column, table, schema];
      // A rule that names the schema also holds for a table written without it.
      return parts.every((part, i) => names[i] === undefined || part.test(names[i] ?? ''));
    })?.rule;
}

function globPart(part: string): RegExp {
  return new RegExp(`^${part.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`, 'i');
}

/** The column names (last parts) of the rules, to find them in raw SQL. */
export function deniedNames(rules: readonly string[]): readonly string[] {
  return rules.map(rule => rule.split('.').at(-1) ?? rule).filter(name => !name.includes('*'));
}
