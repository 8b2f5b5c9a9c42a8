import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { openAudit } from '../../src/audit/audit.ts';
import { openStore } from '../../src/audit/store.ts';
import { AuditError, openWriter } from '../../src/audit/writer.ts';
import type { AuditSettings } from '../../src/config/config.ts';
import { createLog } from '../../src/log.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { record, rowsOf } from './records.ts';

const DAY = 86_400_000;

const settings = (file: string, more: Partial<AuditSettings> = {}): Omit<AuditSettings, 'sinks'> => ({
  ...{ mode: 'required', file, keep: 30 * DAY, bytes: 100_000_000, survives: 'process' },
  ...more,
});

const silent = createLog({ level: 'silent', format: 'json' });

test('a record is one row, and one event for each of its patients; without any it is one event', () => {
  const path = join(temporaryFolder(), 'audit.sqlite');
  const store = openStore({ path, bytes: 10_000_000, survives: 'process' });
  store.append([record({ patients: ['1', '2'] }), record({ status: 404, who: { client: 'app', subject: 'ada' } })]);
  store.close();
  expect(rowsOf(path, 'SELECT SEQ, NO, PATIENT FROM EVENT ORDER BY SEQ, NO')).toEqual([
    { SEQ: 1, NO: 1, PATIENT: '1' },
    { SEQ: 1, NO: 2, PATIENT: '2' },
    { SEQ: 2, NO: 0, PATIENT: null },
  ]);
  expect(rowsOf(path, 'SELECT ACTION, OUTCOME, SUBJECT FROM RECORD')).toEqual([
    { ACTION: 'R', OUTCOME: '0', SUBJECT: null },
    { ACTION: 'R', OUTCOME: '4', SUBJECT: 'ada' },
  ]);
});

test('only their owner can read the files', async () => {
  const path = join(temporaryFolder(), 'audit.sqlite');
  const writer = await openWriter({ path, bytes: 10_000_000, survives: 'process', keep: DAY });
  await writer.write(record());
  for (const file of [path, `${path}-wal`, `${path}-shm`]) expect(statSync(file).mode & 0o777, file).toBe(0o600);
  await writer.close();
});

test('each of several simultaneous records is stored when its promise resolves', async () => {
  const path = join(temporaryFolder(), 'audit.sqlite');
  const writer = await openWriter({ path, bytes: 100_000_000, survives: 'process', keep: DAY });
  const clients = Array.from({ length: 3000 }, (_, i) => `app-${i}`);
  let checked = 0;
  await Promise.all(
    clients.map(async (client, i) => {
      await writer.write(record({ who: { client } }));
      if (i % 300 !== 0) return;
      checked += rowsOf(path, `SELECT 1 FROM RECORD WHERE CLIENT = '${client}'`).length;
    }),
  );
  expect(checked).toBe(10);
  expect(writer.load()).toMatchObject({ waiting: 0 });
  await writer.close();
  expect(rowsOf(path, 'SELECT COUNT(DISTINCT CLIENT) AS N FROM RECORD')).toEqual([{ N: 3000 }]);
  await expect(writer.write(record())).rejects.toBeInstanceOf(AuditError);
});

test('the queue of long records is bounded in size, and is written in batches of bounded size', async () => {
  const path = join(temporaryFolder(), 'audit.sqlite');
  const writer = await openWriter({ path, bytes: 400_000_000, survives: 'process', keep: DAY });
  const long = record({ query: 'x'.repeat(250_000) });
  const ended = await Promise.allSettled(Array.from({ length: 400 }, () => writer.write(long)));
  const refused = ended.flatMap(one => (one.status === 'rejected' ? [one.reason] : []));
  expect(refused).toHaveLength(400 - 256);
  for (const reason of refused) expect(reason).toMatchObject({ full: true, code: 'queue' });
  // The queue has room again.
  await writer.write(long);
  await writer.close();
  expect(rowsOf(path, 'SELECT COUNT(*) AS N FROM RECORD')).toEqual([{ N: 257 }]);
});

