import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { progressLine } from '../../src/cli/progress.ts';
import { clinic } from '../export/exporting.ts';
import { lintel } from './lintel.ts';

test('an export writes one file per type, or several, and a manifest, and nothing else', async () => {
  const where = clinic();
  const folder = join(where.folder, 'out');
  const environment = { ...where.environment, EXPORT_FILE_LINES: '25' };
  const { code, out } = await lintel(environment, 'export', folder, '--type', 'Patient,Observation');
  expect([code, out]).toEqual([0, `80 resources in 4 files of ${folder}`]);
  const files = ['Observation-1.ndjson', 'Observation-2.ndjson', 'Observation-3.ndjson', 'Patient.ndjson'];
  expect(readdirSync(folder)).toEqual([...files, 'manifest.json']);
  const { output } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
  expect(output.map(({ url }: { url: string }) => url).toSorted()).toEqual(files);
  expect(readFileSync(join(folder, 'Patient.ndjson'), 'utf8').split('\n')).toHaveLength(21);
});

test('the export of a group, and a type that fails', async () => {
  const where = clinic();
  const folder = join(where.folder, 'out');
  const options = ['--group', 'g-1', '--type', 'Patient,Device', '--since', '2020-01-01T00:00:00Z'];
  const { code, notes } = await lintel(where.environment, 'export', folder, ...options);
  expect(code).toBe(1);
  expect(notes).toContain('Device was not exported');
  expect(readFileSync(join(folder, 'Patient.ndjson'), 'utf8').trim().split('\n')).toHaveLength(5);
  expect(existsSync(join(folder, 'OperationOutcome.ndjson'))).toBe(true);
});

test('what is not understood is told, and nothing is written', async () => {
  const where = clinic(3);
  const { code } = await lintel(where.environment, 'export', join(where.folder, 'out'), '--type', 'Nonsense');
  expect(code).toBe(1);
  expect(existsSync(join(where.folder, 'out'))).toBe(false);
});

test('progress is a bar, a number, a rate and the time that is left', () => {
  expect(progressLine({ share: 0.25, lines: 5000, elapsed: 2000 })).toBe(
    '████████░░░░░░░░░░░░░░░░░░░░░░  25%  5000 resources, 2500/s, 6 s left',
  );
  expect(progressLine({ share: 0.01, lines: 1000, elapsed: 100_000 })).toContain('2 h 45 min left');
  expect(progressLine({ share: 1, lines: 10, elapsed: 0 })).toContain('100%  10 resources, 0/s');
});
