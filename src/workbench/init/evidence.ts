/**
 * What rows say of a proposal. In: a database and proposals made of names. Out: the same proposals, best first, each
 * column with what a sample of its rows holds, scored anew: a name that promises a date and holds none loses. Every
 * read is bounded in rows and in time.
 */

import { plural } from '../../common/plural.ts';
import { isPersonal } from '../../profile/column.ts';
import { sizeOf } from '../../profile/rows.ts';
import { profileTable, type TableProfile } from '../../profile/table.ts';
import { COMPARTMENT_TYPE } from '../../r4/search-parameters.ts';
import { findColumn, type TableInfo, tableNameOf, tableText } from '../../sql/catalog.ts';
import { type Database, type TableRows, within } from '../../sql/database.ts';
import { CONTRADICTED, type ElementEvidence, EMPTY, evidenceOf, NEARLY_ALL } from './column-evidence.ts';
import { kindOf, type Names, rounded } from './hints.ts';
import { listOf } from './lists.ts';
import type { Step } from './parents.ts';
import { type Proposal, type ProposedElement, patientColumn, scored } from './propose.ts';
import { type PossibleReference, possibleReferences } from './references.ts';
import { severalIn } from './several.ts';
import { shareAmong, unread } from './shares.ts';

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
/** Likewise where a column tells kinds of records, or code systems, apart, of which some are rare. */
const ROWS_OF_KINDS = 5000;
/** Milliseconds for one table. */
const TIME_LIMIT = 2000;
/** Rows of each that are read at most, where a key may have several. */
const ROWS_EACH = 10;
/** Candidates of one kind that are told. */
const MOST = 3;
/** A best candidate whose name fits, too. */
const SURE = 0.6;
/** The share of keys that lead to a row, where they are keys. */
const LEAST_FOUND = 0.5;
/** Among candidates alike the one with more rows counts: this for each power of ten. */
const ROWS_SHARE = 0.01;

/** What was found. */
export interface Candidates {
  readonly proposals: readonly SeenProposal[];
  /** What a person has to decide before anything can be proposed, in sentences. */
  readonly undecided: readonly string[];
}

/** Proposals without a look at rows. */
export function unseen(proposals: readonly Proposal[], names: Names): Candidates {
  const best = ranked(proposals.map(unseenOne));
  const whole = best.map(one => {
    const first = Map.groupBy(possibleReferences(one, best, names), ({ path }) => path).values();
    return withElements(
      one,
      [...first].flatMap(([reference]) => reference ?? []),
    );
  });
  return { proposals: whole, undecided: [] };
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
): Promise<Candidates> {
  const seen: SeenProposal[] = [];
  // Patients come first: other tables are looked at for their keys.
  let patients: Proposal | undefined;
  for (const proposal of proposals) {
    if (signal.aborted) break;
    seen.push(await seenProposal(database, proposal, patients, names, signal));
    progress(seen.length);
    patients ??= bestOf(seen, proposals);
  }
  const named = [...seen, ...proposals.slice(seen.length).map(unseenOne)];
  const tables = new Set(proposals.flatMap(({ resource, info }) => (resource === COMPARTMENT_TYPE ? [info] : [])));
  const several = await severalIn({ database, signal }, names, tables, (table, columns) =>
    profileOf({ database, patients, signal }, table, columns, ROWS_OF_KINDS),
  );
  const split: SeenProposal[] = [];
  for (const proposal of several.proposals)
    split.push(signal.aborted ? unseenOne(proposal) : await seenProposal(database, proposal, patients, names, signal));
  const best = ranked([...named.filter(({ info }) => !several.tables.has(info)), ...split]);
  const whole: SeenProposal[] = [];
  for (const one of best)
    whole.push(withElements(one, await referencesOf(database, one, possibleReferences(one, best, names), signal)));
  return { proposals: whole, undecided: several.undecided };
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
    signal: within(TIME_LIMIT, signal),
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
  const kind = all[0]?.resource === COMPARTMENT_TYPE ? all[0].kind : undefined;
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
  const claims = Map.groupBy(proposals, ({ resource, table, only }) => {
    return `${resource} ${table}${only ? `, ${only.values.join()}` : ''}`;
  });
  const best = new Set(
    [...claims.values()].map(own => own.reduce((most, one) => (one.score > most.score ? one : most))),
  );
  const named = new Set(proposals.flatMap(one => (one.named > 0 && one.score >= SURE ? [one.table] : [])));
  const left = proposals.filter(
    one => best.has(one) && (one.named > 0 || !named.has(one.table)) && !(one.rows?.count === 0 && isGroundless(one)),
  );
  return [...Map.groupBy(left, ({ kind }) => kind).values()].flatMap(own =>
    withoutNoise(own.toSorted((a, b) => b.score - a.score || (a.table < b.table ? -1 : 1))).slice(0, MOST),
  );
}

