/**
 * Interprets a mapping node by node into an object, slowly and plainly, as the reference implementation of the writers.
 * In: a mapping, a row, and a reader of its values. Out: the resource as an object; undefined for a row without an id.
 */
import { namedNodesOf } from '../mapping/children.ts';
import type { Primitive } from '../mapping/codecs/codec.ts';
import type { IdPart, IdRule } from '../mapping/id-rule.ts';
import type {
  Condition,
  EachNode,
  LinesNode,
  Mapping,
  Node,
  ObjectNode,
  Pieces,
  RefNode,
  TextNode,
  ValueNode,
} from '../mapping/model.ts';
import { isPrimitive, jsonKindOf } from '../r4/definitions.ts';
import type { WriteContext } from '../resource/compile.ts';
import { dateInterval } from '../search/dates.ts';
import type { ColumnExpression, Expression, SqlValue } from '../sql/expression.ts';
import type { Identifier } from '../sql/identifier.ts';
import { zoneOf } from '../time/zone.ts';
import { equal, globMatches, inOrder, moment, numberOf, rtrim } from './raw-values.ts';
import { clean, type Expected, isOpen, mayBeAbsent, type Thing, thingOf, UNJUDGED, Unjudged } from './thing.ts';

/** The source of an interpreter's rows. `R`: a row with everything that it may refer to. */
export interface RowReader<R> {
  /** Returns a column's value in the form of src/sql/plan.ts. Throws Unjudged. */
  raw(expression: Expression, row: R): SqlValue;
  /** Returns the row with the parts of a piece and what they look up; undefined if a required lookup finds none. */
  within(row: R, pieces: Pieces, parts: ReadonlyMap<Identifier, string>, interpreter: Interpreter<R>): R | undefined;
  /** Returns the rows of an `each`, in order. */
  children(node: EachNode, row: R, interpreter: Interpreter<R>): readonly R[];
  /** Returns `Patient/1`; undefined if the reference finds no resource. */
  target(node: RefNode, row: R, interpreter: Interpreter<R>): string | undefined;
  exists(condition: Condition & { readonly kind: 'exists' }, row: R, interpreter: Interpreter<R>): boolean;
}

/** An observer of an interpreter. */
export interface Watch<R> {
  /** Returns what may replace a value that cannot be determined. Default: anything. */
  instead?(node: Node, row: R): Expected | undefined;
  /**
   * Called with each value that is read. `isAbsent`: a rule of the pack says that it means none, so the codec was not
   * called.
   */
  onValue?(node: ValueNode, row: R, value: Primitive | undefined, isAbsent: boolean): void;
}

/** A row, and the named parts of the enclosing pieces, by `alias.part`. */
interface Rows<R> {
  readonly row: R;
  readonly pieces: Readonly<Record<string, string>>;
}

export class Interpreter<R> {
  readonly #context: WriteContext;
  readonly #reader: RowReader<R>;
  readonly #watch: Watch<R>;

  constructor(context: WriteContext, reader: RowReader<R>, watch: Watch<R> = {}) {
    this.#context = context;
    this.#reader = reader;
    this.#watch = watch;
  }

