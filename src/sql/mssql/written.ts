/**
 * Reads written dates in T-SQL (src/time/written-form.ts). In: SQL of a text, and a form. Out: SQL of the digits
 * yyyymmdd or yyyymmddhhmmss, NULL for a text of another form. Each spelling of the date, with one digit or two, is a
 * LIKE pattern; the text after it is read as a time in the same way.
 */
import { END_OF_DAY, formOfText, MONTHS, type WrittenForm } from '../../time/written-form.ts';
import { BLANKS, binary } from './forms.ts';

/** A text of a known form: its pattern, its length, and SQL of its parts. */
interface Shape {
  /** SQL of the text. */
  readonly of: string;
  readonly pattern: string;
  readonly length: number;
  readonly parts: Readonly<Record<string, string>>;
  /** True if digits of a second follow. */
  readonly isOpen?: true;
}

const DIGIT = '[0-9]';

/** Returns the SQL. Throws a RangeError for an invalid form. */
export function writtenDigits(sql: string, form: string, from: number | undefined): string {
  const made = formOfText(form, from);
  if (!made) throw new RangeError(`no form of dates: ${form}`);
  const trimmed = `TRIM(${BLANKS} FROM ${sql})`;
  const text = binary(made.hasBlanks ? `REPLACE(${binary(trimmed)}, '  ', ' ')` : trimmed);
  const dates = dateShapes(made);
  if (made.time === undefined) {
    const cases = dates.map(shape => `WHEN n.t LIKE '${shape.pattern}' THEN ${dayOf(shape, made)}`).join(' ');
    return `(SELECT w.d FROM (SELECT CASE ${cases} END AS d FROM (SELECT ${text} AS t) AS n) AS w)`;
  }
  // Patterns with two digits come first, so the text after a match does not begin with a digit of the date.
  const begun = (value: (shape: Shape) => string): string =>
    `CASE ${dates.map(shape => `WHEN n.t LIKE '${shape.pattern}%' THEN ${value(shape)}`).join(' ')} END`;
  const [day, rest] = [begun(shape => dayOf(shape, made)), begun(shape => `SUBSTRING(n.t, ${shape.length + 1}, 4000)`)];
  const cut = `(SELECT ${day} AS d, ${rest} AS r FROM (SELECT ${text} AS t) AS n)`;
  const times = timeShapes(made.time).map(shape => {
    const isOpen = shape.isOpen ? ` AND SUBSTRING(x.r, ${shape.length + 1}, 4000) NOT LIKE '%[^0-9]%'` : '';
    return `WHEN x.r LIKE '${shape.pattern}${shape.isOpen ? `${DIGIT}%` : ''}'${isOpen} THEN x.d + ${clockOf(shape)}`;
  });
  const digits = `(SELECT CASE WHEN x.r = '' THEN x.d ${times.join(' ')} END AS d FROM ${cut} AS x)`;
  return `(SELECT ${valid('w.d')} FROM ${digits} AS w)`;
}

function dateShapes({ date }: WrittenForm): readonly Shape[] {
  return date.reduce<readonly Shape[]>(
    (shapes, [before, part]) =>
      shapes.flatMap(shape => {
        const widths = part.length === 1 ? [2, 1] : [part.length];
        const one = part === 'MON' ? '[A-Za-z]' : DIGIT;
        return widths.map(width => added(shape, before, part.charAt(0), one.repeat(width), width));
      }),
    [emptyOf('n.t')],
  );
}

function emptyOf(of: string): Shape {
  return { of, pattern: '', length: 0, parts: {} };
}

/** Returns the shape with a part appended. */
function added(shape: Shape, before: string, name: string, pattern: string, width: number): Shape {
  return {
    of: shape.of,
    pattern: shape.pattern + before + pattern,
    length: shape.length + before.length + width,
    parts: { ...shape.parts, [name]: `SUBSTRING(${shape.of}, ${shape.length + before.length + 1}, ${width})` },
  };
}

