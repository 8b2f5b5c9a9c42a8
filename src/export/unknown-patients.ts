/**
 * Reports patients of a request that are not exported: unknown, or not a member of the list. In: a job with known
 * members. Out: lines for its client.
 * https://hl7.org/fhir/uv/bulkdata/STU2/export.html#query-parameters
 */
import { type Issue, issueOf } from '../outcome.ts';
import type { JobRecord } from './job.ts';
import { membersFile, readLines } from './store.ts';

/** Undefined: all of them are. */
export function unknownPatients(folder: string, { request: { level, patients } }: JobRecord): Issue | undefined {
  if (patients === undefined) return undefined;
  const asked = new Set(patients).size;
  const missing = asked - readLines(membersFile(folder)).length;
  if (missing === 0) return undefined;
  const why = level.kind === 'group' ? 'not on the list of the group, or not known here' : 'not known here';
  const diagnostics = `patient: of ${asked} that were named, ${missing} ${missing === 1 ? 'is' : 'are'} ${why}`;
  return issueOf('no-such-resource', diagnostics, { parameter: 'patient' });
}
