/** `--json` of the commands that act or list: standard output is exactly one JSON object. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../src/cli/main.ts';
import type { Environment } from '../../src/config/config.ts';
import { lintel } from './lintel.ts';
import { smallClinic } from './small-clinic.ts';

async function json(environment: Environment, ...argv: string[]) {
  const { code, out } = await lintel(environment, ...argv, '--json');
  return { code, ...JSON.parse(out) };
}

test('`lock` names its files, and whether each changed', async () => {
  const { environment, pack } = smallClinic();
  const [file, names] = ['schema.lock.json', 'mapping.schema.json'].map(name => join(pack, name));
  const files = (changed: boolean) => [file, names].map(one => ({ file: one, changed }));
  const database = expect.stringMatching(/^SQLite, /);
  expect(await json(environment, 'lock')).toEqual({ code: 0, pack: 'small', database, files: files(true) });
  expect(await json(environment, 'lock')).toMatchObject({ code: 0, files: files(false) });
});

test('`words` gives the statements and the lines for the pack', async () => {
  const { environment } = smallClinic();
  const { statements, pack } = await json(environment, 'words', 'PERSON', 'SURNAME');
  expect(statements).toMatch(/^CREATE TABLE PERSON_WORDS \(/);
  expect(pack).toMatch(/^words:\n {2}PERSON: \{ table: PERSON_WORDS, /);
  expect((await lintel(environment, 'words', 'PERSON', 'SURNAME')).out).toContain(`${statements}\n\n-- In pack.yaml:`);
});

test('user gives accounts without their hashes, and a password that was made', async () => {
  const ACCOUNTS = join(smallClinic().folder, 'accounts.json');
  const anna = { name: 'anna', disabled: false, fhirUser: null, restPassword: false };
  expect(await json({ ACCOUNTS }, 'user', 'add', 'anna', '--generate')).toEqual({
    ...{ code: 0, account: anna, done: 'added' },
    password: expect.stringMatching(/^\S{20}$/),
  });
  expect(await json({ ACCOUNTS }, 'user', 'list')).toEqual({ code: 0, accounts: [anna] });
  expect(await json({ ACCOUNTS }, 'user', 'rm', 'anna')).toEqual({ code: 0, account: null, done: 'removed' });
});

test('client gives apps without their secrets, and a secret that was made', async () => {
  const DATA_DIR = smallClinic().folder;
  const add = ['add', 'app', '--secret', '--scope', 'system/*.rs'];
  const { secret, client, done } = await json({ DATA_DIR }, 'client', ...add);
  expect([secret, done]).toEqual([expect.stringMatching(/^\S{20,}$/), 'added']);
  expect(client).toMatchObject({ id: 'app', kind: 'secret', scopes: ['system/*.rs'] });
  expect(await json({ DATA_DIR }, 'client', 'list')).toEqual({ code: 0, clients: [client] });
  expect(client).not.toHaveProperty('secret');
});

test('keys lists the newest first', async () => {
  const DATA_DIR = smallClinic().folder;
  expect(await json({ DATA_DIR }, 'keys', 'list')).toEqual({ code: 0, keys: [] });
  const first = await json({ DATA_DIR }, 'keys', 'rotate');
  const second = await json({ DATA_DIR }, 'keys', 'rotate');
  expect(second.keys).toEqual([expect.any(String), ...first.keys]);
});

test('`health` reports that no server answers', async () => {
  const { code, well, text } = await json({ HOST: '127.0.0.1' }, 'health', '--port', '1');
  expect([code, well, text]).toEqual([1, false, expect.stringMatching(/does not answer/)]);
});

test('`codes import` keeps its messages out of standard output', async () => {
  const { environment, folder, pack } = smallClinic();
  const list = join(folder, 'colours.csv');
  writeFileSync(list, 'raw,code,display\nR,red,Red\n');
  const found = { name: 'colours', rows: 1, repeated: 0, delimiter: ',' };
  const { notes } = await lintel(environment, 'codes', 'import', list, '--json');
  expect(notes).toContain('Nothing is written; --write does it.');
  expect(await json(environment, 'codes', 'import', list)).toMatchObject({ code: 0, ...found, written: [] });
  const written = [join(pack, 'colours.csv')];
  expect(await json(environment, 'codes', 'import', list, '--write')).toMatchObject({ code: 0, ...found, written });
});

test('`export` counts resources and files, and writes progress to standard error', async () => {
  const { environment, folder } = smallClinic();
  const to = join(folder, 'out');
  const { code, out, notes } = await lintel(environment, 'export', to, '--json');
  const lines = readFileSync(join(to, 'Patient.ndjson'), 'utf8').trimEnd().split('\n').length;
  expect([code, JSON.parse(out)]).toEqual([0, { complete: true, resources: expect.any(Number), files: 2, errors: 0 }]);
  expect(JSON.parse(out).resources).toBeGreaterThan(lines);
  expect(notes).toMatch(/100%/);
});

test('without a FILE only the report is printed', async () => {
  const { environment } = smallClinic();
  const out: string[] = [];
  const code = await run(['coverage', '--html'], { out: text => out.push(text), note: () => {}, environment });
  expect([code, out.length]).toEqual([0, 1]);
  expect(out[0]).toMatch(/^<!doctype html>[\s\S]*<\/html>$/i);
  const { out: page } = await lintel(environment, 'check', '--html');
  expect(page).toMatch(/^<!doctype html>[\s\S]*<\/html>$/i);
  const { out: sarif } = await lintel(environment, 'test', '--sarif');
  expect(JSON.parse(sarif)).toMatchObject({ version: '2.1.0' });
  const { out: junit } = await lintel(environment, 'check', '--junit', '--locked');
  expect(junit).toMatch(/^<\?xml[\s\S]*<\/testsuites>$/);
});
