/**
 * Replaces logical ids by placeholders, so that one plan serves searches that differ in their ids only.
 * In: a search. Out: the same search with placeholders, and the ids. A plan reads an id through the id rules of
 * mappings (`IdParameters`) and records what it found as a guard. Ids that pass the same guards share the plan; for
 * others the search is planned again.
 */
import { type IdPart, isLegalId } from '../../mapping/id-rule.ts';
import type { Filter, TypedValue, TypeQuestion } from '../../search/query.ts';
import type { KeyOperand } from '../../sql/alike.ts';
import { placeholderFor, value } from '../../sql/construct.ts';
import type { SqlValue } from '../../sql/expression.ts';
import type { PlaceholderValues } from '../../sql/plan.ts';
import { valueShape } from '../../sql/statement.ts';
import type { IdParameters } from '../environment.ts';
import { literalStart, operandsOf, parseId, parseLegalId, type Readings } from '../identity.ts';

/** Queries or visibilities with more ids than this are planned without placeholders. */
export const IDS_AT_MOST = 8;

/** A character that no FHIR id begins with. */
const MARK = '\u0000';

/** Returns the placeholder name of an id in a query. */
export function idName(at: number): string {
  return `${MARK}${at}`;
}

/** Returns the placeholder name of an id in a visibility. */
export function visibilityIdName(at: number): string {
  return `${MARK}s${at}`;
}

export interface QuestionsWithoutIds {
  readonly questions: readonly TypeQuestion[];
  readonly ids: readonly string[];
}

/** Replaces the ids in `_id` and references by names, in chains and `_has` too. */
export function withoutIds(questions: readonly TypeQuestion[]): QuestionsWithoutIds {
  const ids: string[] = [];
  const named = (id: string): string => idName(ids.push(id) - 1);
  const parameterized = questions.map(question => ({
    ...question,
    filters: question.filters.map(filter => withNamedIds(filter, named)),
  }));
  return ids.length === 0 || ids.length > IDS_AT_MOST ? { questions, ids: [] } : { questions: parameterized, ids };
}

/** Returns the filter with its logical ids replaced by names. */
export function withNamedIds(of: Filter, named: (id: string) => string): Filter {
  const value = (one: TypedValue, code: string): TypedValue => {
    if (one.kind === 'reference') return { ...one, id: named(one.id) };
    return one.kind === 'token' && code === '_id' && one.code !== undefined ? { ...one, code: named(one.code) } : one;
  };
  switch (of.kind) {
    case 'match':
      return { ...of, values: of.values.map(one => value(one, of.parameter.code)) };
    case 'missing':
      return of;
    case 'number':
      return { ...of, number: named(of.number) };
    case 'compartment':
      return { ...of, id: named(of.id) };
    case 'chain':
      return { ...of, to: of.to.map(target => ({ ...target, filter: withNamedIds(target.filter, named) })) };
    case 'has':
      return { ...of, filter: withNamedIds(of.filter, named) };
  }
}

/** A record of what a plan has read from an id. */
interface Guard {
  readonly parts: readonly IdPart[];
  readonly id: number;
  /** `valueShape` of each value; undefined if the rule cannot read the id. */
  readonly shape: string | undefined;
}

export interface IdReader extends IdParameters {
  readonly guards: readonly Guard[];
  /** The values read, in the order of their placeholders. */
  readonly placeholders: PlaceholderValues;
}

/** Reads the ids of a visibility for a plan that is used once. */
export function plainIds(ids: readonly string[]): IdParameters | undefined {
  if (ids.length === 0) return undefined;
  const names = namesOf(0, ids.length);
  return {
    has: name => names.has(name),
    read: (parts, name) =>
      operandsOf(parts, parseId(parts, ids[names.get(name) ?? -1] ?? NO_ID), (raw, { type }) => value(raw, type)),
  };
}

/** A text that no rule can read as an id. */
const NO_ID = '';

/** Replaces texts that cannot be ids by one that no rule reads, so that many rules need only one check. */
export function legalIds(ids: readonly string[]): readonly string[] {
  return ids.every(isLegalId) ? ids : ids.map(id => (isLegalId(id) ? id : NO_ID));
}