  /** Returns the resource that a mapping makes of a row; undefined if its id cannot be written. */
  resource(mapping: Mapping, row: R): Thing | undefined {
    const rows: Rows<R> = { row, pieces: {} };
    const id = this.id(mapping.id, column => this.#reader.raw(column, row));
    if (id === undefined) return undefined;
    const resource: Record<string, Thing> = { resourceType: mapping.resource, id };
    const meta: Record<string, Thing> = {};
    const own = mapping.root.members.find(m => m.kind === 'element' && m.name === 'meta');
    if (own?.kind === 'element' && own.node.kind === 'object') {
      for (const [name, thing] of this.members(own.node, rows)) if (thing !== undefined) meta[name] = thing;
    } else if (own?.kind === 'element') Object.assign(meta, this.node(own.node, rows));
    const lastUpdated = mapping.changed && this.node(mapping.changed, rows);
    const all = lastUpdated === undefined ? meta : { lastUpdated, ...meta };
    if (Object.keys(all).length > 0) resource['meta'] = all;
    for (const [name, thing] of this.members(mapping.root, rows)) {
      if (thing !== undefined && name !== 'meta' && name !== 'id') resource[name] = thing;
    }
    return resource;
  }

  /** True if a node of the row itself is present. Throws Unjudged if that cannot be determined. */
  isPresent(node: Node, row: R): boolean {
    const thing = this.node(node, { row, pieces: {} });
    if (thing !== undefined && mayBeAbsent(thing)) throw new Unjudged();
    return thing !== undefined;
  }

  /** True if a condition on the row itself holds. */
  holds(condition: Condition, row: R): boolean {
    return this.condition(condition, { row, pieces: {} });
  }

  raw(expression: Expression, rows: Rows<R>): SqlValue {
    if (expression.kind === 'column') {
      const piece = rows.pieces[`${expression.alias}.${expression.column}`];
      if (piece !== undefined) return piece;
    }
    return this.#reader.raw(expression, rows.row);
  }

  node(node: Node, rows: Rows<R>): Thing | undefined {
    try {
      return this.judged(node, rows);
    } catch (error) {
      if (!(error instanceof Unjudged)) throw error;
      return this.#watch.instead?.(node, rows.row) ?? UNJUDGED;
    }
  }

  judged(node: Node, rows: Rows<R>): Thing | undefined {
    if (node.if && !this.condition(node.if, rows)) return undefined;
    switch (node.kind) {
      case 'constant':
        return thingOf(node.json);
      case 'value':
        return this.typed(this.value(node, rows), node.type);
      case 'object':
        return this.object(node, rows);
      case 'list':
      case 'each': {
        const items = this.items(node.kind === 'list' ? node.items : [node], rows);
        return items.length === 0 ? undefined : items;
      }
      case 'first':
        for (const alternative of node.alternatives) {
          const thing = this.node(alternative, rows);
          if (thing !== undefined) return isOpen(thing) && alternative !== node.alternatives.at(-1) ? UNJUDGED : thing;
        }
        return undefined;
      case 'ref':
        return this.reference(node, rows);
      case 'text':
        return this.typed(this.text(node, rows), 'string');
      case 'lines':
        return this.typed(this.lines(node, rows), node.type);
    }
  }

  value(node: ValueNode, rows: Rows<R>): Primitive | undefined {
    const raws = node.from.map(from => this.raw(from, rows));
    const type = node.from[0]?.type;
    const isAbsent = !!type && node.absent.some(absent => equal(raws[0] ?? null, type, absent, type));
    const [a = null, b, c] = raws;
    const value = isAbsent ? undefined : node.codec.decode(a, b, c);
    this.#watch.onValue?.(node, rows.row, value, isAbsent);
    return value;
  }

  typed(value: Primitive | undefined, type: string): Thing | undefined {
    if (value === undefined || value === '') return undefined;
    const kind = isPrimitive(type) ? jsonKindOf(type) : 'string';
    const text = typeof value === 'object' ? value.decimal.replace(/^(-?)0+(?=\d)/, '$1') : String(value);
    if (kind === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined;
    if (kind === 'number')
      return /^-?\d+(\.\d+)?$/.test(text) && typeof value !== 'boolean' ? { digits: text } : undefined;
    return clean(text);
  }

  object(node: ObjectNode, rows: Rows<R>): Thing | undefined {
    const members = this.members(node, rows);
    const present = new Map(
      members.filter((m): m is [string, Thing, boolean] => m[1] !== undefined).map(m => [m[0], m]),
    );
    if (!node.needs.every(name => present.has(name))) return undefined;
    const deciding = dependsOnRow(node) ? [...present.values()].filter(m => m[2]) : [...present.values()];
    if (deciding.length === 0) return undefined;
    return Object.fromEntries([...present.values()].map(([name, thing]) => [name, thing]));
  }

  /** Returns names, things and whether their presence decides about the object. */
  members(node: ObjectNode, rows: Rows<R>): [string, Thing | undefined, boolean][] {
    return node.members.flatMap(member => {
      if (member.kind === 'element') {
        return [[member.name, this.node(member.node, rows), dependsOnRow(member.node)]];
      }
      const order = [...new Set(member.alternatives.flat().map(({ name }) => name))];
      const decides = member.alternatives.flat().some(named => dependsOnRow(named.node));
      for (const alternative of member.alternatives) {
        const things = alternative.map(({ name, node: child }) => ({
          name,
          thing: this.node(child, rows),
          dynamic: dependsOnRow(child),
        }));
        const dynamic = things.filter(t => t.dynamic);
        if (!(dynamic.length > 0 ? dynamic : things).some(t => t.thing !== undefined)) continue;
        // If this alternative may be absent after all, a later one may be present.
        const isSure = !dynamic.some(({ thing }) => thing !== undefined && isOpen(thing));
        return order.map((name): [string, Thing | undefined, boolean] => {
          const named = things.find(t => t.name === name);
          return [name, isSure || named ? named?.thing : UNJUDGED, decides];
        });
      }
      return [];
    });
  }

  items(nodes: readonly Node[], rows: Rows<R>): Thing[] {
    return nodes.flatMap(node => {
      if (node.if && !this.condition(node.if, rows)) return [];
      if (node.kind === 'list') return this.items(node.items, rows);
      if (node.kind === 'each') return this.rowsOf(node, rows).flatMap(inner => this.items([node.item], inner));
      if (node.kind === 'first') {
        for (const alternative of node.alternatives) {
          const items = this.items([alternative], rows);
          if (items.length > 0) return items;
        }
        return [];
      }
      const thing = this.node(node, rows);
      if (thing === undefined) return [];
      return Array.isArray(thing) ? thing : [thing];
    });
  }

  rowsOf(node: EachNode, rows: Rows<R>): readonly Rows<R>[] {
    const { from } = node;
    if (from.kind === 'pieces') {
      const raw = this.raw(from.column, rows);
      if (typeof raw !== 'string') return [];
      return raw.split(from.by).flatMap(piece => {
        let rest = piece.replace(/^[ \t\r\n]+/, '').replace(/[ \t\r\n]+$/, '');
        if (rest === '') return [];
        const named: Record<string, string> = { ...rows.pieces };
        const parts = new Map<Identifier, string>();
        for (const [i, part] of from.parts.entries()) {
          const separator = from.between[i];
          const at = separator === undefined ? rest.length : rest.indexOf(separator);
          if (at < 0) return [];
          const text = rest.slice(0, at).replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
          named[`${from.alias}.${part}`] = text;
          parts.set(part, text);
          rest = rest.slice(at + (separator?.length ?? 0));
        }
        const row = this.#reader.within(rows.row, from, parts, this);
        return row === undefined ? [] : [{ row, pieces: named }];
      });
    }
    return this.#reader.children(node, rows.row, this).map(row => ({ row, pieces: rows.pieces }));
  }

  reference(node: RefNode, rows: Rows<R>): Thing | undefined {
    const id = this.#reader.target(node, rows.row, this);
    if (id === undefined) return undefined;
    if (node.as === 'url') return `${this.#context.base}/${id}`;
    const reference: Record<string, Thing> = { reference: id };
    for (const { name, node: member } of node.members) {
      const thing = this.node(member, rows);
      if (thing !== undefined) reference[name] = thing;
    }
    return reference;
  }

  id(rule: IdRule, raw: (column: ColumnExpression) => SqlValue): string | undefined {
    for (const parts of rule.alternatives) {
      const printed = parts.map(part => (part.kind === 'literal' ? part.text : part.codec.print(raw(part.column))));
      if (printed.includes(undefined)) continue;
      const id = printed.join('');
      if (/^[A-Za-z0-9.-]{1,64}$/.test(id) && id.length + uncommon(parts, raw) <= 64) return id;
    }
    return undefined;
  }

  text(node: TextNode, rows: Rows<R>): string | undefined {
    const parts = node.parts.map(part => (typeof part === 'string' ? part : this.bare(part, rows)));
    if (node.mode === 'template') return parts.includes(undefined) ? undefined : parts.join('');
    const values = parts.filter((_, i) => typeof node.parts[i] !== 'string');
    if (values.every(v => v === undefined)) return undefined;
    return parts.filter(part => part !== undefined && part !== '').join(node.separator);
  }

  /** Joins the texts of the rows. Rows without a text are empty lines, or left out of a list. */
  lines(node: LinesNode, rows: Rows<R>): Primitive | undefined {
    const all = this.rowsOf(node.each, rows).map(inner => this.value(node.line, inner));
    const lines = node.separator.trim() === '' ? all : all.filter(line => line !== undefined);
    return lines.every(line => line === undefined) ? undefined : node.codec.decode(lines.join(node.separator));
  }

  bare(node: Node, rows: Rows<R>): string | undefined {
    if (node.if && !this.condition(node.if, rows)) return undefined;
    if (node.kind === 'constant') return String(node.json);
    if (node.kind === 'text') return this.text(node, rows);
    if (node.kind === 'first') {
      return node.alternatives.map(alternative => this.bare(alternative, rows)).find(found => found !== undefined);
    }
    if (node.kind !== 'value' && node.kind !== 'lines') throw new TypeError(`no text: ${node.kind}`);
    const value = node.kind === 'lines' ? this.lines(node, rows) : this.value(node, rows);
    if (value === undefined || value === '') return undefined;
    return typeof value === 'object' ? value.decimal.replace(/^(-?)0+(?=\d)/, '$1') : String(value);
  }

  condition(condition: Condition, rows: Rows<R>): boolean {
    switch (condition.kind) {
      case 'always':
        return true;
      case 'all':
        return condition.of.every(part => this.condition(part, rows));
      case 'any':
        return condition.of.some(part => this.condition(part, rows));
      case 'none':
        return !this.condition(condition.of, rows);
      case 'exists':
        return this.#reader.exists(condition, rows.row, this);
      case 'same': {
        const [left, right] = [this.raw(condition.column, rows), this.raw(condition.other, rows)];
        return equal(left, condition.column.type, right, condition.other.type);
      }
      case 'ordered': {
        const [left, right] = [this.raw(condition.column, rows), this.raw(condition.other, rows)];
        const { codec, column, op } = condition;
        if (left === null || right === null) return false;
        if (codec && (codec.decode(left) === undefined || codec.decode(right) === undefined)) return false;
        const isTime = TIMES.has(column.type.kind);
        const key = isTime ? moment : column.type.kind === 'text' ? rtrim : numberOf;
        return inOrder(key(left), op, key(right));
      }
      default: {
        const raw = this.raw(condition.column, rows);
        return raw !== null && this.test(condition, raw);
      }
    }
  }

  test(condition: Extract<Condition, { column: ColumnExpression }>, raw: Exclude<SqlValue, null>): boolean {
    const { type } = condition.column;
    switch (condition.kind) {
      case 'is':
        return condition.values.some(literal => equal(raw, type, literal, type));
      case 'order': {
        const key = (one: SqlValue): string | number | bigint | undefined =>
          type.kind === 'text' ? rtrim(one) : TIMES.has(type.kind) ? moment(one) : numberOf(one);
        return inOrder(key(raw), condition.op, key(condition.value));
      }
      case 'now': {
        const value = condition.codec.decode(raw);
        const interval = typeof value === 'string' ? dateInterval(value, zoneOf(this.#context.zone)) : undefined;
        if (!interval) return false;
        return condition.op === 'before' ? interval.low < this.#context.now : interval.low >= this.#context.now;
      }
      case 'matches':
        return globMatches([...condition.pattern], [...rtrim(raw)]);
      case 'present':
        if (type.kind === 'binary') return raw instanceof Uint8Array ? raw.length > 0 : isText(raw);
        return type.kind !== 'text' || rtrim(raw) !== '';
      case 'same':
      case 'ordered':
        return false;
    }
  }
}

/** Kinds of values that compare as moments. */
const TIMES: ReadonlySet<string> = new Set(['date', 'datetime', 'instant']);

function dependsOnRow(node: Node): boolean {
  switch (node.kind) {
    case 'constant':
      return false;
    case 'object':
      return node.members.flatMap(namedNodesOf).some(named => dependsOnRow(named.node));
    case 'list':
      return node.items.some(dependsOnRow);
    case 'first':
      return node.alternatives.some(dependsOnRow);
    default:
      return true;
  }
}

/**
 * Returns by how much the escapes of characters other than printable ASCII are shorter than nine characters per UTF-16
 * unit, which the limit counts. docs/decisions/0434
 */
function uncommon(parts: readonly IdPart[], raw: (column: ColumnExpression) => SqlValue): number {
  const escaped = parts.flatMap(part => (part.kind === 'column' && part.codec.name === 'escaped' ? [part] : []));
  const characters = escaped.flatMap(({ column }) => [...String(raw(column))]);
  return characters
    .filter(character => !/[ -~]/.test(character))
    .reduce((sum, character) => sum + 9 * character.length - 3 * Buffer.byteLength(character), 0);
}

/** True for a text that is not blank. In SQLite a column of bytes may hold texts, and numbers, which are ignored. */
function isText(raw: Exclude<SqlValue, null>): boolean {
  return typeof raw === 'string' && rtrim(raw) !== '';
}
