import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { type LiveOptions, livePack, type SoundPack } from '../../src/live/pack.ts';
import { createLog } from '../../src/log.ts';
import { setUp } from '../../src/setup.ts';
import { DatabaseError } from '../../src/sql/database.ts';
import { smallClinic } from '../cli/small-clinic.ts';

async function small(change: Partial<LiveOptions<string>> = {}) {
  const clinic = smallClinic();
  const { database, ...checked } = await setUp(readConfig(clinic.environment), () => {});
  onTestFinished(() => database.close());
  const { registry } = checked.pack;
  if (registry === undefined) throw new Error('the pack has errors');
  const lines: string[] = [];
  const told: string[] = [];
  let away = false;
  const live = livePack<string>({
    folder: clinic.pack,
    database: {
      ...database,
      async catalog(tables) {
        if (away) throw new DatabaseError('unavailable', 'away');
        return database.catalog(tables);
      },
    },
    log: createLog({ level: 'debug', format: 'json', write: line => lines.push(line) }),
    first: { ...checked, registry },
    make: (pack: SoundPack) => pack.registry.version,
    tell: outcome => told.push(outcome),
    ...change,
  });
  const write = (text: string): void => writeFileSync(join(clinic.pack, 'more.codes.yaml'), text);
  const setAway = (is: boolean): void => {
    away = is;
  };
  return { live, lines, told, write, setAway };
}

const MORE = 'more:\n  system: http://example.org/more\n  rows: { A: b }\n';

test('while the database is away the mappings wait, and that is told once', async () => {
  const { live, lines, told, write, setAway } = await small();
  const before = live.current();
  write(MORE);
  setAway(true);
  expect([await live.reload(), await live.reload()]).toEqual(['later', 'later']);
  expect(live.current()).toBe(before);
  expect(live.refused()?.problems).toEqual([expect.stringContaining('database does not answer')]);
  expect(lines.filter(line => line.includes('refused'))).toHaveLength(1);
  setAway(false);
  expect(await live.reload()).toBe('swapped');
  expect(live.current()).not.toBe(before);
  expect(live.refused()).toBeUndefined();
  expect(told).toEqual(['later', 'later', 'swapped']);
});

test('files that have not changed are loaded again only where that is asked for', async () => {
  const { live } = await small();
  expect(await live.reload()).toBe('same');
  expect(await live.reload(true)).toBe('swapped');
});

test('whatever fails while a version is made leaves the one before', async () => {
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

test('reloads that come together are done one after the other', async () => {
  const { live, write, told } = await small();
  write(MORE);
  expect(await Promise.all([live.reload(), live.reload(), live.reload()])).toEqual(['swapped', 'same', 'same']);
  expect(told).toEqual(['swapped', 'same', 'same']);
});
