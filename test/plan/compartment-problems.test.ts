import { describe, expect, test } from 'vitest';
import { formatProblem } from '../../src/mapping/load/problem.ts';
import { readPackFiles } from '../../src/mapping/load/read/files.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { loadWhole } from '../../src/start/setup.ts';
import { smallClinic } from '../cli/small-clinic.ts';

/** The problem of a pack with this mapping besides patients and their weights; undefined if it is served. */
async function refusal(mapping: string): Promise<readonly string[] | undefined> {
  const { pack: folder, environment } = smallClinic({ 'more.yaml': mapping });
  const database = await openSqlite((environment['DATABASE_URL'] ?? '').slice('sqlite:'.length));
  try {
    const { pack } = loadWhole(readPackFiles(folder), await database.catalog());
    return pack.registry === undefined ? pack.problems.map(formatProblem) : undefined;
  } finally {
    await database.close();
  }
}

const NONE = 'compartment: { none: because }\n';
const weighings = (resource: string, rest: string, more = ''): string => `mapping: more
resource: ${resource}
source: { table: WEIGHING, as: w, key: [NO] }
id: "{NO}"
${more}elements:
${rest}`;

const KIND = '  type: { text: { from: KG } }\n';
const SUBJECT = '  subject: { ref: people, on: { ID: PERSON_ID } }\n';
const SCHEDULED = '  status: active\n  intent: order\n';
const NEEDS = 'needs: [subject]\n';

describe('patient data without a reference to the patient is reported', () => {
  test.each<[title: string, mapping: string, problem: RegExp]>([
    [
      'a type of the compartment without a reference to a patient',
      weighings('Device', KIND),
      /^more.yaml:1:1: Device resources belong to patients, and this mapping has no reference to the patient; expected a reference to a mapping of Patient where FHIR searches patient; or `compartment: \{ none: … \}`/,
    ],
    [
      'a type outside the compartment from a table of patient data',
      weighings('Organization', '  name: { from: KG }\n'),
      /^more.yaml:1:1: Organization resources belong to no patient, but these use patient data; .*found table WEIGHING, of which weights is made/,
    ],
    [
      'a type outside the compartment with a reference to patient data',
      'mapping: more\nresource: Binary\nsource: { table: PERSON, as: q, key: [ID] }\nid: "b-{ID}"\nelements:\n' +
        '  contentType: text/plain\n  securityContext: { ref: people, on: { ID: ID } }\n',
      /^more.yaml:1:1: Binary resources belong to no patient, but these use patient data/,
    ],
    [
      'a mapping declared to be of no patient, with a reference to one',
      weighings('ServiceRequest', SCHEDULED + SUBJECT, NEEDS + NONE),
      /^more.yaml:1:1: the mapping declares `compartment: none`, and its resources refer to their patient/,
    ],
    [
      'a reason that is missing',
      weighings('Device', KIND, 'compartment: { none: "" }\n'),
      /more.yaml:5:22: the reason is missing/,
    ],
    [
      'another word',
      weighings('Device', KIND, 'compartment: none\n'),
      /more.yaml:5:14: not in the right form; expected a map/,
    ],
  ])('%s', async (_title, mapping, problem) => {
    const problems = await refusal(mapping);
    expect(problems).toHaveLength(1);
    expect(problems?.[0]).toMatch(problem);
  });

  test.each<[title: string, mapping: string]>([
    ['a reference to a patient', weighings('ServiceRequest', SCHEDULED + SUBJECT, NEEDS)],
    ['a reason', weighings('Device', KIND, NONE)],
    ['a reason on a type outside the compartment', weighings('Organization', '  name: { from: KG }\n', NONE)],
  ])('is served with %s', async (_title, mapping) => {
    expect(await refusal(mapping)).toBeUndefined();
  });
});
