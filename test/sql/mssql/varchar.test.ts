/**
 * VARCHAR is never compared with NVARCHAR: SQL Server would convert the column, row by row, and ignore its index.
 * Checks every statement of test/plan/cases.json, with the columns of the demo's lock.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readLock } from '../../../src/mapping/load/pack/lock.ts';
import { createReport } from '../../../src/mapping/load/problem.ts';
import { type Catalog, findColumn, findTable } from '../../../src/sql/catalog.ts';
import { DEMO_PACK } from '../../../src/start/demo.ts';

interface Recorded {
  readonly mssql: readonly string[];
  /** `p1–p2 varchar(8) = …` */
  readonly parameters: readonly string[];
}

const CASES: readonly { readonly statements: readonly Recorded[] }[] = JSON.parse(
  readFileSync(new URL('../../plan/cases.json', import.meta.url), 'utf8'),
);
const LOCK = 'schema.lock.json';
const TABLE = /(?:FROM|JOIN) dbo\.(\w+) AS (\w+)/g;
const OPERAND = String.raw`N?'(?:[^']|'')*'|@p\d+|\b\w+\.\w+\b`;
const COMPARISON = new RegExp(
  String.raw`\b(\w+)\.(\w+)(?: COLLATE \w+)? (?:=|<>|<=|>=|<|>|(?:NOT )?LIKE|(?:NOT )?IN) (\((?:${OPERAND})(?:, (?:${OPERAND}))*\)|${OPERAND})`,
  'g',
);

function comparedWithUnicode(catalog: Catalog, { mssql, parameters }: Recorded): { seen: number; wrong: string[] } {
  const text = mssql.join('\n');
  const tables = new Map([...text.matchAll(TABLE)].map(([, table = '', alias = '']) => [alias, table]));
  const unicode = (operand: string, alias = '', name = ''): boolean | undefined => {
    if (operand.startsWith("N'")) return true;
    if (operand.startsWith("'")) return false;
    if (operand.startsWith('@')) return unicodeParameters(parameters).has(Number(operand.slice(2)));
    const table = findTable(catalog, tables.get(alias) ?? '');
    const type = table && findColumn(table, name)?.type;
    return type?.kind === 'text' ? type.unicode : undefined;
  };
  let seen = 0;
  const wrong: string[] = [];
  for (const [whole, alias, name, right = ''] of text.matchAll(COMPARISON)) {
    if (unicode('', alias, name) !== false) continue;
    for (const [operand] of right.matchAll(new RegExp(OPERAND, 'g'))) {
      seen++;
      const [of, column] = /^\w/.test(operand) && !operand.startsWith("N'") ? operand.split('.') : [];
      if (unicode(operand, of, column) === true) wrong.push(whole);
    }
  }
  return { seen, wrong };
}

/** Columns whose values a code page can represent: others must be Unicode. */
function unicodeParameters(parameters: readonly string[]): ReadonlySet<number> {
  const numbers = parameters.flatMap(line => {
    const [, first = '', last = first, type = '', value = ''] =
      /^p(\d+)(?:–p(\d+))? (\S+)(?: = (.*))?$/.exec(line) ?? [];
    if (!type.startsWith('nvarchar') || /[^\0-\x7f×]/.test(value)) return [];
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => Number(first) + i);
  });
  return new Set(numbers);
}

it('does not occur in statements of the demo', () => {
  const catalog = readLock(LOCK, readFileSync(join(DEMO_PACK, LOCK), 'utf8'), createReport());
  if (catalog === undefined) throw new Error('the demo has no lock');
  const found = CASES.flatMap(({ statements }) => statements).map(one => comparedWithUnicode(catalog, one));
  expect(found.flatMap(({ wrong }) => wrong)).toEqual([]);
  expect(found.reduce((sum, { seen }) => sum + seen, 0)).toBeGreaterThan(1000);
});

it('is detected by this test', () => {
  const type = (unicode: boolean) => ({ kind: 'text', unicode, fixed: false, length: 8 }) as const;
  const column = (name: string, unicode: boolean) => ({ name, type: type(unicode), declared: '', nullable: true });
  const columns = new Map([
    ['cd', column('CD', false)],
    ['nam', column('NAM', true)],
  ]);
  const catalog: Catalog = {
    engine: 'mssql',
    tables: new Map([['t', { name: 'T', columns, primaryKey: [], indexes: [] }]]),
  };
  const found = (where: string): readonly string[] =>
    comparedWithUnicode(catalog, {
      mssql: [`SELECT t.CD FROM dbo.T AS t WHERE ${where}`],
      parameters: ['p0 varchar(8)', 'p1–p2 nvarchar(8)', 'p3 nvarchar(8) = "Ą"'],
    }).wrong;
  expect(found("t.CD = @p0 AND t.CD IN ('N', @p0) AND t.NAM = @p1 AND t.CD = @p3 AND t.CD = t.CD")).toEqual([]);
  for (const wrong of ["t.CD = N'a'", 't.CD = @p2', "t.CD COLLATE X NOT IN ('a', N'b')", 't.CD <> t.NAM'])
    expect(found(wrong)).toEqual([wrong]);
});
