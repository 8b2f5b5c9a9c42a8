import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { INTEGER, UNICODE } from '../../src/sql/column-type.ts';
import { and, call, compare, equals, exists, TRUE, value } from '../../src/sql/construct.ts';
import { DatabaseError, endsAt } from '../../src/sql/database.ts';
import type { Predicate } from '../../src/sql/expression.ts';
import { identifier } from '../../src/sql/identifier.ts';
import type { SqlPlan } from '../../src/sql/plan.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { column, openSample } from './sample.ts';

function planOf(where: Predicate, changes: Partial<SqlPlan> = {}): SqlPlan {
  const from = { table: { name: identifier('A') }, alias: identifier('a'), joins: [], where };
  const orderBy = [{ by: column('a', 'ID'), descending: false }];
  return { from, columns: [column('a', 'ID')], orderBy, limit: 100, shape: 'rows', ...changes };
}

async function failure(action: () => unknown): Promise<DatabaseError> {
  try {
    await action();
  } catch (error) {
    if (error instanceof DatabaseError) return error;
    throw error;
  }
  throw new Error('nothing failed');
}

describe('a SQLite database', () => {
  let sample: ReturnType<typeof openSample>;
  beforeAll(() => {
    sample = openSample();
  });
  afterAll(() => sample.remove());

  it('returns rows as arrays, up to the limit', async () => {
    expect(await sample.database.query(planOf(TRUE, { limit: 2 }))).toEqual([[1], [2]]);
  });

  it('streams full lists and a shorter last one, without an open statement between', async () => {
    const lists = async (size: number): Promise<readonly unknown[]> => {
      const all: unknown[] = [];
      for await (const rows of sample.database.stream(planOf(TRUE), size)) all.push(rows);
      return all;
    };
    const rows = await sample.database.query(planOf(TRUE));
    expect(await lists(2)).toEqual([[[1], [2]]]);
    expect(await lists(1000)).toEqual([rows]);
  });

  it('answers a forgotten statement as before', async () => {
    const rows = await sample.database.query(planOf(TRUE));
    sample.database.forget?.();
    expect(await sample.database.query(planOf(TRUE))).toEqual(rows);
  });

  it('yields to other clients between long series of statements', async () => {
    const impatient = openSqlite(sample.file, { slice: 0 });
    const order: string[] = [];
    const statements = (async () => {
      for (let i = 0; i < 20; i++) order.push(String((await impatient.query(planOf(TRUE))).length));
    })();
    setImmediate(() => order.push('another client'));
    await statements;
    await impatient.close();
    expect(order.indexOf('another client')).toBeGreaterThan(-1);
    expect(order.indexOf('another client')).toBeLessThan(5);
  });

  it('ends a long text computation if its request can be cancelled, and answers the next', async () => {
    const file = join(temporaryFolder(), 'long.db');
    const raw = new DatabaseSync(file);
    raw.exec('CREATE TABLE A (ID INTEGER PRIMARY KEY, CD CHAR(8)); BEGIN');
    for (let i = 0; i < 3000; i++) raw.prepare('INSERT INTO A VALUES (?, ?)').run(i, 'Ä');
    raw.exec('COMMIT');
    raw.close();
    const hurried = openSqlite(file, { longest: 0 });
    const folded = call('fold', [column('a', 'CD')], UNICODE);
    const plan = planOf(equals(folded, value('ä', UNICODE)), { limit: 5000 });
    const { signal } = new AbortController();
    const error = await failure(() => hurried.query(plan, { signal }));
    expect([error.reason, error.message]).toEqual(['unavailable', 'the statement took too long and was ended']);
    expect(error.publicText).toBe('The database is too slow for this');
    const all = await hurried.query(plan);
    expect(await hurried.query(plan, { signal, bulkhead: 'export' })).toEqual(all);
    expect(await hurried.query(planOf(TRUE, { limit: 1 }), { signal })).toEqual([[0]]);
    await hurried.close();
  });

  it('ends a statement when its request ends', async () => {
    const file = join(temporaryFolder(), 'over.db');
    const raw = new DatabaseSync(file);
    raw.exec('CREATE TABLE A (ID INTEGER PRIMARY KEY, CD CHAR(8))');
    raw.exec(`INSERT INTO A VALUES ${Array.from({ length: 40 }, (_, i) => `(${i + 1}, 'x')`).join()}`);
    raw.close();
    const database = openSqlite(file);
    const plan = planOf(equals(column('a', 'CD'), value('y', UNICODE)), { searches: true });
    const [over, young] = [new AbortController(), new AbortController()];
    endsAt(over.signal, performance.now() - 1);
    endsAt(young.signal, performance.now() + 60_000);
    expect(await failure(() => database.query(plan, { signal: over.signal }))).toMatchObject({ reason: 'unavailable' });
    expect(await database.query(plan, { signal: young.signal })).toEqual([]);
    // Another caller, who may wait longer, shares the request.
    endsAt(over.signal, performance.now() + 60_000);
    expect(await database.query(plan, { signal: over.signal })).toEqual([]);
    await database.close();
  });

  it.each([
    ['a table', 'CREATE TABLE A (ID INTEGER PRIMARY KEY, CD CHAR(8))'],
    ['a table without numbers of rows', 'CREATE TABLE A (ID INTEGER PRIMARY KEY, CD CHAR(8)) WITHOUT ROWID'],
    ['a view', 'CREATE TABLE B (ID INTEGER PRIMARY KEY, CD CHAR(8)); CREATE VIEW A AS SELECT ID, CD FROM B'],
  ])('ends a slow search without function calls, in %s', async (_, ddl) => {
    const file = join(temporaryFolder(), 'long.db');
    const raw = new DatabaseSync(file);
    raw.exec(ddl);
    const table = ddl.includes('VIEW') ? 'B' : 'A';
    raw.exec(`INSERT INTO ${table} VALUES ${Array.from({ length: 40 }, (__, i) => `(${i + 1}, 'x')`).join()}`);
    raw.close();
    const hurried = openSqlite(file, { longest: -1 });
    const { signal } = new AbortController();
    const none = equals(column('a', 'CD'), value('y', UNICODE));
    const inner = { table: { name: identifier('A') }, alias: identifier('b'), joins: [], where: TRUE };
    const nested = { ...inner, where: equals(column('b', 'CD'), value('y', UNICODE)) };
    for (const plan of [
      planOf(none, { searches: true }),
      planOf(none, { searches: true, columns: [], orderBy: [], shape: 'count' }),
      // The single outer row needs no clock check; the inner rows do.
      planOf(and(equals(column('a', 'ID'), value(1, INTEGER)), exists(nested, { searches: true })), { searches: true }),
    ]) {
      expect(await failure(() => hurried.query(plan, { signal }))).toMatchObject({ reason: 'unavailable' });
      expect(await hurried.query(plan, { signal, bulkhead: 'export' })).toEqual(await hurried.query(plan));
    }
    expect(await hurried.query(planOf(none), { signal })).toEqual([]);
    await hurried.close();
  });

  it('returns a 64-bit integer as text and accepts it back as a number', async () => {
    const big = column('a', 'BIG');
    const where = compare(big, '>=', value('5000000009', big.type));
    expect(await sample.database.query(planOf(where, { columns: [big] }))).toEqual([['5000000009'], ['5000000010']]);
  });

  it('answers more statements than its prepared cache holds', async () => {
    for (let i = 1; i <= 600; i++) {
      const columns = [call('substring', [column('a', 'CD'), i, 1], UNICODE)];
      expect(await sample.database.query(planOf(TRUE, { columns, limit: 1 }))).toEqual([['M       '.charAt(i - 1)]]);
    }
  });

  it('uses the index of a text column declared COLLATE RTRIM', async () => {
    const lines = await sample.database.explain(planOf(equals(column('a', 'CD'), value('M', UNICODE))));
    expect(lines).toEqual(['SEARCH a USING COVERING INDEX A_CD (CD=?)']);
  });

  it('describes tables, columns, types, keys and indexes', async () => {
    const { tables } = await sample.database.catalog({ tables: ['b', 'nowhere'] });
    expect([...tables.keys()]).toEqual(['b']);
    const table = tables.get('b');
    expect(table?.name).toBe('B');
    expect(table?.primaryKey).toEqual(['SEQ']);
    expect([...(table?.columns.keys() ?? [])]).toEqual(['seq', 'a_id', 'cd', 'key_txt', 'val']);
    expect(table?.columns.get('cd')).toEqual({
      ...{ name: 'CD', declared: 'VARCHAR(8)', nullable: true },
      type: { kind: 'text', unicode: false, fixed: false, length: 8, declared: 'VARCHAR(8)' },
    });
    expect(table?.indexes).toContainEqual({ name: 'B_A', columns: ['A_ID', 'SEQ'], unique: false });
    expect(table?.indexes.some(i => i.unique && i.columns.join() === 'SEQ')).toBe(true);
    expect((await sample.database.catalog()).tables.size).toBe(2);
  });

  it('answers a ping', async () => {
    await expect(sample.database.ping()).resolves.toBeUndefined();
  });

  it('does not start a query that was cancelled', async () => {
    const error = await failure(() => sample.database.query(planOf(TRUE), { signal: AbortSignal.abort() }));
    expect(error.reason).toBe('cancelled');
  });

  it('names neither values nor statements in an error', async () => {
    const nowhere = { ...column('a', 'ID'), column: identifier('NOWHERE') };
    const error = await failure(() => sample.database.query(planOf(equals(nowhere, value(4711, INTEGER)))));
    expect(error.reason).toBe('failed');
    expect(error.message).toBe('SQLite could not query: a table or column is not there (code 1)');
    expect(error.engine).toEqual({ code: 'SQLITE_ERROR', number: 1 });
    expect(error.missing).toBe(true);
    expect(String(error.cause)).not.toContain('4711');
  });
});

