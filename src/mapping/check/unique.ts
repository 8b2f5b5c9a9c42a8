/**
 * Counts violations of the uniqueness that mappings rely on: keys of sources, rows of lookups and references, ids. In:
 * the registry and the catalog. Out: problems with numbers, never with values. It does not count what a unique index
 * guarantees.
 */

import { plural } from '../../common/plural.ts';
import { type Catalog, findTable, type TableInfo } from '../../sql/catalog.ts';
import { UNICODE } from '../../sql/column-type.ts';
import { and, call, constant, filled, glob, hasValue, isNull, not, or } from '../../sql/construct.ts';
import type { ColumnExpression, Expression, Predicate } from '../../sql/expression.ts';
import { columnsIn, type IdPart, idFits, UUID_PATTERN } from '../id-rule.ts';
import type { Condition, JoinColumn, Mapping, RefNode, Registry, Scope } from '../model.ts';
import { fixedColumns, isPromised } from '../promised.ts';
import type { ScopedLookup } from './parts.ts';
import { type Checking, countDuplicates, countRows, isClosed, manyOf } from './questions.ts';

/** Checks that the key of a source is unique and never NULL under its `where`. */
export async function checkKey({ source, name, at }: Mapping, asking: Checking): Promise<void> {
  const { catalog, report } = asking;
  const empty = await countRows(asking, source, or(...source.key.map(isNull)));
  // In a column with values of several forms those that the type does not read are NULL, too.
  const mayBeOther = source.key.some(({ type }) => type.kind === 'uuid' && type.letters === 'any');
  if (empty > 0) {
    const none = mayBeOther ? 'NULL, or no UUID,' : 'NULL';
    report.error('several-rows', at, `the key of ${name} is ${none} in ${plural(empty, 'row')}`, {
      expected: 'columns with a value in every row, or a `where` that leaves the others out',
    });
  }
  const isSimple = source.lookups.every(lookup => !lookup.required);
  if (isSimple && isPromised(source, source.key, tableOf(source, catalog), true)) return;
  const doubled = await countDuplicates(asking, source, source.key);
  if (doubled > 0) {
    report.error(
      'several-rows',
      at,
      `the key of ${name} is not unique under \`where\`: ${manyOf(doubled, 'value')} in several rows`,
    );
  }
}

/** Checks that a lookup without `pick` finds one row. */
export async function checkLookup({ scope, lookup }: ScopedLookup, asking: Checking): Promise<void> {
  const { catalog, report } = asking;
  if (lookup.pick.length > 0) return;
  const theirs = lookup.on.map(joinedBy);
  const alone: Scope = { table: lookup.table, alias: lookup.alias, where: lookup.where, lookups: [] };
  if (isPromised(alone, [...exactly(lookup.on), ...fixedColumns(alone)], tableOf(alone, catalog), true)) return;
  if (!isClosed(alone)) {
    // If no two of all rows share the key, no two of fewer do.
    if (theirs.length > 0 && (await countDuplicates(asking, withoutOpenParts(alone), theirs)) === 0) return;
    report.warning(
      'several-rows',
      lookup.at,
      `lookup ${lookup.alias} cannot be counted: its \`where\` refers to ${scope.alias}`,
      { expected: '`pick: [order]`, or columns in `on` that are unique without these conditions' },
    );
    return;
  }
  const rest = { expected: '`pick: [order]`, or a `where` that leaves one' };
  if (theirs.length === 0) {
    const rows = await countRows(asking, alone);
    if (rows > 1) report.error('several-rows', lookup.at, `lookup ${lookup.alias} finds ${plural(rows, 'row')}`, rest);
    return;
  }
  const doubled = await countDuplicates(asking, alone, theirs);
  if (doubled === 0) return;
  const isBlank = await isOnlyBlank(asking, alone, lookup.on);
  report.error(
    'several-rows',
    lookup.at,
    `lookup ${lookup.alias} finds several rows for ${isBlank ? 'the blank value' : manyOf(doubled, 'value')}`,
    isBlank ? { expected: `\`where: { present: [${columnsOfTexts(lookup.on, 'theirs')}] }\` of the lookup` } : rest,
  );
}

