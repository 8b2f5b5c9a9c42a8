import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { parseSqlServerAddress } from '../../../src/sql/mssql/address.ts';
import { createSingle } from '../../../src/sql/mssql/connection.ts';
import { MSSQL } from '../../../src/sql/mssql/dialect.ts';
import { createSource, type Source } from '../../../src/sql/mssql/pool.ts';
import { render } from '../../../src/sql/render.ts';
import { runsOf } from '../../share.ts';
import { predicate } from '../arbitrary.ts';
import { CASES } from '../cases.ts';
import { type Endpoint, openEndpoint } from './endpoint.ts';
import { planOf } from './open.ts';

async function open(): Promise<{ readonly endpoint: Endpoint; readonly source: Source }> {
  const endpoint = await openEndpoint();
  const read = parseSqlServerAddress(`mssql://reader:x@127.0.0.1:${endpoint.port}/ehr?encrypt=false`);
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  const source = createSource(() => createSingle(read.address));
  onTestFinished(async () => {
    await source.close();
    await endpoint.stop();
  });
  return { endpoint, source };
}

test.each([
  'DELETE FROM A',
  'SELECT 1; DELETE FROM A',
  'SELECT a.N INTO B FROM A AS a',
  "SELECT 'a'; EXEC x",
  'SELECT 1 -- and more',
  'WITH x AS (SELECT 1 AS n) UPDATE A SET N = 1',
  ' SELECT 1',
])('%s is never sent', async text => {
  const { endpoint, source } = await open();
  await expect(source.run({ text, parameters: [] }, { timeout: 1000 })).rejects.toThrow('only a SELECT is ever sent');
  expect(endpoint.asked).toEqual([]);
});

test.each(["SELECT ';--/*' AS n", 'SELECT a.[INTO;] FROM A AS a', "SELECT 'it''s; INTO' AS n"])(
  '%s is sent',
  async text => {
    const { source } = await open();
    expect(await source.run({ text, parameters: [] }, { timeout: 1000 })).toEqual([[1]]);
  },
);

test('the slot of a statement is freed after any result', async () => {
  const { source } = await open();
  let freed = 0;
  const options = { timeout: 1000, onFree: () => freed++ };
  await source.run({ text: 'SELECT 1', parameters: [] }, options);
  await source.run({ text: 'DROP TABLE A', parameters: [] }, options).catch(() => undefined);
  await source
    .run({ text: 'SELECT 1', parameters: [] }, { ...options, signal: AbortSignal.abort() })
    .catch(() => undefined);
  const type = { kind: 'date' } as const;
  await source
    .run({ text: 'SELECT @p0', parameters: [{ name: 'p0', value: 'no date', type }] }, options)
    .catch(() => undefined);
  expect(freed).toBe(4);
});

test('every rendered plan is accepted, and sent unchanged', async () => {
  const { endpoint, source } = await open();
  const texts = CASES.map(({ plan }) => render(plan, MSSQL).text);
  for (const { plan } of CASES) await source.run(render(plan, MSSQL), { timeout: 10_000 });
  expect(endpoint.asked.filter(({ kind }) => kind === 'rpc').map(({ text }) => text)).toEqual(texts);
  await fc.assert(
    fc.asyncProperty(predicate, async where => {
      await source.run(render(planOf(where), MSSQL), { timeout: 10_000 });
    }),
    { numRuns: runsOf(100) },
  );
});
