/**
 * Scores proposals by their rows. In: a database and proposals based on names. Out: the same proposals, best first,
 * each column with the findings of a sample of its rows, and new scores: a name that promises a date loses if the rows
 * hold none. Every read is limited in rows and in time.
 */

import { plural } from '../../common/plural.ts';
import { type ColumnProfile, isPersonal } from '../../profile/column.ts';
import { sizeOf } from '../../profile/rows.ts';
import { profileTable, type TableProfile } from '../../profile/table.ts';
import { COMPARTMENT_TYPE } from '../../r4/search-parameters.ts';
import { findColumn, type TableInfo, tableNameOf, tableText } from '../../sql/catalog.ts';
import { type Database, type TableRows, within } from '../../sql/database.ts';
import { CONTRADICTED, type ElementEvidence, EMPTY, evidenceOf, LEAST_FOUND, NEARLY_ALL } from './column-evidence.ts';
import { withDates } from './dated.ts';
import { kindOf, type Names, rounded } from './hints.ts';
import { listOf } from './lists.ts';
import type { Step } from './parents.ts';
import { amongPatients, heldKeys } from './patients.ts';
import { type Proposal, type ProposedElement, scored } from './propose.ts';
import { type PossibleReference, possibleReferences } from './references.ts';
import { severalIn } from './several.ts';
import { shareAmong, unread } from './shares.ts';

export interface SeenElement extends ProposedElement {
  /** Undefined if no row was read. */
  readonly seen: ElementEvidence | undefined;
}

export interface SeenProposal extends Proposal {
  /** Undefined if they were not counted. */
  readonly rows: TableRows | undefined;
  readonly elements: readonly SeenElement[];
}

/** Rows that are read per table. */
const SAMPLE = 500;
/** The same for a table with a column that distinguishes kinds of records, or code systems, because some are rare. */
const ROWS_OF_KINDS = 5000;
/** Time limit in milliseconds per table. */
const TIME_LIMIT = 2000;
/** Maximum of rows read per key value that may occur several times. */
const ROWS_EACH = 10;
/** Maximum number of candidates per kind. */
const MOST = 3;
/** Minimum score of a best candidate whose name fits too. */
const SURE = 0.6;
/** Factor for a table that has the key of a larger one. */
const PART = 0.8;
/** Bonus per power of ten of rows, so that among equal candidates the larger table wins. */
const ROWS_SHARE = 0.01;

/** The result of the search for tables. */
export interface Candidates {
  readonly proposals: readonly SeenProposal[];
  /** Decisions that a person must take before anything can be proposed, in sentences. */
  readonly undecided: readonly string[];
}

/** Ranks proposals without reading rows. */
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

/** Leaves out child rows that only names connect to the record. */
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
 * Scores proposals by their rows. `progress` is called with the number of proposals done. Once `signal` is aborted, the
 * rest is scored by names alone. Throws DatabaseError if the database cannot be reached.
 */
