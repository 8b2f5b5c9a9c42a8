/**
 * Lists the search types of FHIR. In: the text of a value, or typed values. Out: the typed value; a Leaf that tests an
 * element for one of them.
 * https://hl7.org/fhir/R4/search.html#ptypes
 */

import { FhirError } from '../../outcome.ts';
import { isPrimitive } from '../../r4/definitions.ts';
import type { SearchParameterType } from '../../r4/search-parameters.ts';
import { some } from '../../sql/construct.ts';
import type { Modifier, TypedValue } from '../query.ts';
import { splitEscaped, unescaped, type ValueContext, wrong } from '../values.ts';
import { DATE, dateLeaf } from './date.ts';
import { NUMBER, numberLeaf } from './number.ts';
import { QUANTITY, quantityLeaves } from './quantity.ts';
import { foreignReferenceLeaf, REFERENCE, referenceLeaf } from './reference.ts';
import type { Asking, Kind, Leaf, Of, SearchedParameter, SearchType } from './search-type.ts';
import { STRING, stringLeaf } from './string.ts';
import { readToken, readTypedIdentifier, TOKEN, tokenLeaf, typedIdentifierLeaf } from './token.ts';
import { URI, uriLeaf } from './uri.ts';

/** Its parts are matched within one item, by src/plan/filter.ts. */
const COMPOSITE: SearchType = {
  read(text, { components = [] }, context) {
    const parts = splitEscaped(text, '$');
    if (parts.length !== components.length) throw wrong(context, `${components.length} parts with $ between`);
    return {
      kind: 'composite',
      parts: components.map((component, i) =>
        typedValue(parts[i] ?? '', { ...component, targets: [] }, undefined, context),
      ),
    };
  },
  parts: {},
};

const SPECIAL: SearchType = {
  read(_text, _parameter, { name }) {
    throw new FhirError('unknown-parameter', `parameter ${name} is not supported`, { parameter: name });
  },
  parts: {},
};

export const SEARCH_TYPES: Readonly<Record<SearchParameterType, SearchType>> = {
  token: TOKEN,
  string: STRING,
  uri: URI,
  date: DATE,
  number: NUMBER,
  quantity: QUANTITY,
  reference: REFERENCE,
  composite: COMPOSITE,
  special: SPECIAL,
};

/**
 * How a value is read under each modifier; undefined: as without one. Values of `in` and similar modifiers are replaced
 * before (value-set-expansion.ts).
 */
const READ_BY_MODIFIER: Readonly<Record<Modifier, ((text: string, context: ValueContext) => TypedValue) | undefined>> =
  {
    not: undefined,
    text: text => ({ kind: 'string', text: unescaped(text) }),
    exact: undefined,
    contains: undefined,
    below: undefined,
    above: undefined,
    in: undefined,
    'not-in': undefined,
    'of-type': readTypedIdentifier,
    identifier: readToken,
  };

/** Reads one value, as written after the split at commas. */
export function typedValue(
  text: string,
  parameter: SearchedParameter,
  modifier: Modifier | undefined,
  context: ValueContext,
): TypedValue {
  if (text === '') throw wrong(context, 'a value that is not empty');
  const read = modifier && READ_BY_MODIFIER[modifier];
  return read ? read(text, context) : SEARCH_TYPES[parameter.type].read(text, parameter, context);
}

/** For each component of a composite, the values of which one must hold. */
export type CompositeParts = readonly (readonly TypedValue[])[];

/** Joins composite values that differ in one component only: most name a few codes, each with several amounts. */
export function alikeComposites(composites: readonly Of<'composite'>[]): readonly CompositeParts[] {
  let joined: readonly CompositeParts[] = composites.map(({ parts }) => parts.map(part => [part]));
  const components = Math.max(0, ...joined.map(parts => parts.length));
  for (let i = components - 1; i >= 0; i--) {
    const alike = Map.groupBy(joined, parts => JSON.stringify(parts.toSpliced(i, 1)));
    joined = [...alike.values()].flatMap(([first, ...more]) =>
      first === undefined
        ? []
        : [
            first.with(
              i,
              [first, ...more].flatMap(parts => parts[i] ?? []),
            ),
          ],
    );
  }
  return joined;
}

/**
 * Counts the values of a parameter that no comparison can join: composites that differ in several components, and units
 * of quantities. Each is planned for every mapping by itself, which takes milliseconds.
 */
export function unjoinedIn(values: readonly TypedValue[]): number {
  const composites = values.filter((value): value is Of<'composite'> => value.kind === 'composite');
  const quantities = values.filter((value): value is Of<'quantity'> => value.kind === 'quantity');
  const units = new Set(quantities.map(({ system, code }) => JSON.stringify([system, code])));
  return alikeComposites(composites).reduce(
    (n, parts) => n + Math.max(1, ...parts.map(part => unjoinedIn(part))),
    units.size,
  );
}

/** Makes the leaf that tests for one of several values. Values of a kind are tested together. */
export function matching(values: readonly TypedValue[], modifier: Modifier | undefined, ask: Asking): Leaf {
  const leaves: Leaf[] = [];
  const add = <K extends Kind>(kind: K, leafOf: (members: readonly Of<K>[]) => Leaf | readonly Leaf[]): void => {
    const members = values.filter((value): value is Of<K> => value.kind === kind);
    if (members.length > 0) leaves.push(...[leafOf(members)].flat());
  };
  add('token', tokens => tokenLeaf(tokens, modifier, ask));
  add('string', strings => stringLeaf(strings, modifier, ask));
  add('reference', references => referenceLeaf(references, ask));
  add('typed-identifier', identifiers => identifiers.map(identifier => typedIdentifierLeaf(identifier, ask)));
  add('uri', uris => uriLeaf(uris, modifier, ask));
  add('date', dates => dateLeaf(dates, ask));
  add('number', numbers => numberLeaf(numbers, ask));
  add('quantity', quantities => quantityLeaves(quantities, ask));
  add('foreign-reference', references => foreignReferenceLeaf(references, ask));
  add('digits', tests => digitsLeaf(tests, ask));
  add('composite', () => () => undefined);
  return node => some(leaves.map(leaf => leaf(node)));
}

/** Matches telephone numbers by their digits: no parameter of FHIR, but a filter of the REST interface. */
function digitsLeaf(tests: readonly Of<'digits'>[], ask: Asking): Leaf {
  const leaf = ask.primitive({ kind: 'digits', any: tests.flatMap(({ any }) => any) });
  return node => (isPrimitive(node.type) ? leaf(node) : ask.child(node, 'value', leaf));
}
