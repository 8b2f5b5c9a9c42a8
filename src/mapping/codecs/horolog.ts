/**
 * `horolog`: reads days since 1840-12-31 and seconds of the day in one text, `66913,30600`, as in `$HOROLOG` of MUMPS.
 * In: the text. Out: the same as date-and-time of two such numbers: a dateTime, the day alone if no seconds follow the
 * days, or the day as a date. The inverse computes both numbers.
 */
import type { ColumnType } from '../../sql/column-type.ts';
import { and, call, constant, glob, not } from '../../sql/construct.ts';
import type { Expression, Predicate, SqlValue } from '../../sql/expression.ts';
import { DAY, dayOf } from '../../time/calendar.ts';
import type { Zone } from '../../time/zone.ts';
import { type Codec, only } from './codec.ts';
import { dateAndTimeCodec, type MomentOptions } from './date-and-time.ts';
import { wholeDays } from './day-count.ts';
import { daysCodec, firstCounted } from './days.ts';
import { trimEnd } from './text.ts';

export interface HorologOptions {
  readonly zone: Zone;
  /** The element is a date. Otherwise it is a dateTime, or what `at` gives. */
  readonly isDay: boolean;
  /** Time of day for texts without seconds. */
  readonly at?: MomentOptions | undefined;
}

const SINCE = dayOf(1840, 12, 31);
const BIGINT: ColumnType = { kind: 'integer', bits: 64 };
const FORM = /^(\d{1,7})(?:,(\d{0,7}))?$/;
const LONGEST = 15;

/** Reads texts of `$HOROLOG`. */
export function horologCodec({ zone, isDay, at }: HorologOptions): Codec {
  const counted = { count: wholeDays(BIGINT, SINCE), first: firstCounted(SINCE), options: { from: SINCE } };
  const inner = isDay
    ? daysCodec({ ...counted, zone, name: 'horolog', unit: DAY, gives: 'day' })
    : dateAndTimeCodec({ zone, dateType: BIGINT, counted, timeType: BIGINT, time: 'seconds', at });
  const parts = (columns: readonly Expression[]): readonly Expression[] => {
    const text = only(columns);
    return isDay ? [daysIn(text)] : [daysIn(text), secondsIn(text)];
  };
  const { order } = inner;
  return {
    ...inner,
    label: isDay ? 'horolog (day)' : 'horolog',
    yields: isDay ? ['date'] : inner.yields,
    columns: 1,
    inverse: 'computed',
    rawsOf: day => inner.rawsOf?.(day).flatMap(raw => [`${raw}`, `${raw},0`]) ?? [],
    decode: raw => {
      const [days, seconds] = read(raw);
      return inner.decode(days, seconds);
    },
    present: (columns, clock) => inner.present(parts(columns), clock),
    match: (columns, criterion, clock) => inner.match(parts(columns), criterion, clock),
    ...(order && { order: { ...order, by: columns => order.by(parts(columns)) } }),
  };
}

function read(raw: SqlValue): readonly [days: SqlValue, seconds: SqlValue] {
  const [, days, seconds = ''] = FORM.exec(typeof raw === 'string' ? trimEnd(raw) : '') ?? [];
  if (days === undefined) return [null, null];
  return [Number(days), seconds === '' ? null : Number(seconds)];
}

/** Tests for digits, at most seven before a comma and after it. */
function isOne(text: Expression): Predicate {
  return and(
    glob(text, '[0-9]*'),
    not(glob(text, '*[^0-9,]*')),
    not(glob(text, '*,*,*')),
    not(glob(text, `${'?'.repeat(LONGEST + 1)}*`)),
    not(glob(text, `*${'[0-9]'.repeat(8)}*`)),
  );
}

function daysIn(text: Expression): Expression {
  return {
    kind: 'choice',
    of: [
      { when: and(isOne(text), glob(text, '*,*')), give: whole(call('before', [text, COMMA], text.type)) },
      { when: isOne(text), give: whole(text) },
    ],
    type: BIGINT,
  };
}

function secondsIn(text: Expression): Expression {
  const when = and(isOne(text), glob(text, '*,[0-9]*'));
  return { kind: 'choice', of: [{ when, give: whole(call('after', [text, COMMA], text.type)) }], type: BIGINT };
}

const COMMA = constant(',', { kind: 'text', unicode: true, fixed: false, length: 1 });

/** Returns the number of a text of digits. */
function whole(text: Expression): Expression {
  const zero = constant(0, BIGINT);
  return call('ymd', [zero, zero, text], BIGINT);
}
