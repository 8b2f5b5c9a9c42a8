/**
 * The table of codecs: the only place where `via:` becomes a codec. In: a name, the columns' types and the FHIR type
 * of the element. Out: the entry that makes the codec; the default codec without `via:`. docs/mapping-language.md,
 * codecs
 */
import { z } from 'zod';
import { type ColumnType, holdsAnyNumber, isMixed, nameOfType, UNICODE, utcLayoutOf } from '../../sql/column-type.ts';
import { DAY } from '../../time/calendar.ts';
import type { EpochUnit } from '../../time/epoch-units.ts';
import { wrongWrittenForm } from '../../time/written-form.ts';
import { zoneOf } from '../../time/zone.ts';
import { base64Codec, base64OfNote } from './base64.ts';
import { booleanCodec } from './boolean.ts';
import { codeCodec, integerTextCodec } from './code.ts';
import { type CodeMap, codeMapCodec, type Facet } from './code-map.ts';
import type { Codec } from './codec.ts';
import { comparatorNumberCodec } from './comparator-number.ts';
import { dateAndTimeCodec, holdsTimes, isCountedTime, type MomentOptions } from './date-and-time.ts';
import { dateAtCodec, dateCodec, datetimeCodec } from './datetime.ts';
import { daysOf, fractionsOfDays, wholeDays } from './day-count.ts';
import { type DaysOptions, daysCodec, epochDay, firstCounted } from './days.ts';
import { MOST_DECIMALS } from './decimal.ts';
import { dtmCodec } from './dtm.ts';
import { type CodecContext, type CodecEntry, entry, fitting, type MadeCodec, type StepEntry, step } from './entry.ts';
import { computedEpochCodec, type EpochOptions, epochCodec } from './epoch.ts';
import { horologCodec } from './horolog.ts';
import { htmlCodec } from './html.ts';
import { instantCodec } from './instant.ts';
import { numberCodec, onWholeNumbers } from './number.ts';
import { firstOrdinal, ordinalDays } from './ordinal-days.ts';
import { isWholeNumber } from './packed-column.ts';
import { pointColumn } from './point-stamps.ts';
import { rangeTextCodec } from './range-text.ts';
import { type StampColumn, type StampOptions, stampCodec } from './stamp.ts';
import { ymd14Column } from './stamp-columns.ts';
import { type DatetimeType, isTimed } from './stored-time.ts';
import { textCodec } from './text.ts';
import {
  dottedStep,
  entitiesStep,
  escapesStep,
  pieceStep,
  prefixStep,
  stepped,
  type TextStep,
  upperStep,
  wordsStep,
} from './text-step.ts';
import { isUuidBytes, uuidCodec } from './uuid.ts';
import { writtenDateStep } from './written-date.ts';
import { ymdPartsCodec } from './ymd-parts.ts';
import { ymd8AtCodec, ymd8Codec } from './ymd8.ts';

const NONE = z.undefined();
const RAWS = z.union([z.string().transform(raw => [raw]), z.array(z.string())]);
const CLOCK = /^(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?$/;
const NO_TIME = 'an instant has a time of day and a DATE column none: `via: {date: {at: "00:00"}}` says which is meant';
const NO_MIDNIGHT = '`midnight` is for local times: a column with offsets or in UTC has the moment itself';
const NO_ZONE = 'datetime: `zone` is for a column with times; a day is none of UTC';
const AT_OF_DAYS = 'date: `at` is for a DATE column; a column with times has its own';
/** Times of two columns may be written without seconds. */
const MOMENT = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'a time of day is HH:MM');
const NO_TIME_OF = (how: string): string =>
  `an instant has a time of day, and a row may have none: \`${how}\` says which is meant`;
