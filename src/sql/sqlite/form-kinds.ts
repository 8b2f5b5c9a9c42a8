/**
 * Defines the forms that rows of a SQLite file may have, by the type of their column. In: a column, one of its values,
 * or its SQL. Out: the name of the value's form for messages, and the form of the column if all rows have that one. To
 * support another kind of columns, add a row to KINDS.
 */
import { formOfTime, isLocalLayout, isReadForm, isUtcLayout } from '../../time/written.ts';
import { type ColumnInfo, type IndexInfo, type TableInfo, unfitIn } from '../catalog.ts';
import type { ColumnType } from '../column-type.ts';
import { UUID, uuidOf } from '../shared-functions.ts';
import { isApart, valuesOf } from './apart.ts';
import { AS_DECLARED, formOfNumber, holdsAsDeclared } from './number-form.ts';
import { keepsTexts } from './types.ts';

type Form = NonNullable<ColumnInfo['form']>;

/** A kind of columns whose rows are read, with the forms that they may have. */
export interface Kind {
  readonly of: readonly ColumnType['kind'][];
  /**
   * True if columns of this type are read; default: all. `binary`: only a binary index has the column, none in the
   * collation of comparisons.
   */
  isLookedAt?(type: ColumnType, binary: boolean): boolean;
  /** Returns the form of a value that is not NULL, in words that do not contain the value. */
  formOf(value: unknown, type: ColumnType): string;
  /** Returns the column's form if all rows have this form; undefined if that proves nothing. */
  proven(form: string, type: ColumnType): Form | undefined;
  /** A form whose values also fit every other form. */
  readonly neutral?: string;
  /** True if a value without meaning sorts before or after all values with one: the others can be proven without it. */
  isApart?(value: unknown, form: string, type: ColumnType): boolean;
  /** Returns the column's form if other rows are apart. */
  mixed?(proven: Form): Form;
  /** Returns SQL that is true for no value that is apart. */
  withoutApart?(column: string, type: ColumnType): string;
  /** The column's form if no row has a value. */
  readonly empty: Form;
  /** Returns the form of a column whose rows were not read; default: `any`. */
  unseen?(type: ColumnType): Form;
  /**
   * Returns SQL that is true exactly for the values of a form that can be proven: SQLite checks them faster than
   * JavaScript.
   */
  holds(form: string, column: string, type: ColumnType): string;
}

const UUID_FORMS: readonly {
  readonly name: string;
  readonly form: Form;
  readonly digit: string;
  isSame(text: string): boolean;
}[] = [
  {
    ...{ name: 'a UUID in upper case', form: 'declared', digit: '[0-9A-F]' },
    isSame: text => text === text.toUpperCase(),
  },
  {
    ...{ name: 'a UUID in lower case', form: 'small', digit: '[0-9a-f]' },
    isSame: text => text === text.toLowerCase(),
  },
];
const A_TEXT = 'a text';
const WITH_BLANKS = 'a text with blanks at its end';
const WITHOUT_LETTERS = 'a UUID without letters';

