/**
 * Search type `date`: compares a date or a period with the interval that the searched date means.
 * https://hl7.org/fhir/R4/search.html#date
 */
import { type Clock, type DateEdge, instantOf } from '../../mapping/criterion.ts';
import type { Node } from '../../mapping/model.ts';
import { every, FALSE, not, some } from '../../sql/construct.ts';
import type { Predicate } from '../../sql/expression.ts';
import { dateInterval } from '../dates.ts';
import { prefixed, wrong } from '../values.ts';
import { type Asking, type Leaf, type Of, paths, type SearchType } from './search-type.ts';

/** Primitive types that are dates. */
export const DATES: ReadonlySet<string> = new Set(['date', 'dateTime', 'instant']);

export const DATE: SearchType = {
  read(text, _parameter, context) {
    const { prefix, rest } = prefixed(text);
    const interval = dateInterval(rest, context.zone);
    if (!interval) throw wrong(context, 'a date or date-time (yyyy, yyyy-mm, yyyy-mm-dd, yyyy-mm-ddThh:mm[:ss][zone])');
    return { kind: 'date', prefix, ...interval };
  },
  parts: {
    Period: paths('start', 'end'),
    Timing: [[{ element: 'event' }], [{ element: 'repeat' }, { element: 'bounds', type: 'Period' }]],
  },
};

export function dateLeaf(dates: readonly Of<'date'>[], ask: Asking): Leaf {
  const any = dates.flatMap(date => dateEdges(date, ask.clock));
  return node => dateMatches(node, any, ask);
}

type Edges = readonly (readonly DateEdge[])[];

/** Share of the distance to now that `ap` allows (the specification suggests 10 %). */
const APPROXIMATELY = 0.1;

/**
 * Compares the value's interval [start, end) with the searched interval [low, high). Only `ap` depends on the present
 * instant.
 */
function dateEdges(value: Of<'date'>, clock: Clock): Edges {
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

function dateMatches(node: Node, any: Edges, ask: Asking): Predicate | undefined {
  if (node.type === 'Period') {
    const open = (element: string): Predicate | undefined => {
      const there = ask.child(node, element, ask.present);
      return there && not(there);
    };
    return every([
      ask.present(node),
      some(
        any.map(conjunction =>
          every(
            conjunction.map(edge => {
              const element = edge.edge;
              const met = ask.child(node, element, ask.primitive({ kind: 'date', any: [[edge]] }));
              // A missing start lies before, a missing end after every instant.
              const unbounded = (element === 'start' && edge.op === '<') || (element === 'end' && edge.op === '>');
              return unbounded ? some([met, open(element)]) : met;
            }),
          ),
        ),
      ),
    ]);
  }
  if (node.type === 'Timing') {
    return some([
      ask.child(node, 'event', event => dateMatches(event, any, ask)),
      ask.along(node, [{ element: 'repeat' }, { element: 'bounds', type: 'Period' }], p => dateMatches(p, any, ask)),
    ]);
  }
  // A value of another type of a choice, such as a text or an age, is no date.
  return DATES.has(node.type) ? ask.primitive({ kind: 'date', any })(node) : FALSE;
}
