/**
 * Turns a prefix (`ge`, `sa`, ...) into comparisons of the ends of intervals. In: a typed date or number. Out: a
 * disjunction of conjunctions of comparisons.
 * https://hl7.org/fhir/R4/search.html#prefix
 */
import { type Clock, type DateEdge, instantOf, type NumberEdge } from '../mapping/criterion.ts';
import type { NumberValue, TypedValue } from '../search/query.ts';

/** An end of a range of numbers compared with the searched number. */
export interface RangeEdge {
  readonly end: 'low' | 'high';
  readonly edge: NumberEdge;
}

/** Share of the distance to now, and of a number, that `ap` allows (the specification suggests 10 %). */
const APPROXIMATELY = 0.1;

export type Edges<E> = readonly (readonly E[])[];

/** The value's interval [start, end) against the searched interval [low, high). Only `ap` asks for the instant. */
export function dateEdges(value: TypedValue & { readonly kind: 'date' }, clock: Clock): Edges<DateEdge> {
  const { low, high } = value;
  const startsIn: DateEdge = { edge: 'start', op: '>=', at: low };
  const endsIn: DateEdge = { edge: 'end', op: '<=', at: high };
  const reachesAfter: DateEdge = { edge: 'end', op: '>', at: high };
  const beginsBefore: DateEdge = { edge: 'start', op: '<', at: low };
  switch (value.prefix) {
    case 'eq':
      return [[startsIn, endsIn]];
    case 'ne':
      return [[beginsBefore], [reachesAfter]];
    case 'gt':
      return [[reachesAfter]];
    case 'lt':
      return [[beginsBefore]];
    case 'ge':
      return [[reachesAfter], [startsIn, endsIn]];
    case 'le':
      return [[beginsBefore], [startsIn, endsIn]];
    case 'sa':
      return [[{ edge: 'start', op: '>=', at: high }]];
    case 'eb':
      return [[{ edge: 'end', op: '<=', at: low }]];
    case 'ap': {
      const slack = Math.round(Math.abs(instantOf(clock) - low) * APPROXIMATELY);
      return [
        [
          { edge: 'start', op: '<', at: high + slack },
          { edge: 'end', op: '>', at: low - slack },
        ],
      ];
    }
  }
}

/** A number against the written one; its implicit precision counts for eq and ne alone. */
export function numberEdges(number: NumberValue): Edges<NumberEdge> {
  const { value, low, high } = number;
  switch (number.prefix) {
    case 'eq':
    case 'ap':
      return [
        [
          { op: '>=', at: low },
          { op: '<', at: high },
        ],
      ];
    case 'ne':
      return [[{ op: '<', at: low }], [{ op: '>=', at: high }]];
    case 'gt':
      return [[{ op: '>', at: value }]];
    case 'lt':
      return [[{ op: '<', at: value }]];
    case 'sa':
      return [[{ op: '>', at: value, whole: true }]];
    case 'eb':
      return [[{ op: '<', at: value, whole: true }]];
    case 'ge':
      return [[{ op: '>=', at: value }]];
    case 'le':
      return [[{ op: '<=', at: value }]];
  }
}

/**
 * The ends of a range, which both belong to it, against the written number, as those of a period against a date.
 * https://hl7.org/fhir/R4/datatypes.html#Range
 */
export function rangeEdges(number: NumberValue): Edges<RangeEdge> {
  const { value, low, high } = number;
  const from = (op: NumberEdge['op'], at: string): RangeEdge => ({ end: 'low', edge: { op, at } });
  const to = (op: NumberEdge['op'], at: string): RangeEdge => ({ end: 'high', edge: { op, at } });
  switch (number.prefix) {
    case 'eq':
      return [[from('>=', low), to('<', high)]];
    case 'ne':
      return [[from('<', low)], [to('>=', high)]];
    case 'ap':
      return [[from('<', high), to('>=', low)]];
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
