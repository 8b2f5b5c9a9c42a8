/**
 * From a query string to a SearchQuery. In: names and values as the client sent them, and what is offered. Out: typed
 * filters and result parameters. Errors: FhirError naming the parameter; what is unknown is an error under strict
 * handling and a warning under lenient. https://hl7.org/fhir/R4/search.html
 */
import { FhirError, type Issue } from '../outcome.ts';
import { parseFilter } from './filters.ts';
import { LIMITS, type ParseContext, printable, UnknownParameter } from './limits.ts';
import type { Filter, SearchQuery, SystemQuery } from './query.ts';
import { emptyResult, isResultParameter, itemsOf, readResultParameter } from './result-parameters.ts';

/** Read by the HTTP layer, not by the search. */
const ELSEWHERE: ReadonlySet<string> = new Set(['_format', '_pretty']);

type Parameters = readonly (readonly [name: string, value: string])[];

/** A search on one type. */
export function parseSearch(type: string, parameters: Parameters, context: ParseContext): SearchQuery {
  if (!context.offers.types.includes(type))
    throw new FhirError('not-found', `this server has no ${printable(type)} resources`);
  const { questions, ...shape } = parseQuestions({ types: [type], place: type }, parameters, context);
  const [{ filters, sort } = { filters: [], sort: [] }] = questions;
  return { ...shape, type, filters, sort };
}

/** What is asked beside the parameters: the types, where links lead, and parameters that were understood already. */
export interface Asked {
  readonly types: readonly string[];
  readonly place: string;
  readonly understood?: Parameters;
  readonly warnings?: readonly Issue[];
}

/** The same parameters asked of several types: offered is what each of them offers. */
export function parseQuestions(asked: Asked, parameters: Parameters, context: ParseContext): SystemQuery {
  const { types, place } = asked;
  if (parameters.length > LIMITS.parameters) {
    throw new FhirError('too-costly', `more than ${LIMITS.parameters} parameters in one search`);
  }
  const filters: Filter[][] = [];
  const warnings: Issue[] = [...(asked.warnings ?? [])];
  const applied = [...(asked.understood ?? [])];
  const result = emptyResult(types, context.pageSize);
  let sealed: string | undefined;
  for (const [name, text] of parameters) {
    if (text.length > LIMITS.valueLength) {
      throw new FhirError(
        'too-costly',
        `the value of ${printable(name)} is longer than ${LIMITS.valueLength} characters`,
      );
    }
    if (ELSEWHERE.has(name)) continue;
    if (name === '_cursor') {
      sealed = text;
      continue;
    }
    const understood: string[] = [];
    for (const item of itemsOf(name, text)) {
      try {
        if (isResultParameter(name)) readResultParameter(result, types, name, item, context);
        else filters.push(types.map(type => parseFilter(type, name, item, context)));
        understood.push(item);
      } catch (error) {
        if (!(error instanceof UnknownParameter)) throw error;
        warnings.push(unknownParameter(name, error.message, context));
      }
    }
    if (understood.length > 0) applied.push([name, understood.join(',')]);
  }
  const values = filters.reduce((n, ofTypes) => n + valuesIn(ofTypes[0]), 0);
  if (values > LIMITS.values) throw new FhirError('too-costly', `more than ${LIMITS.values} values in one search`);
  const binding = JSON.stringify([context.caller, place, applied]);
  const cursor = sealed === undefined ? undefined : context.cursors.open(sealed, binding);
  if (sealed !== undefined && !cursor) {
    throw new FhirError('value', 'this page link is not valid for this search; start again from the first page', {
      parameter: '_cursor',
    });
  }
  const { sorts, onlyTotal, ...shape } = result;
  const count = onlyTotal ? 0 : shape.count;
  const total = count === 0 ? 'accurate' : shape.total;
  const questions = types.map((type, i) => ({
    type,
    filters: filters.flatMap(ofTypes => ofTypes[i] ?? []),
    sort: sorts[i] ?? [],
  }));
  return { questions, place, ...shape, count, total, cursor, warnings, applied, binding };
}

/** The warning for a parameter that is ignored; under strict handling it is refused instead. */
export function unknownParameter(name: string, message: string, context: Pick<ParseContext, 'handling'>): Issue {
  if (context.handling === 'strict') throw new FhirError('not-supported', message, { parameter: printable(name) });
  return {
    severity: 'warning',
    code: 'not-supported',
    diagnostics: `${message}; it was ignored`,
    expression: `http.${printable(name)}`,
  };
}

function valuesIn(filter: Filter | undefined): number {
  switch (filter?.kind) {
    case undefined:
      return 0;
    case 'match':
      return filter.values.length;
    case 'missing':
      return 1;
    case 'chain':
      return filter.to.reduce((n, { filter: inner }) => n + valuesIn(inner), 0);
    case 'has':
      return valuesIn(filter.filter);
  }
}
