/** Follows docs/tutorial.md exactly: its files in an empty folder, its commands, and their promised output. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/log.ts';
import { type Running, startServer } from '../../src/main.ts';
import { lintel } from '../cli/lintel.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const TUTORIAL = readFileSync('docs/tutorial.md', 'utf8');
const FILES = new Map(
  [...TUTORIAL.matchAll(/<!-- my-clinic\/(\S+) -->\n```\w+\n([\s\S]*?)```/g)].map(([, name = '', text = '']) => [
    name,
    text,
  ]),
);
const folder = temporaryFolder(afterAll);
const pack = join(folder, 'my-clinic');
const environment = {
  DATABASE_URL: `sqlite:${join(pack, 'clinic.sqlite')}`,
  MAPPINGS: pack,
  DATA_DIR: join(folder, 'data'),
  PORT: '0',
};
let running: Running | undefined;

const file = (name: string): string => FILES.get(name) ?? '';
const write = (name: string, text = file(name)): void => writeFileSync(join(pack, name), text);
const get = async (path: string): Promise<Response> => fetch(`${running?.url}/fhir/${path}`);

beforeAll(() => {
  mkdirSync(pack);
  for (const name of ['pack.yaml', 'codes.yaml', 'patient.yaml']) write(name);
  const database = new DatabaseSync(join(pack, 'clinic.sqlite'));
  database.exec(file('clinic.sql'));
  database.close();
});

afterAll(() => running?.stop());

const added = (): string =>
  /<!-- added to my-clinic\/codes\.yaml -->\n```yaml\n([\s\S]*?)```/.exec(TUTORIAL)?.[1] ?? '';

test('the first mapping is valid by itself', async () => {
  expect(await lintel(environment, 'check')).toMatchObject({
    code: 0,
    out: 'my-clinic: 1 mapping of 1 type; 0 errors, 0 warnings',
  });
});

test('the misspelt column is reported as the tutorial shows', async () => {
  write('patient.yaml', file('patient.yaml').replace('SURNAME }', 'SURNAM }'));
  const { code, out } = await lintel(environment, 'check');
  write('patient.yaml');
  expect(code).toBe(1);
  expect(TUTORIAL).toContain(`\`\`\`\n${out.split('\n')[0]}\n\`\`\``);
});

test('a code that may be absent requires a `needs`, as the tutorial shows', async () => {
  write('codes.yaml', file('codes.yaml') + added());
  write('lab.yaml', file('lab.yaml').replace('needs: [code, subject]\n', ''));
  const { code, out } = await lintel(environment, 'check');
  expect(code).toBe(1);
  const [problem = ''] = out.split('\n').filter(line => line.startsWith('lab.yaml'));
  expect(problem).not.toBe('');
  expect(TUTORIAL).toContain(`\`\`\`\n${problem}\n\`\`\``);
});

test('the whole pack passes the check with the line that the tutorial shows, and is locked', async () => {
  write('lab.yaml');
  const { code, out } = await lintel(environment, 'check');
  expect(code).toBe(0);
  expect(out).not.toBe('');
  expect(TUTORIAL).toContain(`\`\`\`\n${out}\n\`\`\``);
  expect((await lintel(environment, 'lock')).code).toBe(0);
  expect(await lintel(environment, 'check', '--locked')).toMatchObject({ code: 0 });
});

test('explain shows the scan that the tutorial speaks of', async () => {
  expect((await lintel(environment, 'explain', 'Patient?family=kow')).out).toMatch(/Served by\n\s+SCAN p/);
});

test('each command in the table works', async () => {
  const commands = [...TUTORIAL.matchAll(/`npx lintel ((?:preview|codes (?:unmapped|suggest)|coverage|test)[^`]*)`/g)];
  expect(commands.map(([, command = '']) => command.split(' ')[0])).toEqual([
    ...['preview', 'codes', 'codes', 'coverage', 'test'],
  ]);
  for (const [, command = ''] of commands) {
    expect([command, (await lintel(environment, ...command.split(' '))).code]).toEqual([command, 0]);
  }
});

test('the served resources are those in the tutorial', async () => {
  running = await startServer(
    readConfig(environment),
    { out: () => undefined, note: () => undefined },
    createLog({ level: 'silent', format: 'json', write: () => undefined }),
  );
  const [, answer = ''] = /<!-- answer Patient\/1 -->\n```json\n([\s\S]*?)```/.exec(TUTORIAL) ?? [];
  expect(await (await get('Patient/1')).json()).toEqual(JSON.parse(answer));
  expect((await get('Patient/3')).status).toBe(404);
  const searches = [...TUTORIAL.matchAll(/curl 'http:\/\/127\.0\.0\.1:3000\/fhir\/(\w+\?[^']+)'/g)]
    .map(([, path = '']) => path)
    .filter(path => !path.includes('_pretty'));
  expect(searches.length).toBeGreaterThanOrEqual(5);
  const totals = await Promise.all(
    searches.map(async path => [path, ((await (await get(path)).json()) as { total: number }).total]),
  );
  expect(totals).toEqual([
    ['Patient?family=kow', 1],
    ['Patient?birthdate=lt1980&gender=female', 1],
    ['Patient?identifier=https://clinic.example.org/chart-number|A-1002', 1],
    ['Observation?patient=1&category=laboratory&status=final', 1],
    ['Observation?code=http://loinc.org|4548-4&value-quantity=gt6&_include=Observation:subject', 1],
  ]);
});
