import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { resourcesOf } from '../../src/export/job.ts';
import type { PartReport } from '../../src/export/part-task.ts';
import { DatabaseError } from '../../src/sql/database.ts';
import { clinic } from './exporting.ts';
import { exportPart } from './part-under-test.ts';

const idsIn = (text: string): readonly string[] => [...text.matchAll(/"id":"([^"]+)"/g)].map(match => match[1] ?? '');

test('an export waits for a database that is away, and loses, repeats or truncates no line', async () => {
  const where = clinic(20, 5);
  const undisturbed = await exportPart(where, { folder: 'quiet' });
  const waiting: boolean[] = [];
  let reopened = 0;
  const disturbed = await exportPart(where, {
    disturb: query => {
      if (query === 3 || query === 4 || query === 9) throw new DatabaseError('unavailable', 'away');
    },
    onReopen: () => {
      reopened += 1;
      if (reopened === 1) throw new DatabaseError('unavailable', 'still away');
    },
    report: report => waiting.push(report.waiting),
  });
  expect(disturbed.text).toBe(undisturbed.text);
  expect(idsIn(disturbed.text)).toHaveLength(100);
  expect(waiting).toContain(true);
  expect(waiting.at(-1)).toBe(false);
  expect(reopened).toBe(3);
});

test('an export that takes many statements has every line once', async () => {
  const where = clinic(20, 5);
  const one = await exportPart(where);
  const many = await exportPart(where, { folder: 'many', settings: { batch: 2 }, streams: true });
  expect(many.text).toBe(one.text);
});

test('a refused statement fails its type, without files', async () => {
  const where = clinic(20, 5);
  const { state, used } = await exportPart(where, {
    disturb: query => {
      if (query === 5) throw new DatabaseError('failed', 'no such table (208)');
    },
  });
  const diagnostics = expect.stringMatching(
    / was not exported: the database refused a statement: no such table \(208\)$/,
  );
  expect(state).toMatchObject({ done: true, files: [], problem: { code: 'exception', diagnostics } });
  expect(existsSync(join(where.folder, 'job', 'part-0-0.ndjson'))).toBe(false);
  expect(used).toBe(0);
});

test('collected references of a failed type still count as used space', async () => {
  const { state, used } = await exportPart(clinic(20, 5), {
    collect: ['PractitionerRole'],
    disturb: query => {
      if (query === 5) throw new DatabaseError('failed', 'no such table');
    },
  });
  expect(state.files).toEqual([]);
  expect(state.collected).toBeGreaterThan(0);
  expect(used).toBe(state.collected);
});

test('files begun after the last saved state are removed with the type, too', async () => {
  const where = clinic(20, 5);
  const { state } = await exportPart(where, {
    settings: { fileLines: 20, checkpoint: 1e9 },
    disturb: query => {
      if (query === 6) throw new DatabaseError('failed', 'no such table');
    },
  });
  expect(state.problem).toBeDefined();
  expect(readdirSync(join(where.folder, 'job'))).toEqual(['part-0.json']);
});

test('a part throws when space runs out, and resumes from its recorded state later', async () => {
  const where = clinic(20, 5);
  const whole = await exportPart(where, { folder: 'whole' });
  await expect(exportPart(where, { limit: Math.floor(whole.text.length / 2) })).rejects.toThrow('space');
  // The export continues from there once there is space again.
  expect((await exportPart(where)).text).toBe(whole.text);
});

test('rows that exist throughout are exported once, despite concurrent writes', async () => {
  const where = clinic(20, 10);
  const { text } = await exportPart(where, {
    disturb: query => {
      const no = 500 + query;
      where.change(`INSERT INTO WEIGHING SELECT ${no}, 1, 1, NULL, TAKEN, KG, UPD, GONE FROM WEIGHING WHERE NO = 200;
        INSERT INTO WEIGHING SELECT ${-no}, 1, 1, NULL, TAKEN, KG, UPD, GONE FROM WEIGHING WHERE NO = 200;
        UPDATE WEIGHING SET KG = '70.00', UPD = '2026-01-01 00:00:00.000', PERSON_ID = ${(query % 20) + 1};
        DELETE FROM WEIGHING WHERE NO = ${100 + query * 2};`);
    },
  });
  const ids = idsIn(text.replaceAll(/"(subject|performer|device)":[^}]*\}/g, ''));
  expect(new Set(ids).size).toBe(ids.length);
  const stayed = Array.from({ length: 99 }, (_, i) => `w-${i + 1}`);
  expect(stayed.filter(id => !ids.includes(id))).toEqual([]);
  for (const line of text.trimEnd().split('\n')) JSON.parse(line);
});

test('a stopped part resumes after its last batch', async () => {
  const where = clinic(20, 5);
  const whole = await exportPart(where, { folder: 'whole', settings: { fileLines: 30 } });
  expect(whole.state.files.map(({ lines }) => lines)).toEqual([30, 30, 30, 10]);
  for (let stops = 0; ; stops++) {
    const stop = new Int32Array(1);
    let before: number | undefined;
    const { state, text } = await exportPart(where, {
      stop,
      settings: { fileLines: 30 },
      report: ({ state: at }) => {
        before ??= resourcesOf(at);
        if (resourcesOf(at) > before) Atomics.store(stop, 0, 1);
      },
    });
    if (!state.done) continue;
    expect(stops).toBeGreaterThan(5);
    expect(text).toBe(whole.text);
    return;
  }
});

test('a part reports its start before its first query', async () => {
  const told: string[] = [];
  await exportPart(clinic(), { report: () => told.push('report'), disturb: () => told.push('query') });
  expect(told.slice(0, 2)).toEqual(['report', 'query']);
});

test('a part waits for a slow database and reports progress; a stop waits for at most one batch', async () => {
  const where = clinic(20, 5);
  const shares: number[] = [];
  const report = ({ state }: PartReport): void => void shares.push(resourcesOf(state));
  const slow = await exportPart(where, { delay: 60, report });
  expect(slow.state.done).toBe(true);
  expect(idsIn(slow.text)).toHaveLength(100);
  expect(shares.toSorted((a, b) => a - b)).toEqual(shares);
  expect(new Set(shares).size).toBeGreaterThanOrEqual(10);
  const stop = new Int32Array(1);
  const stopped = await exportPart(where, {
    folder: 'stopped',
    delay: 60,
    stop,
    report: ({ state }) => {
      if (resourcesOf(state) === 20) Atomics.store(stop, 0, 1);
    },
  });
  expect(stopped.state.done).toBe(false);
  expect(idsIn(stopped.text)).toHaveLength(20);
});
