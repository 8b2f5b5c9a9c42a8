/**
 * Explains a statement. In: a rendered statement. Out: the lines of SQL Server's estimated plan, its cost, and missing
 * indexes with what they would save. Nothing is executed and no value is sent: parameters are declared and stay NULL.
 * https://learn.microsoft.com/sql/t-sql/statements/set-showplan-text-transact-sql
 * https://learn.microsoft.com/sql/t-sql/statements/set-showplan-xml-transact-sql
 */
import { XMLParser } from 'fast-xml-parser';
import type sql from 'mssql';
import { costLine, missingIndexLine } from '../missing-index.ts';
import type { Statement } from '../plan.ts';
import { readFailure } from './failure.ts';
import { printMssqlType } from './types.ts';

/** Returns the lines. Needs the permission SHOWPLAN. Throws DatabaseError. */
export async function explainStatement(
  open: () => sql.ConnectionPool,
  statement: Statement,
): Promise<readonly string[]> {
  const pool = open();
  try {
    await pool.connect();
    // With one connection, the setting still applies to the second batch.
    await pool.request().batch('SET SHOWPLAN_TEXT ON');
    const textPlan = await setsOf(pool, statement);
    await pool.request().batch('SET SHOWPLAN_TEXT OFF');
    await pool.request().batch('SET SHOWPLAN_XML ON');
    const [[plan] = []] = (await setsOf(pool, statement)).flat();
    return [
      ...textPlan.slice(1).flatMap(rows => rows.map(row => String(row[0]).trimEnd())),
      ...estimatesIn(String(plan)),
    ];
  } catch (error) {
    throw readFailure(error).error;
  } finally {
    await pool.close();
  }
}

/** Returns the rows of each result set of the statement. */
async function setsOf(
  pool: sql.ConnectionPool,
  statement: Statement,
): Promise<readonly (readonly (readonly unknown[])[])[]> {
  const { recordsets } = await pool.request().batch<readonly unknown[]>(declared(statement));
  return Array.isArray(recordsets) ? recordsets : [];
}

/** Limit of nested elements: operators contain others, and each takes several elements. */
const DEEPEST = 5000;
const AS_OBJECTS = {
  ...{ ignoreAttributes: false, attributeNamePrefix: '', processEntities: false, maxNestedTags: DEEPEST },
} as const;

/**
 * Returns cost and missing indexes of a plan in XML, as lines; none if the text is no plan.
 * https://schemas.microsoft.com/sqlserver/2004/07/showplan/
 */
export function estimatesIn(xml: string): readonly string[] {
  const plan: unknown = new XMLParser(AS_OBJECTS).parse(xml);
  const costs = elementsNamed(plan, 'StmtSimple').map(({ StatementSubTreeCost: cost }) => Number(cost));
  const missing = elementsNamed(plan, 'MissingIndexGroup').flatMap(group => {
    const saves = Number(group['Impact']);
    return elementsNamed(group, 'MissingIndex').map(index => {
      const used = (...usages: readonly string[]): readonly string[] =>
        elementsNamed(index, 'ColumnGroup')
          .filter(({ Usage: usage }) => usages.includes(String(usage)))
          .flatMap(of => elementsNamed(of, 'Column').map(({ Name: name }) => bare(name)));
      const table = `${bare(index['Schema'])}.${bare(index['Table'])}`;
      return { table, columns: used('EQUALITY', 'INEQUALITY'), beside: used('INCLUDE'), saves };
    });
  });
  return [
    ...costs.filter(Number.isFinite).map(costLine),
    ...missing.toSorted((a, b) => b.saves - a.saves).map(missingIndexLine),
  ];
}

/** Returns `dbo` for `[dbo]`. */
function bare(name: unknown): string {
  return String(name).replace(/^\[(.*)\]$/, '$1');
}

/** Returns the elements of this name at any depth, except those inside another one. */
function elementsNamed(within: unknown, name: string): readonly Readonly<Record<string, unknown>>[] {
  if (typeof within !== 'object' || within === null) return [];
  return Object.entries(within).flatMap(([key, value]) => {
    if (key !== name) return elementsNamed(value, name);
    const all: readonly unknown[] = Array.isArray(value) ? value : [value];
    return all.flatMap(one =>
      typeof one === 'object' && one !== null ? [one as Readonly<Record<string, unknown>>] : [],
    );
  });
}

function declared({ text, parameters }: Statement): string {
  const list = parameters.map(({ name, type }) => `@${name} ${printMssqlType(type)}`);
  return list.length === 0 ? text : `DECLARE ${list.join(', ')};\n${text}`;
}
