/**
 * Judges by a sample whether a column fits an element. In: the profile of the column, and the element's requirements.
 * Out: a description without a person's values, how well it fits, the codec that reads it, and codes with their likely
 * meanings.
 */
import { plural } from '../../common/plural.ts';
import type { ColumnProfile, Counted } from '../../profile/column.ts';
import { isAmbiguousDay } from '../../profile/form.ts';
import { suggestionsFor, vocabularyOfSystem } from '../suggest.ts';
import type { CodeList } from './lists.ts';
import type { ProposedElement } from './propose.ts';

/** The evidence of a sample about one column. */
export interface ElementEvidence {
  /** In words, without a person's values: `97 % filled; yyyymmdd`. */
  readonly note: string;
  /** How well the rows fit, from 0 to 1; a factor for the score of the name. */
  readonly fit: number;
  /** The YAML after `via:` that reads them; undefined if none is needed. */
  readonly via: string | undefined;
  /** The column of the patients' table whose values these are. */
  readonly theirs?: string;
  /** Raw codes with their likely codes, most rows first. */
  readonly codes?: readonly RawCode[];
}

export interface RawCode extends Counted {
  /** Its meaning in a code list of the database. */
  readonly text?: string;
  /** Undefined if there is none. `isLikely`: good enough to be written and reviewed by a person. */
  readonly suggestion: { readonly code: string; readonly reason: string; readonly isLikely: boolean } | undefined;
}

/** Fit of a table or column without values: the names may be right, but one with values is likelier. */
export const EMPTY = 0.5;
/** Fit if the name fits and the rows do not. */
export const CONTRADICTED = 0.3;
/** Share of the rows that counts as nearly all. */
export const NEARLY_ALL = 0.8;
/** Minimum share of values that lead to a row, if they are keys. */
export const LEAST_FOUND = 0.5;
/**
 * A table of concepts has at most so many code systems; a text in fewer rows than FEWEST_ROWS is not counted as one.
 */
const MOST_SYSTEMS = 60;
const FEWEST_ROWS = 3;
/** Minimum score of a suggestion that is written. */
const LIKELY = 0.85;

/** Judges a column that has rows. `list`: the meanings of its codes, if the database has them. */
export function evidenceOf(
  { kind, system, type }: ProposedElement,
  of: ColumnProfile,
  list?: CodeList,
): ElementEvidence {
  const share = (of.values - of.nulls - of.blanks) / of.values;
  const filledText = `${Math.round(100 * share)} % filled`;
  const forms = of.forms.map(({ what }) => what);
  const [usual] = forms;
  const summary = usual === undefined ? filledText : `${filledText}; ${usual}${forms.length > 1 ? ' and others' : ''}`;
  if (share === 0) return { note: 'no value', fit: EMPTY, via: undefined };
  if (kind === 'date') {
    const via = dateCodec(forms, type, of.range?.most);
    if (via === undefined) return { note: `${summary}: no date`, fit: CONTRADICTED, via };
    const guesses = [
      ...(forms.some(isAmbiguousDay) ? [AMBIGUOUS] : []),
      ...(forms.some(form => SHORT_YEAR.test(form)) ? [WHICH_YEARS] : []),
    ];
    return {
      note: [summary, guesses.join('; ')].filter(Boolean).join(': '),
      fit: 1,
      via: via === '' ? undefined : via,
    };
  }
  if (kind === 'text') {
    const isWords = !/number|^(?:yyyy|dd|mm|hh:)|^\d|^UUID$/.test(usual ?? '');
    return { note: isWords ? summary : `${summary}: no words`, fit: isWords ? 1 : CONTRADICTED, via: undefined };
  }
  if (kind === 'code' && system !== undefined) {
    const codes = codesOf(of.frequent ?? [], system, list);
    if (codes.length === 0)
      return { note: `${summary}: too many different values for a list of codes`, fit: CONTRADICTED, via: undefined };
    const listed = list ? `, listed in ${list.name}` : '';
    return { note: `${filledText}; ${plural(codes.length, 'code')}${listed}`, fit: 1, via: undefined, codes };
  }
  if (kind === 'system') {
    const usual = (of.frequent ?? []).filter(({ rows }) => rows >= FEWEST_ROWS);
    const named = usual.length > MOST_SYSTEMS ? [] : usual;
    const codes = named.map(counted => ({ ...counted, suggestion: systemNamed(counted.what) }));
    return { note: `${filledText}; ${plural(codes.length, 'system')}`, fit: 1, via: undefined, codes };
  }
  // Results as texts: `<5` beside `7.2`.
  const via = kind === 'any' && type?.kind === 'text' ? 'comparator-number.value' : undefined;
  const hasCommas = via !== undefined && forms.some(form => /\d,\d/.test(form));
  return { note: hasCommas ? `${summary}; ${COMMAS}` : summary, fit: 1, via };
}

