/**
 * What rows say of a proposal. In: a database and proposals made of names. Out: the same proposals, best first, each
 * column with what a sample of its rows holds, scored anew: a name that promises a date and holds none loses. Every
 * read is bounded in rows and in time.
 */
import { plural } from '../../common/plural.ts';
import { type ColumnProfile, type Counted, isPersonal } from '../../profile/column.ts';
import { isAmbiguousDay } from '../../profile/form.ts';
import { sizeOf } from '../../profile/rows.ts';
import { profileTable, type TableProfile } from '../../profile/table.ts';
import { findColumn, type TableInfo, tableText } from '../../sql/catalog.ts';
import { among, filled, value } from '../../sql/construct.ts';
import { type Database, DatabaseError, type TableRows } from '../../sql/database.ts';
import type { ColumnExpression, SqlValue } from '../../sql/expression.ts';
import { identifier, isIdentifier } from '../../sql/identifier.ts';
import type { SqlPlan } from '../../sql/plan.ts';
import { suggestionsFor, vocabularyOfSystem } from '../suggest.ts';
import { type Names, rounded } from './hints.ts';
import type { Step } from './parents.ts';
import { type Proposal, type ProposedElement, patientColumn, scored } from './propose.ts';
import { type PossibleReference, possibleReferences } from './references.ts';

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
  /** Undefined: none. `isLikely`: good enough to be written, where a person is asked to look at it. */
  readonly suggestion: { readonly code: string; readonly reason: string; readonly isLikely: boolean } | undefined;
}

export interface SeenElement extends ProposedElement {
  /** Undefined: no row was read. */
  readonly seen: ElementEvidence | undefined;
}

export interface SeenProposal extends Proposal {
  /** Undefined: they were not counted. */
  readonly rows: TableRows | undefined;
  readonly elements: readonly SeenElement[];
}

/** Rows of a table that are read. */
const SAMPLE = 500;
/** Milliseconds for one table. */
const TIME_LIMIT = 2000;
/** Values of a column that are looked for among the keys of patients. */
const LOOKED_FOR = 200;
/** Rows of each that are read at most, where a key may have several. */
const ROWS_EACH = 10;
/** Candidates of one kind that are told. */
const MOST = 3;
/** A best candidate whose name fits, too. */
const SURE = 0.6;
/** The score of a suggestion that is written. */
const LIKELY = 0.85;
const NEARLY_ALL = 0.8;
/** Of an empty table the names may be right, and a full one is likelier. */
const EMPTY = 0.5;
/** The share of keys that lead to a row, where they are keys. */
const LEAST_FOUND = 0.5;
/** Names fit and rows do not. */
const CONTRADICTED = 0.3;
/** Among candidates alike the one with more rows counts: this for each power of ten. */
const ROWS_SHARE = 0.01;

/** Proposals without a look at rows. */
export function unseen(proposals: readonly Proposal[], names: Names): readonly SeenProposal[] {
  const best = ranked(proposals.map(unseenOne));
  return best.map(one => {
    const first = Map.groupBy(possibleReferences(one, best, names), ({ path }) => path).values();
    return withElements(
      one,
      [...first].flatMap(([reference]) => reference ?? []),
    );
  });
}

/** Rows that only names lead to the record are left out. */
function unseenOne(proposal: Proposal): SeenProposal {
  const elements = proposal.elements
    .filter(({ child }) => child?.isDeclared !== false)
    .map(element => ({ ...element, seen: undefined }));
  return { ...proposal, rows: undefined, elements };
}

function withElements(proposal: SeenProposal, more: readonly ProposedElement[]): SeenProposal {
  const elements = more.map(element => ({ seen: undefined, ...element }));
  return { ...proposal, elements: [...proposal.elements, ...elements] };
}

/**
 * Proposals with what their rows say. `progress` hears how many were looked at. Once `signal` is aborted the rest comes
 * as names alone make it. Throws DatabaseError where the database cannot be reached.
 */
export async function withEvidence(
  database: Database,
  proposals: readonly Proposal[],
  names: Names,
  signal: AbortSignal,
  progress: (done: number) => void,
): Promise<readonly SeenProposal[]> {
  const seen: SeenProposal[] = [];
  // Patients come first: other tables are looked at for their keys.
  let patients: Proposal | undefined;
  for (const proposal of proposals) {
    if (signal.aborted) break;
    seen.push(await seenProposal(database, proposal, patients, signal));
    progress(seen.length);
    patients ??= bestOf(seen, proposals);
  }
  const best = ranked([...seen, ...proposals.slice(seen.length).map(unseenOne)]);
  const whole: SeenProposal[] = [];
  for (const one of best)
    whole.push(withElements(one, await referencesOf(database, one, possibleReferences(one, best, names), signal)));
  return whole;
}

