/**
 * `written`: dates that a text spells in some order with separators, `03/10/2024` or `10.3.2024`, as the digits
 * yyyymmdd that `ymd8` reads. In: a form such as `MM/DD/YYYY` or, with the names of months, `DD-MON-YYYY`; for years of
 * two digits also the first of the hundred years that they stand for. Out: a text step; text of another form is absent.
 * Zeros for a month or a day stay zeros, which are a month or a year to `ymd8`. Zeros alone are no date.
 */
import { UNICODE } from '../../sql/column-type.ts';
import { call, constant, glob } from '../../sql/construct.ts';
import type { Expression } from '../../sql/expression.ts';
import { trim } from './text.ts';
import type { TextStep } from './text-step.ts';

const FORM = /^(YYYY|YY|MON|MM?|DD?)([-/. ]?)(YYYY|YY|MON|MM?|DD?)([-/. ]?)(YYYY|YY|MON|MM?|DD?)$/;
const MONTHS = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ');

/** A part as one spelling has it: where it begins, from 1, and how long it is. */
interface Part {
  readonly at: number;
  readonly length: number;
  /** What the part means, where its characters do not say it. */
  readonly digits?: string;
  /** The digits that are left out before them. */
  readonly century?: string;
}

/** One way to spell the form: `M` is one digit or two, `MON` each name of a month. */
interface Spelling {
  readonly pattern: string;
  readonly isSpelt: RegExp;
  readonly year: Part;
  readonly month: Part;
  readonly day: Part;
}

/** Whether a text is a form: year, month and day once each, and `M` or `D` between separators. */
function isDateForm(form: string): boolean {
  const [, first = '', before = '', second = '', after = '', third = ''] = FORM.exec(form) ?? [];
  const letters = [first, second, third].map(part => part.charAt(0)).sort();
  if (letters.join('') !== 'DMY') return false;
  return (before !== '' && after !== '') || [first, second, third].every(part => part.length > 1);
}

/** What is wrong with a form and the first of its hundred years, in words; undefined: nothing. */
export function wrongDateForm(form: string, from: number | undefined): string | undefined {
  if (!isDateForm(form))
    return 'not a date format: one each of YYYY or YY, MM, M or MON, DD or D, with / - . or a blank between';
  const isShort = !form.includes('YYYY');
  if (isShort && from === undefined)
    return `which years YY stands for has to be said: \`{ form: ${form}, from: 1930 }\` reads 30 as 1930 and 29 as 2029`;
  return !isShort && from !== undefined ? '`from` is for years of two digits, YY' : undefined;
}

/** The step for a form that is one. `from`: the first of the hundred years that two digits stand for. */
export function writtenDateStep(form: string, from?: number): TextStep {
  const spellings = from === undefined ? spellingsOf(form) : [...zerosOf(form), ...spellingsOf(form, from)];
  return {
    label: from === undefined ? `written ${form}` : `written ${form} from ${from}`,
    options: { step: 'written', form, ...(from !== undefined && { from }) },
    apply: raw => {
      const text = trim(raw);
      const spelling = spellings.find(({ isSpelt }) => isSpelt.test(text));
      if (!spelling) return undefined;
      const part = ({ at, length, digits, century = '' }: Part, width: number): string =>
        digits ?? century + text.slice(at - 1, at - 1 + length).padStart(width - century.length, '0');
      return part(spelling.year, 4) + part(spelling.month, 2) + part(spelling.day, 2);
    },
    sql: column => {
      const text = call('trim', [column], UNICODE);
      const part = ({ at, length, digits, century }: Part, width: number): readonly Expression[] => {
        if (digits !== undefined) return [constant(digits, UNICODE)];
        const before = century ?? (length < width ? '0' : '');
        return [...(before === '' ? [] : [constant(before, UNICODE)]), call('substring', [text, at, length], UNICODE)];
      };
      const of = spellings.map(({ pattern, year, month, day }) => ({
        when: glob(text, pattern),
        give: call('concat', [...part(year, 4), ...part(month, 2), ...part(day, 2)], UNICODE),
      }));
      return { kind: 'choice', of, type: UNICODE };
    },
  };
}

function spellingsOf(form: string, from?: number): readonly Spelling[] {
  return spellingsBy(form, part => waysOf(part, from));
}

/** Zeros in the place of a date, which say that there is none; with four digits `ymd8` knows their year. */
function zerosOf(form: string): readonly Spelling[] {
  if (form.includes('MON')) return [];
  return spellingsBy(form, part =>
    lengthsOf(part).map(length => ({
      pattern: '0'.repeat(length),
      length,
      digits: part === 'YY' ? '0000' : '00',
    })),
  );
}

function spellingsBy(form: string, ways: (part: string) => readonly Way[]): readonly Spelling[] {
  const [, first = '', before = '', second = '', after = '', third = ''] = FORM.exec(form) ?? [];
  return ways(first).flatMap(a =>
    ways(second).flatMap(b =>
      ways(third).map((c): Spelling => {
        const part = (at: number, { pattern: _, ...way }: Way): Part => ({ at, ...way });
        const parts: Readonly<Record<string, Part>> = {
          [first.charAt(0)]: part(1, a),
          [second.charAt(0)]: part(1 + a.length + before.length, b),
          [third.charAt(0)]: part(1 + a.length + before.length + b.length + after.length, c),
        };
        const none: Part = { at: 1, length: 0 };
        const pattern = a.pattern + before + b.pattern + after + c.pattern;
        return {
          pattern,
          // Patterns here are classes of characters, and separators.
          isSpelt: new RegExp(`^${pattern.replaceAll('.', '\\.')}$`),
          year: parts['Y'] ?? none,
          month: parts['M'] ?? none,
          day: parts['D'] ?? none,
        };
      }),
    ),
  );
}

/** How a part of the form may be spelt. */
interface Way extends Omit<Part, 'at'> {
  readonly pattern: string;
}

function waysOf(part: string, from: number | undefined): readonly Way[] {
  if (part === 'YY' && from !== undefined) return yearsFrom(from);
  if (part === 'MON')
    return MONTHS.map((name, i) => ({
      pattern: [...name].map(letter => `[${letter}${letter.toLowerCase()}]`).join(''),
      length: name.length,
      digits: String(i + 1).padStart(2, '0'),
    }));
  return lengthsOf(part).map(length => ({ pattern: '[0-9]'.repeat(length), length }));
}

function lengthsOf(part: string): readonly number[] {
  return part.length === 1 ? [2, 1] : [part.length];
}

/** Two digits from those of the first year on are of its century, those before of the next. */
function yearsFrom(from: number): readonly Way[] {
  const [century, tens, ones] = [Math.floor(from / 100), Math.floor(from / 10) % 10, from % 10];
  const way = (pattern: string, of: number): Way => ({ pattern, length: 2, century: String(of).padStart(2, '0') });
  return [
    way(`${tens}[${ones}-9]`, century),
    ...(tens < 9 ? [way(`[${tens + 1}-9][0-9]`, century)] : []),
    ...(tens > 0 ? [way(`[0-${tens - 1}][0-9]`, century + 1)] : []),
    ...(ones > 0 ? [way(`${tens}[0-${ones - 1}]`, century + 1)] : []),
  ];
}