describe('a SQLite file', () => {
  const folder = temporaryFolder(afterAll);

  it('that does not exist is unavailable and is not created', async () => {
    const file = join(folder, 'nowhere.db');
    const error = await failure(() => openSqlite(file));
    expect(error.reason).toBe('unavailable');
    expect(error.retryAfter).toBeGreaterThan(0);
    expect(() => readFileSync(file)).toThrow();
  });

  it('that is no database is unavailable', async () => {
    const file = join(folder, 'text.db');
    writeFileSync(file, 'this is no database, however long it may be. '.repeat(100));
    expect((await failure(() => openSqlite(file))).reason).toBe('unavailable');
  });

  it('with views whose table, column or function is gone is listed without them', async () => {
    const file = join(folder, 'views.db');
    const raw = new DatabaseSync(file);
    raw.exec(`CREATE TABLE A (ID INTEGER PRIMARY KEY, CD CHAR(8)); CREATE VIEW WHOLE AS SELECT ID FROM A;
      CREATE TABLE GONE (X); CREATE VIEW NO_TABLE AS SELECT X FROM GONE; CREATE VIEW NO_COLUMN AS SELECT NO FROM A;
      CREATE VIEW NO_FUNCTION AS SELECT elsewhere(ID) AS X FROM A; DROP TABLE GONE`);
    raw.close();
    const database = openSqlite(file);
    expect([...(await database.catalog()).tables.keys()]).toEqual(['a', 'whole']);
    expect([...(await database.catalog({ tables: ['a'], columns: ['id'] })).tables.keys()]).toEqual(['a', 'whole']);
    expect((await failure(() => database.catalog({ tables: ['no_table'] }))).missing).toBe(true);
    await database.close();
  });

  it('stays as it is, byte for byte', async () => {
    const file = join(folder, 'kept.db');
    const raw = new DatabaseSync(file);
    raw.exec('CREATE TABLE A (ID INTEGER PRIMARY KEY, CD CHAR(8)); INSERT INTO A VALUES (1, NULL)');
    raw.close();
    const before = readFileSync(file);
    const database = openSqlite(file);
    expect(await database.query(planOf(TRUE))).toEqual([[1]]);
    expect((await database.catalog()).tables.get('a')?.indexes).toEqual([
      { name: 'PRIMARY KEY', columns: ['ID'], unique: true },
    ]);
    await database.close();
    await database.close();
    expect(readFileSync(file)).toEqual(before);
    expect((await failure(() => database.query(planOf(TRUE)))).reason).toBe('unavailable');
  });

  it('changed by another process shows the changes', async () => {
    const file = join(folder, 'live.db');
    const writer = new DatabaseSync(file);
    writer.exec('CREATE TABLE A (ID INTEGER PRIMARY KEY, CD CHAR(8))');
    const database = openSqlite(file);
    expect(await database.query(planOf(TRUE))).toEqual([]);
    writer.exec('INSERT INTO A VALUES (7, NULL)');
    expect(await database.query(planOf(TRUE))).toEqual([[7]]);
    writer.close();
    await database.close();
  });

  it('that is replaced is read from then on, and unavailable while missing', async () => {
    const [file, next] = [join(folder, 'restored.db'), join(folder, 'next.db')];
    const make = (path: string, id: number): void => {
      const raw = new DatabaseSync(path);
      raw.exec(`CREATE TABLE A (ID INTEGER PRIMARY KEY, CD CHAR(8)); INSERT INTO A VALUES (${id}, NULL)`);
      raw.close();
    };
    make(file, 1);
    make(next, 2);
    const database = openSqlite(file, { look: 0 });
    expect(await database.query(planOf(TRUE))).toEqual([[1]]);
    renameSync(next, file);
    expect(await database.query(planOf(TRUE))).toEqual([[2]]);
    rmSync(file);
    expect((await failure(() => database.query(planOf(TRUE)))).reason).toBe('unavailable');
    expect((await failure(() => database.ping())).reason).toBe('unavailable');
    make(file, 3);
    expect(await database.query(planOf(TRUE))).toEqual([[3]]);
    await expect(database.ping()).resolves.toBeUndefined();
    await database.close();
  });

  it('locked by a writer is retried without blocking the event loop; a cancelled request ends at once', async () => {
    const file = join(folder, 'written.db');
    const writer = new DatabaseSync(file);
    writer.exec('CREATE TABLE A (ID INTEGER PRIMARY KEY, CD CHAR(8)); INSERT INTO A VALUES (1, NULL)');
    const database = openSqlite(file);
    writer.exec('BEGIN EXCLUSIVE; INSERT INTO A VALUES (2, NULL)');
    const left = new AbortController();
    const asked = [database.query(planOf(TRUE)), database.catalog(), database.ping()] as const;
    const leaving = failure(() => database.query(planOf(TRUE), { signal: left.signal }));
    // This line runs while the file is locked, so nothing above blocked the thread.
    await new Promise(resolve => setTimeout(resolve, 30));
    left.abort();
    expect((await leaving).reason).toBe('cancelled');
    writer.exec('COMMIT');
    expect(await asked[0]).toEqual([[1], [2]]);
    expect((await asked[1]).tables.size).toBe(1);
    await asked[2];
    writer.close();
    await database.close();
  });

  it('that is damaged while in use is unavailable, truncated or overwritten', async () => {
    const file = join(folder, 'damaged.db');
    const raw = new DatabaseSync(file);
    raw.exec('PRAGMA page_size = 512; CREATE TABLE A (ID INTEGER PRIMARY KEY, CD CHAR(8))');
    const row = raw.prepare('INSERT INTO A VALUES (?, ?)');
    raw.exec('BEGIN');
    for (let i = 0; i < 1000; i++) row.run(i, 'x'.repeat(50));
    raw.exec('COMMIT');
    raw.close();
    const whole = readFileSync(file);
    for (const [damaged, places] of [
      [whole.subarray(0, 5 * 512), 'cut'],
      [Buffer.concat([whole.subarray(0, 2 * 512), Buffer.alloc(whole.length - 2 * 512, 0xa5)]), 'overwritten'],
    ] as const) {
      writeFileSync(file, whole);
      const database = openSqlite(file);
      expect(await database.query(planOf(TRUE, { limit: 1 }))).toEqual([[0]]);
      writeFileSync(file, damaged);
      const cd = column('a', 'CD');
      const error = await failure(() => database.query(planOf(TRUE, { columns: [cd], limit: 1000 })));
      expect([places, error.reason, error.message]).toEqual([
        places,
        'unavailable',
        'SQLite could not query (code 11)',
      ]);
      await database.close();
    }
  });
});