/** Of each element the first reference that rows do not contradict. */
async function referencesOf(
  database: Database,
  { info }: SeenProposal,
  possible: readonly PossibleReference[],
  signal: AbortSignal,
): Promise<readonly SeenElement[]> {
  const look: Look = {
    database,
    patients: undefined,
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIME_LIMIT)]),
  };
  const taken = new Map<string, SeenElement>();
  for (const { path, target, isDeclared, ...one } of possible) {
    if (taken.has(path)) continue;
    const [[theirs, ours] = [], ...more] = one.reference.on;
    if (theirs === undefined || ours === undefined) continue;
    const from = { info: one.join?.at(-1)?.table ?? info, column: ours };
    const share = more.length > 0 ? undefined : await shareAmong(look, from, target.info, theirs);
    if (share !== undefined && share < LEAST_FOUND && !isDeclared) continue;
    const where = isDeclared ? 'there' : `${theirs} of ${target.table}`;
    const note = share === undefined ? undefined : `${Math.round(100 * share)} % of a sample are ${where}`;
    taken.set(path, { path, ...one, seen: note === undefined ? undefined : { note, fit: 1, via: undefined } });
  }
  return [...taken.values()];
}

/** The best candidate for patients, once all of them were looked at. */
function bestOf(seen: readonly SeenProposal[], all: readonly Proposal[]): Proposal | undefined {
  const kind = all[0]?.resource === 'Patient' ? all[0].kind : undefined;
  if (kind === undefined || all.some(one => one.kind === kind && !seen.some(({ info }) => info === one.info))) {
    return undefined;
  }
  return ranked(seen.filter(one => one.kind === kind))[0];
}

/**
 * Best first. Of kinds that make the same resource (results, vital signs) a table is one only: both would share the
 * ids. A table that is named after one kind is of no kind that its name does not say.
 */
function ranked(proposals: readonly SeenProposal[]): readonly SeenProposal[] {
  const claims = Map.groupBy(proposals, ({ resource, table }) => `${resource} ${table}`);
  const best = new Set(
    [...claims.values()].map(own => own.reduce((most, one) => (one.score > most.score ? one : most))),
  );
  const named = new Set(proposals.flatMap(one => (one.named > 0 && one.score >= SURE ? [one.table] : [])));
  const left = proposals.filter(one => best.has(one) && (one.named > 0 || !named.has(one.table)));
  return [...Map.groupBy(left, ({ kind }) => kind).values()].flatMap(own =>
    withoutNoise(own.toSorted((a, b) => b.score - a.score || (a.table < b.table ? -1 : 1))).slice(0, MOST),
  );
}

/** Where the best has a name that fits and columns too, tables whose names say nothing only mislead. */
function withoutNoise(own: readonly SeenProposal[]): readonly SeenProposal[] {
  const [best] = own;
  const isSure = best !== undefined && best.named > 0 && best.score >= SURE;
  return isSure ? own.filter(({ named }) => named > 0) : own;
}

async function seenProposal(
  database: Database,
  proposal: Proposal,
  patients: Proposal | undefined,
  signal: AbortSignal,
): Promise<SeenProposal> {
  const look: Look = { database, patients, signal: AbortSignal.any([signal, AbortSignal.timeout(TIME_LIMIT)]) };
  const chosen = await Promise.all(proposal.elements.map(element => joinedBest(look, proposal, element)));
  const profiles = new Map<TableInfo, TableProfile>();
  const guessedKey = proposal.isKeyGuessed ? proposal.key : [];
  const read = Map.groupBy(chosen, element => tableOf(element, proposal));
  for (const info of new Set([...read.keys(), ...(guessedKey.length > 0 ? [proposal.info] : [])])) {
    const columns = (read.get(info) ?? []).map(({ column }) => column);
    const profile = await profileOf(look, info, info === proposal.info ? [...columns, ...guessedKey] : columns);
    if (profile) profiles.set(info, profile);
  }
  const elements: SeenElement[] = [];
  for (const element of chosen) {
    const info = tableOf(element, proposal);
    const of = profiles.get(info)?.columns.find(({ name }) => name === element.column)?.profile;
    const seen = of && of.values > 0 ? evidenceOf(element, of) : undefined;
    const known = seen && element.kind === 'patient' ? await amongPatients(look, info, element.column) : undefined;
    const led = element.child
      ? await childHolds(look, element.child, proposal)
      : await stepsHold(look, element, proposal);
    if (element.child && led?.fit === 0) continue;
    const more = [known, led].filter(one => one !== undefined);
    const whole = seen && {
      ...{ ...seen, note: [seen, ...more].map(({ note }) => note).join('; ') },
      fit: more.reduce((fit, one) => fit * one.fit, seen.fit),
    };
    elements.push({ ...element, seen: whole, score: rounded(element.score * (whole?.fit ?? 1)) });
  }
  const own = profiles.get(proposal.info);
  const rows = own?.rows ?? (await sizeOf(database, proposal.info));
  const { score } = scored({ ...proposal, elements });
  const more = rows === undefined || rows.count === 0 ? 0 : ROWS_SHARE * Math.log10(rows.count);
  return {
    ...{ ...proposal, elements, rows, ...keyHolds(proposal, own) },
    score: rounded(rows?.count === 0 ? EMPTY * score : Math.min(1, score + more)),
  };
}

