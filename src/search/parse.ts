/**
 * Parses a query string. In: names and values as the client sent them, and what is offered. Out: a SearchQuery with
 * typed filters and result parameters. Errors: FhirError that names the parameter. An unknown parameter is an error
 * under strict handling and a warning under lenient handling.
 * https://hl7.org/fhir/R4/search.html
 */
import { FhirError, type Issue, issueOf } from '../outcome.ts';
import type { Cursor } from './cursor.ts';
import { parseFilter } from './filters.ts';
import type { Filter, Parameters, SearchQuery, SystemQuery, TypedValue } from './query.ts';
import { emptyResult, isResultParameter, itemsOf, readResultParameter } from './result-parameters.ts';
import { unjoinedIn } from './types/types.ts';
import {
  checkCount,
  checkLength,
  LIMITS,
  type ParseContext,
  type ParsedQuery,
  printable,
  splitEscaped,
  UnknownParameter,
} from './values.ts';

/** Parameters that the HTTP layer reads, not the search. They stay in the links. */
const ELSEWHERE: ReadonlySet<string> = new Set(['_format', '_pretty']);

/** Parses a search on one type. */
export function parseSearch(type: string, parameters: Parameters, context: ParseContext): SearchQuery {
  const { questions, ...shape } = parseTypeSearch(type, parameters, context);
  const [{ filters, sort } = { filters: [], sort: [] }] = questions;
  return { ...shape, type, filters, sort };
}

/** Parses the same as a search that could be over several types. */
export function parseTypeSearch(type: string, parameters: Parameters, context: ParseContext): SystemQuery {
  if (!context.offers.types.includes(type))
    throw new FhirError('unknown-type', `this server has no ${printable(type)} resources`);
  return parseQuestions({ types: [type], place: type }, parameters, context);
}

/** Facts besides the parameters: the types, the path of links, and parameters that were parsed already. */
export interface Asked {
  readonly types: readonly string[];
  readonly place: string;
  readonly parsed?: Parameters;
  readonly warnings?: readonly Issue[];
}

/** Parses the same parameters for several types. Only what each type offers can be searched. */
export function parseQuestions(asked: Asked, parameters: Parameters, context: ParseContext): SystemQuery {
  checkCount(parameters);
  const sealed = parameters.findLast(([name]) => name === '_cursor')?.[1];
  const others = sealed === undefined ? parameters : parameters.filter(([name]) => name !== '_cursor');
  const parse = (): ParsedQuery => parseOthers(asked, others, context);
  const key = context.cached && keyOf(asked, others, context);
  const query = context.cached && key !== undefined ? context.cached(key, parse) : parse();
  return { ...query, cursor: sealed === undefined ? undefined : opened(sealed, query, context) };
}

function opened(sealed: string, { binding }: ParsedQuery, { cursors }: ParseContext): Cursor {
  checkLength('_cursor', sealed);
  const cursor = cursors.open(sealed, binding);
  if (cursor) return cursor;
  throw new FhirError('stale-link', 'this page link is not valid for this search; start again from the first page', {
    parameter: '_cursor',
  });
}

/** Longer queries are seldom repeated. */
const KEY_LENGTH = 1000;

/** Returns a key that is equal for searches that are parsed alike; undefined if caching is not worthwhile. */
function keyOf(asked: Asked, parameters: Parameters, { handling, base, caller }: ParseContext): string | undefined {
  if (asked.types.length !== 1 || asked.parsed || asked.warnings) return undefined;
  const key = JSON.stringify([asked.place, asked.types[0], handling, base, caller, parameters]);
  return key.length > KEY_LENGTH ? undefined : key;
}

