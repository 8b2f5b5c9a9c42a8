import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { lintel as lintelIn } from './lintel.ts';

const lintel = (...argv: string[]) => lintelIn({}, ...argv);

test('--help lists every command, and without any argument that is an error', async () => {
  const asked = await lintel('--help');
  expect(asked.code).toBe(0);
  for (const name of ['serve', 'check', 'explain', 'lock']) expect(asked.out).toMatch(new RegExp(`^ {2}${name} `, 'm'));
  expect(await lintel()).toEqual({ ...asked, code: 2 });
});

test.each(['serve', 'check', 'explain', 'lock'])('lintel %s --help tells how to use it', async name => {
  const { code, out } = await lintel(name, '--help');
  expect(code).toBe(0);
  expect(out).toMatch(new RegExp(`^Usage: lintel ${name}\\b`));
});

test('lintel serve --help describes the variables of the environment', async () => {
  const { out } = await lintel('serve', '--help');
  expect(out).toContain('DATABASE_URL');
  expect(out).toContain('Default: 3000.');
});

test.each([
  [['frobnicate'], /no command "frobnicate"/],
  [['__proto__'], /no command/],
  [['check', '--nonsense'], /Unknown option '--nonsense'/],
  [['check', 'a', 'b'], /takes 0 to 1 argument and got 2/],
  [['explain'], /takes 1 argument and got 0/],
])('what is not understood is told with exit code 2: %j', async (argv, expected) => {
  const { code, notes } = await lintel(...argv);
  expect(code).toBe(2);
  expect(notes).toMatch(expected);
});

test('problems of the configuration are told all at once, without a stack', async () => {
  const { code, notes } = await lintel('serve', '--port', 'abc', '--database', 'oracle:x');
  expect(code).toBe(1);
  expect(notes).toContain('The configuration has 2 problems:');
  expect(notes).toContain('  PORT: expected');
  expect(notes).not.toContain('    at ');
});

test('a database that is not there is told without a stack', async () => {
  const { code, notes } = await lintel('check', '--database', 'sqlite:/nowhere/at/all.sqlite');
  expect(code).toBe(1);
  expect(notes).toMatch(/^The database: /);
});

test('whoever reads no further ends nothing with an error', async () => {
  const command = fileURLToPath(new URL('../../bin/lintel.mjs', import.meta.url));
  const child = spawn(process.execPath, [command, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stdout.destroy();
  let notes = '';
  child.stderr.on('data', (data: Buffer) => (notes += data));
  expect(await once(child, 'close')).toEqual([0, null]);
  expect(notes).toBe('');
});
