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

/** The value of one row as JSON, or undefined. */
export type Emitted = unknown;

/** A value that a row of a SQLite file can hold. */
export type Stored = SqlValue | bigint;

export interface Table {
  readonly columns: readonly ColumnExpression[];
  /** Replaces the rows; a row has one raw value per column. */
  fill(rows: readonly (readonly Stored[])[]): void;
  /** Returns the positions of the rows that a predicate selects. */
  select(predicate: Predicate): readonly number[];
  /** Returns the values of expressions for each row, in the order of the rows or of `orderBy`. */
  values(expressions: readonly Expression[], orderBy?: readonly Order[]): readonly (readonly SqlValue[])[];
}

/** A column's declaration in SQLite, and the type that the codec reads it as. */
export interface TypedColumn {
  readonly declared: string;
  readonly type: ColumnType;
}

/** Makes a table in memory with columns of these types; a bare name is a type of SQL Server. */
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
    // Rendering throws if T-SQL cannot express it; the results of T-SQL are tested on a real engine elsewhere.
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

/** Converts decimals as the adapter does. */
const AS_FETCHED = createWitness(undefined, () => {});

/** Returns a decoded value as the resource's JSON has it. */
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

/** Fails unless `match` is exact for the rows in the table. The oracle judges `facts`, by default the values. */
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

/** Returns the value of each row. Fails if a codec that promises characters without JSON escapes emits others. */
export function decodeAll(codec: Codec, of: Table): readonly Emitted[] {
  return of.values(of.columns).map(([a = null, b, c]) => {
    const value = codec.decode(a, b, c);
    if (codec.plain && value !== undefined) expect(JSON.stringify(value), codec.label).toBe(`"${value}"`);
    return emitted(value);
  });
}

/**
 * Fails unless the rows with a value, ordered by `by`, have ascending keys, and `fromKey` finds for each of `keys` the
 * first row at or after it.
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

/** Compares like the engine: NULL first, numbers, then texts by code point, up to the length of the shorter tuple. */
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