/** Returns the scope without those conditions of its `where` that refer to other rows. */
function withoutOpenParts(scope: Scope): Scope {
  const { where } = scope;
  const parts = where.kind === 'all' ? where.of : [where];
  return { ...scope, where: { kind: 'all', of: parts.filter(part => isClosed({ ...scope, where: part })) } };
}

/** True if only rows with a blank key occur twice. Columns that are blank for "no value" find them. */
async function isOnlyBlank(asking: Checking, scope: Scope, on: readonly JoinColumn[]): Promise<boolean> {
  const texts = on.filter(isOfTexts).map(({ theirs }) => theirs);
  if (texts.length === 0) return false;
  return (await countDuplicates(asking, scope, on.map(joinedBy), and(...texts.map(filled)))) === 0;
}

function isOfTexts({ theirs, ours }: JoinColumn): boolean {
  return theirs.type.kind === 'text' && ours.type.kind === 'text';
}

function columnsOfTexts(on: readonly JoinColumn[], side: 'theirs' | 'ours'): string {
  return on
    .filter(isOfTexts)
    .map(join => join[side].column)
    .join(', ');
}

/** Returns what a join compares of their column. Values that it treats as equal form one group. */
export function joinedBy({ theirs, fold }: JoinColumn): Expression {
  return fold ? call('upper', [theirs], UNICODE) : theirs;
}

/** Returns their columns that are compared unchanged. An index promises nothing for others. */
export function exactly(on: readonly JoinColumn[]): readonly ColumnExpression[] {
  return on.flatMap(({ theirs, fold }) => (fold ? [] : [theirs]));
}

/** Checks that a reference finds one row of its target. */
export async function checkReference(node: RefNode, registry: Registry, asking: Checking): Promise<void> {
  const { catalog, report } = asking;
  const target = registry.mapping(node.target);
  const theirs = node.on.map(on => on.theirs);
  const { key, onePer } = target.source;
  if (covers(theirs, key) || (onePer.length > 0 && covers(theirs, onePer))) return;
  if (isPromised(target.source, theirs, tableOf(target.source, catalog), true)) return;
  const wanted = ofTheirs(node.if, node.on);
  const source: Scope = { ...target.source, where: { kind: 'all', of: [target.source.where, ...wanted] } };
  const doubled = await countDuplicates(asking, source, theirs);
  if (doubled === 0) return;
  const isBlank = await isOnlyBlank(asking, source, node.on);
  report.error(
    'several-rows',
    node.at,
    `reference finds several rows of ${node.target} for ${isBlank ? 'the blank value' : manyOf(doubled, 'value')}`,
    {
      expected: isBlank
        ? `\`if: { present: [${columnsOfTexts(node.on, 'ours')}] }\` of the reference`
        : 'columns that are unique there',
    },
  );
}

/**
 * Returns the parts of a condition on our row that also hold for the joined rows of theirs, because the columns are
 * equal.
 * Texts that a join treats as equal may differ in case, so only their tests for blank apply.
 */
function ofTheirs(condition: Condition | undefined, on: readonly JoinColumn[]): readonly Condition[] {
  if (condition?.kind === 'all') return condition.of.flatMap(part => ofTheirs(part, on));
  const whole = condition && wholeOfTheirs(condition, on);
  return whole ? [whole] : [];
}

/** Undefined if it tests more than the equal columns. */
function wholeOfTheirs(condition: Condition, on: readonly JoinColumn[]): Condition | undefined {
  switch (condition.kind) {
    case 'all':
    case 'any': {
      const parts = condition.of.map(part => wholeOfTheirs(part, on));
      return parts.every(part => part !== undefined) ? { ...condition, of: parts } : undefined;
    }
    case 'none': {
      const of = wholeOfTheirs(condition.of, on);
      return of && { kind: 'none', of };
    }
    case 'is':
    case 'order':
    case 'present': {
      const { alias, column, type } = condition.column;
      const join = on.find(({ ours }) => ours.alias === alias && ours.column === column);
      const isAlike = join?.theirs.type.kind === type.kind && (type.kind !== 'text' || condition.kind === 'present');
      return join && isAlike ? { ...condition, column: join.theirs } : undefined;
    }
    default:
      return undefined;
  }
}

