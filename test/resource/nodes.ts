/** Builds mappings for tests of the writer: nodes, codecs and scopes with little code, without the loader. */
import type { Codec, Primitive } from '../../src/mapping/codecs/codec.ts';
import type { IdCodec } from '../../src/mapping/id-rule.ts';
import type {
  Condition,
  EachNode,
  JoinColumn,
  Json,
  LinesNode,
  Lookup,
  Mapping,
  Member,
  NamedNode,
  Node,
  ObjectNode,
  RefNode,
  Scope,
  ValueNode,
} from '../../src/mapping/model.ts';
import type { ShapeResolver } from '../../src/resource/shape.ts';
import type { ColumnType } from '../../src/sql/column-type.ts';
import { TRUE } from '../../src/sql/construct.ts';
import type { ColumnExpression, Relation, SqlValue } from '../../src/sql/expression.ts';
import { identifier } from '../../src/sql/identifier.ts';
import { renameRelation } from '../../src/sql/rename.ts';

export const AT = { file: 'test', line: 1, column: 1 };
export const TEXT: ColumnType = { kind: 'text', unicode: true, fixed: false, length: 'max' };
export const INT: ColumnType = { kind: 'integer', bits: 32 };
export const ALWAYS: Condition = { kind: 'always' };

/** `a.COL`, or `COL` for alias `t`. */
export function col(name: string, type: ColumnType = TEXT): ColumnExpression {
  const [alias, column] = name.includes('.') ? name.split('.') : ['t', name];
  return { kind: 'column', alias: identifier(alias ?? ''), column: identifier(column ?? ''), type };
}

type Decode = (a: SqlValue, b?: SqlValue, c?: SqlValue) => Primitive | undefined;

export function codec(label: string, decode: Decode, options: { small?: boolean; columns?: 1 | 2 | 3 } = {}): Codec {
  return {
    label,
    yields: ['string'],
    columns: options.columns ?? 1,
    decode,
    small: options.small ?? false,
    present: () => TRUE,
    match: () => undefined,
    inverse: 'none',
  };
}

export const TRIMMED = codec('text', raw => (raw === null ? undefined : String(raw).trim() || undefined));
export const DECIMAL = codec('number', raw => {
  const text = raw === null ? '' : String(raw).trim();
  return /^-?\d+(\.\d+)?$/.test(text) ? { decimal: text } : undefined;
});
export const INTEGER_CODEC = codec('integer', raw => (typeof raw === 'number' ? raw : undefined));
export const BOOLEAN = codec('boolean', raw => (raw === null ? undefined : raw === 1));
export const DATE_AND_TIME = codec(
  'date-and-time',
  (date, time) =>
    typeof date !== 'string' || date === '' ? undefined : typeof time === 'string' && time ? `${date}T${time}` : date,
  { columns: 2 },
);

/** A code map of a few rows, with a fallback text for other values. */
export function codeMap(rows: Readonly<Record<string, string>>, fallback?: string): Codec {
  return codec('code map', raw => (raw === null ? undefined : (rows[String(raw).trimEnd()] ?? fallback)), {
    small: true,
  });
}

export function constant(json: Json, type = 'string', condition?: Condition): Node {
  return { kind: 'constant', json, type, at: AT, ...(condition ? { if: condition } : {}) };
}

export function value(name: string, options: Partial<ValueNode> = {}, type: ColumnType = TEXT): ValueNode {
  return { kind: 'value', from: [col(name, type)], codec: TRIMMED, absent: [], type: 'string', at: AT, ...options };
}

export function object(
  type: string,
  members: Readonly<Record<string, Node>>,
  options: Partial<ObjectNode> = {},
): ObjectNode {
  const named = Object.entries(members).map(([name, node]): Member => ({ kind: 'element', name, node }));
  return { kind: 'object', members: named, needs: [], type, at: AT, ...options };
}

export function choice(...alternatives: readonly Readonly<Record<string, Node>>[]): Member {
  return { kind: 'choice', alternatives: alternatives.map(named) };
}

export function named(nodes: Readonly<Record<string, Node>>): readonly NamedNode[] {
  return Object.entries(nodes).map(([name, node]) => ({ name, node }));
}

