/**
 * Search type `quantity`: a number with its unit, and ranges of both.
 * https://hl7.org/fhir/R4/search.html#quantity
 */
import { COMPARATORS, edgesOfInterval } from '../../mapping/comparators.ts';
import type { NumberEdge } from '../../mapping/criterion.ts';
import type { Node } from '../../mapping/model.ts';
import { isPrimitive } from '../../r4/definitions.ts';
import { every, FALSE, not, some, TRUE } from '../../sql/construct.ts';
import type { Predicate } from '../../sql/expression.ts';
import type { NumberValue } from '../query.ts';
import { splitEscaped, unescaped, wrong } from '../values.ts';
import { numberEdges, readNumber } from './number.ts';
import { type Asking, type Leaf, type Of, paths, type SearchType } from './search-type.ts';

const VALUE = paths('value');

export const QUANTITY: SearchType = {
  read(text, _parameter, context) {
    const [amount = '', ...unit] = splitEscaped(text, '|');
    if (unit.length !== 0 && unit.length !== 2) throw wrong(context, '[prefix]number or [prefix]number|system|code');
    const [system, code] = unit.map(unescaped);
    return { kind: 'quantity', number: readNumber(amount, context), system, code: code === '' ? undefined : code };
  },
  parts: {
    Quantity: VALUE,
    Age: VALUE,
    Count: VALUE,
    Distance: VALUE,
    Duration: VALUE,
    Money: VALUE,
    SimpleQuantity: VALUE,
    Range: ['low', 'high'].map(end => [{ element: end }, { element: 'value' }]),
  },
};

/** Makes a leaf per unit, because quantities of one unit are searched together. */
export function quantityLeaves(quantities: readonly Of<'quantity'>[], ask: Asking): readonly Leaf[] {
  const byUnit = Map.groupBy(quantities, ({ system, code }) => JSON.stringify([system, code]));
  return [...byUnit.values()].map(alike => node => quantitiesMatch(node, alike, ask));
}

/** Matches quantities of one system and code. */
function quantitiesMatch(node: Node, quantities: readonly Of<'quantity'>[], ask: Asking): Predicate | undefined {
  const [first] = quantities;
  if (!first || isPrimitive(node.type)) return undefined;
  if (node.type === 'Range') return rangeMatches(node, first, quantities, ask);
  const any = quantities.flatMap(quantity => numberEdges(quantity.number));
  return every([amountMatches(node, any, ask), unitMatches(node, first, ask)]);
}

/** Compares the number with the bounds. A number with a comparator stands for an interval (decision 5). */
function amountMatches(node: Node, any: readonly (readonly NumberEdge[])[], ask: Asking): Predicate | undefined {
  const amount = (leaf: Leaf): Predicate | undefined => ask.child(node, 'value', leaf);
  const asked = (bounds: typeof any): Leaf => ask.primitive({ kind: 'number', any: bounds });
  const compared = ask.child(node, 'comparator', ask.present);
  if (!compared || compared.kind === 'false') return amount(asked(any));
  // A codec that reads the comparator beside the number has respected it already.
  const byCodec = (value: Node): boolean => value.kind === 'value' && value.codec.intervals === true;
  const alone =
    (bounds: typeof any): Leaf =>
    value =>
      byCodec(value) ? FALSE : asked(bounds)(value);
  return some([
    amount(value => (byCodec(value) ? asked(any)(value) : FALSE)),
    every([not(compared), amount(alone(any))]),
    ...COMPARATORS.map(comparator => {
      const ends = any.flatMap(edges => {
        const bounds = edgesOfInterval(comparator, edges);
        return bounds ? [bounds] : [];
      });
      return every([ask.child(node, 'comparator', ask.exact(comparator)), amount(alone(ends))]);
    }),
  ]);
}

/**
 * Matches a range with at least one end. A missing low lies below, a missing high above every number. Each end must
 * have the unit.
 */
function rangeMatches(
  node: Node,
  unit: Of<'quantity'>,
  quantities: readonly Of<'quantity'>[],
  ask: Asking,
): Predicate | undefined {
  const ofEnd = (end: 'low' | 'high', leaf: Leaf): Predicate | undefined =>
    ask.along(node, [{ element: end }, { element: 'value' }], leaf);
  const open = (end: 'low' | 'high'): Predicate | undefined => {
    const there = ofEnd(end, ask.present);
    return there && not(there);
  };
  const any = quantities.flatMap(({ number }) => rangeEdges(number));
  return every([
    ask.hasSearchable('quantity')(node),
    some(
      any.map(conjunction =>
        every(
          conjunction.map(({ end, edge }) => {
            const met = ofEnd(end, ask.primitive({ kind: 'number', any: [[edge]] }));
            const unbounded = edge.op.startsWith(end === 'low' ? '<' : '>');
            return unbounded ? some([met, open(end)]) : met;
          }),
        ),
      ),
    ),
    ...(['low', 'high'] as const).map(end =>
      some([open(end), ask.child(node, end, quantity => unitMatches(quantity, unit, ask))]),
    ),
  ]);
}

/** An end of a range of numbers, compared with the searched number. */
interface RangeEdge {
  readonly end: 'low' | 'high';
  readonly edge: NumberEdge;
}

/**
 * Compares the ends of a range, which both belong to it, with the written number, as those of a period with a date.
 * https://hl7.org/fhir/R4/datatypes.html#Range
 */
function rangeEdges(number: NumberValue): readonly (readonly RangeEdge[])[] {
  const { value, low, high } = number;
  const from = (op: NumberEdge['op'], at: string): RangeEdge => ({ end: 'low', edge: { op, at } });
  const to = (op: NumberEdge['op'], at: string): RangeEdge => ({ end: 'high', edge: { op, at } });
  switch (number.prefix) {
    case 'eq':
      return [[from('>=', low), to('<', high)]];
    case 'ne':
      return [[from('<', low)], [to('>=', high)]];
    case 'ap':
      return [[from('<=', high), to('>=', low)]];
    case 'gt':
      return [[to('>', value)]];
    case 'lt':
      return [[from('<', value)]];
    case 'ge':
      return [[to('>=', value)]];
    case 'le':
      return [[from('<=', value)]];
    case 'sa':
      return [[from('>', value)]];
    case 'eb':
      return [[to('<', value)]];
  }
}

/** Matches the unit of a quantity: its code and system, or its code or unit if the search names no system. */
function unitMatches(node: Node, { system, code }: Of<'quantity'>, ask: Asking): Predicate | undefined {
  const anySystem = system === undefined || system === '';
  if (code === undefined) return anySystem ? TRUE : ask.child(node, 'system', ask.exact(system));
  const coded = ask.child(node, 'code', ask.exact(code));
  if (anySystem) return some([coded, ask.child(node, 'unit', ask.exact(code))]);
  return every([coded, ask.child(node, 'system', ask.exact(system))]);
}
