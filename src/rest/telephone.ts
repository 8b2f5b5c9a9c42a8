/**
 * Reads a telephone number as people write it. In: a text. Out: the digits that an equal number must have; undefined
 * for other text. The country code of North America may be absent on either side, an extension counts only if it is
 * asked for, and a number without an area code matches any area. docs/ccds-documents.md
 */
import type { Criterion } from '../mapping/criterion.ts';

/** The digits of a value pass one of some tests. */
type ByDigits = Extract<Criterion, { readonly kind: 'digits' }>;

/** A word before it; the number; an extension. */
const FORM = /^(?:[a-z]+[.:\s]+|tel:)?([^a-z#]*)(?:(?:x|ext|extension|#)[.:\s]*(\d{1,6}))?$/i;
/**
 * Between and around the digits anything but letters: people use blanks, hyphens, dots, brackets, slashes and dashes.
 */
const LETTER = /\p{L}/u;
const LONGEST = 40;

export function readTelephone(text: string): ByDigits | undefined {
  const [, number = '', extension = ''] = (text.length <= LONGEST && FORM.exec(text.trim())) || [];
  const digits = number.replace(/\D/g, '');
  if (LETTER.test(number) || digits.length < 7 || digits.length > 15) return undefined;
  // Numbers of North America have ten digits, with the country eleven, without the area seven.
  const national = digits.length === 11 && digits.startsWith('1') ? digits.slice(1) : digits;
  const complete = national + extension;
  if (national.length === 7) return { kind: 'digits', any: [{ digits: complete, where: 'end' }] };
  if (national.length !== 10) return { kind: 'digits', any: [{ digits: complete, where: 'whole' }] };
  const both = (where: 'whole' | 'extended') => ['', '1'].map(country => ({ digits: country + complete, where }));
  return { kind: 'digits', any: extension === '' ? [...both('whole'), ...both('extended')] : both('whole') };
}