test('expired records are deleted with the rows of their patients', () => {
  const path = join(temporaryFolder(), 'audit.sqlite');
  const store = openStore({ path, bytes: 10_000_000, survives: 'process' });
  const now = Date.now();
  store.append([5, 4, 3, 2, 1].map(days => record({ at: now - days * DAY, patients: ['1'] })));
  expect(store.expire(now - 2.5 * DAY, 2)).toBe(2);
  expect(store.expire(now - 2.5 * DAY, 2)).toBe(1);
  expect(store.expire(now - 2.5 * DAY, 2)).toBe(0);
  store.close();
  expect(rowsOf(path, 'SELECT COUNT(*) AS N FROM RECORD')).toEqual([{ N: 2 }]);
  expect(rowsOf(path, 'SELECT COUNT(*) AS N FROM EVENT')).toEqual([{ N: 2 }]);
});

test('a clock trusted for less than an hour expires no records, unless they exceed the size of the store', async () => {
  const path = join(temporaryFolder(), 'audit.sqlite');
  const old = record({ at: Date.now() - 2 * DAY, query: 'x'.repeat(30_000) });
  const write = async (bytes: number, count: number): Promise<void> => {
    const writer = await openWriter({ path, bytes, survives: 'process', keep: DAY });
    for (let i = 0; i < count; i++) await writer.write(old);
    await writer.close();
  };
  await write(10_000_000, 12);
  await write(10_000_000, 1);
  expect(rowsOf(path, 'SELECT COUNT(*) AS N FROM RECORD')).toEqual([{ N: 13 }]);
  await write(500_000, 1);
  expect(rowsOf(path, 'SELECT COUNT(*) AS N FROM RECORD')).toEqual([{ N: 2 }]);
});

test('a full store refuses new records, keeps the old ones and reuses freed space', async () => {
  const file = join(temporaryFolder(), 'audit.sqlite');
  const lines: string[] = [];
  const log = createLog({ level: 'debug', format: 'json', write: line => lines.push(line) });
  const audit = await openAudit(settings(file, { bytes: 1_000_000 }), log);
  const long = record({ query: `GET /fhir/Widget?name=secret${'x'.repeat(5000)}` });
  let written = 0;
  const failure = await (async () => {
    for (;;) {
      const error = await audit.write(long).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (error !== undefined) return error;
      written++;
    }
  })();
  expect(failure).toBeInstanceOf(AuditError);
  expect(failure).toMatchObject({ full: true });
  expect(written).toBeGreaterThan(50);
  expect(lines.join()).not.toContain('secret');
  await audit.close();
  expect(rowsOf(file, 'SELECT COUNT(*) AS N FROM RECORD')).toEqual([{ N: written }]);
  expect(statSync(file).size).toBeLessThanOrEqual(1_000_000);
  const store = openStore({ path: file, bytes: 1_000_000, survives: 'process' });
  store.expire(Date.now() + DAY, 10);
  store.append([long, long]);
  store.close();
});

test('a store that cannot be opened stops the start, unless the audit is best-effort', async () => {
  const file = join(temporaryFolder(), 'audit.sqlite');
  const other = openStore({ path: file, bytes: 1_000_000, survives: 'process' });
  other.close();
  const inFile = join(file, 'audit.sqlite');
  await expect(openAudit(settings(inFile), silent)).rejects.toBeInstanceOf(AuditError);
  const audit = await openAudit(settings(inFile, { mode: 'best-effort' }), silent);
  await audit.write(record());
  await audit.close();
  expect(audit.load()).toMatchObject({ written: 0, failed: 1 });
});

test.each(['required', 'best-effort'] as const)('a %s audit that fails says so for 30 seconds', async mode => {
  const file = join(temporaryFolder(), 'audit.sqlite');
  let now = 0;
  const audit = await openAudit(settings(file, { mode, bytes: 1 }), silent, FLOOD, () => now);
  const long = record({ query: `GET /fhir/Widget?name=${'x'.repeat(30_000)}` });
  expect(audit.isFailing()).toBe(false);
  for (let i = 0; i < 100 && audit.load().failed === 0; i++) {
    await audit.write(long).catch(() => {});
    await new Promise(setImmediate);
  }
  await vi.waitFor(() => expect(audit.load().failed).toBeGreaterThan(0), 60_000);
  expect(audit.isFailing()).toBe(mode === 'required');
  now += 30_000;
  expect(audit.isFailing()).toBe(false);
  await audit.close();
});

const FLOOD = { each: 10, pace: 60_000, window: 60_000 } as const;

