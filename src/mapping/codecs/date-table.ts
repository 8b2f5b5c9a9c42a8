/**
 * Lists the codecs of dates and times by name, as part of the table of codecs (table.ts): their options `at`, `since`,
 * `midnight` and `zone`, and the columns that they fit.
 */
import { z } from 'zod';
import { type ColumnType, holdsAnyNumber, isMixed, utcLayoutOf } from '../../sql/column-type.ts';
import { DAY } from '../../time/calendar.ts';
import type { EpochUnit } from '../../time/epoch-units.ts';
import { isZone, zoneOf } from '../../time/zone.ts';
import type { Codec } from './codec.ts';
import { dateAndTimeCodec, type MomentOptions } from './date-and-time.ts';
import { dateAtCodec, dateCodec, datetimeCodec } from './datetime.ts';
import { daysOf, fractionsOfDays, wholeDays } from './day-count.ts';
import { type DaysOptions, daysCodec, epochDay, firstCounted } from './days.ts';
import { MOST_DECIMALS } from './decimal.ts';
import { dtmCodec } from './dtm.ts';
import { type CodecContext, type CodecEntry, entry, type Refusal, refuse } from './entry.ts';
import { computedEpochCodec, type EpochOptions, epochCodec } from './epoch.ts';
import { horologCodec } from './horolog.ts';
import { type InstantOptions, instantCodec } from './instant.ts';
import { onWholeNumbers } from './number.ts';
import { firstOrdinal, ordinalDays } from './ordinal-days.ts';
import { isWholeNumber } from './packed-column.ts';
import { pointColumn } from './point-stamps.ts';
import { type StampColumn, type StampOptions, stampCodec } from './stamp.ts';
import { ymd14Column } from './stamp-columns.ts';
import { type DatetimeType, isTimed } from './stored-time.ts';
import { holdsTimes, timeCodec, timeOfMoments } from './time-column.ts';
import { ymdPartsCodec } from './ymd-parts.ts';
import { ymd8AtCodec, ymd8Codec } from './ymd8.ts';
import { zonedCodec } from './zoned.ts';

const NONE = z.undefined();
const CLOCK = /^(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?$/;
const NO_MIDNIGHT = '`midnight` is for local times: a column with offsets or in UTC has the moment itself';
const NO_ZONE = '`zone` is for a column with times; a day alone has no zone';
const NO_TIME_OF_MONTHS = 'date: `at` is a time of a day; with `precision` the day is not written';
const AT_OF_DAYS = 'date: `at` is for a DATE column; a column with times has its own';
/** Times of two columns may be written without seconds. */
const MOMENT = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'a time of day is HH:MM');
const NO_TIME_OF = (how: string): Refusal => ({
  problem: 'an instant has a time of day, and a row may have none',
  expected: `\`${how}\`, which says the time that is meant`,
});
const NO_TIME: Refusal = {
  problem: 'an instant has a time of day and a DATE column none',
  expected: '`via: {date: {at: "00:00"}}`, which says the time that is meant',
};
/** Characters of a stamp with seconds. */
const TO_THE_SECOND = { dtm: 14, iso: 19 } as const;
const GIVES_MOMENTS = '`at` gives an instant or a dateTime';
/** Days of UTC, if those of the pack's zone are not meant. */
const UTC = z.literal('UTC', '`zone` is UTC, or is left out for the zone of the pack');
const CLOCK_OF = z.string().refine(isZone, '`clock` is the IANA name of a place, such as America/Denver, or UTC');
const NO_CLOCK = '`clock` shows moments: a column with offsets, or one with `zone: UTC`';
const WHICH_CLOCKS = 'zoned: `{zoned: {705: America/Chicago}}` says which value means which zone';
const ZONED_COLUMNS: Refusal = {
  problem: 'zoned takes 2 columns',
  expected: '`from: [TIME, ZONE]`, of which the second says where the clocks stand',
};
/** The century that years of two or three digits count from, as `1900` of CYYMMDD. */
const SINCE = z.string().regex(/^(?:1\d|20)00$/, 'the first year of a century, such as 1900');
const WHICH_DAY = 'days: `{days: {since: 1899-12-30}}` says which day the number 0 is';
/** The day of the number 0. */
const EPOCH = z.string().refine(text => epochDay(text) !== undefined, 'a day such as 1899-12-30');
/** Stamps sort as stored, where a day alone comes first on its day. */
const MIDNIGHT = z.literal('00:00', '`at` is 00:00 here: a day alone comes before its times');

const MIDNIGHT_ALONE = z.strictObject({ at: MIDNIGHT.optional() }).optional();