/** Checks that an id belongs to one row, can be written, and exists for every row. */
export async function checkIds(mapping: Mapping, asking: Checking): Promise<void> {
  const { catalog, report } = asking;
  const { source, id, name, at } = mapping;
  const without = await countRows(asking, source, and(...id.alternatives.map(isMissing)));
  if (without > 0)
    report.warning(
      'rows-left-out',
      at,
      `${plural(without, 'row')} of ${name} left out: the columns of the id are empty`,
    );
  for (const [i, parts] of id.alternatives.entries()) {
    const reached = reachedBy(mapping, i);
    const columns = columnsIn(parts);
    const isKnown =
      source.onePer.length > 0 ||
      covers(columns, source.key) ||
      isPromised(source, columns, tableOf(source, catalog), true);
    // Rows that are one resource all have its id.
    const written = source.onePer.length > 0 ? undefined : writtenId(parts);
    const doubled =
      isKnown && !written ? 0 : await countDuplicates(asking, source, written ? [written] : columns, reached);
    if (doubled > 0)
      report.error('shared-id', at, `ids of ${name} are not unique: ${manyOf(doubled, 'id')} of several rows`);
    for (const illegal of illegalIds(parts)) {
      const rows = await countRows(asking, source, and(reached, illegal.where));
      if (rows > 0) report.warning('rows-left-out', at, `${plural(rows, 'row')} of ${name} left out: ${illegal.what}`);
    }
  }
}

/** Tests for the rows whose id an alternative of the rule makes: they lack a column of each earlier one. */
export function reachedBy({ id }: Mapping, alternative: number): Predicate {
  const parts = id.alternatives[alternative] ?? [];
  return and(...id.alternatives.slice(0, alternative).map(isMissing), ...columnsIn(parts).map(hasValue));
}

function isMissing(parts: readonly IdPart[]): Predicate {
  return or(...columnsIn(parts).map(column => not(hasValue(column))));
}

/**
 * Finds keys that make no id: unescaped text columns with illegal characters, bytes that are no UUID, and keys that are
 * too long.
 */
function illegalIds(parts: readonly IdPart[]): readonly { readonly what: string; readonly where: Predicate }[] {
  const columns = columnsIn(parts).map(({ column }) => column);
  const together = columns.length === 1 ? `${columns.join()} is` : `${columns.join(' and ')} together are`;
  const fits = idFits(parts);
  const tooLong = fits.kind === 'true' ? [] : [{ what: `${together} too long for an id`, where: not(fits) }];
  const illegal = parts.flatMap(part => {
    if (part.kind !== 'column') return [];
    const of = part.column;
    const isNoUuid = (where: Predicate) => [{ what: `${of.column} is no UUID`, where }];
    if (of.type.kind === 'binary') return isNoUuid(isNull(call('uuid', [of], UNICODE)));
    if (part.codec.name !== 'plain') return [];
    if (part.codec.isUuid) return isNoUuid(not(glob(of, UUID_PATTERN)));
    return [{ what: `${of.column} has characters that no id has`, where: glob(of, '*[^-A-Za-z0-9.]*') }];
  });
  return [...illegal, ...tooLong];
}

/** Returns an id of several texts as written. With a point between them, other keys may give the same id. */
function writtenId(parts: readonly IdPart[]): Expression | undefined {
  const texts = parts.filter(part => part.kind === 'column' && part.column.type.kind === 'text');
  if (texts.length < 2) return undefined;
  const spelt = parts.map(part => {
    if (part.kind === 'literal') return constant(part.text, UNICODE);
    if (part.column.type.kind !== 'text') return call('text', [part.column], UNICODE);
    return ['.', '-'].reduce<Expression>(
      (text, character) => {
        const escaped = part.codec.print(character) ?? character;
        const change = [constant(character, UNICODE), constant(escaped, UNICODE)];
        return escaped === character ? text : call('replace', [text, ...change], UNICODE);
      },
      call('rtrim', [part.column], UNICODE),
    );
  });
  return call('concat', spelt, UNICODE);
}

function tableOf({ table }: Scope, catalog: Catalog): TableInfo | undefined {
  return findTable(catalog, table);
}

function covers(columns: readonly ColumnExpression[], key: readonly ColumnExpression[]): boolean {
  return key.every(k => columns.some(c => c.alias === k.alias && c.column === k.column));
}
