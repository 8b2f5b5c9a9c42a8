import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import { progressLine } from '../../src/cli/progress.ts';
import { type Environment, readConfig } from '../../src/config/config.ts';
import { resourcesOf as linesIn } from '../../src/export/job.ts';
import { openExports } from '../../src/export/open.ts';
import { readExportRequest } from '../../src/export/request.ts';
import { createLog } from '../../src/log.ts';
import { facadeOf, setUp } from '../../src/start/setup.ts';
import { clinic } from '../export/exporting.ts';
import { lintel } from './lintel.ts';

const NODE = [fileURLToPath(new URL('../../bin/lintel.mjs', import.meta.url))];

test('an export writes one file per type, or several, and a manifest, and nothing else', async () => {
  const where = clinic();
  const folder = join(where.folder, 'out');
  const environment = { ...where.environment, EXPORT_FILE_LINES: '25' };
  const { code, out } = await lintel(environment, 'export', folder, '--type', 'Patient,Observation');
  expect([code, out]).toEqual([0, `80 resources in 4 files of ${folder}`]);
  const files = ['Observation-1.ndjson', 'Observation-2.ndjson', 'Observation-3.ndjson', 'Patient.ndjson'];
  expect(readdirSync(folder)).toEqual([...files, 'manifest.json']);
  const { output, request } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
  expect(request).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/fhir\/\$export\?_type=Patient%2CObservation$/);
  expect(output.map(({ url }: { url: string }) => url).toSorted()).toEqual(files);
  expect(readFileSync(join(folder, 'Patient.ndjson'), 'utf8').split('\n')).toHaveLength(21);
});

test('the export of a group, and a type that fails', async () => {
  const where = clinic();
  const folder = join(where.folder, 'out');
  const options = [
    '--base',
    'https://ehr.example.org/fhir/',
    '--group',
    'g-1',
    '--type',
    'Patient,Device',
    '--since',
    '2020-01-01T00:00:00Z',
  ];
  const { code, notes } = await lintel(where.environment, 'export', folder, ...options);
  expect(code).toBe(1);
  expect(notes).toContain('Device was not exported');
  expect(readFileSync(join(folder, 'Patient.ndjson'), 'utf8').trim().split('\n')).toHaveLength(5);
  expect(existsSync(join(folder, 'OperationOutcome.ndjson'))).toBe(true);
  expect(JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')).request).toBe(
    'https://ehr.example.org/fhir/Group/g-1/$export?_type=Patient%2CDevice&_since=2020-01-01T00%3A00%3A00Z',
  );
});

test('an export that nothing can match is refused before anything is written', async () => {
  const where = clinic();
  const folder = join(where.folder, 'out');
  const { code, notes } = await lintel(
    where.environment,
    'export',
    folder,
    '--since',
    '2024-12-02',
    '--until',
    '2024-12-01',
  );
  expect(code).toBe(1);
  expect(notes).toContain('_until expects an instant that is not before _since');
  expect(existsSync(folder)).toBe(false);
});

test('an interrupted export resumes, and a different one in the same folder starts anew', async () => {
  const where = clinic(40, 10);
  const folder = join(where.folder, 'out');
  const environment = { ...where.environment, EXPORT_FILE_LINES: '150' };
  const options = ['--type', 'Observation'];
  await interrupted(environment, join(folder, '.unfinished'), 150);
  const other = await lintel(environment, 'export', folder, '--type', 'Patient');
  expect([other.code, other.notes]).toEqual([0, expect.not.stringContaining('Going on')]);
  const { code, out, notes } = await lintel(environment, 'export', folder, ...options);
  expect([code, out]).toEqual([0, expect.stringContaining('400 resources')]);
  expect(notes).toContain('Continuing an export that was interrupted.');
  const whole = join(where.folder, 'whole');
  await lintel(environment, 'export', whole, ...options);
  expect(observationsOf(folder)).toBe(observationsOf(whole));
  expect(readdirSync(folder)).not.toContain('.unfinished');
});

/** Text of all files of Observations, in order. */
function observationsOf(folder: string): string {
  const files = readdirSync(folder).filter(name => name.startsWith('Observation'));
  return files
    .toSorted()
    .map(name => readFileSync(join(folder, name), 'utf8'))
    .join('');
}

/** Leaves an unfinished export with at least this number of Observations, as a stopped process does. */
async function interrupted(environment: Environment, root: string, lines: number): Promise<void> {
  const config = readConfig(environment);
  const { database, pack, files, changed } = await setUp(config, () => {});
  if (!pack.registry) throw new Error('the pack has errors');
  const { registry } = pack;
  const context = { access: OPEN_ACCESS, base: 'http://127.0.0.1:0/fhir', handling: 'strict' } as const;
  const facade = facadeOf(registry, database, changed, config);
  const understood = readExportRequest({ kind: 'system' }, [['_type', 'Observation']], facade, context);
  const log = createLog({ level: 'silent', format: 'text' });
  const settings = { batch: 10, checkpoint: 0 };
  const jobs = openExports(config, () => files, log, { root, settings });
  const origin = { access: OPEN_ACCESS, base: context.base, url: `${context.base}/$export` };
  const { job } = jobs.start(understood, origin);
  const written = (): number =>
    jobs.view(job.caller, job.id)?.parts.reduce((sum, { state }) => sum + linesIn(state), 0) ?? 0;
  while (written() < lines) await new Promise(resolve => setTimeout(resolve, 1));
  await jobs.close();
  await database.close();
}