const AT_SINCE = z.strictObject({ at: MOMENT.optional(), since: SINCE.optional() }).optional();

/** Forms of times in a text or a number. */
const TIMES = ['hhmm', 'hhmmss', 'hh:mm', 'hh:mm:ss', 'seconds', 'milliseconds', 'clarion'] as const;

export const DATE_CODECS: Readonly<Record<string, CodecEntry>> = {
  ymd8: entry(AT_SINCE, (options, [type], { zone, fhirType }) => {
    if (type?.kind !== 'text' && !isWholeNumber(type)) return refuse('ymd8', type);
    const days = { zone: zoneOf(zone), columnType: type, since: numberIn(options?.since) };
    return dayOrMoment(options?.at, fhirType, 'ymd8: {at: "00:00"}', at =>
      onWholeNumbers(at ? ymd8AtCodec({ ...days, fhirType: at.fhirType, at: at.local }) : ymd8Codec(days), [type]),
    );
  }),
  ymd14: entry(
    z.strictObject({ at: MIDNIGHT.optional(), since: SINCE.optional() }).optional(),
    (options, [type], context) => {
      const since = numberIn(options?.since);
      if (type && (isFraction(type) || (type.kind === 'text' && since !== undefined))) {
        if (type.kind === 'decimal' && type.scale > MOST_DECIMALS) return refuse('ymd14', type);
        const form = { point: true as const, ...(since !== undefined && { since }) };
        return stamps(
          pointColumn(type, since ?? 0),
          type,
          options?.at,
          { label: labelSince('ymd14', options?.since), options: form },
          context,
        );
      }
      if (since !== undefined) return 'ymd14: `since` is for times behind a point; days alone are read by ymd8';
      return type?.kind === 'text' || isWholeNumber(type)
        ? stamps(ymd14Column(type), type, options?.at, { label: 'ymd14' }, context)
        : refuse('ymd14', type);
    },
  ),
  days: entry(
    z.strictObject(
      { since: EPOCH, at: MOMENT.optional(), midnight: z.enum(['date', 'time']).optional() },
      { error: ({ code }) => (code === 'invalid_type' ? WHICH_DAY : undefined) },
    ),
    (options, [type], context) => (type ? days(type, options, context) : refuse('days', type)),
  ),
  yddd: entry(AT_SINCE, (options, [type], context) =>
    type?.kind === 'text' || isWholeNumber(type)
      ? daysAlone(
          labelSince('yddd', options?.since),
          ordinals(type, numberIn(options?.since)),
          type,
          options?.at,
          context,
        )
      : refuse('yddd', type),
  ),
  horolog: entry(z.strictObject({ at: MOMENT }).optional(), (options, [type], { zone, fhirType }) => {
    if (type?.kind !== 'text') return refuse('horolog', type);
    return dayOrMoment(options?.at, fhirType, 'horolog: {at: "00:00"}', at =>
      horologCodec({ zone: zoneOf(zone), isDay: fhirType === 'date', at }),
    );
  }),
  dtm: entry(MIDNIGHT_ALONE, (options, [type], context) => stampsInText('dtm', type, options?.at, context)),
  iso: entry(MIDNIGHT_ALONE, (options, [type], context) => stampsInText('iso', type, options?.at, context)),
  datetime: entry(
    z
      .strictObject({
        midnight: z.enum(['date', 'absent', 'time']).optional(),
        zone: UTC.optional(),
        clock: CLOCK_OF.optional(),
      })
      .optional(),
    (options, [type], { zone, fhirType }) => {
      const midnight = options?.midnight ?? 'time';
      const gives = fhirType === 'date' ? 'day' : fhirType === 'instant' ? 'instant' : 'dateTime';
      const moments = momentsOf(type, options, zone, gives);
      if (moments !== undefined) return midnight === 'time' ? moments : NO_MIDNIGHT;
      if (!isTimed(type)) return refuse('datetime', type);
      if (fhirType === 'instant' && type.kind === 'date') return NO_TIME;
      return datetimeCodec({ zone: zoneOf(zone), columnType: type, fhirType: shownAs(fhirType), midnight });
    },
  ),
  zoned: entry(
    z.record(
      z.string(),
      z.string().refine(isZone, 'zoned: a zone is the IANA name of a place, such as America/Denver, or UTC'),
      { error: ({ code }) => (code === 'invalid_type' ? WHICH_CLOCKS : undefined) },
    ),
    (options, [type, namedBy], { zone, fhirType }) => {
      if (!type || !namedBy) return ZONED_COLUMNS;
      if (type.kind !== 'datetime') return { problem: refuse('zoned', type), expected: 'a DATETIME first' };
      if (namedBy.kind !== 'integer' && namedBy.kind !== 'text') return refuse('zoned with a zone', namedBy);
      if (!isMoment(fhirType))
        return 'zoned gives a dateTime or an instant; of the day alone `via: date` reads the first column';
      const odd =
        namedBy.kind === 'integer' && Object.keys(options).find(name => !/^(?:0|-?[1-9]\d{0,14})$/.test(name));
      if (typeof odd === 'string') return `zoned: ${odd} is no value of a column of whole numbers`;
      const zones = new Map(Object.entries(options).map(([name, of]) => [name, zoneOf(of)]));
      return zonedCodec({ zone: zoneOf(zone), zones, columnType: type, namedBy, fhirType });
    },
  ),
  date: entry(
    z
      .strictObject({
        at: z.string().regex(CLOCK, 'a time of day is HH:MM or HH:MM:SS').optional(),
        zone: UTC.optional(),
        clock: CLOCK_OF.optional(),
        precision: z.enum(['day', 'month', 'year']).optional(),
      })
      .optional(),
    (options, [type], { zone, fhirType }) => {
      const precision = options?.precision ?? 'day';
      const moments = momentsOf(type, options, zone, precision);
      if (moments !== undefined) return options?.at === undefined ? moments : AT_OF_DAYS;
      if (!isTimed(type)) return refuse('date', type);
      if (options?.at === undefined)
        return fhirType === 'instant' && type.kind === 'date'
          ? NO_TIME
          : dateCodec({ zone: zoneOf(zone), columnType: type, precision });
      if (type.kind !== 'date') return AT_OF_DAYS;
      if (options.precision !== undefined) return NO_TIME_OF_MONTHS;
      if (!isMoment(fhirType)) return 'date: `at` gives an instant or a dateTime';
      const at = millisecondsOf(options.at);
      return dateAtCodec({ zone: zoneOf(zone), columnType: { ...type, kind: 'date' }, fhirType, at });
    },
  ),
  epoch: entry(
    z.strictObject({ unit: z.enum(['seconds', 'milliseconds']).optional(), zone: UTC.optional() }).optional(),
    (options, [type], { zone, fhirType }) => {
      const to = momentsOrDays(options?.zone, { zone, fhirType });
      if (typeof to === 'string') return to;
      if (type?.kind !== 'integer' || type.bits < 32)
        return computedEpoch('epoch', type, options?.unit ?? 'seconds', to);
      const unit = options?.unit === 'milliseconds' ? 1 : 1000;
      return onWholeNumbers(epochCodec({ ...to, columnType: type, unit }), [type]);
    },
  ),
  julian: entry(z.strictObject({ zone: UTC }).optional(), (options, [type], { zone, fhirType }) => {
    const to = momentsOrDays(options?.zone, { zone, fhirType });
    return typeof to === 'string' ? to : computedEpoch('julian', type, 'days', to);
  }),
  'date-and-time': entry(
    z.strictObject({
      date: z.enum(['ymd8', 'yddd', 'days', 'date']),
      since: z.string().optional(),
      time: z.enum([...TIMES, 'time']),
      at: MOMENT.optional(),
    }),
    ({ date, since, time, at }, [dateType, timeType], { zone, fhirType }) => {
      if (!dateType || !timeType) return 'takes 2 columns';
      const dated =
        date === 'date' ? isTimed(dateType) : (date !== 'days' && dateType.kind === 'text') || isWholeNumber(dateType);
      if (!dated) return refuse(`date-and-time with date: ${date}`, dateType);
      const wrong = wrongSince(date, since);
      if (wrong) return `date-and-time: ${wrong}`;
      if (!holdsTimes(time, timeType)) return refuse(`date-and-time with time: ${time}`, timeType);
      const century = date === 'days' ? undefined : numberIn(since);
      const how =
        date === 'days'
          ? { counted: counted(dateType, epochDay(since ?? '') ?? 0) }
          : date === 'yddd'
            ? { counted: ordinals(dateType, century) }
            : { since: century };
      const both = { zone: zoneOf(zone), dateType, ...how, timeType, time };
      return dayOrMoment(at, fhirType, 'at: "00:00"', moment =>
        onWholeNumbers(dateAndTimeCodec({ ...both, at: moment }), [dateType, timeType]),
      );
    },
  ),
  time: entry(z.enum(TIMES).optional(), (options, [type], { zone }) => {
    const form = options ?? 'time';
    if (type?.kind === 'datetime' && options === undefined)
      return timeOfMoments(
        datetimeCodec({ zone: zoneOf(zone), columnType: type, fhirType: 'dateTime', midnight: 'time' }),
      );
    return type && holdsTimes(form, type) ? timeCodec(form, type) : refuse(`time: ${form}`, type);
  }),
  'ymd-parts': entry(NONE, (_, types, { zone }) => {
    const odd = types.find(type => type.kind !== 'integer');
    return odd ? refuse('ymd-parts', odd) : onWholeNumbers(ymdPartsCodec({ zone: zoneOf(zone) }), types);
  }),
};