/** The table of an element's column. */
function tableOf({ join, child }: ProposedElement, { info }: Proposal): TableInfo {
  return child?.table ?? join?.at(-1)?.table ?? info;
}

/** Whether a key that is not declared tells the rows of the sample apart; if not, the proposal has none. */
function keyHolds(
  { key, isKeyGuessed, reasons }: Proposal,
  of: TableProfile | undefined,
): Partial<Pick<Proposal, 'key' | 'reasons'>> {
  const [column, ...others] = key;
  if (!isKeyGuessed || column === undefined) return {};
  const told = (what: string): readonly string[] => [...reasons, `${key.join(', ')} ${what}`];
  const profile = of?.columns.find(({ name }) => name === column)?.profile;
  if (others.length > 0 || !profile || profile.values === 0) return { reasons: told('may be its key, by the name') };
  if (profile.nulls > 0 || profile.distinct.count < profile.values)
    return { key: [], reasons: told('has the name of a key, and is not unique') };
  const where = of.sample === undefined ? 'all' : 'a sample of';
  return { reasons: told(`may be its key: unique in ${where} ${plural(profile.values, 'row')}`) };
}

/** Whether steps that names suggest lead to rows. Undefined: all are declared, or nobody can tell. */
async function stepsHold(
  look: Look,
  { join = [] }: ProposedElement,
  { info }: Proposal,
): Promise<Pick<ElementEvidence, 'note' | 'fit'> | undefined> {
  const notes: string[] = [];
  let fit = 1;
  for (const [i, { table, on, isDeclared }] of join.entries()) {
    const [[theirs, ours] = [], ...more] = on;
    if (isDeclared || theirs === undefined || ours === undefined || more.length > 0) continue;
    const share = await shareAmong(look, { info: join[i - 1]?.table ?? info, column: ours }, table, theirs);
    if (share === undefined) continue;
    notes.push(`${Math.round(100 * share)} % of a sample of ${ours} are in ${tableText(table)}`);
    if (share < LEAST_FOUND) fit *= CONTRADICTED;
  }
  return notes.length === 0 ? undefined : { note: notes.join('; '), fit };
}

/**
 * How many records have such rows. None, where few have: what is told of few is of somebody else, as a contact is. Rows
 * that only names lead to the record have to lead there, nearly all of them.
 */
async function childHolds(
  look: Look,
  { table, on, isDeclared }: Step,
  { info, table: name }: Proposal,
): Promise<Pick<ElementEvidence, 'note' | 'fit'> | undefined> {
  const [[theirs, ours] = []] = on;
  if (theirs === undefined || ours === undefined) return undefined;
  const [child, record] = [
    { info: table, column: theirs },
    { info, column: ours },
  ];
  const back = isDeclared ? 1 : await shareAmong(look, child, info, ours);
  if (back === undefined || back < NEARLY_ALL) return { note: '', fit: 0 };
  const share = await shareAmong(look, record, table, theirs, ROWS_EACH);
  if (share === undefined) return isDeclared ? undefined : { note: '', fit: 0 };
  return { note: `${Math.round(100 * share)} % of a sample of ${name} have a row`, fit: share < LEAST_FOUND ? 0 : 1 };
}

interface Look {
  readonly database: Database;
  /** The best candidate for patients. */
  readonly patients: Proposal | undefined;
  readonly signal: AbortSignal;
}

