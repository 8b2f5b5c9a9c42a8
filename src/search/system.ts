/**
 * Parses searches over several types: `[base]?_type=A,B&…`. In: names and values. Out: one question per type. A type in
 * `_type` must offer every other parameter; without `_type` the types that offer them are searched.
 * https://hl7.org/fhir/R4/http.html#search
 */
import { FhirError, type Issue, issueOf } from '../outcome.ts';
import { parseQuestions } from './parse.ts';
import type { Parameters, SystemQuery } from './query.ts';
import { isResultParameter } from './result-parameters.ts';
import { type ParseContext, printable } from './values.ts';

const TYPE = '_type';
/** Parameters that are read elsewhere, or that concern referring resources. */
const NOT_OF_TYPES: ReadonlySet<string> = new Set(['_cursor', '_format', '_pretty', '_has']);

/**
 * Parses a search over several types. `known`: the types that may be searched together, in the order of the answer.
 * `place`: path of the links.
 */
export function parseSystemSearch(
  known: readonly string[],
  parameters: Parameters,
  context: ParseContext,
  place = '',
): SystemQuery {
  const [own, rest] = split(parameters);
  if (own.length > 0) return parseQuestions({ types: typesNamed(own, known), place, parsed: own }, rest, context);
  const able = known.filter(type => offersAll(type, rest, context));
  // If no type offers all, all are searched, so that the error names the cause.
  const types = able.length === 0 ? known : able;
  return parseQuestions({ types, place, warnings: leftOut(known, types) }, rest, context);
}

function offersAll(type: string, parameters: Parameters, context: ParseContext): boolean {
  return parameters.every(([name]) => {
    if (isResultParameter(name) || !/^[\w-]+(?=[:.]|$)/.test(name)) return true;
    const code = name.split(/[:.]/, 1)[0] ?? '';
    return NOT_OF_TYPES.has(code) || context.offers.find(type, code) !== undefined;
  });
}

function leftOut(known: readonly string[], types: readonly string[]): readonly Issue[] {
  const missing = known.filter(type => !types.includes(type));
  if (missing.length === 0) return [];
  const diagnostics = `types that do not support all of these parameters are omitted: ${missing.join(', ')}`;
  return [issueOf('left-out', diagnostics, { severity: 'information' })];
}

/** Returns the types that `_type` names, each once. Throws FhirError for an unknown one. */
export function typesNamed(parameters: Parameters, known: readonly string[]): readonly string[] {
  const named = parameters.flatMap(([, text]) => text.split(',').map(type => type.trim()));
  const unknown = named.find(type => !known.includes(type));
  if (unknown !== undefined) {
    throw new FhirError('unsupported-type', `_type: ${printable(unknown) || 'nothing'} cannot be searched here`, {
      parameter: TYPE,
    });
  }
  return [...new Set(named)];
}

function split(parameters: Parameters): readonly [Parameters, Parameters] {
  return [parameters.filter(([name]) => name === TYPE), parameters.filter(([name]) => name !== TYPE)];
}
