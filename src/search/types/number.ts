/**
 * Search type `number`: a number against the written one, whose precision counts for `eq` and `ne`.
 * https://hl7.org/fhir/R4/search.html#number
 */
import type { NumberEdge } from '../../mapping/criterion.ts';
import { writtenNumber } from '../decimal.ts';
import type { NumberValue } from '../query.ts';
import { prefixed, type ValueContext, wrong } from '../values.ts';
import type { Asking, Leaf, SearchType } from './search-type.ts';

export const NUMBER: SearchType = {
  read: (text, _parameter, context) => readNumber(text, context),
  parts: {},
};

/** Also the amount of a quantity. */
export function readNumber(text: string, context: ValueContext): NumberValue {
  const { prefix, rest } = prefixed(text);
  const written = writtenNumber(rest);
  if (!written) throw wrong(context, 'a number, such as 5.4 or 1e2');
  if (prefix !== 'ap') return { kind: 'number', prefix, ...written };
  const value = Number(written.value);
  const slack = Math.abs(value) * APPROXIMATELY;
  return { kind: 'number', prefix, value: written.value, low: plain(value - slack), high: plain(value + slack) };
}

function plain(value: number): string {
  return writtenNumber(String(value))?.value ?? '0';
}

/** Share of a number that `ap` allows (the specification suggests 10 %). */
const APPROXIMATELY = 0.1;

export function numberLeaf(numbers: readonly NumberValue[], ask: Asking): Leaf {
  return ask.primitive({ kind: 'number', any: numbers.flatMap(numberEdges) });
}

/** A number against the written one; its implicit precision counts for eq and ne alone. */
export function numberEdges(number: NumberValue): readonly (readonly NumberEdge[])[] {
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
