/**
 * What a sample says of a column that may make an element. In: the profile of the column, and what the element wants.
 * Out: words for it without a value of a person, how well it fits, the codec that reads it, and codes with what each
 * may mean.
 */
import { plural } from '../../common/plural.ts';
import type { ColumnProfile, Counted } from '../../profile/column.ts';
import { isAmbiguousDay } from '../../profile/form.ts';
import { suggestionsFor, vocabularyOfSystem } from '../suggest.ts';
import type { CodeList } from './lists.ts';
import type { ProposedElement } from './propose.ts';

/** What the sample says of one column. */
export interface ElementEvidence {
  /** In words, without a value of a person: `97 % filled; yyyymmdd`. */
  readonly note: string;
  /** How well the rows fit, from 0 to 1; the score of the name is multiplied by it. */
  readonly fit: number;
  /** What stands behind `via:` to read them, as YAML; undefined: nothing has to. */
  readonly via: string | undefined;
  /** Raw codes with the code that each may mean, most rows first. */
  readonly codes?: readonly RawCode[];
}

export interface RawCode extends Counted {
  /** What a list of the database says that it means. */
  readonly text?: string;
  /** Undefined: none. `isLikely`: good enough to be written, where a person is asked to look at it. */
  readonly suggestion: { readonly code: string; readonly reason: string; readonly isLikely: boolean } | undefined;
}

/** Of a table or a column without a value the names may be right, and a full one is likelier. */
export const EMPTY = 0.5;
/** Names fit and rows do not. */
export const CONTRADICTED = 0.3;
/** So many of the rows. */
export const NEARLY_ALL = 0.8;
/** A table of concepts is of no more code systems; a text in fewer rows is none. */
const MOST_SYSTEMS = 60;
const FEWEST_ROWS = 3;
/** The score of a suggestion that is written. */
const LIKELY = 0.85;

/** Of a column that has rows. `list`: what its codes mean, where the database says it. */
export function evidenceOf(
  { kind, system, type }: ProposedElement,
  of: ColumnProfile,
  list?: CodeList,
): ElementEvidence {
  const share = (of.values - of.nulls - of.blanks) / of.values;
  const filledText = `${Math.round(100 * share)} % filled`;
  const forms = of.forms.map(({ what }) => what);
  const [usual] = forms;
  const told = usual === undefined ? filledText : `${filledText}; ${usual}${forms.length > 1 ? ' and others' : ''}`;
  if (share === 0) return { note: 'no value', fit: EMPTY, via: undefined };
  if (kind === 'date') {
    const via = dateCodec(forms, type, of.range?.most);
    if (via === undefined) return { note: `${told}: no date`, fit: CONTRADICTED, via };
    const guesses = [
      ...(forms.some(isAmbiguousDay) ? [AMBIGUOUS] : []),
      ...(forms.some(form => SHORT_YEAR.test(form)) ? [WHICH_YEARS] : []),
    ];
    return { note: [told, guesses.join('; ')].filter(Boolean).join(': '), fit: 1, via: via === '' ? undefined : via };
  }
  if (kind === 'text') {
    const isWords = !/number|^(?:yyyy|dd|mm|hh:)|^\d|^UUID$/.test(usual ?? '');
    return { note: isWords ? told : `${told}: no words`, fit: isWords ? 1 : CONTRADICTED, via: undefined };
  }
  if (kind === 'code' && system !== undefined) {
    const codes = codesOf(of.frequent ?? [], system, list);
    if (codes.length === 0)
      return { note: `${told}: too many different values for a list of codes`, fit: CONTRADICTED, via: undefined };
    const listed = list ? `, listed in ${list.name}` : '';
    return { note: `${filledText}; ${plural(codes.length, 'code')}${listed}`, fit: 1, via: undefined, codes };
  }
  if (kind === 'system') {
    const usual = (of.frequent ?? []).filter(({ rows }) => rows >= FEWEST_ROWS);
    const named = usual.length > MOST_SYSTEMS ? [] : usual;
    const codes = named.map(counted => ({ ...counted, suggestion: systemNamed(counted.what) }));
    return { note: `${filledText}; ${plural(codes.length, 'system')}`, fit: 1, via: undefined, codes };
  }
  // Texts of results: `<5` beside `7.2`.
  const via = kind === 'any' && type?.kind === 'text' ? 'comparator-number.value' : undefined;
  const hasCommas = via !== undefined && forms.some(form => /\d,\d/.test(form));
  return { note: hasCommas ? `${told}; ${COMMAS}` : told, fit: 1, via };
}

