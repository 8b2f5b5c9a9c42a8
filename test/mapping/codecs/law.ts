/**
 * Tests the law of a codec on a SQLite table: `match` selects exactly the rows whose emitted value satisfies the
 * criterion, `present` those that emit a value, and the complements select the rest. oracle.ts decides from the emitted
 * JSON alone whether a value satisfies a criterion.
 */
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import type { Codec, Primitive } from '../../../src/mapping/codecs/codec.ts';
import type { Criterion } from '../../../src/mapping/criterion.ts';
import type { ColumnType } from '../../../src/sql/column-type.ts';
import { not } from '../../../src/sql/construct.ts';
import type { ColumnExpression, Expression, Order, Predicate, SqlValue } from '../../../src/sql/expression.ts';
import { identifier } from '../../../src/sql/identifier.ts';
import { MSSQL } from '../../../src/sql/mssql/dialect.ts';
import { parseMssqlType } from '../../../src/sql/mssql/types.ts';
import { render } from '../../../src/sql/render.ts';
import { bindable } from '../../../src/sql/sqlite/database.ts';
import { SQLITE } from '../../../src/sql/sqlite/dialect.ts';
import { registerFunctions } from '../../../src/sql/sqlite/functions.ts';
import { createWitness } from '../../../src/sql/sqlite/witness.ts';
import { satisfies } from './oracle.ts';

export const CLOCK = { now: 0 };
const ALIAS = identifier('t');
const INTEGER: ColumnType = { kind: 'integer', bits: 32 };
const KEY: ColumnExpression = { kind: 'column', alias: ALIAS, column: identifier('K'), type: INTEGER };

export function columnType(declared: string): ColumnType {
  const type = parseMssqlType(declared);
  if (!type) throw new Error(`no column type: ${declared}`);
  return type;
}

/** What one row emits: a value as JSON, or undefined. */
export type Emitted = unknown;

/** What a row of a file can hold. */
export type Stored = SqlValue | bigint;

export interface Table {
  readonly columns: readonly ColumnExpression[];
  /** Replaces the rows; a row has one raw value per column. */
  fill(rows: readonly (readonly Stored[])[]): void;
  /** Positions of the rows that a predicate selects. */
  select(predicate: Predicate): readonly number[];
  /** Values of expressions for each row, in the order of the rows or as asked. */
  values(expressions: readonly Expression[], orderBy?: readonly Order[]): readonly (readonly SqlValue[])[];
}

/** A column as SQLite declares it, and the type that it is read as. */
export interface TypedColumn {
  readonly declared: string;
  readonly type: ColumnType;
}

/** A table in memory with columns of these types; a name alone is one of SQL Server's. */
export function table(...columnsOf: readonly (string | TypedColumn)[]): Table {
  const typed = columnsOf.map(of => (typeof of === 'string' ? { declared: of, type: columnType(of) } : of));
  const database = new DatabaseSync(':memory:');
  registerFunctions(database);
  const names = typed.map((_, i) => `C${i}`);
  database.exec(
    `CREATE TABLE T (K INTEGER PRIMARY KEY, ${names.map((name, i) => `${name} ${typed[i]?.declared}`).join(', ')})`,
  );
  const insert = database.prepare(`INSERT INTO T VALUES (?, ${names.map(() => '?').join(', ')})`);
  const columns = names.map(
    (name, i): ColumnExpression => ({
      kind: 'column',
      alias: ALIAS,
      column: identifier(name),
      type: typed[i]?.type ?? INTEGER,
    }),
  );
  const run = (expressions: readonly Expression[], where: Predicate, orderBy: readonly Order[]): SqlValue[][] => {
    const from = { table: { name: identifier('T') }, alias: ALIAS, joins: [], where };
    const plan = { from, columns: expressions, orderBy, limit: 100_000, shape: 'rows' as const };
    const { text, parameters } = render(plan, SQLITE);
    // What T-SQL cannot say would throw here; what it answers is tried on a real engine elsewhere.
    render(plan, MSSQL);
    const statement = database.prepare(text);
    statement.setReturnArrays(true);
    const found: unknown = statement.all(...parameters.map(bindable));
    const rows = found as SqlValue[][];
    AS_FETCHED.look(plan, rows);
    return rows;
  };
  return {
    columns,
    fill: rows => {
      database.exec('DELETE FROM T');
      for (const [i, row] of rows.entries()) insert.run(i, ...row);
    },
    select: predicate => run([KEY], predicate, [{ by: KEY, descending: false }]).map(row => Number(row[0])),
    values: (expressions, orderBy) => run(expressions, { kind: 'true' }, orderBy ?? [{ by: KEY, descending: false }]),
  };
}