/** Parses all parameters but `_cursor`. */
function parseOthers(asked: Asked, parameters: Parameters, context: ParseContext): ParsedQuery {
  const { types, place } = asked;
  const filters: Filter[][] = [];
  const warnings: Issue[] = [...(asked.warnings ?? [])];
  const applied = [...(asked.parsed ?? [])];
  const written = parameters.filter(([name, text]) => ELSEWHERE.has(name) && text !== '');
  const result = emptyResult(types, context.pageSize);
  for (const [name, text] of parameters) {
    checkLength(name, text);
    if (ELSEWHERE.has(name)) continue;
    const items: string[] = [];
    const given = withoutEmpty(text);
    if (given === '' || given !== text) warnings.push(emptyValue(name, context));
    for (const item of given === '' ? [] : itemsOf(name, given)) {
      try {
        if (isResultParameter(name)) readResultParameter(result, types, name, item, context);
        else filters.push(types.map(type => parseFilter(type, name, item, context)));
        items.push(item);
      } catch (error) {
        if (!(error instanceof UnknownParameter)) throw error;
        warnings.push(unknownParameter(name, error.message, context));
      }
    }
    if (items.length > 0) applied.push([name, items.join(',')]);
  }
  const most = (inFilter: (filter: Filter) => number): number =>
    filters.reduce((n, ofTypes) => n + Math.max(0, ...ofTypes.map(inFilter)), 0);
  const valuesIn = (filter: Filter): number => countIn(filter, values => values.length, 1);
  if (most(valuesIn) > LIMITS.values)
    throw new FhirError('too-costly', `more than ${LIMITS.values} values in one search`);
  if (filters.flat().reduce((n, filter) => n + valuesIn(filter), 0) > LIMITS.valuesOfTypes)
    throw new FhirError('too-costly', `more than ${LIMITS.valuesOfTypes} values over all types; name fewer by _type`);
  if (most(filter => countIn(filter, unjoinedIn, 0)) > LIMITS.unjoined)
    throw new FhirError('too-costly', `more than ${LIMITS.unjoined} units or composite values in one search`);
  const links = filters.flat().reduce((n, filter) => n + linksIn(filter), 0);
  if (links > LIMITS.links)
    throw new FhirError(
      'too-costly',
      `chains and _has by more than ${LIMITS.links} ways; name types (subject:Patient)`,
    );
  const binding = JSON.stringify([context.caller, place, applied]);
  const { sorts, onlyTotal, ...shape } = result;
  const count = onlyTotal ? 0 : shape.count;
  const total = count === 0 ? 'accurate' : shape.total;
  const questions = types.map((type, i) => ({
    type,
    filters: filters.flatMap(ofTypes => ofTypes[i] ?? []),
    sort: sorts[i] ?? [],
  }));
  return { questions, place, ...shape, count, total, warnings, applied, written, binding };
}

/** Returns the warning for an ignored parameter. Under strict handling it throws instead. */
export function unknownParameter(name: string, message: string, context: Pick<ParseContext, 'handling'>): Issue {
  if (context.handling === 'strict') throw new FhirError('unknown-parameter', message, { parameter: printable(name) });
  const options = { severity: 'warning', parameter: printable(name) } as const;
  return issueOf('unknown-parameter', `${message}; it was ignored`, options);
}

/** Removes empty values of a list, because forms are sent with all their fields. */
function withoutEmpty(text: string): string {
  const values = splitEscaped(text, ',');
  const filled = values.filter(value => value !== '');
  return filled.length === values.length ? text : filled.join(',');
}

/**
 * Returns the warning for an empty value. Under strict handling it throws instead.
 * https://hl7.org/fhir/R4/search.html#errors
 */
function emptyValue(name: string, { handling }: ParseContext): Issue {
  const message = `parameter ${printable(name)} expects a value that is not empty`;
  if (handling === 'strict') throw new FhirError('wrong-value', message, { parameter: printable(name) });
  const options = { severity: 'warning', parameter: printable(name) } as const;
  return issueOf('wrong-value', `${message}; the empty one was ignored`, options);
}

/** Sums a number over the values of a filter, in chains once for each type. `other`: of a filter without values. */
function countIn(filter: Filter, inValues: (values: readonly TypedValue[]) => number, other: number): number {
  switch (filter.kind) {
    case 'match':
      return inValues(filter.values);
    case 'missing':
    case 'number':
    case 'compartment':
      return other;
    case 'chain':
      return filter.to.reduce((n, { filter: inner }) => n + countIn(inner, inValues, other), 0);
    case 'has':
      return countIn(filter.filter, inValues, other);
  }
}

/**
 * Counts references that a filter follows, one for each type that a chain may lead to, because each is planned
 * separately.
 */
function linksIn(filter: Filter): number {
  switch (filter.kind) {
    case 'chain':
      return filter.to.reduce((n, { filter: inner }) => n + 1 + linksIn(inner), 0);
    case 'has':
      return 1 + linksIn(filter.filter);
    default:
      return 0;
  }
}
