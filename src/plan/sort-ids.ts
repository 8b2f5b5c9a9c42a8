/**
 * Sorts by ids and by references. In: a mapping, or a reference. Out: its rows, split by the form of their ids (the
 * text between the key values). Ids sort by form first and then by key values, numbers as numbers: `10` comes after
 * `9`. This is the order of the key, which has an index. References sort by the type of their target, then as its ids
 * do. Own columns are used if the target's id is made of them alone; else the target is joined.
 * https://hl7.org/fhir/R4/search.html#sort leaves the order of ids open.
 */
import { floorUnits, printUnits } from '../mapping/codecs/decimal.ts';
import { columnDigits } from '../mapping/codecs/number.ts';
import { trimEnd } from '../mapping/codecs/text.ts';
import { columnsIn, type IdPart } from '../mapping/id-rule.ts';
import type { Mapping, RefNode } from '../mapping/model.ts';
import { UNICODE } from '../sql/column-type.ts';
import { and, call, exists, not, TRUE } from '../sql/construct.ts';
import type { ColumnExpression, Expression, Predicate, SqlValue } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';
import { renameExpression } from '../sql/rename.ts';
import type { Environment } from './environment.ts';
import { idPartsPresent, targetRelation } from './presence.ts';
import type { FaceWhen, SortFace, SortPart } from './sort.ts';

const END = '\u0001';
/** Digits: more than any integer of 64 bits or decimal has. */
const WIDTH = 40;
const FLOOR = 10n ** BigInt(WIDTH);

/** Returns one part per form of ids. */
export function idParts(mapping: Mapping): readonly SortPart[] {
  return idForms(mapping).map(({ parts, where }) => ({ where, face: idFace(parts) }));
}

/** Returns the alternatives of the id rule, each with the rows whose id it makes. */
export function idForms({ id: { alternatives } }: Mapping): readonly {
  readonly parts: readonly IdPart[];
  readonly where: Predicate;
}[] {
  return alternatives.map((parts, i) => {
    const earlier = alternatives.slice(0, i).map(before => not(idPartsPresent(before)));
    return { parts, where: and(...earlier, idPartsPresent(parts)) };
  });
}

type KeyPart = Extract<IdPart, { kind: 'column' }>;

/**
 * Returns the sort of ids of one form. `type`: prefix of the id in a reference; `read`: returns the expression to use
 * for a column.
 */
export function idFace(
  parts: readonly IdPart[],
  type = '',
  read: (column: ColumnExpression) => Expression = column => column,
): SortFace {
  const keys = parts.filter(part => part.kind === 'column');
  // SQL Server does not sort UUIDs in the order of their texts.
  const by = keys.map(({ column }) =>
    column.type.kind === 'uuid' ? call('text', [read(column)], UNICODE) : read(column),
  );
  const form = type + parts.map(part => (part.kind === 'literal' ? part.text : `{${part.codec.name}}`)).join('') + END;
  return {
    by,
    order: {
      by: () => by,
      toKey: raws => form + keys.map((part, i) => written(raws[i] ?? null, part)).join(''),
      fromKey: key => {
        const values = String(key).slice(form.length).split(END);
        return keys.map((part, i) => rawOf(values[i] ?? '', part));
      },
    },
    statementKey: form,
    begin: form,
    side: key => {
      const text = String(key);
      return text.startsWith(form) ? undefined : form < text ? 'below' : 'above';
    },
  };
}

/** Writes a key value as a text that sorts as the value does. */
function written(raw: SqlValue, { codec, column }: KeyPart): string {
  if (codec.name === 'uuid') return codec.print(raw) + END;
  if (codec.name !== 'integer' && codec.name !== 'decimal') return trimEnd(String(raw)) + END;
  const n = codec.name === 'integer' ? BigInt(String(raw)) : floorUnits(columnDigits(raw) ?? '0', scaleOf(column));
  return (n < 0n ? `-${String(FLOOR + n).padStart(WIDTH, '0')}` : String(n).padStart(WIDTH, '0')) + END;
}

function scaleOf({ type }: ColumnExpression): number {
  return type.kind === 'decimal' ? type.scale : 0;
}

function rawOf(text: string, { codec, column }: KeyPart): SqlValue {
  if (codec.name === 'uuid') return codec.parse(text) ?? null;
  if (codec.name !== 'integer' && codec.name !== 'decimal') return text;
  const n = text.startsWith('-') ? BigInt(text.slice(1)) - FLOOR : BigInt(text);
  if (codec.name === 'decimal') return printUnits(n, scaleOf(column));
  const asNumber = Number(n);
  return Number.isSafeInteger(asNumber) ? asNumber : String(n);
}

/** Returns the sorts of a reference. Undefined if the form of an id cannot be known. */
export function referenceFaces(node: RefNode, env: Environment): readonly FaceWhen[] | undefined {
  const target = env.registry.mapping(node.target);
  const forms = idForms(target);
  if (forms.length === 1) return forms.map(({ parts }) => ({ when: TRUE, face: faceOf(node, target, parts, env) }));
  // A reference that is emitted from our columns alone does not read the target's row.
  if (!node.exists) return undefined;
  return forms.map(({ parts, where }) => ({
    when: leadsTo(node, target, where, env),
    face: faceOf(node, target, parts, env),
  }));
}

/** True if the reference leads to a row that satisfies `form`; evaluated for rows whose reference is emitted. */
function leadsTo(node: RefNode, target: Mapping, form: Predicate, env: Environment): Predicate {
  const there = exists(targetRelation(target, node.on, env, [], form).relation);
  return there.kind === 'exists' ? { ...there, byRow: true } : there;
}

function faceOf(node: RefNode, target: Mapping, parts: readonly IdPart[], env: Environment): SortFace {
  const columns = columnsIn(parts);
  const own = columns.map(column => ownColumn(node, column));
  const read = own.includes(undefined) ? lookedUp(node, columns, env) : own;
  const byColumn = new Map(columns.map((column, i) => [column, read[i] ?? column]));
  const face = idFace(parts, `${target.resource}/`, column => byColumn.get(column) ?? column);
  return { ...face, statementKey: [face.statementKey, ...face.by.map(expressionKey)].join() };
}

/** Returns our column that is joined with a column of the target and has the same kind of type. */
function ownColumn({ on }: RefNode, column: ColumnExpression): Expression | undefined {
  const pair = on.find(({ theirs }) => theirs.alias === column.alias && theirs.column === column.column);
  return pair?.ours.type.kind === column.type.kind ? pair.ours : undefined;
}

function lookedUp(node: RefNode, columns: readonly ColumnExpression[], env: Environment): readonly Expression[] {
  const { relation, aliases } = targetRelation(env.registry.mapping(node.target), node.on, env, columns);
  return columns.map(column => ({
    kind: 'scalar',
    select: renameExpression(column, aliases),
    from: relation,
    type: column.type,
  }));
}
