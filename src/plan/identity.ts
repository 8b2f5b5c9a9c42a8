/**
 * Inverts logical ids. In: a mapping's id rule and a text. Out: the key values that print exactly that text.
 * https://hl7.org/fhir/R4/datatypes.html#id
 */
import { columnsIn, type IdPart, isLegalId } from '../mapping/id-rule.ts';
import type { Mapping } from '../mapping/model.ts';
import { amongKeys, type KeyOperand } from '../sql/alike.ts';
import { INTEGER } from '../sql/column-type.ts';
import { and, constant, equals, FALSE, flag, not, or, placeholderFor, value } from '../sql/construct.ts';
import type { ColumnExpression, Expression, Predicate, SqlValue } from '../sql/expression.ts';
import { bareRelation } from './condition.ts';
import type { Environment } from './environment.ts';
import { type Key, keysFirst } from './key.ts';
import { idPartsPresent, servedPredicate } from './presence.ts';

/**
 * The values that one alternative of an id rule reads from an id: those of its columns, reading after reading.
 * Undefined if it cannot read the id; empty if the rule is only a literal.
 */
export type Readings = readonly SqlValue[] | undefined;

/**
 * Finds the rows that have one of these ids, by the form of the id: one Predicate per alternative of the rule that can
 * read some of the ids.
 */
export function idsByForm(mapping: Mapping, ids: readonly string[], env: Environment): readonly Predicate[] {
  const { alternatives } = mapping.id;
  return alternatives.flatMap((parts, i): readonly Predicate[] => {
    const readings = ids.flatMap(id => readId(parts, id, env));
    if (readings.length === 0) return [];
    const earlier = and(...alternatives.slice(0, i).map(before => not(idPartsPresent(before))));
    const rows = and(readings.length > 1 ? byRow(earlier) : earlier, amongKeys(readings));
    return rows.kind === 'false' ? [] : [rows];
  });
}

/**
 * Makes the engine test a condition on each row that it reads. Many rows may lack the columns of another form, and an
 * index on those columns would return all of them.
 */
function byRow(of: Predicate): Predicate {
  return of.kind === 'true' || of.kind === 'false' ? of : equals(flag(of), constant(1, INTEGER));
}

/**
 * Finds the rows that have one of these ids. If they have several forms, fetches the keys first, form by form: no index
 * serves all forms at once. Ids of one form are the condition themselves.
 */
export function idsPredicate(mapping: Mapping, ids: readonly string[], env: Environment): Predicate {
  const forms = idsByForm(mapping, ids, env);
  const { source } = mapping;
  if (forms.length < 2) return or(...forms);
  const found: KeyOperand[][] = [];
  let known = true;
  for (const [i, where] of forms.entries()) {
    const name = `ids ${i} of ${mapping.name}|${ids.join()}`;
    // The key is unique only among served rows; a deleted row may share it.
    const from = () => bareRelation(source, and(servedPredicate(mapping, env), where), env, source.key);
    const keys = keysFirst(name, { mapping: mapping.name, from, columns: source.key }, env);
    // No comparison finds a key with a NULL.
    if (keys === 'many' || keys?.some(key => key.includes(null))) return or(...forms);
    const placeholder = env.keyPlaceholders?.get(name);
    known &&= keys !== undefined;
    for (const [row, key] of (keys ?? []).entries())
      found.push(
        source.key.map((column, at) =>
          operandOf(column, key, at, placeholder === undefined ? undefined : placeholder + row * key.length),
        ),
      );
  }
  return known && found.length > 0 ? amongKeys(found) : FALSE;
}

function operandOf(column: ColumnExpression, key: Key, at: number, placeholder: number | undefined): KeyOperand {
  const raw = key[at] ?? null;
  return {
    column,
    value: placeholder === undefined ? value(raw, column.type) : placeholderFor(raw, column.type, placeholder + at),
  };
}

/**
 * Returns every reading of an id by one alternative of a rule, as operands. There are several if text keys contain the
 * separator.
 */
export function readId(parts: readonly IdPart[], id: string, env: Environment): readonly (readonly KeyOperand[])[] {
  const { ids } = env;
  if (ids?.has(id)) return ids.read(parts, id);
  return operandsOf(parts, parseId(parts, id), (raw, { type }) => value(raw, type));
}

/** Returns one list of operands per reading. `operand` makes the compared value; `at` is its index among all values. */
export function operandsOf(
  parts: readonly IdPart[],
  readings: Readings,
  operand: (raw: SqlValue, column: ColumnExpression, at: number) => Expression,
): readonly (readonly KeyOperand[])[] {
  if (readings === undefined) return [];
  const columns = columnsIn(parts);
  const count = columns.length === 0 ? 1 : readings.length / columns.length;
  return Array.from({ length: count }, (_, reading) =>
    columns.map((column, i) => {
      const at = reading * columns.length + i;
      return { column, value: operand(readings[at] ?? null, column, at) };
    }),
  );
}

/** Reads any text by one alternative of a rule. */
export function parseId(parts: readonly IdPart[], text: string): Readings {
  return isLegalId(text) ? parseLegalId(parts, text) : undefined;
}

/** Likewise for a text that passed `isLegalId`, so that several rules need only one check. */
export function parseLegalId(parts: readonly IdPart[], id: string): Readings {
  return id.startsWith(literalStart(parts)) ? readParts(parts, 0, id, 0, NO_VALUES) : undefined;
}

const NO_VALUES: readonly SqlValue[] = [];

/** Returns the literal that every id of a rule begins with; '' if there is none. */
export function literalStart(parts: readonly IdPart[]): string {
  const first = parts[0];
  return first?.kind === 'literal' ? first.text : '';
}

/** Reads the text from `from` by the parts from `at`, and puts the values of `before` in front of each reading. */
function readParts(
  parts: readonly IdPart[],
  at: number,
  text: string,
  from: number,
  before: readonly SqlValue[],
): Readings {
  const part = parts[at];
  if (!part) return from === text.length ? before : undefined;
  if (part.kind === 'literal') {
    if (!text.startsWith(part.text, from)) return undefined;
    return readParts(parts, at + 1, text, from + part.text.length, before);
  }
  const next = parts[at + 1];
  let readings: Readings;
  for (let end = endOf(next, text, from); end > from; end = endOf(next, text, end)) {
    const raw = part.codec.parse(text.slice(from, end));
    if (raw === undefined) continue;
    const found = readParts(parts, at + 1, text, end, before.length === 0 ? [raw] : [...before, raw]);
    readings = readings && found ? [...readings, ...found] : (readings ?? found);
  }
  return readings;
}

/**
 * Returns the next position after `after` at which the part of a column can end: where the next literal begins, or at
 * the end of the text.
 */
function endOf(next: IdPart | undefined, text: string, after: number): number {
  if (next?.kind === 'literal') return text.indexOf(next.text, after + 1);
  return after < text.length ? text.length : -1;
}
