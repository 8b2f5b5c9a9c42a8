/**
 * `written`: dates that a text spells in some order with separators, `03/10/2024` or `10.3.2024`, as the digits
 * yyyymmdd that `ymd8` reads. In: a form such as `MM/DD/YYYY` or, with the names of months, `DD-MON-YYYY`. Out: a text
 * step; text of another form is absent. Zeros
 * for a month or a day stay zeros, which are a month or a year to `ymd8`.
 */
import { UNICODE } from '../../sql/column-type.ts';
import { call, constant, glob } from '../../sql/construct.ts';
import type { Expression } from '../../sql/expression.ts';
import { trim } from './text.ts';
import type { TextStep } from './text-step.ts';

const FORM = /^(YYYY|MON|MM?|DD?)([-/. ]?)(YYYY|MON|MM?|DD?)([-/. ]?)(YYYY|MON|MM?|DD?)$/;
const MONTHS = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ');

/** A part as one spelling has it: where it begins, from 1, and how long it is. */
interface Part {
  readonly at: number;
  readonly length: number;
  /** What the part means, where its characters are no digits. */
  readonly digits?: string;
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
export function isDateForm(form: string): boolean {
  const [, first = '', before = '', second = '', after = '', third = ''] = FORM.exec(form) ?? [];
  const letters = [first, second, third].map(part => part.charAt(0)).sort();
  if (letters.join('') !== 'DMY') return false;
  return (before !== '' && after !== '') || [first, second, third].every(part => part.length > 1);
}

/** The step for a form that is one. */
export function writtenDateStep(form: string): TextStep {
  const spellings = spellingsOf(form);
  return {
    label: `written ${form}`,
    options: { step: 'written', form },
    apply: raw => {
      const text = trim(raw);
      const spelling = spellings.find(({ isSpelt }) => isSpelt.test(text));
      if (!spelling) return undefined;
      const part = ({ at, length, digits }: Part, width: number): string =>
        digits ?? text.slice(at - 1, at - 1 + length).padStart(width, '0');
      return part(spelling.year, 4) + part(spelling.month, 2) + part(spelling.day, 2);
    },
    sql: column => {
      const text = call('trim', [column], UNICODE);
      const part = ({ at, length, digits }: Part, width: number): readonly Expression[] =>
        digits === undefined
          ? [...(length < width ? [constant('0', UNICODE)] : []), call('substring', [text, at, length], UNICODE)]
          : [constant(digits, UNICODE)];
      const of = spellings.map(({ pattern, year, month, day }) => ({
        when: glob(text, pattern),
        give: call('concat', [...part(year, 4), ...part(month, 2), ...part(day, 2)], UNICODE),
      }));
      return { kind: 'choice', of, type: UNICODE };
    },
  };
}

function spellingsOf(form: string): readonly Spelling[] {
  const [, first = '', before = '', second = '', after = '', third = ''] = FORM.exec(form) ?? [];
  return waysOf(first).flatMap(a =>
    waysOf(second).flatMap(b =>
      waysOf(third).map((c): Spelling => {
        const part = (at: number, { length, digits }: Way): Part => ({ at, length, ...(digits && { digits }) });
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
interface Way {
  readonly pattern: string;
  readonly length: number;
  readonly digits?: string;
}

function waysOf(part: string): readonly Way[] {
  if (part === 'MON')
    return MONTHS.map((name, i) => ({
      pattern: [...name].map(letter => `[${letter}${letter.toLowerCase()}]`).join(''),
      length: name.length,
      digits: String(i + 1).padStart(2, '0'),
    }));
  const lengths = part.length === 1 ? [2, 1] : [part.length];
  return lengths.map(length => ({ pattern: '[0-9]'.repeat(length), length }));
}