export function list(...items: readonly Node[]): Node {
  return { kind: 'list', items, type: items[0]?.type ?? 'string', at: AT };
}

export function first(...alternatives: readonly Node[]): Node {
  return { kind: 'first', alternatives, type: alternatives[0]?.type ?? 'string', at: AT };
}

export function text(
  mode: 'join' | 'template',
  parts: readonly (string | Node)[],
  separator = ' ',
  type = 'string',
): Node {
  return { kind: 'text', mode, parts, separator, type, at: AT };
}

export function scope(alias: string, table = alias.toUpperCase(), lookups: readonly Lookup[] = []): Scope {
  return { table: { name: identifier(table) }, alias: identifier(alias), where: ALWAYS, lookups };
}

export function join(
  theirs: string,
  ours: string,
  types: readonly [ColumnType, ColumnType] = [TEXT, TEXT],
): JoinColumn {
  return { theirs: col(theirs, types[0]), ours: col(ours, types[1]) };
}

export function each(alias: string, on: readonly JoinColumn[], item: Node, options: Partial<EachNode> = {}): EachNode {
  return {
    kind: 'each',
    from: { kind: 'rows', scope: scope(alias), on, order: [] },
    item,
    type: item.type,
    at: AT,
    ...options,
  };
}

/** One text from the child rows; `line` is the text of each. */
export function lines(alias: string, on: readonly JoinColumn[], line: ValueNode, separator: string): LinesNode {
  const { codec } = line;
  const isList = /\S/.test(separator);
  return { kind: 'lines', each: each(alias, on, line), line, separator, isList, codec, type: 'string', at: AT };
}

export function pieces(column: string, parts: readonly string[], between: readonly string[], item: Node): EachNode {
  return {
    kind: 'each',
    from: {
      kind: 'pieces',
      column: col(column),
      by: ';',
      alias: identifier('p'),
      parts: parts.map(identifier),
      between,
    },
    item,
    type: item.type,
    at: AT,
  };
}

export function ref(target: string, on: readonly JoinColumn[], options: Partial<RefNode> = {}): RefNode {
  return { kind: 'ref', target, on, exists: true, as: 'reference', members: [], type: 'Reference', at: AT, ...options };
}

export const PLAIN: IdCodec = {
  name: 'plain',
  print: raw => {
    const printed = raw === null || raw instanceof Uint8Array ? '' : String(raw).trimEnd();
    return /^[A-Za-z0-9.-]+$/.test(printed) ? printed : undefined;
  },
  parse: part => part,
};

export function mapping(options: Partial<Mapping> & Pick<Mapping, 'root'>): Mapping {
  const name = options.name ?? 'tests';
  return {
    name,
    resource: 'Observation',
    group: name,
    ordinal: 0,
    source: { ...scope('t'), key: [col('ID')], onePer: [] },
    id: { alternatives: [[{ kind: 'column', column: col('ID'), codec: PLAIN }]] },
    needs: [],
    usesNow: false,
    at: AT,
    ...options,
  };
}

/** Resolves shapes: every `exists` and every target is present if the row's flags say so. */
export function resolver(...mappings: readonly Mapping[]): ShapeResolver {
  return {
    mapping: name => {
      const found = mappings.find(m => m.name === name);
      if (!found) throw new TypeError(`no mapping ${name}`);
      return found;
    },
    predicateOf: condition => {
      if (condition.kind !== 'exists') throw new TypeError('only exists is asked');
      const { table, alias } = condition.scope;
      const on = condition.on.map(
        ({ theirs, ours }) => ({ kind: 'equals', left: theirs, right: ours, not: false }) as const,
      );
      return { kind: 'exists', from: { table, alias, joins: [], where: { kind: 'and', of: on } }, not: false };
    },
    targetRelation: (target, on) => {
      const of = on.map(({ theirs, ours }) => ({ kind: 'equals', left: theirs, right: ours, not: false }) as const);
      const relation: Relation = {
        table: target.source.table,
        alias: target.source.alias,
        joins: [],
        where: { kind: 'and', of },
      };
      return renameRelation(relation);
    },
  };
}