/** Makes the codec of whole numbers of days, or of numbers whose fraction is a time. */
function days(
  type: ColumnType,
  options: { readonly since: string; readonly at?: string | undefined; readonly midnight?: string | undefined },
  context: CodecContext,
): Codec | string | Refusal {
  const from = epochDay(options.since) ?? 0;
  if (isWholeNumber(type) && !isFraction(type)) {
    if (options.midnight !== undefined) return 'days: `midnight` is for numbers with a fraction';
    return daysAlone(labelSince('days', options.since), counted(type, from), type, options.at, context);
  }
  if (options.at !== undefined) return 'days: `at` is for whole numbers; the fraction of others is a time';
  const { zone, fhirType } = context;
  const perDay = fhirType === 'instant' ? DAY : DAY / 1000;
  const count = fractionsOfDays(type, { since: from, perDay });
  if (count === undefined) return refuse('days', type);
  const made = {
    name: labelSince('days', options.since),
    zone: zoneOf(zone),
    first: firstCounted(from),
    options: { from },
  };
  if (!isMoment(fhirType)) return daysCodec({ ...made, count: daysOf(count, perDay), unit: DAY, gives: 'day' });
  const midnight = options.midnight === 'date' && fhirType === 'dateTime' ? 'date' : undefined;
  return daysCodec({ ...made, count, unit: DAY / perDay, gives: fhirType, midnight });
}

