/** Properties of this process's connections that no server can see in their messages. */
import { Socket } from 'node:net';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { parseSqlServerAddress } from '../../../src/sql/mssql/address.ts';
import { openMssql } from '../../../src/sql/mssql/database.ts';
import { openEndpoint } from './endpoint.ts';
import { failureOf, openScripted, planOf } from './open.ts';

afterEach(() => vi.restoreAllMocks());

test('a long statement is sent without waiting for TCP acknowledgements', async () => {
  const told = vi.spyOn(Socket.prototype, 'setNoDelay');
  const { database, endpoint } = await openScripted(() => undefined);
  const plan = planOf();
  await Promise.all([database.query(plan), database.query(plan, { bulkhead: 'export' })]);
  const logins = endpoint.asked.filter(({ kind }) => kind === 'login');
  expect(logins.length).toBeGreaterThan(2);
  expect(new Set(told.mock.contexts).size).toBe(logins.length);
  expect(told.mock.calls.every(([on]) => on !== false)).toBe(true);
});

test.each(['', '?encrypt=true', '?encrypt=true&trustServerCertificate=true'])(
  'with %s no credentials are sent to a server that offers no encryption',
  async options => {
    const endpoint = await openEndpoint();
    onTestFinished(() => endpoint.stop());
    const read = parseSqlServerAddress(`mssql://reader:hunter2@127.0.0.1:${endpoint.port}/ehr${options}`);
    if ('problems' in read) throw new Error(read.problems.join());
    const failed = await failureOf(openMssql(read.address));
    expect(failed).toMatchObject({ reason: 'unavailable', message: 'the server offers no encryption (EPLAIN)' });
    expect(endpoint.asked).toEqual([]);
  },
);
