/**
 * From a query string to a SearchQuery. In: names and values as the client sent them, and what is offered. Out: typed
 * filters and result parameters. Errors: FhirError naming the parameter; what is unknown is an error under strict
 * handling and a warning under lenient. https://hl7.org/fhir/R4/search.html
 */
import { FhirError, type Issue } from '../outcome.ts';
import { parseFilter } from './filters.ts';
import { LIMITS, type ParseContext, printable, UnknownParameter } from './limits.ts';
import type { Filter, SearchQuery } from './query.ts';
import { emptyResult, isResultParameter, readResultParameter } from './result-parameters.ts';

/** Read by the HTTP layer, not by the search. */
const ELSEWHERE: ReadonlySet<string> = new Set(['_format', '_pretty']);

export function parseSearch(
  type: string,
  parameters: readonly (readonly [name: string, value: string])[],
  context: ParseContext,
): SearchQuery {
  if (!context.offers.types.includes(type))
    throw new FhirError('not-found', `this server has no ${printable(type)} resources`);
  if (parameters.length > LIMITS.parameters) {
    throw new FhirError('too-costly', `more than ${LIMITS.parameters} parameters in one search`);
  }
  const filters: Filter[] = [];
  const warnings: Issue[] = [];
  const applied: (readonly [string, string])[] = [];
  const result = emptyResult(context.pageSize);
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
    try {
      if (isResultParameter(name)) readResultParameter(result, type, name, text, context);
      else filters.push(parseFilter(type, name, text, context));
      applied.push([name, text]);
    } catch (error) {
      if (!(error instanceof UnknownParameter)) throw error;
      if (context.handling === 'strict')
        throw new FhirError('not-supported', error.message, { parameter: printable(name) });
      warnings.push({
        severity: 'warning',
        code: 'not-supported',
        diagnostics: `${error.message}; it was ignored`,
        expression: `http.${printable(name)}`,
      });
    }
  }
  const values = filters.reduce((n, filter) => n + valuesIn(filter), 0);
  if (values > LIMITS.values) throw new FhirError('too-costly', `more than ${LIMITS.values} values in one search`);
  const binding = cursorBinding(context.caller, type, applied);
  const cursor = sealed === undefined ? undefined : context.cursors.open(sealed, binding);
  if (sealed !== undefined && !cursor) {
    throw new FhirError('value', 'this page link is not valid for this search; start again from the first page', {
      parameter: '_cursor',
    });
  }
  return { type, filters, ...result, cursor, warnings, applied };
}

/** The text that a page link's signature covers beside the cursor. */
export function cursorBinding(caller: string, type: string, applied: SearchQuery['applied']): string {
  return JSON.stringify([caller, type, applied]);
}

function valuesIn(filter: Filter): number {
  switch (filter.kind) {
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