/** Makes the codec of days without a time, or with the time of day that the mapping gives. */
function daysAlone(
  name: string,
  of: Pick<DaysOptions, 'count' | 'first' | 'options'>,
  type: ColumnType,
  at: string | undefined,
  { zone, fhirType }: CodecContext,
): Codec | string | Refusal {
  const made = { ...of, name, zone: zoneOf(zone), unit: DAY };
  return dayOrMoment(at, fhirType, 'at: "00:00"', moment =>
    onWholeNumbers(daysCodec({ ...made, gives: moment?.fhirType ?? 'day', at: moment?.local }), [type]),
  );
}

/** Makes a codec without a time of day, or with `at` of the mapping. `how`: an example of `at` for the message. */
function dayOrMoment(
  at: string | undefined,
  fhirType: string,
  how: string,
  make: (at: MomentOptions | undefined) => Codec,
): Codec | string | Refusal {
  if (at === undefined) return fhirType === 'instant' ? NO_TIME_OF(how) : make(undefined);
  return isMoment(fhirType) ? make({ fhirType, local: millisecondsOf(at) }) : GIVES_MOMENTS;
}

/** Counts whole days from a day, given as a number of days since 1970-01-01. */
function counted(type: ColumnType, from: number): Pick<DaysOptions, 'count' | 'first' | 'options'> {
  return { count: wholeDays(type, from), first: firstCounted(from), options: { from } };
}

function ordinals(type: ColumnType, since = 0): Pick<DaysOptions, 'count' | 'first' | 'options'> {
  const options = { ordinal: true as const, ...(since !== 0 && { since }) };
  return { count: ordinalDays(type, since), first: firstOrdinal(since), options };
}

/** Makes the codec of packed dates with or without a time of day. */
function stamps(
  column: StampColumn,
  type: ColumnType,
  at: string | undefined,
  { label, options }: Pick<StampOptions, 'label' | 'options'>,
  { zone, fhirType }: CodecContext,
): Codec | string | Refusal {
  if (at !== undefined && fhirType === 'date') return GIVES_MOMENTS;
  if (at === undefined && fhirType === 'instant') return NO_TIME_OF('at: "00:00"');
  const codec = stampCodec(column, {
    label: at === undefined ? label : `${label} (at 00:00:00)`,
    ...(options && { options }),
    zone: zoneOf(zone),
    fhirType: shownAs(fhirType),
    atMidnight: at !== undefined,
  });
  return isFraction(type) ? codec : onWholeNumbers(codec, [type]);
}