/** Usual names of code systems in tables of concepts, in lower-case letters and digits only. */
const SYSTEMS: Readonly<Record<string, string>> = {
  ...{ snomed: 'http://snomed.info/sct', snomedct: 'http://snomed.info/sct', sct: 'http://snomed.info/sct' },
  ...{ loinc: 'http://loinc.org', rxnorm: 'http://www.nlm.nih.gov/research/umls/rxnorm' },
  ...{ icd10cm: 'http://hl7.org/fhir/sid/icd-10-cm', icd10pcs: 'http://www.cms.gov/Medicare/Coding/ICD10' },
  ...{ icd9cm: 'http://hl7.org/fhir/sid/icd-9-cm', cvx: 'http://hl7.org/fhir/sid/cvx' },
  ...{ ndc: 'http://hl7.org/fhir/sid/ndc', ucum: 'http://unitsofmeasure.org' },
  ...{ cpt: 'http://www.ama-assn.org/go/cpt', cpt4: 'http://www.ama-assn.org/go/cpt' },
  hcpcs: 'http://www.cms.gov/Medicare/Coding/HCPCSReleaseCodeSets',
};

function systemNamed(what: string): RawCode['suggestion'] {
  const code = SYSTEMS[what.toLowerCase().replace(/[^a-z0-9]/g, '')];
  return code === undefined ? undefined : { code, reason: 'it usually means this system', isLikely: true };
}

const COMMAS = 'no codec reads decimal commas: docs/mapping-language.md, "What old tables have"';

/** Returns the codecs for a form of dates, alone and followed by a time; seconds may be missing in rows. */
function datesOf(form: string, written: string): [form: RegExp, via: string][] {
  const step = (text: string): string =>
    `{ written: ${written.includes('YYYY') ? text : `{ form: ${text}, from: 1930 }`} }`;
  const times = ['H:mm:ss', 'h:mm:ss AM'].flatMap(time =>
    [' ', 'T', '@', ', '].map((between): [RegExp, string] => [
      new RegExp(`^${form}${between}hh:mm(?::ss(?:\\.f+)?)?${time.endsWith('AM') ? ' AM' : ''}$`),
      `[${step(written + between + time)}, ymd14]`,
    ]),
  );
  return [[new RegExp(`^${form}$`), `[${step(written)}, ymd8]`], ...times];
}

/** The forms of dates and their codecs. */
const DATE_CODECS: readonly (readonly [form: RegExp, via: string])[] = [
  [/^yyyymmdd$|^yyyymm00$|^yyyy0000$/, 'ymd8'],
  ...datesOf('yyyy-mm-dd', 'YYYY-MM-DD').slice(1),
  // With a time zone.
  [/^yyyy-mm-dd[T ]hh:mm/, 'iso'],
  // Four-digit years separated by dots or slashes, and two-digit years at the beginning.
  ...['-', '/', '.'].flatMap((mark): [RegExp, string][] => {
    const short = ['yy', 'mm', 'dd'].join(mark === '.' ? '\\.' : mark);
    return [...datesOf(`yy${short}`, `YYYY${mark}MM${mark}DD`), ...datesOf(short, `YY${mark}M${mark}D`)];
  }),
  ...['D/M/', 'M/D/', 'D-M-', 'M-D-', 'D.M.', 'D-MON-', 'MON D, ', 'MON D '].flatMap(order =>
    ['YYYY', 'YY'].flatMap((year): [RegExp, string][] => {
      const written = `${order}${year}`;
      const form = written
        .toLowerCase()
        .replace('d', 'dd')
        .replace(/m(?!on)/, 'mm')
        .replaceAll('.', '\\.');
      return datesOf(form, written);
    }),
  ),
  [/^cyymmdd$/, '{ ymd8: { since: 1900 } }'],
  [/^yyymmdd$/, '{ ymd8: { since: 1700 } }'],
  [/^yyymmdd\.hhmmss$/, '{ ymd14: { since: 1700 } }'],
  [/^yyyyddd$/, 'yddd'],
  [/^cyyddd$/, '{ yddd: { since: 1900 } }'],
  [/^days,seconds$/, 'horolog'],
];

