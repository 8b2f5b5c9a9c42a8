/**
 * Tests recorded from rows contain nothing of a row except codes, and each passes. In: rows of the demo and of the
 * third database, chosen by a seed.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { Random } from '../../fixtures/random.ts';
import { testsOf } from '../../src/check/pack-tests.ts';
import type { Mapping } from '../../src/mapping/model.ts';
import { TRUE } from '../../src/sql/construct.ts';
import type { Database } from '../../src/sql/database.ts';
import { identifier } from '../../src/sql/identifier.ts';
import { DEMO_PACK } from '../../src/start/demo.ts';
import { PreviewError, previewRow } from '../../src/workbench/preview.ts';
import { type Recorded, recordRow } from '../../src/workbench/record/record.ts';
import { rowsLike } from '../../src/workbench/rows-to-show.ts';
import { withTest } from '../../src/workbench/wire/append-test.ts';
import { type Demo, openDemo } from '../law/demo.ts';
import { openThird, THIRD_PACK } from '../law/third.ts';

const SEED = 431;
/** Number of mappings of which a row is recorded. */
const MAPPINGS = 40;

/** Texts that a test must not contain: words of three letters, numbers from 1000 on, dates. */
function tellingRuns(stored: string): readonly string[] {
  // The name of a character entity is no word.
  const runs =
    stored.replaceAll('&amp;', '&').match(/\d{4}[-/.]\d\d[-/.]\d\d|\d\d?[-/.]\d\d?[-/.]\d{4}|\p{L}{3,}|\d{4,}/gu) ?? [];
  // Sentinel dates are zeros, or in the year 9999.
  return runs.filter(run => /\p{L}|\D|[1-9]\d{3}/u.test(run) && /[^0\W]/.test(run) && !/^9999/.test(run));
}

/** Words and numbers in the files of a pack, which contain codes, sentinels and constants. */
function runsOfPack(pack: string): ReadonlySet<string> {
  const texts = globSync('**/*.{yaml,csv}', { cwd: pack }).map(file => readFileSync(join(pack, file), 'utf8'));
  return new Set(texts.flatMap(text => (text.match(/\p{L}+|\d+/gu) ?? []).map(run => run.toUpperCase())));
}

/** The codes of a code map that is a database table. */
async function codesIn(database: Database, table: string): Promise<readonly string[]> {
  const type = { kind: 'text', unicode: true, fixed: false, length: 'max' } as const;
  const alias = identifier('c');
  const found = await database.query(
    {
      from: { table: { name: identifier(table) }, alias, joins: [], where: TRUE },
      columns: [{ kind: 'column', alias, column: identifier('item'), type }],
      ...{ orderBy: [], limit: 1000, shape: 'rows', searches: true },
    },
    {},
  );
  return found.map(([code]) => String(code));
}

describe.each([
  ['demo', () => openDemo({ patients: 28, engine: 'sqlite' }), DEMO_PACK, 20, undefined],
  ['third', openThird, THIRD_PACK, 15, 'code_list'],
] as const)('rows of the %s', (_, open, pack, atLeast, codeTable) => {
  let demo: Demo;
  beforeAll(async () => {
    demo = await open();
  });
  afterAll(() => demo.close());

  test('a recorded test has no stored value except codes, and passes', { timeout: 240_000 }, async () => {
    const { registry, database, facade } = demo;
    const catalog = await database.catalog();
    const known = new Set(runsOfPack(pack));
    for (const code of codeTable === undefined ? [] : await codesIn(database, codeTable)) known.add(code.toUpperCase());
    const source = new Random(SEED);
    const random = (): number => source.next();
    const asking = { registry, database, facade, now: Date.now(), signal: new AbortController().signal };
    const recorded = async (mapping: Mapping, key: readonly string[]): Promise<Recorded | undefined> => {
      const { reason } = await previewRow(mapping, key, asking);
      if (reason !== undefined) return undefined;
      return recordRow(mapping, key, asking, { registry, catalog }, random);
    };
    let count = 0;
    const lost: string[] = [];
    const drawn = registry.mappings.map(mapping => ({ mapping, at: random() })).toSorted((a, b) => a.at - b.at);
    for (const { mapping } of drawn.slice(0, MAPPINGS)) {
      for (const { key } of (await rowsLike('any', mapping, { ...asking, random })).slice(0, 1)) {
        let made: Recorded | undefined;
        try {
          made = await recorded(mapping, key);
        } catch (error) {
          if (!(error instanceof PreviewError)) throw error;
          lost.push(`${mapping.name}: ${error.message}`);
        }
        if (made === undefined) continue;
        count += 1;
        const { rows } = parse(made.test) as { rows: Record<string, readonly Record<string, string>[]> };
        const written = Object.values(rows).flatMap(some => some.flatMap(row => Object.values(row)));
        const runs = new Set(written.flatMap(tellingRuns).map(run => run.toUpperCase()));
        const { columns } = await previewRow(mapping, key, asking);
        const telling = columns.flatMap(({ column, stored }) =>
          typeof stored === 'string' || typeof stored === 'number'
            ? tellingRuns(String(stored)).map(run => [column, run.toUpperCase()] as const)
            : [],
        );
        const kept = telling.filter(([, run]) => runs.has(run) && !known.has(run));
        lost.push(...kept.map(one => `${mapping.name}: ${one.join(' ')}`));
        expect([mapping.name, await testsOf('a.test.yaml', made.test, registry, catalog)]).toEqual([mapping.name, []]);
      }
    }
    expect(count).toBeGreaterThanOrEqual(atLeast);
    expect(lost).toEqual([]);
  });
});

test('a test is appended as a document of its own', () => {
  expect(withTest(undefined, 'a: 1\n')).toBe('a: 1\n');
  expect(withTest('a: 1', 'b: 2\n')).toBe('a: 1\n---\nb: 2\n');
  expect(withTest('a: 1\n---\n', 'b: 2\n')).toBe('a: 1\n---\nb: 2\n');
});