/** Where several tables may be joined, a declared step, or the one among whose keys most of our values are. */
async function joinedBest(look: Look, { info }: Proposal, element: ProposedElement): Promise<ProposedElement> {
  let best = element;
  let most = -1;
  if (element.join?.every(({ isDeclared }) => isDeclared)) return best;
  for (const one of element.otherwise ? [element, ...element.otherwise] : []) {
    const [
      {
        table,
        on: [[theirs, ours] = []],
      } = { table: info, on: [] },
    ] = one.join ?? [];
    if (theirs === undefined || ours === undefined) continue;
    const share = (await shareAmong(look, { info, column: ours }, table, theirs)) ?? 0;
    if (share > most) [best, most] = [one, share];
  }
  return best;
}

/** The columns of some elements. Undefined: the table could not be read, or not in time. */
async function profileOf(
  { database, signal }: Look,
  info: TableInfo,
  names: readonly string[],
): Promise<TableProfile | undefined> {
  const columns = new Map(
    names.flatMap(column => {
      const found = findColumn(info, column);
      return found ? [[column.toLowerCase(), found] as const] : [];
    }),
  );
  const table = nameOf(info);
  if (!table) return undefined;
  try {
    return await profileTable(
      database,
      table,
      { ...info, columns },
      {
        ...{ rows: SAMPLE, milliseconds: TIME_LIMIT, signal },
        size: await sizeOf(database, info),
        showing: ({ name }) => (isPersonal(name) ? 'forms' : 'codes'),
      },
    );
  } catch (error) {
    if (error instanceof DatabaseError && error.reason !== 'unavailable') return undefined;
    throw error;
  }
}

function nameOf({ name, schema }: TableInfo) {
  if (!isIdentifier(name) || (schema?.needed && !isIdentifier(schema.name))) return undefined;
  return schema?.needed ? { schema: identifier(schema.name), name } : { name };
}

function evidenceOf({ kind, system, type }: ProposedElement, of: ColumnProfile): ElementEvidence {
  const share = (of.values - of.nulls - of.blanks) / of.values;
  const filledText = `${Math.round(100 * share)} % filled`;
  const forms = of.forms.map(({ what }) => what);
  const [usual] = forms;
  const told = usual === undefined ? filledText : `${filledText}; ${usual}${forms.length > 1 ? ' and others' : ''}`;
  if (share === 0) return { note: 'no value', fit: EMPTY, via: undefined };
  if (kind === 'date') {
    const via = dateCodec(forms, type);
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
    const codes = codesOf(of.frequent ?? [], system);
    if (codes.length === 0)
      return { note: `${told}: too many different values for a list of codes`, fit: CONTRADICTED, via: undefined };
    return { note: `${filledText}; ${plural(codes.length, 'code')}`, fit: 1, via: undefined, codes };
  }
  // Texts of results: `<5` beside `7.2`.
  const via = kind === 'any' && type?.kind === 'text' ? 'comparator-number.value' : undefined;
  const hasCommas = via !== undefined && forms.some(form => /\d,\d/.test(form));
  return { note: hasCommas ? `${told}; ${COMMAS}` : told, fit: 1, via };
}

const COMMAS = 'no codec reads decimal commas: docs/mapping-language.md, "What old tables have"';

/** The forms of dates with what reads them. */
const DATE_CODECS: readonly (readonly [form: RegExp, via: string])[] = [
  [/^yyyymmdd$|^yyyymm00$|^yyyy0000$/, 'ymd8'],
  [/^yyyy-mm-dd$/, '[{ written: YYYY-MM-DD }, ymd8]'],
  // No codec reads the time of day of such a text.
  [/^yyyy-mm-dd hh:mm/, '[{ words: first }, { written: YYYY-MM-DD }, ymd8]'],
  [/^yyyy-mm-ddThh:mm/, '[{ piece: { by: T, at: 1 } }, { written: YYYY-MM-DD }, ymd8]'],
  ...['D/M/', 'M/D/', 'D-M-', 'M-D-', 'D.M.', 'D-MON-'].flatMap(order =>
    ['YYYY', 'YY'].flatMap((year): [RegExp, string][] => {
      const written = `${order}${year}`;
      const form = written
        .toLowerCase()
        .replace('d', 'dd')
        .replace(/m(?!on)/, 'mm')
        .replaceAll('.', '\\.');
      const step = `{ written: ${year === 'YY' ? `{ form: ${written}, from: 1930 }` : written} }`;
      return [
        [new RegExp(`^${form}$`), `[${step}, ymd8]`],
        [new RegExp(`^${form} hh:mm`), `[{ words: first }, ${step}, ymd8]`],
      ];
    }),
  ),
  [/^whole number$/, 'epoch'],
  [/^number, /, 'julian'],
];

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
function dateCodec(forms: readonly string[], type: ProposedElement['type']): string | undefined {
  const [usual = ''] = forms;
  if (usual.startsWith('yyyy-') && (type?.kind === 'date' || type?.kind === 'datetime')) return '';
  const ambiguous = isAmbiguousDay(usual);
  const read = ambiguous
    ? (forms.find(form => ORDERED.test(form) && !isAmbiguousDay(form)) ?? usual.replace(/^.* or /, ''))
    : usual;
  return DATE_CODECS.find(([form]) => form.test(read))?.[1];
}

