import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { type Access, accessToPatients } from '../../src/auth/access.ts';
import { loadPack } from '../../src/mapping/load/pack/pack.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { smallClinic } from '../cli/small-clinic.ts';
import { facadeOver } from '../facade-over.ts';

const WEIGHTS = (name: string, subject: string): string => `mapping: ${name}
resource: Observation
source: { table: WEIGHING, as: w, key: [NO] }
id: "${name}-{NO}"
elements:
  status: final
  code: loinc#29463-7 Body weight
  subject: ${subject}
`;

/** Observations with a searchable subject, and others with a concatenated subject, which no search can invert. */
async function clinicOfTwo() {
  const { environment, pack } = smallClinic({
    'weighing.yaml': WEIGHTS('known', '{ ref: people, on: { ID: PERSON_ID } }'),
    'other.yaml': WEIGHTS('unknown', '{ reference: { template: "Patient/{PERSON_ID}" } }'),
  });
  const file = environment['DATABASE_URL']?.replace('sqlite:', '') ?? '';
  const writer = new DatabaseSync(file);
  writer.exec("INSERT INTO WEIGHING VALUES (9, 2, '2024-05-10 08:30:00.000', '80.00')");
  writer.close();
  const database = openSqlite(file);
  onTestFinished(() => database.close());
  const { registry, problems } = loadPack(pack, await database.catalog());
  if (!registry) throw new Error(JSON.stringify(problems));
  const facade = facadeOver({ registry, database, pageMax: 50 });
  const ids = async (access: Access): Promise<readonly string[]> => {
    const context = { access, base: 'http://localhost/fhir', handling: 'strict' } as const;
    const { json } = await facade.search({ type: 'Observation', parameters: [] }, context);
    return [...json.matchAll(/"id":"([a-z]+-\d+)"/g)].map(([, id = '']) => id).toSorted();
  };
  const read = async (id: string, access: Access): Promise<boolean> =>
    (await facade.read('Observation', id, [], { access, base: 'http://localhost/fhir', handling: 'strict' })) !==
    undefined;
  return { ids, read };
}

const ONE = accessToPatients('test', ['1']);

test('a caller limited to one patient sees only resources that provably belong to that patient', async () => {
  const { ids, read } = await clinicOfTwo();
  expect(await ids({ kind: 'all', caller: 'test' })).toEqual([
    ...['known-7', 'known-8', 'known-9', 'unknown-7', 'unknown-8', 'unknown-9'],
  ]);
  expect(await ids(ONE)).toEqual(['known-7', 'known-8']);
  expect(await read('known-7', ONE)).toBe(true);
  for (const id of ['known-9', 'unknown-7', 'unknown-9']) expect(await read(id, ONE), id).toBe(false);
});