/** Codecs for numbers that count, by the greatest value of a column: days from 2000 to 2035, seconds from 1971 on. */
const COUNTS: readonly (readonly [least: number, most: number, via: string])[] = [
  [10_957, 24_106, '{ days: { since: 1970-01-01 } }'],
  [36_526, 49_675, '{ days: { since: 1899-12-30 } }'],
  [58_074, 71_222, '{ days: { since: 1840-12-31 } }'],
  [72_686, 85_835, '{ days: { since: 1800-12-28 } }'],
  [2_451_544, 2_464_694, 'julian'],
  [31_536_000, 2_082_758_400, 'epoch'],
  [100_000_000_000, 2_082_758_400_000, '{ epoch: { unit: milliseconds } }'],
];

function countCodec(form: string, greatest: string | undefined): string | undefined {
  if (!/^whole number$|^number, /.test(form)) return undefined;
  // The range is unknown if the column may contain personal values.
  if (greatest === undefined) return form === 'whole number' ? 'epoch' : 'julian';
  return COUNTS.find(([least, most]) => Number(greatest) >= least && Number(greatest) < most)?.[2];
}

/** Timestamps of HL7 v2, of any precision. */
const MESSAGE = /^yyyymmdd(?:hh|\+)/;
/** Types of columns that `datetime` reads without a `via:`. */
const TIMES: ReadonlySet<string> = new Set(['date', 'datetime', 'instant']);
const AMBIGUOUS = 'the rows do not decide between both, the one below is a guess';
const SHORT_YEAR = /\byy\b/;
const WHICH_YEARS = 'the rows do not decide the century, 1930 to 2029 is a guess';
/** Forms that prove which part is the day and which the month, unless they are ambiguous. */
const ORDERED = /^(?:dd|mm)[-/](?:dd|mm)/;

/**
 * Returns the codec for the usual form; undefined if there is none; `''` if no `via:` is needed, as in a column of
 * dates that holds dates. If rows prove both orders of day and month, it takes the more frequent one; if none proves
 * either, the month first.
 */
function dateCodec(
  forms: readonly string[],
  type: ProposedElement['type'],
  greatest: string | undefined,
): string | undefined {
  const [usual = ''] = forms;
  if (usual.startsWith('yyyy-') && type && TIMES.has(type.kind)) return '';
  // Some rows have only the day.
  if (/^yyyymmdd/.test(usual) && forms.some(form => MESSAGE.test(form))) return 'dtm';
  const ambiguous = isAmbiguousDay(usual);
  const read = ambiguous
    ? (forms.find(form => ORDERED.test(form) && !isAmbiguousDay(form)) ?? usual.replace(/^.* or /, ''))
    : usual;
  return DATE_CODECS.find(([form]) => form.test(read))?.[1] ?? countCodec(read, greatest);
}

/**
 * Returns codes with their likely meanings. The meaning in a code list of the database counts more than the code
 * itself. Single letters are weak: `E` may be an error or an end. They count only if the letters of nearly all rows
 * mean something in the same system.
 */
function codesOf(frequent: readonly Counted[], system: string, list: CodeList | undefined): readonly RawCode[] {
  const vocabulary = vocabularyOfSystem(system);
  const found = frequent.map(counted => {
    const text = list?.texts.get(counted.what.trim());
    const [best] = suggestionsFor(counted.what, vocabulary, list);
    return { ...counted, ...(text && { text }), best, isLikely: best !== undefined && best.score >= LIKELY };
  });
  const rowsOf = (some: readonly Counted[]): number => some.reduce((sum, { rows }) => sum + rows, 0);
  const isLetter = ({ what, text }: (typeof found)[number]): boolean => (text ?? what).trim().length === 1;
  const letters = found.filter(isLetter);
  const areMeant = rowsOf(letters.filter(({ isLikely }) => isLikely)) >= NEARLY_ALL * rowsOf(letters);
  return found.map(one => {
    const { best, isLikely, ...counted } = one;
    const isTaken = isLikely && (areMeant || !isLetter(one));
    return { ...counted, suggestion: best && { code: best.code, reason: best.reason, isLikely: isTaken } };
  });
}
