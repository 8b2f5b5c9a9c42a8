/**
 * Makes random rows for a row shape: values of each column's type as drivers return them, with the defects of legacy
 * text columns. `pools` adds values that codecs and conditions of a mapping refer to.
 */
import fc from 'fast-check';
import { namedNodesOf } from '../../src/mapping/children.ts';
import type { Condition, Mapping, Node, Scope } from '../../src/mapping/model.ts';
import type { ChildRow } from '../../src/resource/rows.ts';
import type { LevelShape } from '../../src/resource/shape.ts';
import type { ColumnType } from '../../src/sql/column-type.ts';
import type { Expression, SqlValue } from '../../src/sql/expression.ts';
import { expressionKey } from '../../src/sql/expression-key.ts';
import type { Row } from '../../src/sql/plan.ts';

export type Pools = ReadonlyMap<string, readonly (string | number)[]>;

const SPOILED = [
  '',
  ' ',
  'A',
  'B ',
  'Y',
  'N',
  '"',
  '\\',
  '\u0000',
  '\u0007',
  '\t',
  '\r\n',
  '\u2028',
  '\ud800',
  'x\udc00y',
  '😀',
  'é',
  '<b>&amp;</b>',
  '0',
  '007',
  '-1.50',
  '1e2',
  '20240310',
  '00000000',
  '2024-03-10',
  'a;b:c; ;d:e:f',
  'N/A',
];

const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...SPOILED) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
  { weight: 1, arbitrary: fc.array(fc.constantFrom(...SPOILED), { maxLength: 3 }).map(parts => parts.join('')) },
);

const moment = fc.date({
  min: new Date('1900-01-01T00:00:00Z'),
  max: new Date('2099-12-31T00:00:00Z'),
  noInvalidDate: true,
});

function ofType(type: ColumnType): fc.Arbitrary<SqlValue> {
  switch (type.kind) {
    case 'text':
      return text;
    case 'bit':
      return fc.constantFrom(0, 1);
    case 'integer':
      return type.bits === 64
        ? fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String)
        : fc.oneof(
            fc.integer({ min: -2, max: 9 }),
            fc.constantFrom(20240310, 20240300, 20239999, 0, 2024),
            fc.integer(),
          );
    case 'decimal':
      return fc
        .tuple(fc.integer({ min: -9999, max: 9999 }), fc.constantFrom('', '.0', '.50', '.05', '.123'))
        .map(([w, f]) => `${w}${f}`);
    case 'float':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'date':
      return moment.map(date => date.toISOString().slice(0, 10));
    case 'datetime':
      return fc
        .tuple(moment, fc.boolean())
        .map(([date, day]) =>
          day ? `${date.toISOString().slice(0, 10)} 00:00:00.000` : date.toISOString().slice(0, 23).replace('T', ' '),
        );
    case 'instant':
      return moment.map(date =>
        `${date.toISOString().slice(0, 23).replace('T', ' ')}0000`.slice(0, 20 + type.fraction),
      );
    case 'time':
      return moment.map(date => date.toISOString().slice(11, 19));
    case 'uuid':
      return fc.uuid().map(uuid => uuid.toUpperCase());
    case 'binary':
      return fc.uint8Array({ minLength: 16, maxLength: 16 });
  }
}

/** Values of one expression; sometimes NULL everywhere. */
function rawOf(expression: Expression, pools: Pools): fc.Arbitrary<SqlValue> {
  if (expression.kind === 'flag') return fc.constantFrom(0, 1);
  const pool = pools.get(expressionKey(expression)) ?? [];
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 3, arbitrary: ofType(expression.type) },
    ...(pool.length > 0 ? [{ weight: 4, arbitrary: fc.constantFrom<SqlValue>(...pool) }] : []),
    ...(expression.kind === 'scalar'
      ? [{ weight: 2, arbitrary: fc.constantFrom<SqlValue>(expression.type.kind === 'text' ? 'x-1' : 7) }]
      : []),
  );
}