/** Returns each spelling of a time after a date. */
function timeShapes(time: NonNullable<WrittenForm['time']>): readonly Shape[] {
  const withHalf = (shape: Shape): Shape =>
    time.half === undefined ? shape : added(shape, time.half, 'half', '[AaPp][Mm]', 2);
  return (time.isShortHour ? [2, 1] : [2]).flatMap(width => {
    const hour = added(emptyOf('x.r'), time.before, 'hour', DIGIT.repeat(width), width);
    const minute = added(hour, time.between, 'minute', DIGIT.repeat(2), 2);
    if (!time.hasSecond) return [withHalf(minute)];
    const second = added(minute, time.between, 'second', DIGIT.repeat(2), 2);
    return [withHalf(minute), withHalf(second), ...fractions(second, time.half)];
  });
}

/** Ignores digits of a second, any number of them; before `AM` up to seven. */
function fractions(second: Shape, half: '' | ' ' | undefined): readonly Shape[] {
  if (half === undefined)
    return [{ ...second, pattern: `${second.pattern}.`, length: second.length + 1, isOpen: true }];
  return Array.from({ length: 7 }, (_, i) =>
    added(added(second, '.', 'fraction', DIGIT.repeat(i + 1), i + 1), half, 'half', '[AaPp][Mm]', 2),
  );
}

function dayOf({ parts }: Shape, { date, from }: WrittenForm): string {
  const { Y = '', M = `'00'`, D = `'00'` } = parts;
  const hasNames = date.some(([, part]) => part === 'MON');
  const names = MONTHS.map((name, i) => ` WHEN '${name}' THEN '${String(i + 1).padStart(2, '0')}'`).join('');
  const month = hasNames ? `CASE UPPER(${M})${names} END` : padded(M);
  const all = `${yearOf(Y, from)} + ${month} + ${padded(D)}`;
  const isZero = `${Y} = '00' AND ${padded(M)} = '00' AND ${padded(D)} = '00'`;
  return from === undefined || hasNames ? all : `CASE WHEN ${isZero} THEN '00000000' ELSE ${all} END`;
}

function clockOf({ parts }: Shape): string {
  const { hour = '', minute = '', second = `'00'`, half } = parts;
  return `${half === undefined ? padded(hour) : hourOf(padded(hour), half)} + ${minute} + ${second}`;
}

function padded(part: string): string {
  return part.endsWith(' 1)') ? `'0' + ${part}` : part;
}

function yearOf(year: string, from: number | undefined): string {
  if (from === undefined) return year;
  const [century, first] = [Math.floor(from / 100), String(from % 100).padStart(2, '0')];
  return `CASE WHEN ${year} >= '${first}' THEN '${century}' ELSE '${century + 1}' END + ${year}`;
}

/** Converts an hour of the 12-hour clock; NULL for other hours. */
function hourOf(hour: string, half: string): string {
  const number = `TRY_CAST(${hour} AS int) % 12 + CASE WHEN ${half} LIKE '[Pp]%' THEN 12 ELSE 0 END`;
  return `CASE WHEN ${hour} BETWEEN '01' AND '12' THEN RIGHT('0' + CONVERT(varchar(2), ${number}), 2) END`;
}

/** Returns the digits if they are a day with a time, or a day, month or year alone; else NULL. */
function valid(digits: string): string {
  const [year, month, day] = [`SUBSTRING(${digits}, 1, 4)`, `SUBSTRING(${digits}, 5, 2)`, `SUBSTRING(${digits}, 7, 2)`];
  const isDay = `TRY_CONVERT(date, SUBSTRING(${digits}, 1, 8), 112) IS NOT NULL`;
  const isPart = `${day} = '00' AND ${month} BETWEEN '00' AND '12' AND ${year} <> '0000'`;
  const clock = `SUBSTRING(${digits}, 9, 6)`;
  const sixty = '[0-5][0-9]';
  const isTime = ['[01][0-9]', '2[0-3]'].map(hour => `${clock} LIKE '${hour}${sixty}${sixty}'`).join(' OR ');
  const isEnd = `(${clock} = '${END_OF_DAY}' AND ${year} <> '9999')`;
  return (
    `CASE WHEN LEN(${digits}) = 8 AND (${isDay} OR (${isPart})) THEN ${digits}` +
    ` WHEN LEN(${digits}) = 14 AND ${isDay} AND (${isTime} OR ${isEnd}) THEN ${digits} END`
  );
}