/** Digits of a stamp that has seconds. */
const TO_THE_SECOND = 14;
const GIVES_MOMENTS = '`at` gives an instant or a dateTime';
/** Days of UTC, where those of the pack's zone are not meant. */
const UTC = z.literal('UTC', '`zone` is UTC, or is left out for the zone of the pack');
/** A century that years of two or three digits count from, as `1900` of CYYMMDD. */
const SINCE = z.string().regex(/^(?:1\d|20)00$/, 'the first year of a century, such as 1900');
const WHICH_DAY = 'days: `{days: {since: 1899-12-30}}` says which day the number 0 is';
/** The day of the number 0. */
const EPOCH = z.string().refine(text => epochDay(text) !== undefined, 'a day such as 1899-12-30');
/** Stamps sort as they are stored, which leaves a day alone at its beginning. */
const MIDNIGHT = z.literal('00:00', '`at` is 00:00 here: a day alone comes before its times');
/** Engines count the characters of a text alike where each is one unit of UTF-16. */
const PREFIX = z.string().regex(/^(?!.*[\ud800-\udfff])\S(?:.*\S)?$/, 'a prefix begins and ends with no blank');
const ONE_OR_MORE = /^[1-9]\d?$/;
const YEAR = /^(?:1[89]|20)\d\d$/;