/** Returns the index of each name: first the ids of the query, then those of the visibility. */
function namesOf(question: number, all: number): ReadonlyMap<string, number> {
  const name = (at: number): string => (at < question ? idName(at) : visibilityIdName(at - question));
  return new Map(Array.from({ length: all }, (_, at) => [name(at), at]));
}

/**
 * Reads ids, from `legalIds`, for a plan that is being made. `first`: the placeholder of the first value. `question`:
 * how many of the ids belong to the query; the others belong to the visibility.
 */
export function idReader(ids: readonly string[], first = 0, question = ids.length): IdReader {
  const guards: Guard[] = [];
  const placeholders: SqlValue[] = [];
  const names = namesOf(question, ids.length);
  const known = new Map<readonly IdPart[], Map<string, readonly (readonly KeyOperand[])[]>>();
  const read = (parts: readonly IdPart[], id: number): readonly (readonly KeyOperand[])[] => {
    const readings = parseLegalId(parts, ids[id] ?? NO_ID);
    guards.push({ parts, id, shape: readings?.map(valueShape).join('') });
    const begin = first + placeholders.length;
    if (readings) placeholders.push(...readings);
    return operandsOf(parts, readings, (raw, { type }, at) => placeholderFor(raw, type, begin + at));
  };
  return {
    guards,
    placeholders,
    has: name => names.has(name),
    read(parts, name) {
      const ofParts = known.get(parts) ?? new Map<string, readonly (readonly KeyOperand[])[]>();
      known.set(parts, ofParts);
      const before = ofParts.get(name);
      if (before) return before;
      const readings = read(parts, names.get(name) ?? -1);
      ofParts.set(name, readings);
      return readings;
    },
  };
}

/**
 * Drops redundant guards: if a rule that begins with a literal reads the id, rules that begin with another cannot, as
 * most rules of a type do.
 */
export function withoutImplied(guards: readonly Guard[]): readonly Guard[] {
  const reading = guards.filter(({ shape }) => shape !== undefined);
  const isImplied = ({ parts, id, shape }: Guard): boolean => {
    const start = literalStart(parts);
    return shape === undefined && reading.some(other => other.id === id && areApart(start, literalStart(other.parts)));
  };
  return guards.filter(guard => !isImplied(guard));
}

/** True if no text can begin with both. */
function areApart(a: string, b: string): boolean {
  return !a.startsWith(b) && !b.startsWith(a);
}

const NO_PLACEHOLDERS: PlaceholderValues = [];

/**
 * Returns the placeholder values of a plan for these ids, from `legalIds`; undefined if the plan does not serve them.
 */
export function placeholdersFor(guards: readonly Guard[], ids: readonly string[]): PlaceholderValues | undefined {
  let placeholders = NO_PLACEHOLDERS;
  for (const { parts, id, shape } of guards) {
    const readings = parseLegalId(parts, ids[id] ?? NO_ID);
    if (!hasShape(readings, shape)) return undefined;
    if (readings) placeholders = placeholders.length === 0 ? readings : [...placeholders, ...readings];
  }
  return placeholders;
}

/** Compares readings with the shape of a guard, without building a text for each id. */
function hasShape(readings: Readings, shape: string | undefined): boolean {
  if (readings === undefined || shape === undefined) return readings === shape;
  if (readings.length !== shape.length) return false;
  for (let at = 0; at < shape.length; at++) if (shape[at] !== valueShape(readings[at] ?? null)) return false;
  return true;
}

/**
 * Writes queries as text, for keys of caches. In: a query, or a visibility. Out: a text that is equal for equal data
 * only; search parameters are written as their address and expression.
 */
export function planText(of: unknown): string {
  return JSON.stringify(of, replacer);
}

function replacer(name: string, value: unknown): unknown {
  if (name === 'parameter' && typeof value === 'object' && value !== null && 'url' in value && 'expression' in value)
    return [value.url, value.expression];
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}
