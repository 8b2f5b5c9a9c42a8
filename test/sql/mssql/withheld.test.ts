/** Masks that are added while mappings are served: statements that read such columns are refused. */
import { describe, expect, it } from 'vitest';
import type { Catalog, CatalogPart, ColumnInfo, TableInfo } from '../../../src/sql/catalog.ts';
import { INTEGER } from '../../../src/sql/column-type.ts';
import { equals, exists } from '../../../src/sql/construct.ts';
import { DatabaseError } from '../../../src/sql/database.ts';
import type { ColumnExpression, Expression, Relation } from '../../../src/sql/expression.ts';
import { identifier } from '../../../src/sql/identifier.ts';
import { createWithheld } from '../../../src/sql/mssql/withheld.ts';
import type { SqlPlan } from '../../../src/sql/plan.ts';

function table(name: string, masked: readonly string[] = [], schema = 'dbo', needed = false): TableInfo {
  const infos = ['ID', 'NAM', 'A_ID'].map((one): [string, ColumnInfo] => {
    const denied = masked.includes(one) ? { denied: { why: 'is masked', expected: 'UNMASK' } } : {};
    return [one.toLowerCase(), { name: one, type: undefined, declared: 'INT', nullable: true, ...denied }];
  });
  return { name, columns: new Map(infos), primaryKey: [], indexes: [], schema: { name: schema, needed } };
}

function catalogOf(...tables: readonly TableInfo[]): Catalog {
  return {
    engine: 'mssql',
    tables: new Map(
      tables.map(one => [(one.schema?.needed ? `${one.schema.name}.${one.name}` : one.name).toLowerCase(), one]),
    ),
  };
}

const column = (alias: string, name: string): ColumnExpression => {
  return { kind: 'column', alias: identifier(alias), column: identifier(name), type: INTEGER };
};
const A = { name: identifier('A') };
const B = { name: identifier('B') };
const relation = (from: Partial<Relation>): Relation => ({
  ...{ table: A, alias: identifier('a'), joins: [], where: { kind: 'true' } },
  ...from,
});
const plan = (columns: readonly Expression[], from: Partial<Relation> = {}): SqlPlan => {
  return { from: relation(from), columns, orderBy: [], limit: 1, shape: 'rows' };
};
const joined: Partial<Relation> = {
  joins: [{ kind: 'left', table: B, alias: identifier('b'), on: equals(column('b', 'A_ID'), column('a', 'ID')) }],
};

async function outcomesFor(...tables: readonly TableInfo[]) {
  const withheld = createWithheld({ read: async () => catalogOf(...tables) });
  await withheld.catalog({ tables: tables.map(({ name }) => name) });
  return (of: SqlPlan): 'refused' | 'sent' => {
    try {
      withheld.check(of);
      return 'sent';
    } catch (error) {
      if (!(error instanceof DatabaseError) || !error.missing) throw error;
      return 'refused';
    }
  };
}

describe('a statement', () => {
  it('is refused if it reads a masked column anywhere', async () => {
    const outcome = await outcomesFor(table('A'), table('B', ['NAM']));
    expect(outcome(plan([column('b', 'NAM')], joined))).toBe('refused');
    const inner = relation({
      table: B,
      alias: identifier('c'),
      where: equals(column('c', 'NAM'), column('a', 'ID')),
    });
    expect(outcome(plan([column('a', 'ID')], { where: exists(inner) }))).toBe('refused');
    const sorted = {
      ...plan([column('a', 'ID')], joined),
      orderBy: [{ by: column('b', 'nam'), descending: false }],
    };
    expect(outcome(sorted)).toBe('refused');
  });

  it('is sent if it reads another column of the table, or one of that name of another table', async () => {
    const outcome = await outcomesFor(table('A'), table('B', ['NAM']));
    expect(outcome(plan([column('a', 'NAM'), column('b', 'ID')], joined))).toBe('sent');
    expect(outcome(plan([column('a', 'NAM')]))).toBe('sent');
  });

  it('is refused if SQL of a mapping names the column', async () => {
    const outcome = await outcomesFor(table('A', ['NAM']));
    const raw = (text: string): Expression => ({ kind: 'raw', parts: [text], type: INTEGER });
    expect(outcome(plan([raw('UPPER(a.Nam)')]))).toBe('refused');
    expect(outcome(plan([raw('UPPER(a.NAMES)')]))).toBe('sent');
  });

  it('is judged by the schema of its table', async () => {
    const outcome = await outcomesFor(table('A'), table('A', ['NAM'], 'ehr', true));
    expect(outcome(plan([column('a', 'NAM')]))).toBe('sent');
    const there = { table: { schema: identifier('ehr'), name: identifier('A') } };
    expect(outcome(plan([column('a', 'NAM')], there))).toBe('refused');
  });
});

it('the catalog is read again each minute while there are statements, and its latest state counts', async () => {
  let now = 0;
  const parts: (CatalogPart | undefined)[] = [];
  let found: Catalog | DatabaseError = catalogOf(table('A'));
  const withheld = createWithheld({
    clock: () => now,
    read: part => {
      parts.push(part);
      return found instanceof DatabaseError ? Promise.reject(found) : Promise.resolve(found);
    },
  });
  const asked = plan([column('a', 'NAM')]);
  const part = { tables: ['a'] };
  await withheld.catalog(part);
  await withheld.catalog();
  found = catalogOf(table('A', ['NAM']));
  now = 59_999;
  withheld.check(asked);
  expect(parts).toEqual([part, undefined]);
  now = 60_000;
  withheld.check(asked);
  withheld.check(asked);
  expect(parts).toEqual([part, undefined, part]);
  await new Promise(resolve => setImmediate(resolve));
  expect(() => withheld.check(asked)).toThrow('mask');
  // The database is unreachable: the last known state counts.
  found = new DatabaseError('unavailable', 'away');
  now = 120_000;
  expect(() => withheld.check(asked)).toThrow('mask');
  await new Promise(resolve => setImmediate(resolve));
  found = catalogOf(table('A'));
  now = 180_000;
  expect(() => withheld.check(asked)).toThrow('mask');
  await new Promise(resolve => setImmediate(resolve));
  expect(() => withheld.check(asked)).not.toThrow();
});

it('nothing is read again where no part of a schema was', () => {
  const withheld = createWithheld({ read: () => Promise.reject(new Error('nobody asked')), clock: () => 1e9 });
  expect(() => withheld.check(plan([column('a', 'NAM')]))).not.toThrow();
});

it('an error in reading it fails one statement, and not the process', async () => {
  let now = 0;
  let fails = false;
  const withheld = createWithheld({
    clock: () => now,
    read: () => (fails ? Promise.reject(new TypeError('no such row')) : Promise.resolve(catalogOf(table('A')))),
  });
  const asked = plan([column('a', 'NAM')]);
  await withheld.catalog({ tables: ['a'] });
  fails = true;
  now = 60_000;
  withheld.check(asked);
  await new Promise(resolve => setImmediate(resolve));
  expect(() => withheld.check(asked)).toThrow(TypeError);
  expect(() => withheld.check(asked)).not.toThrow();
});