test('a flood of refusals is counted rather than written one by one, so that it cannot fill the store', async () => {
  const file = join(temporaryFolder(), 'audit.sqlite');
  const audit = await openAudit(settings(file), silent, FLOOD);
  await Promise.all(Array.from({ length: 1000 }, () => audit.write(record({ status: 401 }))));
  await Promise.all(Array.from({ length: 20 }, () => audit.write(record({ status: 403 }))));
  await audit.close();
  expect(rowsOf(file, 'SELECT STATUS, COUNT(*) AS N, SUM(ANSWERS) AS A FROM RECORD GROUP BY STATUS')).toEqual([
    { STATUS: 401, N: 11, A: 1000 },
    { STATUS: 403, N: 20, A: 20 },
  ]);
});

test('requests of a known caller beyond REQUESTS_PER_MINUTE are counted too, separately from those of others', async () => {
  const file = join(temporaryFolder(), 'audit.sqlite');
  const audit = await openAudit(settings(file), silent, FLOOD);
  const ask = (status: number) => audit.write(record({ status, who: { client: 'app', subject: 'ada' } }));
  await Promise.all(Array.from({ length: 1000 }, (_, i) => ask(i % 2 === 0 ? 429 : 401)));
  await audit.close();
  expect(rowsOf(file, 'SELECT STATUS, COUNT(*) AS N, SUM(ANSWERS) AS A FROM RECORD GROUP BY STATUS')).toEqual([
    { STATUS: 401, N: 11, A: 500 },
    { STATUS: 429, N: 11, A: 500 },
  ]);
});

test.each([204, 405, 413, 414])('any answer (%i) to an unknown caller is counted too', async status => {
  const file = join(temporaryFolder(), 'audit.sqlite');
  const audit = await openAudit(settings(file), silent, FLOOD);
  const ask = (issuer?: string) =>
    audit.write(record({ status, who: { client: 'nobody', ...(issuer !== undefined && { issuer }) } }));
  await Promise.all(Array.from({ length: 1000 }, () => ask()));
  // A client whose name is the issuer's.
  await Promise.all(Array.from({ length: 20 }, () => ask('https://issuer.example.org')));
  await audit.close();
  expect(rowsOf(file, 'SELECT ISSUER, COUNT(*) AS N, SUM(ANSWERS) AS A FROM RECORD GROUP BY ISSUER')).toEqual([
    { ISSUER: null, N: 11, A: 1000 },
    { ISSUER: 'https://issuer.example.org', N: 20, A: 20 },
  ]);
});

test('after a pause records of unknown callers are written one by one again, as many as the pause allows', async () => {
  const file = join(temporaryFolder(), 'audit.sqlite');
  let now = 0;
  const audit = await openAudit(settings(file), silent, { ...FLOOD, each: 2, window: 10 }, () => now);
  const flood = () => Promise.all(Array.from({ length: 50 }, () => audit.write(record({ status: 401 }))));
  await flood();
  // Waits until the counted answers are written.
  await wait(50);
  now = 1.5 * FLOOD.pace;
  await flood();
  await audit.close();
  expect(rowsOf(file, 'SELECT ANSWERS, COUNT(*) AS N FROM RECORD GROUP BY ANSWERS ORDER BY ANSWERS')).toEqual([
    { ANSWERS: 1, N: 3 },
    { ANSWERS: 48, N: 1 },
    { ANSWERS: 49, N: 1 },
  ]);
});

test('a long request is truncated: least if it was answered, most for an unknown caller', async () => {
  const file = join(temporaryFolder(), 'audit.sqlite');
  const audit = await openAudit(settings(file), silent);
  const query = `POST /fhir/Patient/_search\n${'_id=1&'.repeat(40_000)}`;
  await audit.write(record({ query }));
  await audit.write(record({ query, status: 400 }));
  await audit.write(record({ query, status: 414, who: { client: 'nobody' } }));
  await audit.write(record({ query: query.slice(0, 500), status: 414, who: { client: 'nobody' } }));
  await audit.close();
  const end = `… (${query.length} characters)`;
  expect(rowsOf(file, 'SELECT QUERY FROM RECORD ORDER BY SEQ').map(row => String(row['QUERY']))).toEqual([
    query.slice(0, 32_000) + end,
    query.slice(0, 2000) + end,
    query.slice(0, 500) + end,
    query.slice(0, 500),
  ]);
});