/** Codecs by name. Code maps and text steps have names of their own. */
export const CODECS: Readonly<Record<string, CodecEntry>> = {
  text: entry(NONE, (_, [type]) => textOf(type) ?? refuse('text', type)),
  code: entry(NONE, (_, [type]) => (type?.kind === 'text' ? codeCodec(type) : (textOf(type) ?? refuse('code', type)))),
  number: entry(
    z.union([NONE, z.strictObject({ scale: z.string().regex(/^\d{1,2}$/, 'a number of digits') })]),
    (options, [type], { fhirType }) => numeric(type, fhirType, options?.scale) ?? refuse('number', type),
  ),
  boolean: entry(
    z.union([NONE, z.strictObject({ true: RAWS, false: RAWS })]),
    (options, [type]) => booleans(type, options) ?? refuse('boolean', type),
  ),
  ymd8: entry(
    z.strictObject({ at: MOMENT.optional(), since: SINCE.optional() }).optional(),
    (options, [type], { zone, fhirType }) => {
      if (type?.kind !== 'text' && !isWholeNumber(type)) return refuse('ymd8', type);
      const days = { zone: zoneOf(zone), columnType: type, since: numberIn(options?.since) };
      if (options?.at === undefined)
        return fhirType === 'instant' ? NO_TIME_OF('ymd8: {at: "00:00"}') : onWholeNumbers(ymd8Codec(days), [type]);
      if (!isMoment(fhirType)) return GIVES_MOMENTS;
      return onWholeNumbers(ymd8AtCodec({ ...days, fhirType, at: millisecondsOf(options.at) }), [type]);
    },
  ),
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
  yddd: entry(
    z.strictObject({ at: MOMENT.optional(), since: SINCE.optional() }).optional(),
    (options, [type], context) =>
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
    if (options === undefined)
      return fhirType === 'instant'
        ? NO_TIME_OF('horolog: {at: "00:00"}')
        : horologCodec({ zone: zoneOf(zone), isDay: fhirType === 'date' });
    if (!isMoment(fhirType)) return GIVES_MOMENTS;
    return horologCodec({ zone: zoneOf(zone), isDay: false, at: { fhirType, local: millisecondsOf(options.at) } });
  }),
  dtm: entry(z.strictObject({ at: MIDNIGHT.optional() }).optional(), (options, [type], { zone, fhirType }) => {
    if (type?.kind !== 'text') return refuse('dtm', type);
    if (options?.at !== undefined && fhirType === 'date') return GIVES_MOMENTS;
    const isShort = type.length !== 'max' && type.length < TO_THE_SECOND;
    if (options?.at === undefined && fhirType === 'instant' && isShort) return NO_TIME_OF('dtm: {at: "00:00"}');
    return dtmCodec({ zone: zoneOf(zone), fhirType: shownAs(fhirType), atMidnight: options?.at !== undefined });
  }),
  datetime: entry(
    z.strictObject({ midnight: z.enum(['date', 'absent', 'time']).optional(), zone: UTC.optional() }).optional(),
    (options, [type], { zone, fhirType }) => {
      const midnight = options?.midnight ?? 'time';
      const gives = fhirType === 'date' ? 'day' : fhirType === 'instant' ? 'instant' : 'dateTime';
      if (type?.kind === 'instant') {
        return midnight === 'time' ? instantCodec({ zone: zoneOf(zone), columnType: type, gives }) : NO_MIDNIGHT;
      }
      if (!isTimed(type)) return refuse('datetime', type);
      // Rows that say themselves that they are in UTC are read by that.
      if (options?.zone !== undefined && utcLayoutOf(type) === undefined) {
        if (midnight !== 'time') return NO_MIDNIGHT;
        return type.kind === 'date' ? NO_ZONE : instantCodec({ zone: zoneOf(zone), columnType: inUtc(type), gives });
      }
      if (fhirType === 'instant' && type.kind === 'date') return NO_TIME;
      return datetimeCodec({ zone: zoneOf(zone), columnType: type, fhirType: shownAs(fhirType), midnight });
    },
  ),
  date: entry(
    z.union([NONE, z.strictObject({ at: z.string().regex(CLOCK, 'a time of day is HH:MM or HH:MM:SS') })]),
    (options, [type], { zone, fhirType }) => {
      if (type?.kind === 'instant' && !options)
        return instantCodec({ zone: zoneOf(zone), columnType: type, gives: 'day' });
      if (!isTimed(type)) return type?.kind === 'instant' ? AT_OF_DAYS : refuse('date', type);
      if (!options)
        return fhirType === 'instant' && type.kind === 'date'
          ? NO_TIME
          : dateCodec({ zone: zoneOf(zone), columnType: type });
      if (type.kind !== 'date') return AT_OF_DAYS;
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
      time: z.enum(['hhmm', 'hhmmss', 'hh:mm', 'hh:mm:ss', 'seconds', 'milliseconds', 'clarion', 'time']),
      at: MOMENT.optional(),
    }),
    ({ date, since, time, at }, [dateType, timeType], { zone, fhirType }) => {
      if (!dateType || !timeType) return 'takes 2 columns';
      const dated =
        date === 'date' ? isTimed(dateType) : (date !== 'days' && dateType.kind === 'text') || isWholeNumber(dateType);
      if (!dated) return refuse(`date-and-time with date: ${date}`, dateType);
      const wrong = wrongSince(date, since);
      if (wrong) return `date-and-time: ${wrong}`;
      const isNumber = isWholeNumber(timeType) && (time === 'hhmm' || time === 'hhmmss');
      const fits = isCountedTime(time)
        ? holdsTimes(time, timeType)
        : isNumber || timeType.kind === (time === 'time' ? 'time' : 'text');
      if (!fits) return refuse(`date-and-time with time: ${time}`, timeType);
      const century = date === 'days' ? undefined : numberIn(since);
      const how =
        date === 'days'
          ? { counted: counted(dateType, epochDay(since ?? '') ?? 0) }
          : date === 'yddd'
            ? { counted: ordinals(dateType, century) }
            : { since: century };
      const both = { zone: zoneOf(zone), dateType, ...how, timeType, time };
      if (at === undefined)
        return fhirType === 'instant'
          ? NO_TIME_OF('at: "00:00"')
          : onWholeNumbers(dateAndTimeCodec(both), [dateType, timeType]);
      if (!isMoment(fhirType)) return GIVES_MOMENTS;
      const moment: MomentOptions = { fhirType, local: millisecondsOf(at) };
      return onWholeNumbers(dateAndTimeCodec({ ...both, at: moment }), [dateType, timeType]);
    },
  ),
  'ymd-parts': entry(NONE, (_, types, { zone }) => {
    const odd = types.find(type => type.kind !== 'integer');
    return odd ? refuse('ymd-parts', odd) : onWholeNumbers(ymdPartsCodec({ zone: zoneOf(zone) }), types);
  }),
  'comparator-number': entry(
    NONE,
    (_, [type], __, facet) =>
      type?.kind === 'text'
        ? comparatorNumberCodec(facet === 'value' ? 'value' : 'comparator', type)
        : refuse('comparator-number', type),
    ['value', 'comparator'],
  ),
  'range-text': entry(
    NONE,
    (_, [type], __, facet) =>
      type?.kind === 'text' ? rangeTextCodec(facet === 'low' ? 'low' : 'high') : refuse('range-text', type),
    ['low', 'high'],
  ),
  uuid: entry(NONE, (_, [type]) =>
    type?.kind === 'uuid' || isUuidBytes(type) ? uuidCodec(type) : refuse('uuid', type),
  ),
  base64: entry(NONE, (_, [type]) =>
    type?.kind === 'text' || type?.kind === 'binary' ? base64Codec() : refuse('base64', type),
  ),
  html: entry(NONE, (_, types) => notes('html', types)),
  xhtml: entry(NONE, (_, types) => notes('xhtml', types)),
};

