/** The real driver against a scripted server on loopback: rows, sessions, errors and cut connections. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { DatabaseError } from '../../../src/sql/database.ts';
import { NUMBERS, openEndpoint } from './endpoint.ts';
import { column, failureOf, gate, isQuery, number, openAt, openScripted, planOf, rowsOf, text, until } from './open.ts';
import { readLogin } from './tds.ts';

describe('rows', () => {
  it('arrive as arrays, with NULL, empty text and characters beyond the basic plane', async () => {
    const columns = [...NUMBERS, { name: 't', type: 'nvarchar' }] as const;
    const rows = [
      [1, '𝒳 Élodie'],
      [null, ''],
      [-7, null],
      [3, 'padded  '],
    ];
    const { database } = await openScripted(() => ({ columns, rows }));
    expect(await database.query(planOf(undefined, [number, text]))).toEqual(rows);
  });

  it('have the shortest number that a REAL is, in pages, streams and checks', async () => {
    const columns = [...NUMBERS, { name: 'r', type: 'real' }] as const;
    const numbers = [5.1, 99.9, 0.1, 1e-7, 16777216, -0.12345679, 3.4028235e38, null];
    const rows = numbers.map((one, i) => [i, one]);
    const { database, endpoint } = await openScripted(() => ({ columns, rows }));
    const plan = planOf(undefined, [number, column('R', { kind: 'float', single: true })]);
    expect(await database.query(plan)).toEqual(rows);
    for await (const list of database.stream(plan, rows.length)) expect(list).toEqual(rows);
    expect(await database.query({ ...plan, stored: true })).toEqual(rows);
    expect(endpoint.asked.at(-1)?.text).toContain(' CONVERT(nvarchar(20), a.N), a.R\n');
  });

  it('distinguish columns of the same name', async () => {
    const columns = [...NUMBERS, ...NUMBERS];
    const { database } = await openScripted(() => ({ columns, rows: [[1, 2]] }));
    expect(await database.query(planOf(undefined, [number, number]))).toEqual([[1, 2]]);
  });

  it('arrive the same in many packets as in one', async () => {
    const rows = Array.from({ length: 20_000 }, (_, i) => [i]);
    const { database } = await openScripted(asked => (isQuery(asked) ? rowsOf(...rows) : undefined));
    expect(await database.query(planOf())).toEqual(rows);
  });
});

describe('sessions', () => {
  it('always begin with read-only and safe settings', async () => {
    const { database, endpoint } = await openScripted(() => undefined, '&lockTimeout=1234');
    await Promise.all([database.query(planOf()), database.query(planOf(), { bulkhead: 'export' })]);
    const logins = endpoint.asked.filter(({ kind }) => kind === 'login').length;
    const settings = endpoint.asked.filter(({ kind }) => kind === 'batch').map(asked => asked.text);
    expect(settings).toHaveLength(logins);
    for (const sql of settings) {
      expect(sql).toMatch(/SET LOCK_TIMEOUT 1234\nSET DEADLOCK_PRIORITY LOW\n/);
      expect(sql.split('\n').filter(line => !/^set /i.test(line))).toEqual([]);
      expect(sql).not.toMatch(/uncommitted|nolock/i);
    }
  });

  it.each([
    ['', 'Lintel', false, 16_383],
    ['&applicationName=Facade%20A&applicationIntent=ReadOnly&packetSize=4096', 'Facade A', true, 4096],
  ])('with options "%s" come from %s, for reading only: %s, in packets of %i', async (options, ...said) => {
    const [applicationName, readOnly, packetSize] = said;
    const { database, endpoint } = await openScripted(() => undefined, options);
    await Promise.all([database.query(planOf()), database.query(planOf(), { bulkhead: 'export' })]);
    const logins = endpoint.asked.filter(({ kind }) => kind === 'login').map(({ bytes }) => readLogin(bytes));
    expect(logins.length).toBeGreaterThan(2);
    const expected = { applicationName, readOnly, packetSize, user: 'reader', database: 'ehr' };
    for (const login of logins) expect(login).toEqual(expected);
  });

  it.each([
    ['versions in READ COMMITTED', [1, 1], 'READ COMMITTED'],
    ['versions only in SNAPSHOT', [0, 1], 'SNAPSHOT'],
    ['no versions', [0, 0], 'READ COMMITTED'],
    ['no writers', [0, 1, 1], 'READ COMMITTED'],
  ])('of a database with %s read in %s: %s', async (_title, [committed = 0, snapshot = 0, still = 0], level) => {
    const endpoint = await openEndpoint(({ text: sql }) =>
      sql.includes('sys.databases')
        ? { columns: [...NUMBERS, ...NUMBERS, ...NUMBERS], rows: [[committed, snapshot, still]] }
        : undefined,
    );
    onTestFinished(() => endpoint.stop());
    const { database } = await openAt(endpoint);
    await database.query(planOf());
    const last = endpoint.asked.findLast(({ kind }) => kind === 'batch')?.text;
    expect(last?.endsWith(`SET TRANSACTION ISOLATION LEVEL ${level}`)).toBe(true);
  });

  it('read in READ COMMITTED from when the database no longer allows SNAPSHOT, without a request that fails', async () => {
    const levels = new Map<number, string>();
    const endpoint = await openEndpoint(({ kind, text: sql, connection }) => {
      if (kind === 'batch') levels.set(connection, /ISOLATION LEVEL (.+)$/.exec(sql)?.[1] ?? '');
      if (sql.includes('sys.databases')) return { columns: [...NUMBERS, ...NUMBERS], rows: [[0, 1]] };
      return levels.get(connection) === 'SNAPSHOT' && sql.includes('FROM A AS a') ? { error: 3952 } : undefined;
    });
    onTestFinished(() => endpoint.stop());
    const { database } = await openAt(endpoint);
    const bulkheads = ['interactive', 'export', 'interactive'] as const;
    const answers = await Promise.all(bulkheads.map(bulkhead => database.query(planOf(), { bulkhead })));
    expect(answers).toEqual([[[1]], [[1]], [[1]]]);
    expect(await database.query(planOf())).toEqual([[1]]);
    const asked = endpoint.asked.filter(isQuery).map(({ connection }) => levels.get(connection));
    expect(asked[0]).toBe('SNAPSHOT');
    expect(asked.at(-1)).toBe('READ COMMITTED');
  });

  it('read in READ COMMITTED though the statement was already sent again', async () => {
    const levels = new Map<number, string>();
    let deadlocks = 1;
    const endpoint = await openEndpoint(({ kind, text: sql, connection }) => {
      if (kind === 'batch') levels.set(connection, /ISOLATION LEVEL (.+)$/.exec(sql)?.[1] ?? '');
      if (sql.includes('sys.databases')) return { columns: [...NUMBERS, ...NUMBERS], rows: [[0, 1]] };
      if (!sql.includes('FROM A AS a') || levels.get(connection) !== 'SNAPSHOT') return undefined;
      return { error: deadlocks-- > 0 ? 1205 : 3952 };
    });
    onTestFinished(() => endpoint.stop());
    const { database } = await openAt(endpoint);
    expect(await database.query(planOf())).toEqual([[1]]);
    expect(endpoint.asked.filter(isQuery)).toHaveLength(3);
  });

  it('are pooled', async () => {
    const { database, endpoint } = await openScripted(() => undefined);
    for (let i = 0; i < 5; i++) await database.query(planOf());
    expect(new Set(endpoint.asked.filter(isQuery).map(({ connection }) => connection)).size).toBe(1);
  });

  it('of the two bulkheads are separate', async () => {
    const { database, endpoint } = await openScripted(() => undefined);
    await database.query(planOf());
    await database.query(planOf(), { bulkhead: 'export' });
    expect(new Set(endpoint.asked.filter(isQuery).map(({ connection }) => connection)).size).toBe(2);
  });

  it('are all closed with the database', async () => {
    const { database, endpoint } = await openScripted(() => undefined);
    await database.query(planOf());
    await database.close();
    await until(() => endpoint.connections() === 0);
    expect((await failureOf(database.query(planOf()))).reason).toBe('unavailable');
    await database.close();
  });
});

describe('the start', () => {
  it.each([18456, 4060])('ends with a message without names if the login gets %i', async code => {
    const endpoint = await openEndpoint(({ kind }) => (kind === 'login' ? { error: code } : undefined));
    onTestFinished(() => endpoint.stop());
    const error = await failureOf(openAt(endpoint));
    expect(error.reason).toBe('unavailable');
    expect(error.message).toMatch(/refuses the login|cannot be opened/);
    expect(`${error.message} ${String(error.cause)}`).not.toMatch(/canary|hunter2|reader/);
  });

  it('ends if no server listens', async () => {
    const endpoint = await openEndpoint();
    await endpoint.stop();
    expect((await failureOf(openAt(endpoint))).reason).toBe('unavailable');
  });
});

describe('an error of the server', () => {
  it('keeps its number and loses its text, which may hold a value', async () => {
    const { database } = await openScripted(asked => (isQuery(asked) ? { error: 8114 } : undefined));
    const error = await failureOf(database.query(planOf()));
    expect(error).toMatchObject({ reason: 'failed', message: 'SQL Server could not answer (8114)', missing: false });
    expect(error.engine).toEqual({ number: 8114, state: 1 });
    expect(`${JSON.stringify(error.describe())} ${String(error.cause)}`).not.toContain('canary');
  });

  it.each([
    [207, 'a table or column is not there (207)'],
    [208, 'a table or column is not there (208)'],
    [4413, 'a table or column is not there (4413)'],
    [230, 'the login may not read a table or column (230)'],
    [229, 'the login may not read a table or column (229)'],
  ])('%i has a readable message', async (code, message) => {
    const { database } = await openScripted(asked => (isQuery(asked) ? { error: code } : undefined));
    const error = await failureOf(database.query(planOf()));
    expect(error.message).toBe(message);
    // The schema has changed since the mappings were checked.
    expect(error.missing).toBe(true);
  });

  it('does not open the breaker', async () => {
    let failing = true;
    const { database } = await openScripted(asked => (isQuery(asked) && failing ? { error: 8114 } : undefined));
    await failureOf(database.query(planOf()));
    failing = false;
    expect(await database.query(planOf())).toEqual([[1]]);
  });

  it('1205 is retried once, and answered', async () => {
    let tries = 0;
    const { database } = await openScripted(asked => (isQuery(asked) && ++tries === 1 ? { error: 1205 } : undefined));
    expect(await database.query(planOf())).toEqual([[1]]);
    expect(tries).toBe(2);
  });

  it('1205 is retried only once', async () => {
    let tries = 0;
    const { database } = await openScripted(asked => {
      if (isQuery(asked)) tries++;
      return isQuery(asked) ? { error: 1205 } : undefined;
    });
    expect(await failureOf(database.query(planOf()))).toMatchObject({
      reason: 'unavailable',
      retryAfter: expect.toBeOneOf([1, 2, 3]),
    });
    expect(tries).toBe(2);
    await database.ping();
  });

  it('1222 is not retried, as the lock remains', async () => {
    let tries = 0;
    const { database } = await openScripted(asked => {
      if (isQuery(asked)) tries++;
      return isQuery(asked) ? { error: 1222 } : undefined;
    });
    expect((await failureOf(database.query(planOf()))).reason).toBe('unavailable');
    expect(tries).toBe(1);
  });
});

describe('a lost connection', () => {
  it('within a row is replaced, without repeated rows', async () => {
    let tries = 0;
    const { database } = await openScripted(asked => {
      if (!isQuery(asked)) return undefined;
      return ++tries === 1 ? { columns: NUMBERS, rows: [[1], [2], [3]], cut: 'mid-row' } : rowsOf([1], [2], [3]);
    });
    expect(await database.query(planOf())).toEqual([[1], [2], [3]]);
    expect(tries).toBe(2);
  });

  it('closes the others of its pool, which are suspect, once their statements have ended', async () => {
    const [together, retried] = [gate(), gate()];
    let statements = 0;
    const { database, endpoint } = await openScripted(async asked => {
      if (!isQuery(asked)) return undefined;
      const number = ++statements;
      if (number === 3) together.open();
      if (number > 3) retried.open();
      await together.passed;
      if (number === 1) return { columns: NUMBERS, rows: [[1]], cut: 'mid-row' };
      await retried.passed;
      return rowsOf([1]);
    });
    const before = endpoint.connections();
    const answers = await Promise.all([1, 2, 3].map(() => database.query(planOf())));
    expect(answers).toEqual([[[1]], [[1]], [[1]]]);
    await until(() => endpoint.connections() <= before);
  });

  it('while it was idle is replaced', async () => {
    const { database, endpoint } = await openScripted(() => undefined);
    await database.query(planOf());
    await endpoint.stop();
    await endpoint.start();
    expect(await database.query(planOf())).toEqual([[1]]);
  });

  it('that repeats ends in 503, never in a partial result', async () => {
    const { database } = await openScripted(asked =>
      isQuery(asked) ? { columns: NUMBERS, rows: [[1], [2]], cut: 'mid-row' } : undefined,
    );
    expect((await failureOf(database.query(planOf()))).reason).toBe('unavailable');
  });
});

it('only SELECTs and settings are ever sent', async () => {
  const { database, endpoint } = await openScripted(() => undefined);
  await database.query(planOf());
  await database.ping();
  await database.catalog();
  await database.explain(planOf()).catch(error => {
    if (!(error instanceof DatabaseError)) throw error;
  });
  const sent = endpoint.asked.filter(({ kind }) => kind === 'batch' || kind === 'rpc').map(asked => asked.text);
  expect(sent.length).toBeGreaterThan(8);
  const harmless = /^(SELECT\s[^;]*|DECLARE (@p\d+ [a-z0-9(),]+(, )?)+;\nSELECT\s[^;]*|(set [^;\n]+\n?)+)$/i;
  expect(sent.filter(sql => !harmless.test(sql))).toEqual([]);
});