/**
 * Codes with what they may mean. A single letter means little by itself: `E` may be an error or an end. It is
 * believed where letters of nearly all rows mean something in the same system.
 */
function codesOf(frequent: readonly Counted[], system: string): readonly RawCode[] {
  const vocabulary = vocabularyOfSystem(system);
  const found = frequent.map(counted => {
    const [best] = suggestionsFor(counted.what, vocabulary);
    return { ...counted, best, isLikely: best !== undefined && best.score >= LIKELY };
  });
  const rowsOf = (some: readonly Counted[]): number => some.reduce((sum, { rows }) => sum + rows, 0);
  const isLetter = ({ what }: Counted): boolean => what.trim().length === 1;
  const letters = found.filter(isLetter);
  const areMeant = rowsOf(letters.filter(({ isLikely }) => isLikely)) >= NEARLY_ALL * rowsOf(letters);
  return found.map(({ best, isLikely, ...counted }) => {
    const isTaken = isLikely && (areMeant || !isLetter(counted));
    return { ...counted, suggestion: best && { code: best.code, reason: best.reason, isLikely: isTaken } };
  });
}

/** How many of a sample of values are keys of patients. Undefined: it cannot be asked, or not in time. */
async function amongPatients(
  look: Look,
  info: TableInfo,
  column: string,
): Promise<Pick<ElementEvidence, 'note' | 'fit'> | undefined> {
  const { patients } = look;
  const key = patients && patientColumn(patients, column);
  if (!patients || key === undefined || info === patients.info) return undefined;
  const share = await shareAmong(look, { info, column }, patients.info, key);
  if (share === undefined) return undefined;
  const note = `${Math.round(100 * share)} % of a sample are ${key} of ${patients.table}`;
  return { note, fit: share < LEAST_FOUND ? CONTRADICTED : 1 };
}

/**
 * The share of a sample of the different values of a column that another table has as keys. Undefined: not to be asked,
 * or not in time.
 */
async function shareAmong(
  { database, signal }: Look,
  from: { readonly info: TableInfo; readonly column: string },
  to: TableInfo,
  key: string,
  rowsEach = 1,
): Promise<number | undefined> {
  const theirs = columnOf(to, key);
  const ours = columnOf(from.info, from.column);
  if (!theirs || !ours || theirs.type.kind !== ours.type.kind) return undefined;
  try {
    const sample = await database.query(planOf(from.info, ours, filled(ours)), { bulkhead: 'export', signal });
    const values = [...new Set(sample.flatMap(([one]) => (one === null || one === undefined ? [] : [one])))];
    if (values.length === 0) return undefined;
    const wanted = among(
      theirs,
      values.map(one => value(one, ours.type)),
    );
    const found = await database.query(planOf(to, theirs, wanted, rowsEach), { bulkhead: 'export', signal });
    // A column that holds `JSM` and `jsm` finds one key, by the collation of keys.
    const keys = new Set(found.map(([one]) => comparable(one)));
    return values.filter(one => keys.has(comparable(one))).length / values.length;
  } catch (error) {
    if (error instanceof DatabaseError && error.reason !== 'unavailable') return undefined;
    throw error;
  }
}

function comparable(stored: SqlValue | undefined): string {
  return stored instanceof Uint8Array ? Buffer.from(stored).toString('hex') : String(stored).trim().toLowerCase();
}

const ALIAS = identifier('t');

function columnOf(info: TableInfo, column: string): ColumnExpression | undefined {
  const found = findColumn(info, column);
  if (!found?.type || found.denied || !isIdentifier(found.name)) return undefined;
  return { kind: 'column', alias: ALIAS, column: found.name, type: found.type };
}

function planOf(info: TableInfo, column: ColumnExpression, where: SqlPlan['from']['where'], rowsEach = 1): SqlPlan {
  const table = nameOf(info) ?? { name: identifier(info.name) };
  return {
    from: { table, alias: ALIAS, joins: [], where },
    ...{ columns: [column], orderBy: [], limit: rowsEach * LOOKED_FOR, shape: 'rows', searches: true },
  };
}