function dateForm(options: string | { readonly form: string; readonly from: string }): [string, number | undefined] {
  return typeof options === 'string' ? [options, undefined] : [options.form, Number(options.from)];
}

/** Text steps by name; one codec of text follows them, `text` if none does. */
export const TEXT_STEPS: Readonly<Record<string, StepEntry>> = {
  piece: step(
    z.strictObject({
      by: z.string().regex(/^[^A-Za-z0-9\s]$|^ $/, 'a separator is one character, neither letter nor digit'),
      at: z.string().regex(ONE_OR_MORE, 'pieces count from 1'),
    }),
    ({ by, at }) => pieceStep(by, Number(at)),
  ),
  prefix: step(
    z.union([PREFIX.transform(prefix => [prefix]), z.array(PREFIX).min(1)], 'a text, or a list of texts'),
    prefixStep,
  ),
  dotted: step(z.string().regex(/^[1-9]$/, 'characters before the point, 1 to 9'), behind =>
    dottedStep(Number(behind)),
  ),
  words: step(z.enum(['first', 'last', 'all-but-last', 'all-but-first']), wordsStep),
  entities: step(NONE, entitiesStep),
  escapes: step(NONE, escapesStep),
  upper: step(NONE, upperStep),
  written: step(
    z
      .union([
        z.string(),
        z.strictObject({ form: z.string(), from: z.string().regex(YEAR, 'a year from 1800 to 2099') }),
      ])
      .superRefine((options, { addIssue }) => {
        const wrong = wrongWrittenForm(...dateForm(options));
        if (wrong) addIssue(wrong);
      }),
    options => writtenDateStep(...dateForm(options)),
  ),
};

export const CODE_MAP_FACETS: readonly Facet[] = ['code', 'system', 'display', 'text'];

/** The codec that a column's type and a FHIR type call for; undefined if there is none and `via:` has to say it. */
export function defaultCodec(
  columnType: ColumnType,
  fhirType: string,
  { zone }: { readonly zone: string },
): Codec | undefined {
  const name = defaultName(columnType, fhirType);
  const made = name && CODECS[name]?.make(undefined, undefined, { zone, fhirType, columnTypes: [columnType] });
  return made && 'codec' in made ? made.codec : undefined;
}

function defaultName(columnType: ColumnType, fhirType: string): string | undefined {
  switch (fhirType) {
    case 'boolean':
      return columnType.kind === 'bit' ? 'boolean' : undefined;
    case 'decimal':
    case 'integer':
    case 'positiveInt':
    case 'unsignedInt':
      return columnType.kind === 'text' ? undefined : 'number';
    case 'date':
    case 'dateTime':
    case 'instant':
      return isTimed(columnType) || columnType.kind === 'instant' ? 'datetime' : undefined;
    case 'base64Binary':
      return columnType.kind === 'binary' ? 'base64' : undefined;
    case 'string':
    case 'markdown':
      return columnType.kind === 'uuid' ? 'uuid' : 'text';
    default:
      // Whatever else is text in FHIR is a code, a key or an address: nothing that begins with a blank.
      return columnType.kind === 'uuid' ? 'uuid' : 'code';
  }
}