export async function withEvidence(
  database: Database,
  proposals: readonly Proposal[],
  names: Names,
  signal: AbortSignal,
  progress: (done: number) => void,
): Promise<Candidates> {
  const seen: SeenProposal[] = [];
  // Patients come first, because other tables are checked against their keys.
  let patients: Proposal | undefined;
  for (const proposal of proposals) {
    if (signal.aborted) break;
    seen.push(await seenProposal(database, proposal, patients, names, signal));
    progress(seen.length);
    if (patients || !areAllSeen(seen, proposals)) continue;
    const held = await heldKeys({ database, signal }, seen, proposals);
    seen.splice(0, seen.length, ...seen.map(one => withReason(one, held.get(one))));
    patients = ranked(seen)[0];
  }
  const named = withoutParts([...seen, ...proposals.slice(seen.length).map(unseenOne)]);
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

/** Lowers the score of a table whose key is that of a larger candidate: it has more about some of its records. */
function withoutParts(seen: readonly SeenProposal[]): readonly SeenProposal[] {
  const keyOf = ({ kind, key }: SeenProposal): string => `${kind} ${key.join().toLowerCase()}`;
  return seen.map(one => {
    const whole = seen.find(
      other =>
        one.key.length > 0 &&
        keyOf(other) === keyOf(one) &&
        other.named > 0 &&
        one.rows !== undefined &&
        one.rows.count > 0 &&
        (other.rows?.count ?? 0) > one.rows.count,
    );
    if (!whole) return one;
    const reasons = [...one.reasons, `${whole.table} has the same key and more rows`];
    return { ...one, reasons, score: rounded(one.score * PART) };
  });
}

/** Returns for each element the first reference that rows do not contradict. */
async function referencesOf(
  database: Database,
  { info }: SeenProposal,
  possible: readonly PossibleReference[],
  signal: AbortSignal,
): Promise<readonly SeenElement[]> {
  const look: SampleContext = {
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
    const share = more.length > 0 && isDeclared ? undefined : await shareAmong(look, from, target.info, theirs);
    if (share !== undefined && share < LEAST_FOUND && !isDeclared) continue;
    const where = isDeclared ? 'there' : `${theirs} of ${target.table}`;
    const note = share === undefined ? undefined : `${Math.round(100 * share)} % of a sample are ${where}`;
    taken.set(path, { path, ...one, seen: note === undefined ? undefined : { note, fit: 1, via: undefined } });
  }
  return [...taken.values()];
}

/** Lowers the score of a candidate for patients, with the reason. */
function withReason(proposal: SeenProposal, reason: string | undefined): SeenProposal {
  if (reason === undefined) return proposal;
  return { ...proposal, reasons: [...proposal.reasons, reason], score: rounded(proposal.score * CONTRADICTED) };
}

/** True once the rows of all candidates for patients were read. */
function areAllSeen(seen: readonly SeenProposal[], all: readonly Proposal[]): boolean {
  const people = all.filter(({ resource }) => resource === COMPARTMENT_TYPE);
  return people.length > 0 && people.every(one => seen.some(({ info }) => info === one.info));
}

/**
 * Sorts proposals, best first. If several kinds make the same resource (results, vital signs), a table is used for one
 * only, because both would share the ids. A table whose name fits one kind is dropped for kinds that its name does not
 * fit.
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
 * True if nothing supports an empty table: neither its name nor, for kinds that have one, a column that leads to the
 * patient.
 */
function isGroundless({ kind, named, elements }: SeenProposal): boolean {
  const isOfPatients = kindOf(kind)?.elements.some(element => element.kind === 'patient') ?? false;
  return named === 0 || (isOfPatients && !elements.some(element => element.kind === 'patient'));
}

/** Drops tables without a fitting name if the best candidate has both a fitting name and fitting columns. */
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
  const look: SampleContext = { database, patients, signal: within(TIME_LIMIT, signal) };
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
  const taken = new Set(proposal.elements.flatMap(({ join, child, column }) => (join || child ? [] : [column])));
  const ownProfile = async (column: string): Promise<ColumnProfile | undefined> => {
    const known = profiles.get(proposal.info);
    const found = known?.columns.find(({ name }) => name === column);
    if (found || !known) return found?.profile;
    const more = await profileOf(look, proposal.info, [column]);
    profiles.set(proposal.info, { ...known, columns: [...known.columns, ...(more?.columns ?? [])] });
    return more?.columns.find(({ name }) => name === column)?.profile;
  };
  for (const one of chosen) {
    const element = await withDates(proposal, one, names, taken, ownProfile);
    if (!element) continue;
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
    const isPatient = element.kind === 'patient' && patients && info !== patients.info;
    const known = seen && isPatient ? await amongPatients(look, info, element.column, patients) : undefined;
    const led = element.child
      ? await childHolds(look, element.child, proposal)
      : await stepsHold(look, element, proposal);
    if (element.child && led?.fit === 0) continue;
    const more = [known, led].filter(one => one !== undefined);
    const whole = seen && {
      ...{ ...seen, note: [seen, ...more].map(({ note }) => note).join('; ') },
      fit: more.reduce((fit, one) => fit * one.fit, seen.fit),
      ...(known ? { theirs: known.theirs } : {}),
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

/** Returns the table of an element's column. */
function tableOf({ join, child }: ProposedElement, { info }: Proposal): TableInfo {
  return child?.table ?? join?.at(-1)?.table ?? info;
}

/** Checks whether an undeclared key is unique in the sample; if not, the proposal has no key. */
function keyHolds(
  { key, isKeyGuessed, reasons }: Proposal,
  of: TableProfile | undefined,
): Partial<Pick<Proposal, 'key' | 'reasons'>> {
  const [column, ...others] = key;
  if (!isKeyGuessed || column === undefined) return {};
  const because = (what: string): readonly string[] => [...reasons, `${key.join(', ')} ${what}`];
  const profile = of?.columns.find(({ name }) => name === column)?.profile;
  if (others.length > 0 || !profile || profile.values === 0) return { reasons: because('may be its key, by the name') };
  if (profile.nulls > 0 || profile.distinct.count < profile.values)
    return { key: [], reasons: because('has the name of a key, and is not unique') };
  const where = of.sample === undefined ? 'all' : 'a sample of';
  return { reasons: because(`may be its key: unique in ${where} ${plural(profile.values, 'row')}`) };
}

/**
 * Checks whether steps that are based on names lead to rows. Undefined if all steps are declared or it cannot be
 * determined.
 */
async function stepsHold(
  look: SampleContext,
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
 * Returns how many records have such rows. The fit is 0 if few have: the rows then describe somebody else, such as a
 * contact. If only names connect the rows to the record, nearly all of them must lead to a record.
 */
async function childHolds(
  look: SampleContext,
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

interface SampleContext {
  readonly database: Database;
  /** The best candidate for patients. */
  readonly patients: Proposal | undefined;
  readonly signal: AbortSignal;
}

/**
 * Chooses among several possible joins: a declared one, or the one whose keys include most of our values. Among lists
 * that include alike many, the longest wins: a record is about one of many drugs, and has one of few statuses.
 */
async function joinedBest(look: SampleContext, { info }: Proposal, element: ProposedElement): Promise<ProposedElement> {
  let best = element;
  let most: readonly number[] = [];
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
    const rows = element.kind === 'text' ? ((await sizeOf(look.database, table))?.count ?? 0) : 0;
    const rank = element.kind === 'text' ? [Math.floor(10 * share), one.score, rows] : [share];
    const differs = rank.findIndex((value, i) => value !== most[i]);
    if (differs >= 0 && (rank[differs] ?? 0) > (most[differs] ?? -1)) [best, most] = [one, rank];
  }
  return best;
}

/**
 * Profiles the columns of some elements. `systems`: columns with names of code systems, which may have several words.
 * Undefined if the table cannot be read, or not in time.
 */
async function profileOf(
  { database, signal }: SampleContext,
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
