/**
 * Compares texts without the case of ASCII letters, the only case that all engines agree on. In: a text expression and
 * the text to look for. Out: a Predicate. If the text, or its beginning, has few spellings, an index on the bare
 * column is used.
 * https://hl7.org/fhir/R4/search.html#token
 */
import { UNICODE } from '../../sql/column-type.ts';
import { among, and, call, compare, equals, or, value } from '../../sql/construct.ts';
import type { Expression, Predicate } from '../../sql/expression.ts';
import type { AnyCase } from '../criterion.ts';

/** The text with its ASCII letters in upper case. */
export function upperAscii(text: string): string {
  return text.replace(/[a-z]+/g, letters => letters.toUpperCase());
}

/** Whether the text has another spelling at all. */
export function hasCase(text: string): boolean {
  return /[A-Za-z]/.test(text);
}

/** The expression is the text, in any case. */
export function equalsAnyCase(of: Expression, text: string, how: AnyCase): Predicate {
  const computed = equals(call('upper', [of], UNICODE), value(upperAscii(text), UNICODE));
  if (how === 'listed') return computed;
  const [begin = ''] = BEGINNING.exec(text) ?? [];
  const spellings = spellingsOf(begin);
  if (begin.length === text.length)
    return among(
      of,
      spellings.map(one => value(one, UNICODE)),
    );
  // Nothing but a bare column has an index to enter.
  if (begin === '' || of.kind !== 'column') return computed;
  return and(or(...spellings.map(one => beginsWith(of, one))), computed);
}

/** Visible ASCII characters with three letters among them at most, so that there are eight spellings at most. */
const BEGINNING = /^(?:[!-@[-`{-~]*[A-Za-z]){0,3}[!-@[-`{-~]*/;

function spellingsOf(text: string): readonly string[] {
  let spellings = [''];
  for (const character of text) {
    const ways = hasCase(character) ? [character.toLowerCase(), character.toUpperCase()] : [character];
    spellings = spellings.flatMap(before => ways.map(way => before + way));
  }
  return spellings;
}

/** Texts from the beginning up to the one that would follow all that begin so. */
function beginsWith(of: Expression, begin: string): Predicate {
  const behind = begin.slice(0, -1) + String.fromCharCode(begin.charCodeAt(begin.length - 1) + 1);
  return and(compare(of, '>=', value(begin, UNICODE)), compare(of, '<', value(behind, UNICODE)));
}
