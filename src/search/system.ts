/**
 * Searches over several types at `[base]?_type=A,B&…`. In: names and values. Out: one question for each type; every other
 * parameter has to be offered by all of them. https://hl7.org/fhir/R4/http.html#search
 */
import { FhirError } from '../outcome.ts';
import { type ParseContext, printable } from './limits.ts';
import { parseQuestions } from './parse.ts';
import type { SystemQuery } from './query.ts';

type Parameters = readonly (readonly [name: string, value: string])[];

const TYPE = '_type';

/** `known`: the types that may be searched together, in the order in which they are answered. */
export function parseSystemSearch(
  known: readonly string[],
  parameters: Parameters,
  context: ParseContext,
): SystemQuery {
  const [understood, rest] = split(parameters);
  const types = understood.length === 0 ? known : typesNamed(understood, known);
  return parseQuestions({ types, place: '', understood }, rest, context);
}

/** The types that `_type` names, each once. Throws FhirError for one that is not known. */
export function typesNamed(parameters: Parameters, known: readonly string[]): readonly string[] {
  const named = parameters.flatMap(([, text]) => text.split(',').map(type => type.trim()));
  const unknown = named.find(type => !known.includes(type));
  if (unknown !== undefined) {
    throw new FhirError('not-supported', `_type: ${printable(unknown) || 'nothing'} cannot be searched here`, {
      parameter: TYPE,
    });
  }
  return [...new Set(named)];
}

function split(parameters: Parameters): readonly [Parameters, Parameters] {
  return [parameters.filter(([name]) => name === TYPE), parameters.filter(([name]) => name !== TYPE)];
}