/** One facet of a code map on a column. */
export function codeMapFacet(map: CodeMap, facet: Facet, context: CodecContext): MadeCodec {
  const [columnType] = context.columnTypes;
  if (columnType?.kind !== 'text' && !isWholeType(columnType))
    return { problem: refuse(`code map ${map.name}`, columnType) };
  const boolean = context.fhirType === 'boolean';
  if (boolean && facet !== 'code') return { problem: 'only the codes of a map can be booleans', expected: '.code' };
  const words = context.fhirType === 'string' || context.fhirType === 'markdown';
  return fitting(codeMapCodec({ map, facet, columnType, boolean, words }), context);
}

/** Codecs of notes that `base64` may follow: what is encoded is what they write. */
export const NOTES: readonly string[] = ['html', 'xhtml'];

/** A note as a file: `via: [html, base64]`. */
export function noteAsFile(name: string, context: CodecContext): MadeCodec {
  const note = notes(name === 'html' ? 'html' : 'xhtml', context.columnTypes);
  return typeof note === 'string'
    ? { problem: note }
    : fitting(base64OfNote(note, name === 'html' ? 'plain' : 'xhtml'), context);
}

/** Text steps before a codec: `make` gets the context as the steps leave it, a single column of Unicode text. */
export function afterSteps(
  steps: readonly TextStep[],
  context: CodecContext,
  make: (context: CodecContext) => MadeCodec,
): MadeCodec {
  if (steps.length === 0) return make(context);
  const [type, ...others] = context.columnTypes;
  if (type?.kind !== 'text' || others.length > 0) return { problem: 'text steps take one text column' };
  const made = make({ ...context, columnTypes: [UNICODE] });
  return 'codec' in made ? { codec: stepped(steps, made.codec) } : made;
}

/** Types of codes that are numbers. */
function isWholeType(type: ColumnType | undefined): type is ColumnType {
  return type?.kind === 'bit' || isWholeNumber(type);
}

function textOf(type: ColumnType | undefined): Codec | undefined {
  if (type?.kind === 'text') return textCodec();
  return type?.kind === 'integer' || type?.kind === 'decimal' ? integerTextCodec(type) : undefined;
}

function numeric(
  type: ColumnType | undefined,
  fhirType: string,
  scale: string | undefined,
): Codec | string | undefined {
  if (!type || !NUMERIC.has(type.kind)) return undefined;
  if (fhirType !== 'decimal' && fhirType !== 'integer' && fhirType !== 'positiveInt' && fhirType !== 'unsignedInt')
    return `number gives no ${fhirType}`;
  if (scale === undefined) return numberCodec({ columnType: type, fhirType });
  if (type.kind !== 'decimal' || fhirType !== 'decimal') return '`scale` is for a decimal column and a decimal element';
  if (Number(scale) > type.scale) return `the column has ${type.scale} digits after the point`;
  return numberCodec({ columnType: type, fhirType, scale: Number(scale) });
}

/** Kinds of columns that `number` reads. */
const NUMERIC: ReadonlySet<string> = new Set(['text', 'integer', 'decimal', 'float']);

/** One to three notes; another number is left to the check of columns by number. */
function notes(name: 'html' | 'xhtml', types: readonly ColumnType[]): Codec | string {
  const odd = types.find(type => type.kind !== 'text');
  if (odd) return refuse(name, odd);
  return htmlCodec(name === 'html' ? 'plain' : 'xhtml', types.length === 2 || types.length === 3 ? types.length : 1);
}

function booleans(
  type: ColumnType | undefined,
  options: { readonly true: readonly string[]; readonly false: readonly string[] } | undefined,
): Codec | undefined {
  if (type?.kind !== 'text' && !isWholeType(type)) return undefined;
  if (options) return booleanCodec({ columnType: type, ...options });
  if (type.kind === 'text') return undefined;
  return booleanCodec({ columnType: type, true: ['1'], false: ['0'] });
}