/** Decimals are printed as the adapter prints them. */
const AS_FETCHED = createWitness(undefined, () => {});

/** A decoded value as the JSON that a resource has. */
export function emitted(value: Primitive | undefined): Emitted {
  if (typeof value !== 'object') return value;
  return { decimal: value.decimal };
}

/** Fails unless `present` is exact for the rows in the table. */
export function expectPresent(codec: Codec, of: Table): void {
  const values = decodeAll(codec, of);
  const given = positions(values, value => value !== undefined);
  const predicate = codec.present(of.columns, CLOCK);
  expect(of.select(predicate), 'rows that present() selects').toEqual(given);
  expect(of.select(not(predicate)), 'rows that its complement selects').toEqual(
    positions(values, v => v === undefined),
  );
}

/**
 * Fails unless `match` is exact for the rows in the table. `facts` are what the oracle judges, by default the values.
 */
export function expectMatch(
  codec: Codec,
  of: Table,
  criterion: Criterion,
  zone = 'UTC',
  facts: readonly Emitted[] = decodeAll(codec, of),
): void {
  const predicate = codec.match(of.columns, criterion, CLOCK);
  if (!predicate) throw new Error(`${codec.label} has no inverse for ${criterion.kind}`);
  const wanted = positions(facts, value => value !== undefined && satisfies(value, criterion, zone));
  const title = `rows that match(${JSON.stringify(criterion)}) selects`;
  expect(of.select(predicate), title).toEqual(wanted);
  expect(of.select(not(predicate)), `not ${title}`).toEqual(positions(facts, (_, i) => !wanted.includes(i)));
}

/** What each row emits. Fails where a codec that says so does not keep to characters that JSON writes as they are. */
export function decodeAll(codec: Codec, of: Table): readonly Emitted[] {
  return of.values(of.columns).map(([a = null, b, c]) => {
    const value = codec.decode(a, b, c);
    if (codec.plain && value !== undefined) expect(JSON.stringify(value), codec.label).toBe(`"${value}"`);
    return emitted(value);
  });
}

/**
 * Fails unless the rows with a value, in the order of `by`, have keys in ascending order, and `fromKey` finds for each
 * of `keys` the first row at or after it.
 */
export function expectOrder(codec: Codec, of: Table, keys: readonly (string | number)[] = []): void {
  const { order } = codec;
  if (!order) throw new Error(`${codec.label} has no order`);
  const where = codec.present(of.columns, CLOCK);
  const by = order.by(of.columns);
  const present = new Set(of.select(where));
  const sorted = of
    .values(
      [KEY, ...by],
      by.map(expression => ({ by: expression, descending: false })),
    )
    .filter(([key]) => present.has(Number(key)))
    .map(([, ...raws]) => raws);
  const own = sorted.map(raws => order.toKey(raws));
  expect(own.every(key => key !== undefined)).toBe(true);
  for (const [i, key] of own.entries()) {
    const next = own[i + 1];
    if (key !== undefined && next !== undefined) expect(key <= next, `${key} before ${next}`).toBe(true);
  }
  for (const key of [...keys, ...own]) {
    if (key === undefined) continue;
    const from = order.fromKey(key);
    const wanted = own.filter(one => one !== undefined && one < key).length;
    const before = from ? sorted.filter(raws => compareTuples(raws, from) < 0).length : sorted.length;
    expect(before, `rows before ${key}, which is ${JSON.stringify(from)}`).toBe(wanted);
  }
}

/** As the engine compares: NULL first, numbers, then texts by code. Only as far as the shorter tuple goes. */
function compareTuples(a: readonly SqlValue[], b: readonly SqlValue[]): number {
  for (const [i, right] of b.entries()) {
    // Decimals arrive as texts.
    const left = typeof right === 'number' && typeof a[i] === 'string' ? Number(a[i]) : (a[i] ?? null);
    if (left === right) continue;
    if (left === null || right === null) return left === null ? -1 : 1;
    return left < right ? -1 : 1;
  }
  return 0;
}

function positions(
  values: readonly Emitted[],
  accept: (value: Emitted, position: number) => boolean,
): readonly number[] {
  return values.flatMap((value, i) => (accept(value, i) ? [i] : []));
}
