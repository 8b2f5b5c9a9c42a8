import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import type { PackAccess } from '../../src/auth/rules.ts';
import { readConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/log.ts';
import { type LiveOptions, livePack, type SoundPack } from '../../src/reload/pack.ts';
import type { ColumnInfo, TableInfo } from '../../src/sql/catalog.ts';
import { DatabaseError } from '../../src/sql/database.ts';
import { setUp } from '../../src/start/setup.ts';
import { smallClinic, WEIGHTS } from '../cli/small-clinic.ts';

async function small(change: Partial<LiveOptions<string>> = {}, files: Readonly<Record<string, string>> = {}) {
  const clinic = smallClinic(files);
  const file = clinic.environment['DATABASE_URL']?.slice('sqlite:'.length) ?? '';
  const { database, ...checked } = await setUp(readConfig(clinic.environment), () => {});
  onTestFinished(() => database.close());
  const { registry } = checked.pack;
  if (registry === undefined) throw new Error('the pack has errors');
  const lines: string[] = [];
  const told: string[] = [];
  let away: DatabaseError | undefined;
  const unreadable: { readonly table: string }[] = [];
  /** Tables in lower case, whose values the login reads masked. */
  const masked = new Set<string>();
  const disguised = (info: ColumnInfo): ColumnInfo => ({ ...info, denied: { why: 'is masked', expected: 'UNMASK' } });
  const live = livePack<string>({
    folder: clinic.pack,
    database: {
      ...database,
      async catalog(tables) {
        if (away) throw away;
        const catalog = await database.catalog(tables);
        const seen = [...catalog.tables].map(([key, table]): [string, TableInfo] => {
          const columns = [...table.columns].map(([name, info]) => [name, disguised(info)] as const);
          return [key, masked.has(key) ? { ...table, columns: new Map(columns) } : table];
        });
        return { ...catalog, tables: new Map(seen) };
      },
      permissions: async () => ({ unreadable: [...unreadable], writes: [] }),
    },
    log: createLog({ level: 'debug', format: 'json', write: line => lines.push(line) }),
    first: { ...checked, registry },
    make: (pack: SoundPack) => pack.registry.version,
    onOutcome: (outcome, of) => told.push(of === 'files' ? outcome : `${of}: ${outcome}`),
    ...change,
  });
  const alter = (text: string): void => {
    const writer = new DatabaseSync(file);
    writer.exec(text);
    writer.close();
  };
  const write = (text: string, name = 'more.codes.yaml'): void => writeFileSync(join(clinic.pack, name), text);
  const remove = (name: string): void => rmSync(join(clinic.pack, name));
  const setAway = (is: DatabaseError | undefined): void => {
    away = is;
  };
  return { live, lines, told, write, remove, setAway, alter, unreadable, masked };
}

const MORE = 'more:\n  system: http://example.org/more\n  rows: { A: b }\n';

test('a reload waits while the database is away, and that is reported once', async () => {
  const { live, lines, told, write, setAway } = await small();
  const before = live.current();
  write(MORE);
  setAway(new DatabaseError('unavailable', 'away'));
  expect([await live.reload(), await live.reload()]).toEqual(['later', 'later']);
  expect(live.current()).toBe(before);
  expect(live.refused()?.problems).toEqual([expect.stringContaining('database does not answer')]);
  expect(lines.filter(line => line.includes('refused'))).toHaveLength(1);
  setAway(undefined);
  expect(await live.reload()).toBe('swapped');
  expect(live.current()).not.toBe(before);
  expect(live.refused()).toBeUndefined();
  expect(told).toEqual(['later', 'later', 'swapped']);
});

test.each([
  [new DatabaseError('unavailable', 'locked', { publicText: 'The database is locked' }), 'The database is locked, so'],
  [new DatabaseError('failed', 'no such table'), 'The database refuses a statement (no such table), so'],
])('an error of an available database is not reported as an outage: %s', async (error, text) => {
  const { live, write, setAway } = await small();
  write(MORE);
  setAway(error);
  expect(await live.reload()).toBe('later');
  expect(live.refused()?.problems).toEqual([`${text} the mappings cannot be checked against its schema`]);
});

test('unchanged files are reloaded only on request', async () => {
  const { live } = await small();
  expect(await live.reload()).toBe('same');
  expect(await live.reload(true)).toBe('swapped');
});

test('a failure while a version is built keeps the previous one', async () => {
  let broken = false;
  const { live, write, lines } = await small({
    make: ({ registry }) => {
      if (broken) throw new RangeError('Kowalski');
      return registry.version;
    },
  });
  const before = live.current();
  broken = true;
  write(MORE);
  expect(await live.reload()).toBe('refused');
  expect(live.current()).toBe(before);
  expect(live.refused()?.problems[0]).toMatch(/unexpected RangeError at pack\.test\.ts/);
  expect(lines.join()).not.toContain('Kowalski');
});

test('simultaneous reloads run one after the other', async () => {
  const { live, write, told } = await small();
  write(MORE);
  expect(await Promise.all([live.reload(), live.reload(), live.reload()])).toEqual(['swapped', 'same', 'same']);
  expect(told).toEqual(['swapped', 'same', 'same']);
});

const RULES = `users:
  Patient: { patients: 'Patient?_id={id}&gender=female' }
labels:
  - hide: [loinc#R, ucum#V]
`;
const LABELLED = WEIGHTS.replace('elements:\n', 'elements:\n  meta: { security: [loinc#R, ucum#V] }\n');

test.each<[what: string, text: string | undefined, gone: string]>([
  ['access.yaml is missing', undefined, 'access.yaml'],
  ['its labels are missing', RULES.slice(0, RULES.indexOf('labels:')), 'label http://loinc.org|R'],
  ['a label is missing', RULES.replace(', ucum#V', ''), 'label http://unitsofmeasure.org|V'],
  ['its rules for Patient are missing', RULES.slice(RULES.indexOf('labels:')), 'users: Patient'],
])('what hides data is not given up for a pack that may be half written: %s', async (_, text, gone) => {
  const made: PackAccess[] = [];
  const make = ({ registry, access }: SoundPack): string => {
    made.push(access);
    return registry.version;
  };
  const { live, write, remove } = await small({ make }, { 'access.yaml': RULES, 'weighing.yaml': LABELLED });
  if (text === undefined) remove('access.yaml');
  else write(text, 'access.yaml');
  expect(await live.reload()).toBe('refused');
  expect(live.refused()?.problems.join()).toContain(gone);
  expect(made).toHaveLength(1);
  write(RULES, 'access.yaml');
  expect(await live.reload()).toBe('same');
  expect(live.refused()).toBeUndefined();
  if (text === undefined) remove('access.yaml');
  else write(text, 'access.yaml');
  expect(await live.reload(true)).toBe('swapped');
});

test('rules that hide more, or other data, are loaded', async () => {
  const { live, write } = await small({}, { 'access.yaml': RULES, 'weighing.yaml': LABELLED });
  write(RULES.replace('loinc#R', 'loinc#R, loinc#N'), 'access.yaml');
  expect(await live.reload()).toBe('swapped');
  write(`${RULES}  - { hide: loinc#N, shown-to: { users: Patient } }\n`, 'access.yaml');
  expect(await live.reload()).toBe('swapped');
});

const LOST = 'ALTER TABLE WEIGHING RENAME TO WEIGHED';
const FOUND = 'ALTER TABLE WEIGHED RENAME TO WEIGHING';

test('a dropped table is reported once, by line, while the version is served, until it exists again', async () => {
  const { live, lines, told, alter } = await small();
  const before = live.current();
  expect([await live.look(), live.isWhole()]).toEqual(['same', true]);
  alter(LOST);
  expect(await live.look()).toBe('lacking');
  expect(live.lacking()?.problems).toEqual(
    expect.arrayContaining([expect.stringMatching(/^weighing\.yaml:\d+:\d+: .*WEIGHING/)]),
  );
  expect([live.isWhole(), live.refused(), live.current()]).toEqual([false, undefined, before]);
  const problems = () => lines.filter(line => line.includes('"mapping problem"')).length;
  const first = problems();
  expect([await live.look(), await live.look(), problems()]).toEqual(['same', 'same', first]);
  expect(lines.filter(line => line.includes('the database lacks what the mappings need'))).toHaveLength(1);
  alter(FOUND);
  expect(await live.look()).toBe('swapped');
  expect([live.isWhole(), live.lacking()]).toEqual([true, undefined]);
  expect(lines.filter(line => line.includes('the database has what the mappings need'))).toHaveLength(1);
  expect(await live.look()).toBe('same');
  expect(told.filter(one => one !== 'schema: same')).toEqual(['schema: lacking', 'schema: swapped']);
});

test('on request mappings with missing tables are omitted, and served again once they exist', async () => {
  const { live, lines, alter } = await small({
    degraded: true,
    make: ({ registry }) => registry.mappings.map(({ name }) => name).join(),
  });
  alter(LOST);
  expect(await live.look()).toBe('swapped');
  expect([live.current(), live.isWhole(), live.lacking()]).toEqual(['people', false, undefined]);
  expect(JSON.parse(lines.find(line => line.includes('mappings swapped')) ?? '')).toMatchObject({
    unserved: 'weights',
  });
  expect(await live.look()).toBe('same');
  alter(FOUND);
  expect(await live.look()).toBe('swapped');
  expect([live.current(), live.isWhole()]).toEqual(['people,weights', true]);
});

test('the schema is checked for the served files, whatever is on disk', async () => {
  const { live, write, alter } = await small();
  const before = live.current();
  write('more: [');
  expect(await live.reload()).toBe('refused');
  const problems = live.refused()?.problems;
  alter(LOST);
  expect(await live.look()).toBe('lacking');
  alter(FOUND);
  expect(await live.look()).toBe('swapped');
  expect([live.current(), live.refused()?.problems, live.lacking()]).toEqual([before, problems, undefined]);
});

test('a schema that cannot be read is checked later, without a report', async () => {
  const { live, lines, setAway } = await small();
  setAway(new DatabaseError('unavailable', 'away'));
  expect([await live.look(), live.refused(), live.lacking()]).toEqual(['later', undefined, undefined]);
  expect(lines).toEqual([]);
});

test('a table without read permission counts as missing', async () => {
  const { live, unreadable } = await small();
  unreadable.push({ table: 'WEIGHING' });
  expect(await live.look()).toBe('lacking');
  expect(live.lacking()?.problems).toContainEqual(expect.stringContaining('the login may not read column WEIGHING.KG'));
  expect(await live.look()).toBe('same');
  unreadable.length = 0;
  expect([await live.look(), live.isWhole()]).toEqual(['swapped', true]);
});

test('a column that the login reads as a mask counts as missing', async () => {
  const { live, masked } = await small();
  masked.add('weighing');
  expect(await live.look()).toBe('lacking');
  expect(live.lacking()?.problems).toContainEqual(
    expect.stringContaining('column WEIGHING.KG is masked; expected UNMASK'),
  );
  masked.clear();
  expect([await live.look(), live.isWhole()]).toEqual(['swapped', true]);
});

test('a reload with missing tables does not report errors in files', async () => {
  const { live, alter } = await small();
  alter(LOST);
  expect(await live.reload(true)).toBe('lacking');
  expect([live.refused(), live.isWhole()]).toEqual([undefined, false]);
});