test('a previous export is replaced as a whole, and other files are unchanged', async () => {
  const where = clinic();
  const folder = join(where.folder, 'out');
  const environment = { ...where.environment, EXPORT_FILE_LINES: '25' };
  await lintel(environment, 'export', folder, '--type', 'Observation,Device', '--since', '2020-01-01T00:00:00Z');
  writeFileSync(join(folder, 'Notes.ndjson'), '{}\n');
  expect(readdirSync(folder)).toContain('OperationOutcome.ndjson');
  expect((await lintel(environment, 'export', folder, '--type', 'Patient')).out).toBe(
    `20 resources in 1 file of ${folder}`,
  );
  expect(readdirSync(folder)).toEqual(['Notes.ndjson', 'Patient.ndjson', 'manifest.json']);
});

test('an interrupted export is reported, and can continue', async () => {
  const where = clinic(100, 600);
  const folder = join(where.folder, 'out');
  const args = [...NODE, 'export', folder, '--type', 'Observation'];
  const child = spawn(process.execPath, args, { env: where.environment });
  onTestFinished(() => void child.kill('SIGKILL'));
  let notes = '';
  child.stderr.on('data', (data: Buffer) => (notes += data));
  const ended = once(child, 'exit');
  const part = (): boolean =>
    existsSync(join(folder, '.unfinished')) &&
    readdirSync(join(folder, '.unfinished'), { recursive: true }).some(name => String(name).endsWith('.ndjson'));
  await expect.poll(part, { interval: 5 }).toBe(true);
  // A terminal's Ctrl+C arrives twice through npm: directly, and passed on.
  for (let i = 0; i < 2; i++) child.kill('SIGINT');
  expect(await ended).toEqual([1, null]);
  expect(notes).toContain('The export is not complete; the same command continues it.');
  const { out, notes: later } = await lintel(where.environment, 'export', folder, '--type', 'Observation');
  expect(later).toContain('Continuing');
  expect(out).toContain('60000 resources');
});

test('a full disk is reported, and a later complete export removes the leftovers', async () => {
  const where = clinic(100, 40);
  const folder = join(where.folder, 'out');
  const { code, notes } = await lintel({ ...where.environment, EXPORT_DISK: '1' }, 'export', folder);
  expect([code, notes]).toEqual([1, expect.stringContaining('no space left for its files')]);
  expect((await lintel(where.environment, 'export', folder, '--type', 'Patient')).code).toBe(0);
  expect(readdirSync(folder)).toEqual(['Patient.ndjson', 'manifest.json']);
});

test('an unknown group is reported, and nothing is written', async () => {
  const where = clinic(3);
  const folder = join(where.folder, 'out');
  expect(await lintel(where.environment, 'export', folder, '--group', 'g-9')).toMatchObject({
    code: 1,
    notes: 'No Group has this id [LNT-104]',
  });
  expect(existsSync(folder)).toBe(false);
  expect((await lintel(where.environment, 'export', folder, '--group', 'g-2')).code).toBe(0);
});

test('invalid arguments are reported, and nothing is written', async () => {
  const where = clinic(3);
  const folder = join(where.folder, 'out');
  const { code, notes } = await lintel(where.environment, 'export', folder, '--type', 'Nonsense');
  expect([code, notes]).toEqual([1, '_type: Nonsense is not a type that this server exports [LNT-115]']);
  const without = { ...where.environment, DATABASE_URL: `sqlite:${join(where.folder, 'none')}` };
  expect((await lintel(without, 'export', folder)).notes).toMatch(/^The database: .*open/);
  expect(existsSync(folder)).toBe(false);
});

test('errors of the pack are reported as by `lintel check`, and nothing is written', async () => {
  const where = clinic(3);
  const folder = join(where.folder, 'out');
  cpSync(where.environment['MAPPINGS'] ?? '', join(where.folder, 'broken'), { recursive: true });
  writeFileSync(join(where.folder, 'broken', 'wrong.yaml'), 'mapping: wrong\nresource: Nonsense\n');
  const { code, notes } = await lintel(
    { ...where.environment, MAPPINGS: join(where.folder, 'broken') },
    'export',
    folder,
  );
  expect([code, notes]).toEqual([1, expect.stringMatching(/^wrong\.yaml:\d+:\d+: /)]);
  expect(notes).not.toContain('Unexpected');
  expect(existsSync(folder)).toBe(false);
});

test('progress is a bar, a number, a rate and the time that is left', () => {
  expect(progressLine({ share: 0.25, lines: 5000, elapsed: 2000 })).toBe(
    '████████░░░░░░░░░░░░░░░░░░░░░░  25%  5000 resources, 2500/s, 6 s left',
  );
  // An export that resumed at 25 % and 4000.
  expect(progressLine({ share: 0.5, lines: 5000, elapsed: 2000, from: { share: 0.25, lines: 4000 } })).toContain(
    '5000 resources, 500/s, 4 s left',
  );
  expect(progressLine({ share: 0.01, lines: 1000, elapsed: 100_000 })).toContain('2 h 45 min left');
  expect(progressLine({ share: 1, lines: 10, elapsed: 0 })).toContain('100%  10 resources, 0/s');
});
