/**
 * Logical ids, inverted. In: a mapping's id rule and a text. Out: the key values that print exactly that text.
 * https://hl7.org/fhir/R4/datatypes.html#id
 */
import { type IdPart, isLegalId } from '../mapping/id-rule.ts';
import type { Mapping } from '../mapping/model.ts';
import { and, equals, FALSE, not, or, value } from '../sql/construct.ts';
import type { ColumnExpression, Expression, Predicate, SqlValue } from '../sql/expression.ts';
import type { Environment } from './environment.ts';
import { idPartsPresent } from './presence.ts';

/**
 * What one alternative of an id rule reads in an id: the values of its columns, one reading behind the other. Undefined where it reads
 * nothing; without a value where the rule is a literal alone.
 */
export type Readings = readonly SqlValue[] | undefined;

/** The rows whose id is this text, or stands in its place; FALSE for a text that no row can have printed. */
export function idPredicate(mapping: Mapping, id: string, env: Environment): Predicate {
  const { alternatives } = mapping.id;
  return or(
    ...alternatives.map((parts, i) => {
      const readings = readId(parts, id, env);
      if (readings.length === 0) return FALSE;
      const earlier = alternatives.slice(0, i).map(before => not(idPartsPresent(before)));
      return and(
        ...earlier,
        or(...readings.map(keys => and(...keys.map(({ column, value }) => equals(column, value))))),
      );
    }),
  );
}

/** A key column, and what it is compared with. */
export interface KeyOperand {
  readonly column: ColumnExpression;
  readonly value: Expression;
}

/** Every reading of an id by one alternative of a rule, ready to be compared: several where text keys contain the separator. */
export function readId(parts: readonly IdPart[], id: string, env: Environment): readonly (readonly KeyOperand[])[] {
  const { ids } = env;
  if (ids?.has(id)) return ids.read(parts, id);
  return operandsOf(parts, parseId(parts, id), (raw, { type }) => value(raw, type));
}

/** One list of operands per reading. `operand`: what a column is compared with, for its `at`th value of all. */
export function operandsOf(
  parts: readonly IdPart[],
  readings: Readings,
  operand: (raw: SqlValue, column: ColumnExpression, at: number) => Expression,
): readonly (readonly KeyOperand[])[] {
  if (readings === undefined) return [];
  const columns = parts.flatMap(part => (part.kind === 'column' ? [part.column] : []));
  const count = columns.length === 0 ? 1 : readings.length / columns.length;
  return Array.from({ length: count }, (_, reading) =>
    columns.map((column, i) => {
      const at = reading * columns.length + i;
      return { column, value: operand(readings[at] ?? null, column, at) };
    }),
  );
}

/** What an alternative reads in any text. */
export function parseId(parts: readonly IdPart[], text: string): Readings {
  return isLegalId(text) ? parseLegalId(parts, text) : undefined;
}

/** Likewise in a text that `isLegalId`, which is asked once where several rules read it. */
export function parseLegalId(parts: readonly IdPart[], id: string): Readings {
  return id.startsWith(literalStart(parts)) ? readParts(parts, 0, id, 0, NO_VALUES) : undefined;
}

const NO_VALUES: readonly SqlValue[] = [];

/** What every id of a rule begins with; '' where that differs. */
export function literalStart(parts: readonly IdPart[]): string {
  const first = parts[0];
  return first?.kind === 'literal' ? first.text : '';
}

/** Readings of the text from `from` on by the parts from `at` on, each behind `before`. */
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

/** The next place behind `after` where a column's part can end: where the next literal begins, or at the end of the text. */
function endOf(next: IdPart | undefined, text: string, after: number): number {
  if (next?.kind === 'literal') return text.indexOf(next.text, after + 1);
  return after < text.length ? text.length : -1;
}
