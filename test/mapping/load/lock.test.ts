import { describe, expect, test } from 'vitest';
import { readLock, writeLock } from '../../../src/mapping/load/pack/lock.ts';
import { loadPack } from '../../../src/mapping/load/pack/pack.ts';
import { createReport, formatProblem } from '../../../src/mapping/load/problem.ts';
import type { Catalog } from '../../../src/sql/catalog.ts';
import { catalog } from './catalog.ts';
import { load, PEOPLE, problemsOf } from './problems-of.ts';

const folder = new URL('./pack', import.meta.url).pathname;

function lockOfPack(of: Catalog = catalog): string {
  const { registry } = loadPack(folder, of);
  if (!registry) throw new Error('the pack does not load');
  return writeLock(registry, of);
}

describe('the lock of a schema', () => {
  test('names the tables that the mappings use, also in lookups and child rows, and no others', () => {
    expect(Object.keys(JSON.parse(lockOfPack()).tables)).toEqual(['ALLRGY', 'ALLRGY_RXN', 'CD_LKUP', 'PT']);
  });

  test('is read back as the same catalog', () => {
    const read = readLock('schema.lock.json', lockOfPack(), createReport());
    for (const [name, table] of read?.tables ?? [])
      expect(table).toEqual({ ...catalog.tables.get(name), columns: expect.anything() });
    expect(read?.tables.get('pt')?.columns.get('sex')).toEqual(catalog.tables.get('pt')?.columns.get('sex'));
    expect(read?.tables.get('pt')?.columns.get('note')).toEqual(catalog.tables.get('pt')?.columns.get('note'));
    expect(read?.tables.get('pt')?.columns.get('pt_no')).toMatchObject({ declared: 'INT', nullable: false });
  });

  test('is the same text for any order of tables and columns', () => {
    const turned = new Map(
      [...catalog.tables]
        .reverse()
        .map(([name, table]) => [name, { ...table, columns: new Map([...table.columns].reverse()) }]),
    );
    expect(lockOfPack({ ...catalog, tables: turned })).toBe(lockOfPack());
  });

  test('replaces a database', () => {
    const files = { 'm.yaml': `${PEOPLE}  active: "true"\n` };
    const { registry } = load(files);
    const lock = registry ? writeLock(registry, catalog) : '';
    expect(load({ ...files, 'schema.lock.json': lock }, null).registry?.types).toEqual(['Patient']);
    expect(load(files, null).problems.map(formatProblem)).toEqual([
      'schema.lock.json:1:1: no database and no lock of its schema: the columns are unknown',
    ]);
  });

  test('is compared with the live schema, and changes are reported by line', () => {
    const files = { 'm.yaml': `${PEOPLE}  active: "true"\n` };
    const { registry } = load(files);
    const lock = registry ? writeLock(registry, catalog) : '';
    expect(problemsOf({ ...files, 'schema.lock.json': lock })).toEqual([]);
    const column = Object.entries(JSON.parse(lock).tables.PT.columns)[1] ?? [];
    const [name = '', type = ''] = column.map(String);
    const lines = lock.replace(`"${name}": "${type}"`, `"${name}": "CHAR(3)"`).split('\n');
    const line = lines.findIndex(text => text.includes('CHAR(3)')) + 1;
    expect(problemsOf({ ...files, 'schema.lock.json': lines.join('\n') })).toEqual([
      `schema.lock.json:${line}:9: warning: column PT.${name} has changed; expected CHAR(3); found ${type}`,
    ]);
    const gone = lock.replace(`"${name}": "${type}"`, `"${name}": "${type}",\n        "GONE": "INT"`);
    expect(problemsOf({ ...files, 'schema.lock.json': gone })).toEqual([
      expect.stringMatching(new RegExp(`^schema\\.lock\\.json:${line + 1}:9: warning: column PT\\.GONE is gone`)),
    ]);
  });

  test('that is invalid is reported', () => {
    expect(load({ 'schema.lock.json': '{' }, null).problems.map(formatProblem)).toContain(
      'schema.lock.json:1:1: not JSON; expected what `lintel lock` writes',
    );
    expect(load({ 'schema.lock.json': '{"tables": []}' }, null).problems.map(formatProblem)).toContain(
      'schema.lock.json:1:1: not a lock of a schema; expected what `lintel lock` writes',
    );
    expect(problemsOf({ 'schema.lock.json': '{' })).toEqual([]);
  });
});
