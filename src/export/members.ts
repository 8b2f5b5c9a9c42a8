/**
 * Lists the patients whose compartments a job exports. In: the request, and Group resources of the facade. Out: a file
 * of logical ids, sorted and unique; written once per job, so that a restart finds the same patients.
 */
import { existsSync } from 'node:fs';
import { writtenId } from '../pipeline/emitted.ts';
import { openSession } from '../pipeline/session.ts';
import { environment } from '../plan/environment.ts';
import { FULL_VISIBILITY, type Visibility } from '../plan/visibility.ts';
import { COMPARTMENT_TYPE } from '../r4/search-parameters.ts';
import { dateInterval } from '../search/dates.ts';
import { zoneOf } from '../time/zone.ts';
import type { TypeQuery } from './filters.ts';
import { GROUP_TYPE, isEverybody, type JobRecord } from './job.ts';
import type { PartSource } from './part-task.ts';
import { planSlice, readBatches, type SliceRequest } from './rows.ts';
import { chunks, type Slice } from './slices.ts';
import { membersFile, replaceFile } from './store.ts';

/** Resources per batch. */
const BATCH = 100;

type Moment = Pick<JobRecord, 'base' | 'transactionTime'>;
type Asked = Moment & Pick<JobRecord, 'access' | 'request'>;

/**
 * Writes the file of members. Does nothing if the job is not about certain patients, or the file exists. Throws
 * DatabaseError.
 */
export async function findMembers(folder: string, job: Asked, source: PartSource): Promise<void> {
  const { level, patients } = job.request;
  const file = membersFile(folder);
  if (existsSync(file) || level.kind === 'system' || isEverybody(job.request)) return;
  const members =
    level.kind === 'group' ? await membersOfGroups(level.id, job, source) : await served(patients, job, source);
  const wanted = patients === undefined ? members : new Set(patients.filter(id => members.has(id)));
  replaceFile(
    file,
    [...wanted]
      .toSorted()
      .map(id => `${id}\n`)
      .join(''),
  );
}

/**
 * True if the client may see such a group, with members or without: a hidden group is answered like one that does not
 * exist. Throws DatabaseError.
 */
export async function isGroup(
  id: string,
  { base, access }: Pick<JobRecord, 'base' | 'access'>,
  source: PartSource,
): Promise<boolean> {
  const asked: Moment = { base, transactionTime: Date.now() };
  const slice: Slice = { kind: 'ids', ids: [id] };
  const read = { type: GROUP_TYPE, names: [], slice, visibility: source.visibility(access) };
  for await (const _ of textsOf(read, asked, source)) return true;
  return false;
}

/** Finds the members of groups that the client may see: who else was exported would tell of the others. */
async function membersOfGroups(id: string | undefined, job: Asked, source: PartSource): Promise<Set<string>> {
  const slice: Slice = id === undefined ? { kind: 'all' } : { kind: 'ids', ids: [id] };
  const read = { type: GROUP_TYPE, names: ['member'], slice, visibility: source.visibility(job.access) };
  const members = new Set<string>();
  for await (const json of textsOf(read, job, source))
    for (const member of membersIn(json, job, source)) members.add(member);
  return members;
}

/**
 * Finds all patients that are served, or those of the named ones that the client may see: a report of the others must
 * not tell which of them exist. The job's own rights decide what of their data is written.
 */
async function served(
  ids: readonly string[] | undefined,
  job: Asked,
  source: PartSource,
): Promise<ReadonlySet<string>> {
  const slices: readonly Slice[] = ids
    ? chunks(ids, BATCH).map(some => ({ kind: 'ids', ids: some }))
    : [{ kind: 'all' }];
  const visibility = ids ? source.visibility(job.access) : FULL_VISIBILITY;
  const found = new Set<string>();
  for (const slice of slices)
    for await (const json of textsOf({ type: COMPARTMENT_TYPE, names: [], slice, visibility }, job, source))
      found.add(writtenId(json, COMPARTMENT_TYPE));
  return found;
}

interface Read {
  readonly type: string;
  /** Elements. */
  readonly names: readonly string[];
  readonly slice: Slice;
  readonly visibility: Visibility;
}

/** Reads resources of a type with some of their elements. */
async function* textsOf(
  { type, names, slice, visibility }: Read,
  job: Moment,
  { registry, shapes, database }: PartSource,
): AsyncGenerator<string, void, undefined> {
  const env = environment(registry, job.transactionTime, visibility);
  const session = openSession(database(), env, shapes, { bulkhead: 'export' });
  const query: TypeQuery = { filters: [], alternatives: [], about: undefined, selection: { kind: 'elements', names } };
  const request: SliceRequest = { type, query, slice };
  const branches = await planSlice(request, session);
  const context = { base: job.base, now: job.transactionTime, zone: registry.pack.zone };
  const all = { cursor: undefined, count: BATCH };
  for await (const { lists } of readBatches(branches, request, all, context, session))
    for (const texts of lists) for (const text of texts) if (text !== '') yield text;
}

interface Member {
  readonly entity?: { readonly reference?: string };
  readonly period?: { readonly end?: string };
  readonly inactive?: boolean;
}

/** Returns the patients on the list; one who has left is not a member. https://hl7.org/fhir/R4/group.html */
function membersIn(json: string, { transactionTime }: Moment, { registry }: PartSource): readonly string[] {
  const { member = [] }: { readonly member?: readonly Member[] } = JSON.parse(json);
  const zone = zoneOf(registry.pack.zone);
  return member.flatMap(({ entity, period, inactive }) => {
    const [type, id] = (entity?.reference ?? '').split('/');
    const end = period?.end === undefined ? undefined : dateInterval(period.end, zone);
    const left = inactive === true || (end !== undefined && end.high <= transactionTime);
    return type === COMPARTMENT_TYPE && id !== undefined && !left ? [id] : [];
  });
}
