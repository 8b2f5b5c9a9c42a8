import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { COMMANDS } from '../../src/cli/main.ts';
import { lintel as lintelIn } from './lintel.ts';
import { smallClinic } from './small-clinic.ts';

const lintel = (...argv: string[]) => lintelIn({}, ...argv);
const commands = await Promise.all(Object.entries(COMMANDS).map(async ([name, load]) => [name, await load()] as const));

test('--help lists every command, and without any argument that is an error', async () => {
  const asked = await lintel('--help');
  expect(asked.code).toBe(0);
  for (const [name] of commands) expect(asked.out).toMatch(new RegExp(`^ {2}${name} `, 'm'));
  expect(await lintel()).toEqual({ ...asked, code: 2 });
});

describe.each(commands)('lintel %s', (name, { options, positionals: [fewest] }) => {
  test('--help lists usage, each option and three exit codes', async () => {
    const { code, out } = await lintel(name, '--help');
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`^Usage: lintel ${name}\\b`));
    for (const option of Object.keys(options)) expect(out).toMatch(new RegExp(`--${option}\\b`));
    expect(out.split('\n').filter(line => line.length > 120)).toEqual([]);
    expect(out).toMatch(/\n\nExit codes:\n {2}0 {2}\S.*\n {2}1 {2}\S.*(?:\n {5}\S.*)*\n {2}2 {2}\S.*$/);
  });

  test('an argument too few or an unknown option ends with exit code 2', async () => {
    if (fewest > 0) expect((await lintel(name)).code).toBe(2);
    expect((await lintel(name, '--no-such-option')).code).toBe(2);
  });
});

/** These commands serve pages and print no result. */
const SERVERS = ['serve', 'workbench'];
test.each(commands.filter(([name]) => !SERVERS.includes(name)))('lintel %s has --json', (_, { options }) => {
  expect(options['json']).toEqual(expect.any(String));
});

const reporting = commands.flatMap(([name, { files }]) => (files ? [{ name, files }] : []));
test.each(reporting)('lintel $name prints one report at a time', async ({ name, files }) => {
  const { code, notes, out } = await lintel(name, '--json', ...files.map(one => `--${one}`));
  expect([code, out]).toEqual([2, '']);
  expect(notes).toContain(`${['json', ...files].map(one => `--${one}`).join(' and ')} both print`);
  const folder = await lintel(name, `--${files[0]}`, tmpdir());
  expect(folder.code).toBe(2);
  expect(folder.notes).toContain(`--${files[0]} takes a FILE, and ${tmpdir()} is a folder`);
});

test.each([
  ['check', '--seed', 'x'],
  ['coverage', '--guide', 'nonsense'],
  ['coverage', '--sample', '0'],
  ['diff', 'a', 'b', '--sample', 'many'],
  ['init', '--budget', '1.5'],
  ['init', '--zone', 'Mars'],
  ['profile', '--rows', '99999999'],
  ['explain', 'Patient', '--engine', 'oracle'],
  ['codes', 'suggest', '--least', '7'],
  ['client', 'paint', 'it'],
  ['keys', 'paint'],
  ['user', 'paint', 'it'],
  ['audit', '--since', 'yesterday'],
  ['test', 'a', '--write'],
])('lintel %s %s %s: a wrong value has exit code 2 and names the help', async (...argv) => {
  const { code, notes } = await lintel(...argv);
  expect([code, notes]).toEqual([
    2,
    expect.stringMatching(new RegExp(`\\S.*\nlintel ${argv[0]} --help explains it\\.$`)),
  ]);
});

test('lintel user --help has a line for what each word does', async () => {
  const { out } = await lintel('user', '--help');
  const words = ['add', 'link', 'passwd', 'allow-password', 'deny-password', 'disable', 'enable', 'rm', 'list'];
  for (const word of words) expect(out).toMatch(new RegExp(`^  ${word} +\\w`, 'm'));
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
])('invalid arguments end with exit code 2: %j', async (argv, expected) => {
  const { code, notes } = await lintel(...argv);
  expect(code).toBe(2);
  expect(notes).toMatch(expected);
});

test('all problems of the configuration are reported at once, without a stack trace', async () => {
  const { code, notes } = await lintel('serve', '--port', 'abc', '--database', 'oracle:x');
  expect(code).toBe(1);
  expect(notes).toContain('The configuration has 2 problems:');
  expect(notes).toContain('  PORT: expected');
  expect(notes).not.toContain('    at ');
});

test('a missing database is reported without a stack trace', async () => {
  const { code, notes } = await lintel('check', '--database', 'sqlite:/nowhere/at/all.sqlite');
  expect(code).toBe(1);
  expect(notes).toMatch(/^The database: /);
});

test('a closed output pipe is no error', async () => {
  const command = fileURLToPath(new URL('../../bin/lintel.mjs', import.meta.url));
  const child = spawn(process.execPath, [command, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stdout.destroy();
  let notes = '';
  child.stderr.on('data', (data: Buffer) => (notes += data));
  expect(await once(child, 'close')).toEqual([0, null]);
  expect(notes).toBe('');
});

test('--version prints the version of package.json', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(await lintelIn({}, '--version')).toEqual({ code: 0, out: version, notes: '' });
});

describe('a fixable problem is reported with the variable to change', () => {
  test('a port that is taken', async () => {
    const { environment } = smallClinic();
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { code, notes } = await lintelIn({ ...environment, PORT: String(port) }, 'serve');
    expect(code).toBe(1);
    expect(notes).toContain(
      `PORT: 127.0.0.1:${port} is taken by another program. Stop that, or choose another port with PORT or --port.`,
    );
  });

  test('a missing database, a file that is no database, and a folder', async () => {
    const { environment, folder } = smallClinic();
    const missing = await lintelIn({ ...environment, DATABASE_URL: `sqlite:${folder}/none.sqlite` }, 'check');
    expect(missing.notes).toContain(
      'Expected a file that is there and can be read: look at DATABASE_URL=sqlite:<file>',
    );
    writeFileSync(join(folder, 'text.sqlite'), 'no database at all, '.repeat(100));
    const text = await lintelIn({ ...environment, DATABASE_URL: `sqlite:${folder}/text.sqlite` }, 'check');
    expect(text.notes).toContain('Expected a SQLite file, and this is not one');
    const of = await lintelIn({ ...environment, DATABASE_URL: `sqlite:${folder}` }, 'check');
    expect(of.notes).toContain('Expected a SQLite file, not a folder');
  });

  test.each(['check', 'explain', 'lock', 'serve'])('%s of a pack without its database', async command => {
    const { pack } = smallClinic();
    const of = command === 'explain' ? ['Patient?_id=1'] : [];
    const { code, notes } = await lintelIn({ MAPPINGS: pack }, command, ...of);
    expect(code).toBe(1);
    expect(notes).toContain(`DATABASE_URL (or --database): expected the address of a database for the pack ${pack}`);
    expect(notes).toMatch(/for a copy of the demo pack, sqlite:\S+demo-\S+\.sqlite/);
  });

  test('DEMO=false without a database', async () => {
    const { code, notes } = await lintelIn({ DEMO: 'false' }, 'serve');
    expect(code).toBe(1);
    expect(notes).toContain('expected the address of a database, since DEMO is false');
  });
});
