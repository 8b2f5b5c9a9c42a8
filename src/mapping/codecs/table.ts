/**
 * Lists the codecs: the only place where `via:` becomes a codec. In: a name, the columns' types and the FHIR type of
 * the element. Out: the entry that makes the codec, or the default codec without `via:`. docs/mapping-language.md,
 * codecs
 */
import { z } from 'zod';
import { type ColumnType, UNICODE } from '../../sql/column-type.ts';
import { wrongWrittenForm } from '../../time/written-form.ts';
import { base64Codec, base64OfNote } from './base64.ts';
import { booleanCodec } from './boolean.ts';
import { codeCodec, integerTextCodec } from './code.ts';
import { type CodeMap, codeMapCodec, type Facet } from './code-map.ts';
import type { Codec } from './codec.ts';
import { comparatorNumberCodec } from './comparator-number.ts';
import { DATE_CODECS } from './date-table.ts';
import {
  type CodecContext,
  type CodecEntry,
  entry,
  fitting,
  type MadeCodec,
  refuse,
  type StepEntry,
  step,
} from './entry.ts';
import { htmlCodec } from './html.ts';
import { numberCodec } from './number.ts';
import { isWholeNumber } from './packed-column.ts';
import { rangeTextCodec } from './range-text.ts';
import { isTimed } from './stored-time.ts';
import { textCodec } from './text.ts';
import {
  dottedStep,
  entitiesStep,
  escapesStep,
  pieceStep,
  prefixStep,
  SEPARATOR,
  stepped,
  type TextStep,
  upperStep,
  wordsStep,
  writtenDateStep,
} from './text-step.ts';
import { isUuidBytes, uuidCodec } from './uuid.ts';

const NONE = z.undefined();
const RAWS = z.union([z.string().transform(raw => [raw]), z.array(z.string())]);
/** Without surrogates: engines count characters alike only if each is one unit of UTF-16. */
const PREFIX = z.string().regex(/^(?!.*[\ud800-\udfff])\S(?:.*\S)?$/, 'a prefix begins and ends with no blank');
const ONE_OR_MORE = /^[1-9]\d?$/;
const YEAR = /^(?:1[89]|20)\d\d$/;

/** Codecs by name. Code maps and text steps are not among them. */
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
  ...DATE_CODECS,
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

/** Text steps by name. One text codec follows them, by default `text`. */
export const TEXT_STEPS: Readonly<Record<string, StepEntry>> = {
  piece: step(
    z.strictObject({
      by: z.string().regex(SEPARATOR, 'a separator is one character, neither letter nor digit'),
      at: z.string().regex(ONE_OR_MORE, 'pieces count from 1'),
    }),
    ({ by, at }) => pieceStep(by, Number(at)),
  ),
  prefix: step(
    z.union([PREFIX.transform(prefix => [prefix]), z.array(PREFIX).min(1)], 'a text, or a list of texts'),
    prefixStep,
  ),
  dotted: step(z.string().regex(/^[1-9]$/, 'characters before the point, 1 to 9'), beforePoint =>
    dottedStep(Number(beforePoint)),
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

/** Returns the default codec of a column type and a FHIR type; undefined if `via:` is required. */
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
    case 'time':
      return columnType.kind === 'time' ? 'time' : undefined;
    case 'base64Binary':
      return columnType.kind === 'binary' ? 'base64' : undefined;
    case 'string':
    case 'markdown':
      return columnType.kind === 'uuid' ? 'uuid' : 'text';
    default:
      // Any other text type of FHIR is a code, key or URI, which does not begin with a blank.
      return columnType.kind === 'uuid' ? 'uuid' : 'code';
  }
}

/** Makes the codec of one facet of a code map on a column. */
export function codeMapFacet(map: CodeMap, facet: Facet, context: CodecContext): MadeCodec {
  const [columnType] = context.columnTypes;
  if (columnType?.kind !== 'text' && !isWholeType(columnType))
    return { problem: refuse(`code map ${map.name}`, columnType) };
  const boolean = context.fhirType === 'boolean';
  if (boolean && facet !== 'code') return { problem: 'only the codes of a map can be booleans', expected: '.code' };
  const words = context.fhirType === 'string' || context.fhirType === 'markdown';
  return fitting(codeMapCodec({ map, facet, columnType, boolean, words }), context);
}

/** Codecs of notes that `base64` may follow. It encodes their output. */
export const NOTES: readonly string[] = ['html', 'xhtml'];

/** Makes the codec of a note as a file: `via: [html, base64]`. */
export function noteAsFile(name: string, context: CodecContext): MadeCodec {
  const note = notes(name === 'html' ? 'html' : 'xhtml', context.columnTypes);
  return typeof note === 'string'
    ? { problem: note }
    : fitting(base64OfNote(note, name === 'html' ? 'plain' : 'xhtml'), context);
}

/** Puts text steps before a codec. `make` gets the context after the steps: a single column of Unicode text. */
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

/** True for types of numeric codes. */
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
  // A text may be a decimal that was copied with the zeros of its column.
  if ((type.kind !== 'decimal' && type.kind !== 'text') || fhirType !== 'decimal')
    return '`scale` is for a decimal or text column and a decimal element';
  if (type.kind === 'decimal' && Number(scale) > type.scale)
    return `the column has ${type.scale} digits after the point`;
  return numberCodec({ columnType: type, fhirType, scale: Number(scale) });
}

/** Kinds of columns that `number` reads. */
const NUMERIC: ReadonlySet<string> = new Set(['text', 'integer', 'decimal', 'float']);

/** Makes the codec of one to three notes. Other numbers of columns are reported elsewhere. */
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
