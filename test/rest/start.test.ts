/** The trial account: which servers have one, and where its password comes from. */
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { openEntrance } from '../../src/rest/start.ts';

const KEPT = { DEMO_USER: 'trial', DEMO_PASSWORD: 'long-enough' };
const REAL = { DATABASE_URL: 'sqlite:clinic.sqlite' };

test.each([
  ['the demo database', {}, { user: 'demo', password: expect.stringMatching(/^[\w-]{16}$/) }],
  ['the demo database and a password', KEPT, { user: 'trial', password: undefined }],
  ['a database of its own', REAL, undefined],
  ['a database of its own and a password', { ...REAL, ...KEPT }, { user: 'trial', password: undefined }],
])('a server of %s', async (_title, variables, demo) => {
  const entrance = await openEntrance(readConfig({ DATA_DIR: 'nowhere', ...variables }));
  expect(entrance.demo).toEqual(demo);
  expect(entrance.accounts.find(demo?.user ?? 'demo') !== undefined).toBe(demo !== undefined);
});