/** Makes the codec of stamps of any precision, with a zone or without. */
function stampsInText(
  name: 'dtm' | 'iso',
  type: ColumnType | undefined,
  at: string | undefined,
  { zone, fhirType }: CodecContext,
): Codec | string | Refusal {
  if (type?.kind !== 'text') return refuse(name, type);
  if (at !== undefined && fhirType === 'date') return GIVES_MOMENTS;
  const isShort = type.length !== 'max' && type.length < TO_THE_SECOND[name];
  if (at === undefined && fhirType === 'instant' && isShort) return NO_TIME_OF(`${name}: {at: "00:00"}`);
  const shown = { zone: zoneOf(zone), fhirType: shownAs(fhirType), atMidnight: at !== undefined };
  return dtmCodec({ ...shown, iso: name === 'iso' });
}

/** True for a column of numbers that may have digits after the point, as NUMERIC of SQLite may. */
function isFraction(type: ColumnType | undefined): boolean {
  if (type?.kind === 'decimal') return type.scale > 0 || (holdsAnyNumber(type) && type.precision === MOST_DIGITS);
  return type?.kind === 'float';
}

const MOST_DIGITS = 38;

function isMoment(fhirType: string): fhirType is 'dateTime' | 'instant' {
  return fhirType === 'dateTime' || fhirType === 'instant';
}

/**
 * Makes the codec of a column that has moments, by its type or because the mapping says so. Returns a message if that
 * is impossible, and undefined if the column has local times or none.
 */
function momentsOf(
  type: ColumnType | undefined,
  options: { readonly zone?: 'UTC' | undefined; readonly clock?: string | undefined } | undefined,
  zone: string,
  gives: InstantOptions['gives'],
): Codec | string | undefined {
  const clocks = { zone: zoneOf(zone), ...(options?.clock !== undefined && { shown: zoneOf(options.clock) }), gives };
  if (type?.kind === 'instant') return instantCodec({ ...clocks, columnType: type });
  if (!isTimed(type)) return undefined;
  if (options?.zone === undefined) return options?.clock === undefined ? undefined : NO_CLOCK;
  // A layout of rows that states UTC is read accordingly.
  if (options.clock === undefined && utcLayoutOf(type) !== undefined) return undefined;
  return type.kind === 'date' ? NO_ZONE : instantCodec({ ...clocks, columnType: inUtc(type) });
}

/** Reads rows without a common layout by UTC clocks. A row with an offset is that moment. */
function inUtc(type: DatetimeType): DatetimeType {
  return type.form?.kind === 'any' ? { ...type, form: { kind: 'any', zone: 'UTC' } } : type;
}

/** Returns the type that a time is written as: that of the element, or dateTime if it is none of the three. */
function shownAs(fhirType: string): 'date' | 'dateTime' | 'instant' {
  return fhirType === 'date' || isMoment(fhirType) ? fhirType : 'dateTime';
}

/** Returns how moments are shown, or a message. */
function momentsOrDays(
  day: string | undefined,
  { zone, fhirType }: Pick<CodecContext, 'zone' | 'fhirType'>,
): Pick<EpochOptions, 'zone' | 'fhirType' | 'dayIn'> | string {
  if (day !== undefined && fhirType !== 'date') return '`zone` says which day a date is; moments have no zone';
  return { zone: zoneOf(zone), fhirType: shownAs(fhirType), ...(day !== undefined && { dayIn: zoneOf(day) }) };
}

/** Makes the codec of numbers in a column of REAL or decimals, or of dates whose rows have different layouts. */
function computedEpoch(
  name: string,
  type: ColumnType | undefined,
  unit: EpochUnit,
  to: Pick<EpochOptions, 'zone' | 'fhirType' | 'dayIn'>,
): Codec | string | Refusal {
  const dated = isTimed(type) && (type.form?.kind !== 'layout' || isMixed(type));
  const isNumber = type?.kind === 'float' || type?.kind === 'decimal' || (type?.kind === 'integer' && unit === 'days');
  if (!dated && !isNumber) return refuse(name, type);
  return computedEpochCodec(unit, to);
}

/** Describes the `since` that a kind of dates requires; undefined if it fits. */
function wrongSince(date: 'ymd8' | 'yddd' | 'days' | 'date', since: string | undefined): string | undefined {
  if (date === 'days') return EPOCH.safeParse(since).success ? undefined : '`since` is the day of the number 0';
  if (since === undefined) return undefined;
  if (date === 'date') return '`since` is for dates in numbers and texts';
  return SINCE.safeParse(since).error?.issues[0]?.message;
}

function labelSince(name: string, since: string | undefined): string {
  return since === undefined ? name : `${name} since ${since}`;
}

function numberIn(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

/** Converts `HH:MM` or `HH:MM:SS`. */
function millisecondsOf(clock: string): number {
  const [hour = 0, minute = 0, second = 0] = clock.split(':').map(Number);
  return ((hour * 60 + minute) * 60 + second) * 1000;
}