/** Whole numbers of days, or numbers whose fraction is a time. */
function days(
  type: ColumnType,
  options: { readonly since: string; readonly at?: string | undefined; readonly midnight?: string | undefined },
  context: CodecContext,
): Codec | string {
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

/** Days without a time, or with the one that the mapping says. */
function daysAlone(
  name: string,
  of: Pick<DaysOptions, 'count' | 'first' | 'options'>,
  type: ColumnType,
  at: string | undefined,
  { zone, fhirType }: CodecContext,
): Codec | string {
  const made = { ...of, name, zone: zoneOf(zone), unit: DAY };
  if (at === undefined)
    return fhirType === 'instant'
      ? NO_TIME_OF('at: "00:00"')
      : onWholeNumbers(daysCodec({ ...made, gives: 'day' }), [type]);
  if (!isMoment(fhirType)) return GIVES_MOMENTS;
  return onWholeNumbers(daysCodec({ ...made, gives: fhirType, at: millisecondsOf(at) }), [type]);
}

/** Whole days from one on, which is a number of days since 1970-01-01. */
function counted(type: ColumnType, from: number): Pick<DaysOptions, 'count' | 'first' | 'options'> {
  return { count: wholeDays(type, from), first: firstCounted(from), options: { from } };
}

function ordinals(type: ColumnType, since = 0): Pick<DaysOptions, 'count' | 'first' | 'options'> {
  const options = { ordinal: true as const, ...(since !== 0 && { since }) };
  return { count: ordinalDays(type, since), first: firstOrdinal(since), options };
}

/** Packed dates with a time of day or without. */
function stamps(
  column: StampColumn,
  type: ColumnType,
  at: string | undefined,
  { label, options }: Pick<StampOptions, 'label' | 'options'>,
  { zone, fhirType }: CodecContext,
): Codec | string {
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

/** A column of numbers that may have digits behind a point, as NUMERIC of SQLite may. */
function isFraction(type: ColumnType | undefined): boolean {
  if (type?.kind === 'decimal') return type.scale > 0 || (holdsAnyNumber(type) && type.precision === MOST_DIGITS);
  return type?.kind === 'float';
}

const MOST_DIGITS = 38;

function isMoment(fhirType: string): fhirType is 'dateTime' | 'instant' {
  return fhirType === 'dateTime' || fhirType === 'instant';
}

/** What has no one form is read by clocks in UTC, too; a row that says its offset is that moment. */
function inUtc(type: DatetimeType): DatetimeType {
  return type.form?.kind === 'any' ? { ...type, form: { kind: 'any', zone: 'UTC' } } : type;
}

/** The type that a time is written as: that of the element, or dateTime where the element is none of the three. */
function shownAs(fhirType: string): 'date' | 'dateTime' | 'instant' {
  return fhirType === 'date' || isMoment(fhirType) ? fhirType : 'dateTime';
}

/** What moments are shown as. */
function momentsOrDays(
  day: string | undefined,
  { zone, fhirType }: Pick<CodecContext, 'zone' | 'fhirType'>,
): Pick<EpochOptions, 'zone' | 'fhirType' | 'dayIn'> | string {
  if (day !== undefined && fhirType !== 'date') return '`zone` says which day a date is; moments have no zone';
  return { zone: zoneOf(zone), fhirType: shownAs(fhirType), ...(day !== undefined && { dayIn: zoneOf(day) }) };
}

/** Numbers in a column of REAL or decimals, or in one of dates whose rows are not all of one layout. */
function computedEpoch(
  name: string,
  type: ColumnType | undefined,
  unit: EpochUnit,
  to: Pick<EpochOptions, 'zone' | 'fhirType' | 'dayIn'>,
): Codec | string {
  const dated = isTimed(type) && (type.form?.kind !== 'layout' || isMixed(type));
  const isNumber = type?.kind === 'float' || type?.kind === 'decimal' || (type?.kind === 'integer' && unit === 'days');
  if (!dated && !isNumber) return refuse(name, type);
  return computedEpochCodec(unit, to);
}

/** Words for what `since` has to be beside a kind of dates; undefined: it is that. */
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

/** Of `HH:MM` or `HH:MM:SS`. */
function millisecondsOf(clock: string): number {
  const [hour = 0, minute = 0, second = 0] = clock.split(':').map(Number);
  return ((hour * 60 + minute) * 60 + second) * 1000;
}

function refuse(name: string, type: ColumnType | undefined): string {
  return type ? `${name} does not read ${nameOfType(type)}` : `${name} takes a column`;
}
