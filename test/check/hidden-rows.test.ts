/** Rows that a security policy hides from the login: `check` compares its own count with the engine's row count. */
import { expect, onTestFinished, test } from 'vitest';
import { ROWS } from '../../src/check/rows.ts';
import type { Catalog } from '../../src/sql/catalog.ts';
import { smallClinic } from '../cli/small-clinic.ts';
import { check, open, told } from './opened.ts';

const UNSEEN: Partial<Catalog> = { unseen: ['Whether security policies hide rows from the login is not known.'] };

/** Number of surveys requested. */
let asked = 0;

async function problemsWith(kept: number | undefined, more: Partial<Catalog>): Promise<readonly string[]> {
  const opened = await open(smallClinic());
  onTestFinished(() => opened.close());
  asked = 0;
  const database: typeof opened.database = {
    ...opened.database,
    catalog: async part => ({ ...(await opened.database.catalog(part)), ...more }),
    survey: async ({ tables }) => {
      asked++;
      const rows = kept === undefined ? undefined : ({ count: kept, kind: 'about' } as const);
      return new Map(
        [...tables.keys()].map(key => [key, { rows: key === 'weighing' ? rows : undefined, foreignKeys: [] }]),
      );
    },
  };
  return told(await check({ ...opened, database }, { sections: [ROWS] }));
}

test('fewer visible rows than the engine counts are a warning at the mapping', async () => {
  expect(await problemsWith(500, UNSEEN)).toEqual([
    'weighing.yaml:1:1: warning: the login sees 2 rows of table WEIGHING, which has about 500: a security policy may ' +
      'hide others; expected a login that sees all rows, unless these are to be left out',
  ]);
  expect(asked).toBe(1);
});

test('about as many rows give no warning, and neither does an engine without a count', async () => {
  for (const kept of [20, undefined])
    expect((await problemsWith(kept, UNSEEN)).filter(problem => problem.includes('the login sees'))).toEqual([]);
});

test('no count is queried if the login can see all policies, and there are none', async () => {
  expect((await problemsWith(500, {})).filter(problem => problem.includes('the login sees'))).toEqual([]);
  expect(asked).toBe(0);
});
