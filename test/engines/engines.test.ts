/** A third engine is one entry of the table: configuration, loading, searches and commands treat it like the others. */
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import { type ConfigError, readConfig } from '../../src/config/config.ts';
import { DatabaseError } from '../../src/sql/database.ts';
import { ENGINES } from '../../src/sql/engines.ts';
import { printError } from '../../src/start/print-error.ts';
import { facadeOf, setUp } from '../../src/start/setup.ts';
import { lintel } from '../cli/lintel.ts';
import { smallClinic } from '../cli/small-clinic.ts';
import { writeFixture } from '../fixtures/built.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { toyEngine } from './toy.ts';

const sent: string[] = [];

beforeEach(() => {
  ENGINES.set('toy', toyEngine(sent));
});
afterEach(() => {
  ENGINES.delete('toy');
  sent.length = 0;
});

function toyClinic(): Readonly<Record<string, string>> {
  const { environment } = smallClinic();
  return { ...environment, DATABASE_URL: (environment['DATABASE_URL'] ?? '').replace(/^sqlite:/, 'toy://') };
}

const CONTEXT = { access: OPEN_ACCESS, base: 'http://localhost/fhir', handling: 'strict' } as const;

test('searches on a third engine find the same as on SQLite, with its own quoting', async () => {
  const found = new Map<string, readonly unknown[]>();
  const environments = { sqlite: smallClinic().environment, toy: toyClinic() };
  for (const [name, environment] of Object.entries(environments)) {
    const config = readConfig(environment);
    const { database, pack, changed } = await setUp(config, () => {});
    const { registry } = pack;
    if (!registry) throw new Error('the pack of the small clinic has problems');
    const facade = facadeOf(registry, database, changed, config);
    const answers: unknown[] = [];
    for (const [type, ...parameters] of [
      ['Patient', ['family', 'kowal']],
      ['Patient', ['birthdate', 'ge1970'], ['gender', 'female']],
      ['Observation', ['date', 'gt2024-03-20'], ['_include', 'Observation:subject']],
      ['Observation', ['value-quantity', 'lt62'], ['_total', 'accurate']],
      ['Observation', ['patient.family', 'Kowalski'], ['_sort', '-date'], ['_count', '1']],
    ] as const) {
      const { json } = await facade.search({ type, parameters }, CONTEXT);
      const { entry }: { readonly entry?: readonly { readonly resource: unknown }[] } = JSON.parse(json);
      answers.push(entry?.map(({ resource }) => resource));
    }
    await database.close();
    found.set(name, answers);
  }
  expect(found.get('toy')).toEqual(found.get('sqlite'));
  expect(found.get('toy')?.every(entries => Array.isArray(entries) && entries.length > 0)).toBe(true);
  const statements = sent.filter(text => text.includes('WEIGHING'));
  expect(statements.length).toBe(3);
  for (const text of statements) expect(text).toMatch(/FROM "WEIGHING" AS "w"/);
  expect(statements.join('\n')).toMatch(/"w"\."TAKEN" .*\?1\b/);
});

test('a third engine passes `lintel check` on the demo, with each codec, search and reference', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'demo.sqlite');
  writeFixture(10, file);
  const environment = { DATABASE_URL: `toy://${file}`, DATA_DIR: folder };
  const { code, out } = await lintel(environment, 'check', '--json', '--seed', '1', '--budget', '3');
  const { problems, sections } = JSON.parse(out);
  expect(problems.filter(({ severity }: { severity: string }) => severity === 'error')).toEqual([]);
  expect(code).toBe(0);
  expect(sections.map(({ name }: { name: string }) => name)).toContain('searches');
  expect(sent.length).toBeGreaterThan(100);
});

test('commands support a third engine, and refuse unsupported features with a message', async () => {
  const environment = toyClinic();
  const own = await lintel(environment, 'explain', 'Patient?gender=female');
  expect(own.out).toMatch(/^Pack .*\nDatabase {2}Toy, .*clinic\.sqlite\n/);
  expect(own.out).toContain('\n  Toy\n    SELECT "p"."ID"');
  const all = await lintel(environment, 'explain', 'Patient?gender=female', '--engine', 'all', '--json');
  const { statements } = JSON.parse(all.out);
  expect(Object.keys(statements[0])).toEqual(['purpose', 'mappings', 'sqlite', 'mssql', 'toy', 'served']);
  const sorted = await lintel(environment, 'explain', 'Patient?family=kow&_sort=-birthdate');
  expect(sorted.out).toContain('"p"."BORN" DESC NULLS LAST, "p"."ID" NULLS FIRST');
  expect(sorted.out).toMatch(/no index has the words of PERSON\.SURNAME: .* leave\n/);
  const words = await lintel(environment, 'words', 'PERSON', 'SURNAME');
  expect(words).toMatchObject({ code: 1, notes: 'Toy has no tables of words' });
  const lock = await lintel(environment, 'lock');
  expect(lock.code).toBe(0);
  expect((await lintel(environment, 'check', '--locked')).code).toBe(0);
});

test('problems of its URL or connection are reported with the message of the engine', () => {
  expect(() => readConfig({ DATABASE_URL: 'toy://' })).toThrow(
    expect.objectContaining({ problems: ['DATABASE_URL: no file after toy://'] }) as ConfigError,
  );
  const told: string[] = [];
  const error = new DatabaseError('unavailable', 'it is gone', { engine: { code: 'TOY_LOST' } });
  printError(error, text => told.push(text));
  expect(told).toEqual(['The database: it is gone [LNT-902]\nLook under the bed.']);
});
