/**
 * Whose compartments a job exports. In: the request and the Group resources that the facade itself makes. Out: a file of
 * logical ids, each once, in order; written once per job, so that a restart finds the same patients.
 */
import { existsSync } from 'node:fs';
import { OPEN_ACCESS } from '../auth/access.ts';
import { openSession } from '../pipeline/source.ts';
import { environment } from '../plan/environment.ts';
import { COMPARTMENT_TYPE } from '../r4/search-parameters.ts';
import type { JobRecord } from './job.ts';
import { GROUP_TYPE } from './parts.ts';
import { planSlice, readBatches, type Slice } from './rows.ts';
import type { PartSource } from './run-part.ts';
import { membersFile, replaceFile } from './store.ts';

const GROUPS = 100;

/** Throws DatabaseError. Does nothing for jobs that are not about certain patients, or that know them already. */
export async function findMembers(folder: string, job: JobRecord, source: PartSource): Promise<void> {
  const { level, patients } = job.request;
  const file = membersFile(folder);
  if (existsSync(file) || level.kind === 'system' || (level.kind === 'patient' && patients === undefined)) return;
  let members = new Set(patients);
  if (level.kind === 'group') {
    const all = await membersOfGroups(level.id, job, source);
    members = patients === undefined ? all : new Set([...members].filter(id => all.has(id)));
  }
  replaceFile(
    file,
    [...members]
      .toSorted()
      .map(id => `${id}\n`)
      .join(''),
  );
}

async function membersOfGroups(id: string | undefined, job: JobRecord, source: PartSource): Promise<Set<string>> {
  const { registry, shapes, database } = source;
  const session = openSession(database(), environment(registry, job.transactionTime), shapes, { lane: 'export' });
  const slice: Slice = id === undefined ? { kind: 'all' } : { kind: 'ids', ids: [id] };
  const query = { filters: [], alternatives: [], selection: { kind: 'elements', names: ['member'] } } as const;
  const request = { type: GROUP_TYPE, query, access: OPEN_ACCESS, slice };
  const branches = await planSlice(request, session);
  const context = { base: job.base, now: job.transactionTime, zone: registry.pack.zone };
  const members = new Set<string>();
  const all = { cursor: undefined, count: GROUPS };
  for await (const { texts } of readBatches(branches, request, all, context, session)) {
    for (const json of texts) for (const member of membersIn(json)) members.add(member);
  }
  return members;
}

interface GroupMembers {
  readonly member?: readonly { readonly entity?: { readonly reference?: string }; readonly inactive?: boolean }[];
}

/** Patients who are on it; one who has left is no member. https://hl7.org/fhir/R4/group.html */
function membersIn(json: string): readonly string[] {
  if (json === '') return [];
  const { member }: GroupMembers = JSON.parse(json);
  return (member ?? []).flatMap(({ entity, inactive }) => {
    const [type, id] = (entity?.reference ?? '').split('/');
    return type === COMPARTMENT_TYPE && id !== undefined && inactive !== true ? [id] : [];
  });
}