/** A row of a level with up to two child rows per child shape. */
export function arbitraryRow(level: LevelShape, pools: Pools = new Map()): fc.Arbitrary<ChildRow> {
  const row: fc.Arbitrary<Row> = fc.tuple(...level.columns.map(column => rawOf(column, pools)));
  const children = fc.tuple(...level.children.map(child => fc.array(arbitraryRow(child, pools), { maxLength: 2 })));
  return fc.record({ row, children });
}

/** Real values of columns, by `TABLE.COLUMN`. */
export type Samples = ReadonlyMap<string, ReadonlySet<string | number>>;

/**
 * Values that are likely to matter, by expression: literals of the mapping's conditions and absence rules, and samples
 * of the fetched columns.
 */
export function poolsOf(mapping: Mapping, level?: LevelShape, samples: Samples = new Map()): Pools {
  const pools = new Map<string, (string | number)[]>();
  const add = (expression: Expression | undefined, values: readonly (string | number)[]): void => {
    if (!expression) return;
    const key = expressionKey(expression);
    pools.set(key, [...(pools.get(key) ?? []), ...values.filter(value => legal(expression.type, value))]);
  };
  const seeCondition = (condition: Condition): void => {
    if (condition.kind === 'all' || condition.kind === 'any') condition.of.forEach(seeCondition);
    if (condition.kind === 'none') seeCondition(condition.of);
    if (condition.kind === 'is') add(condition.column, condition.values);
    if (condition.kind === 'same' || condition.kind === 'ordered') add(condition.other, ['A', 3]);
    if (condition.kind === 'order') add(condition.column, [condition.value]);
    if (condition.kind === 'matches') add(condition.column, [condition.pattern.replace(/[*?]/g, 'x')]);
  };
  const see = (node: Node): void => {
    if (node.if) seeCondition(node.if);
    if (node.kind === 'value') add(node.from[0], node.absent);
    if (node.kind === 'object')
      for (const member of node.members) for (const { node: inner } of namedNodesOf(member)) see(inner);
    if (node.kind === 'list') node.items.forEach(see);
    if (node.kind === 'first') node.alternatives.forEach(see);
    if (node.kind === 'each') see(node.item);
    if (node.kind === 'lines') see(node.each);
    if (node.kind === 'ref') for (const { node: inner } of node.members) see(inner);
    if (node.kind === 'text') for (const part of node.parts) if (typeof part !== 'string') see(part);
  };
  see(mapping.root);
  const tables = tablesOf(mapping);
  const sample = (columns: readonly Expression[]): void => {
    for (const column of columns) {
      if (column.kind !== 'column') continue;
      add(column, [...(samples.get(`${tables.get(column.alias)}.${column.column}`) ?? [])]);
    }
  };
  const seeLevel = (at: LevelShape): void => {
    sample(at.columns);
    at.children.forEach(seeLevel);
  };
  if (level) seeLevel(level);
  return pools;
}

/** Tables by alias, including those of lookups and of each `each`. */
function tablesOf(mapping: Mapping): ReadonlyMap<string, string> {
  const tables = new Map<string, string>();
  const declare = (scope: Scope): void => {
    for (const { alias, table } of [scope, ...scope.lookups]) tables.set(alias, table.name);
  };
  const see = (node: Node): void => {
    if (node.kind === 'object') for (const m of node.members) for (const { node: inner } of namedNodesOf(m)) see(inner);
    if (node.kind === 'list') node.items.forEach(see);
    if (node.kind === 'first') node.alternatives.forEach(see);
    if (node.kind === 'lines') see(node.each);
    if (node.kind !== 'each') return;
    if (node.from.kind === 'rows') declare(node.from.scope);
    see(node.item);
  };
  declare(mapping.source);
  see(mapping.root);
  return tables;
}

function legal(type: ColumnType, value: string | number): boolean {
  return (
    (type.kind === 'text' && typeof value === 'string') ||
    (typeof value === 'number' && (type.kind === 'integer' || type.kind === 'bit'))
  );
}