const KINDS: readonly Kind[] = [
  {
    of: ['date', 'datetime', 'time'],
    empty: 'any',
    formOf: (value, { kind }) => formOfTime(value, kind),
    proven: (form, { kind }) => {
      if (kind === 'datetime' && isUtcLayout(form)) return { ...layoutOf(form), utc: true };
      const isDay = form.length === 10;
      if (!isLocalLayout(form) || (kind === 'date' && !isDay) || (kind === 'time') !== form.startsWith('H'))
        return undefined;
      if (kind === 'time' && form.length < 8) return undefined;
      return layoutOf(form);
    },
    isApart: (value, form, type) => !isReadForm(form) && isApart(value, type),
    mixed: form => (typeof form === 'object' ? { ...form, mixed: true } : form),
    withoutApart: (column, type) => `${column} ${valuesOf(type).first} AND ${column} ${valuesOf(type).last}`,
    holds: holdsLayout,
  },
  {
    of: ['integer', 'bit', 'decimal', 'float'],
    empty: 'declared',
    formOf: formOfNumber,
    proven: form => (form === AS_DECLARED ? 'declared' : undefined),
    holds: (_, column, type) => holdsAsDeclared(column, type),
  },
  {
    of: ['text'],
    isLookedAt: (_, binary) => binary,
    // Rows of both forms are texts.
    neutral: A_TEXT,
    empty: 'trimmed',
    unseen: ({ declared = '' }) => (keepsTexts(declared) ? 'declared' : 'any'),
    formOf: value => (typeof value === 'string' && value.endsWith(' ') ? WITH_BLANKS : formOfText(value)),
    proven: form => (form === A_TEXT ? 'trimmed' : form === WITH_BLANKS ? 'declared' : undefined),
    holds: (form, column) => `typeof(${column}) = 'text' AND substr(${column}, -1) ${form === A_TEXT ? '<>' : '='} ' '`,
  },
  {
    of: ['text'],
    isLookedAt: ({ declared }) => declared !== undefined && !keepsTexts(declared),
    empty: 'any',
    formOf: formOfText,
    proven: form => (form === A_TEXT ? 'declared' : undefined),
    holds: (_, column) => `typeof(${column}) = 'text'`,
  },
  {
    of: ['uuid'],
    neutral: WITHOUT_LETTERS,
    empty: 'any',
    formOf: formOfUuid,
    proven: form => (form === WITHOUT_LETTERS ? 'declared' : letteredAs(form)?.form),
    holds(form, column) {
      const digit = letteredAs(form)?.digit ?? '[0-9]';
      const pattern = [8, 4, 4, 4, 12].map(length => digit.repeat(length)).join('-');
      return `typeof(${column}) = 'text' AND ${column} GLOB '${pattern}'`;
    },
  },
];

function formOfText(value: unknown): string {
  return typeof value === 'string' ? A_TEXT : value instanceof Uint8Array ? 'bytes' : 'a number';
}

function layoutOf(form: string): { readonly separator: ' ' | 'T'; readonly length: number } {
  return { separator: form.includes('T') ? 'T' : ' ', length: form.length };
}

/** Returns SQL for a layout. GLOB accepts bytes as text, and checks digits but no calendar. */
function holdsLayout(form: string, c: string): string {
  const pattern = `typeof(${c}) = 'text' AND ${c} GLOB '${form
    .replace(/MM:SS/, '[0-5]M:[0-5]S')
    .replace(/HH:MM/, 'HH:[0-5]M')
    .replace(/[YMDHSF]/g, '[0-9]')}'`;
  if (form.startsWith('H')) return `${pattern} AND ${c} < '24'`;
  const hour = form.length > 10 ? ` AND substr(${c}, 12, 2) < '24'` : '';
  const day = `substr(${c}, 1, 10)`;
  return `${pattern} AND ${c} >= '0001-01-01' AND substr(${c}, 6, 2) BETWEEN '01' AND '12'${hour} AND (substr(${c}, 9, 2) BETWEEN '01' AND '28' OR date(${day}) = ${day})`;
}

/** Returns the letter case of a form; undefined for no UUID or one in mixed case. */
function letteredAs(form: string): (typeof UUID_FORMS)[number] | undefined {
  return UUID_FORMS.find(({ name }) => name === form);
}

function formOfUuid(value: unknown): string {
  if (typeof value !== 'string') return value instanceof Uint8Array ? 'bytes' : 'a number';
  if (value.trim() === '') return 'a blank text';
  if (uuidOf(value) === undefined) return 'a text that is no UUID';
  if (!UUID.test(value)) return value.startsWith('{') ? 'a UUID in braces' : 'a UUID without hyphens';
  const same = UUID_FORMS.filter(({ isSame }) => isSame(value));
  return same.length === UUID_FORMS.length ? WITHOUT_LETTERS : (same[0]?.name ?? 'a UUID in both cases');
}

/** Returns the kind of a column; undefined if its rows are not read. */
export function kindOf({ name, type }: ColumnInfo, { indexes }: TableInfo): Kind | undefined {
  if (type === undefined) return undefined;
  const isUnfit = (index: IndexInfo): boolean => unfitIn(index, name)?.collation === 'BINARY';
  const has = ({ columns }: IndexInfo): boolean => columns.some(one => one.toLowerCase() === name.toLowerCase());
  // Checked first, because few tables have such an index and a schema may have 200,000 columns.
  const isBinary = indexes.some(isUnfit) && indexes.every(index => isUnfit(index) || !has(index));
  return KINDS.find(({ of, isLookedAt }) => of.includes(type.kind) && isLookedAt?.(type, isBinary) !== false);
}