/** What tables of concepts call the well-known systems, in small letters and digits alone. */
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

/** What reads dates of a form, alone and with a time behind them; seconds may be missing in rows. */
function datesOf(form: string, written: string): [form: RegExp, via: string][] {
  const step = (text: string): string =>
    `{ written: ${written.includes('YYYY') ? text : `{ form: ${text}, from: 1930 }`} }`;
  const times = ['H:mm:ss', 'h:mm:ss AM'].flatMap(time =>
    [' ', 'T'].map((between): [RegExp, string] => [
      new RegExp(`^${form}${between}hh:mm(?::ss(?:\\.f+)?)?${time.endsWith('AM') ? ' AM' : ''}$`),
      `[${step(written + between + time)}, ymd14]`,
    ]),
  );
  return [[new RegExp(`^${form}$`), `[${step(written)}, ymd8]`], ...times];
}

/** The forms of dates with what reads them. */
const DATE_CODECS: readonly (readonly [form: RegExp, via: string])[] = [
  [/^yyyymmdd$|^yyyymm00$|^yyyy0000$/, 'ymd8'],
  ...datesOf('yyyy-mm-dd', 'YYYY-MM-DD').slice(1),
  // The zone behind a time is not read, and so neither is the time.
  [/^yyyy-mm-ddThh:mm/, '[{ piece: { by: T, at: 1 } }, { written: YYYY-MM-DD }, ymd8]'],
  // Years of four digits that full stops or slashes part, and years of two that come first.
  ...['-', '/', '.'].flatMap((mark): [RegExp, string][] => {
    const short = ['yy', 'mm', 'dd'].join(mark === '.' ? '\\.' : mark);
    return [...datesOf(`yy${short}`, `YYYY${mark}MM${mark}DD`), ...datesOf(short, `YY${mark}M${mark}D`)];
  }),
  ...['D/M/', 'M/D/', 'D-M-', 'M-D-', 'D.M.', 'D-MON-'].flatMap(order =>
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

/** What reads numbers that count, by the greatest of a column: days from 2000 to 2035, seconds from 1971 on. */
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
  // Nothing is known of the range of a column that may hold what tells a person.
  if (greatest === undefined) return form === 'whole number' ? 'epoch' : 'julian';
  return COUNTS.find(([least, most]) => Number(greatest) >= least && Number(greatest) < most)?.[2];
}

/** Stamps of HL7 v2, of any precision. */
const MESSAGE = /^yyyymmdd(?:hh|\+)/;
/** Kinds of columns that `datetime` reads, without its name behind `via:`. */
const TIMES: ReadonlySet<string> = new Set(['date', 'datetime', 'instant']);
const AMBIGUOUS = 'the rows do not decide between both, the one below is a guess';
const SHORT_YEAR = /\byy\b/;
const WHICH_YEARS = 'the rows do not decide the century, 1930 to 2029 is a guess';
/** Forms of which a row proves which is the day and which the month, unless they are ambiguous. */
const ORDERED = /^(?:dd|mm)[-/](?:dd|mm)/;

/**
 * What reads the usual form. Undefined: nothing does. `''`: nothing has to stand behind `via:`, as in a column of dates
 * that holds dates. Where rows prove both orders of day and month, the more frequent one is taken, and where none
 * proves any, the month first.
 */
function dateCodec(
  forms: readonly string[],
  type: ProposedElement['type'],
  greatest: string | undefined,
): string | undefined {
  const [usual = ''] = forms;
  if (usual.startsWith('yyyy-') && type && TIMES.has(type.kind)) return '';
  // Some days are known without a time.
  if (/^yyyymmdd/.test(usual) && forms.some(form => MESSAGE.test(form))) return 'dtm';
  const ambiguous = isAmbiguousDay(usual);
  const read = ambiguous
    ? (forms.find(form => ORDERED.test(form) && !isAmbiguousDay(form)) ?? usual.replace(/^.* or /, ''))
    : usual;
  return DATE_CODECS.find(([form]) => form.test(read))?.[1] ?? countCodec(read, greatest);
}

/**
 * Codes with what they may mean. What a list of the database says of a code counts for more than the code itself. A
 * single letter means little: `E` may be an error or an end. It is believed where letters of nearly all rows mean
 * something in the same system.
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
