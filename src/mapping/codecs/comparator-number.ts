/**
 * `comparator-number`: results such as `<5` in text columns. Facets: `.value` (the number) and `.comparator` (`<`,
 * `<=`, `>`, `>=`, absent for a plain number). In: text. Out: decimal and code of a Quantity.
 *
 * FHIR leaves open how `<5` is searched. Here it is the interval below 5. Searches with a bound on one side (lt, gt,
 * le, ge, ne) match if the interval overlaps the searched range; sa and eb match if it lies within as a whole. Searches
 * with both bounds (eq, ap) match if it lies within, which an interval without an end never does. So `lt6`, `gt3` and
 * `eb5` match `<5`; `eq5` and `eb4` do not.
 * https://hl7.org/fhir/R4/search.html#quantity
 */
import { type ColumnType, UNICODE } from '../../sql/column-type.ts';
import { and, call, constant, FALSE, glob, not, or, TRUE } from '../../sql/construct.ts';
import type { Expression, Predicate } from '../../sql/expression.ts';
import { COMPARATORS, type Comparator, edgesOfInterval } from '../comparators.ts';
import { type Codec, only } from './codec.ts';
import { isNumberText, numberOf, parseNumberText, trimmedText } from './decimal.ts';
import { matchEdge, numberCodec } from './number.ts';
import { trim } from './text.ts';

/** Reads the number, or the comparator before it. */
export function comparatorNumberCodec(facet: 'value' | 'comparator', columnType: ColumnType): Codec {
  return {
    label: `comparator-number.${facet}`,
    yields: facet === 'value' ? ['decimal'] : ['code'],
    columns: 1,
    small: true,
    inverse: 'computed',
    ...(facet === 'value' ? { intervals: true } : {}),
    decode: raw => {
      const parts = typeof raw === 'string' ? split(trim(raw)) : undefined;
      if (!parts) return undefined;
      return facet === 'value' ? { decimal: parts.number } : parts.comparator;
    },
    present: columns => {
      const compared = COMPARATORS.map(comparator => isCompared(only(columns), comparator));
      return facet === 'value' ? or(isNumberText(trimmedText(only(columns))), ...compared) : or(...compared);
    },
    match: (columns, criterion) => {
      const column = only(columns);
      if (facet === 'comparator') {
        if (criterion.kind !== 'exact') return undefined;
        const comparator = COMPARATORS.find(one => one === criterion.text);
        return comparator ? isCompared(column, comparator) : FALSE;
      }
      if (criterion.kind !== 'number') return undefined;
      const text = trimmedText(column);
      const points = criterion.any.map(edges => and(...edges.map(edge => matchEdge(numberOf(text), columnType, edge))));
      return or(
        and(isNumberText(text), or(...points)),
        ...COMPARATORS.map(comparator => {
          const number = numberOf(remainder(column, comparator));
          const overlaps = criterion.any.map(edges => {
            const ends = edgesOfInterval(comparator, edges);
            return ends ? and(...ends.map(end => matchEdge(number, columnType, end))) : FALSE;
          });
          return and(isCompared(column, comparator), or(...overlaps));
        }),
      );
    },
    ...(facet === 'value' ? byNumber() : {}),
  };
}

/** Sorts by the number, whatever comparator precedes it: `<5` is among the fives. */
function byNumber(): Pick<Codec, 'order'> {
  const { order } = numberCodec({ columnType: UNICODE, fhirType: 'decimal' });
  // A text with a value has these characters only before the number.
  const number = (column: Expression): Expression =>
    ['<', '>', '='].reduce((text, sign) => call('replace', [text, constant(sign, UNICODE), NOTHING], UNICODE), column);
  return order ? { order: { ...order, by: columns => order.by([number(only(columns))]) } } : {};
}

const NOTHING = constant('', UNICODE);

function split(text: string): { readonly comparator: Comparator | undefined; readonly number: string } | undefined {
  const comparator = COMPARATORS.find(one => text.startsWith(one));
  const number = parseNumberText(trim(comparator ? text.slice(comparator.length) : text));
  return number === undefined ? undefined : { comparator, number };
}

/** Returns the text after the comparator. */
function remainder(column: Expression, comparator: Comparator): Expression {
  return call('trim', [call('substring', [trimmedText(column), comparator.length + 1, 4000], UNICODE)], UNICODE);
}

function isCompared(column: Expression, comparator: Comparator): Predicate {
  const text = trimmedText(column);
  const longer = comparator.length === 1 ? not(glob(text, `${comparator}=*`)) : TRUE;
  return and(glob(text, `${comparator}*`), longer, isNumberText(remainder(column, comparator)));
}
