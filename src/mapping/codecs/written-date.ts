/**
 * `written`: dates that a text spells in some order with separators, `03/10/2024` or `10.3.2024`, as the digits
 * yyyymmdd that `ymd8` reads. In: a form such as `MM/DD/YYYY`. Out: a text step; text of another form is absent. Zeros
 * for a month or a day stay zeros, which are a month or a year to `ymd8`.
 */
import { UNICODE } from '../../sql/column-type.ts';
import { call, constant, glob } from '../../sql/construct.ts';
import type { Expression } from '../../sql/expression.ts';
import { trim } from './text.ts';
import type { TextStep } from './text-step.ts';

const FORM = /^(YYYY|MM?|DD?)([-/. ]?)(YYYY|MM?|DD?)([-/. ]?)(YYYY|MM?|DD?)$/;

/** A part as one spelling has it: where it begins, from 1, and how long it is. */
interface Part {
  readonly at: number;
  readonly length: number;
}

/** One way to spell the form: `M` is one digit or two. */
interface Spelling {
  readonly pattern: string;
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
      const spelling = spellings.find(({ pattern }) => fits(text, pattern));
      if (!spelling) return undefined;
      const part = ({ at, length }: Part, width: number): string =>
        text.slice(at - 1, at - 1 + length).padStart(width, '0');
      return part(spelling.year, 4) + part(spelling.month, 2) + part(spelling.day, 2);
    },
    sql: column => {
      const text = call('trim', [column], UNICODE);
      const part = ({ at, length }: Part, width: number): readonly Expression[] => [
        ...(length < width ? [constant('0', UNICODE)] : []),
        call('substring', [text, at, length], UNICODE),
      ];
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
  const lengths = (part: string): readonly number[] => (part.length === 1 ? [2, 1] : [part.length]);
  return lengths(first).flatMap(a =>
    lengths(second).flatMap(b =>
      lengths(third).map((c): Spelling => {
        const parts: Readonly<Record<string, Part>> = {
          [first.charAt(0)]: { at: 1, length: a },
          [second.charAt(0)]: { at: 1 + a + before.length, length: b },
          [third.charAt(0)]: { at: 1 + a + before.length + b + after.length, length: c },
        };
        const none: Part = { at: 1, length: 0 };
        const digits = (count: number): string => '[0-9]'.repeat(count);
        return {
          pattern: digits(a) + before + digits(b) + after + digits(c),
          year: parts['Y'] ?? none,
          month: parts['M'] ?? none,
          day: parts['D'] ?? none,
        };
      }),
    ),
  );
}

/** Patterns here are digits and separators alone. */
function fits(text: string, pattern: string): boolean {
  const shape = pattern.replaceAll('[0-9]', '0');
  return text.length === shape.length && text.replace(/[0-9]/g, '0') === shape;
}