/**
 * Without rows only names speak for a table: its own, and that of a column which leads to the patient if its kind has
 * one.
 */
function isGroundless({ kind, named, elements }: SeenProposal): boolean {
  const isOfPatients = kindOf(kind)?.elements.some(element => element.kind === 'patient') ?? false;
  return named === 0 || (isOfPatients && !elements.some(element => element.kind === 'patient'));
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
  names: Names,
  signal: AbortSignal,
): Promise<SeenProposal> {
  const look: Look = { database, patients, signal: within(TIME_LIMIT, signal) };
  const chosen = await Promise.all(proposal.elements.map(element => joinedBest(look, proposal, element)));
  const profiles = new Map<TableInfo, TableProfile>();
  const guessedKey = proposal.isKeyGuessed ? proposal.key : [];
  const read = Map.groupBy(chosen, element => tableOf(element, proposal));
  for (const info of new Set([...read.keys(), ...(guessedKey.length > 0 ? [proposal.info] : [])])) {
    const own = read.get(info) ?? [];
    const columns = own.map(({ column }) => column);
    const systems = new Set(own.flatMap(({ kind: of, column }) => (of === 'system' ? [column] : [])));
    const asked = info === proposal.info ? [...columns, ...guessedKey] : columns;
    const profile = await profileOf(look, info, asked, systems.size > 0 ? ROWS_OF_KINDS : SAMPLE, systems);
    if (profile) profiles.set(info, profile);
  }
  const elements: SeenElement[] = [];
  for (const element of chosen) {
    const info = tableOf(element, proposal);
    const of = profiles.get(info)?.columns.find(({ name }) => name === element.column)?.profile;
    const raws = element.kind === 'code' && element.system !== undefined ? (of?.frequent ?? []) : [];
    const list =
      raws.length > 0
        ? await listOf(
            look,
            { info, column: element.column },
            raws.map(({ what }) => what),
            names,
          )
        : undefined;
    const seen = of && of.values > 0 ? evidenceOf(element, of, list) : undefined;
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

/**
 * The columns of some elements. `systems`: columns that hold names of code systems, which may be of several words.
 * Undefined: the table could not be read, or not in time.
 */
async function profileOf(
  { database, signal }: Look,
  info: TableInfo,
  names: readonly string[],
  rows = SAMPLE,
  systems: ReadonlySet<string> = new Set(),
): Promise<TableProfile | undefined> {
  const only = names.flatMap(column => findColumn(info, column)?.name ?? []);
  const table = tableNameOf(info);
  if (!table) return undefined;
  try {
    return await profileTable(database, table, info, {
      ...{ rows, milliseconds: TIME_LIMIT, signal, only },
      size: await sizeOf(database, info),
      showing: ({ name }) => (isPersonal(name) ? 'forms' : systems.has(name) ? 'always' : 'codes'),
    });
  } catch (error) {
    return unread(error);
  }
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
