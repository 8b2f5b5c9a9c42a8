/** Access to the workbench, and the files it writes: one browser with the token, and files of the pack only. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WirePack } from '../../src/workbench/wire/mapping.ts';
import { type OpenedBench, openBench } from './opened-bench.ts';

let bench: OpenedBench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.close());

describe('access', () => {
  const pack = (headers: Record<string, string>) => bench.ask(`${bench.base}/api/pack`, { headers });

  test('needs the cookie', async () => {
    expect((await pack({})).status).toBe(200);
    expect((await pack({ Cookie: '' })).status).toBe(401);
    expect((await pack({ Cookie: 'lintel_workbench=other' })).status).toBe(401);
    expect((await bench.ask('/api/pack')).status).toBe(404);
  });

  test('is refused under other names than those of loopback', async () => {
    for (const host of ['evil.example.org', '127.0.0.1.evil.example.org', `localhost@evil.org`, '']) {
      expect([host, (await pack({ Host: host })).status]).toEqual([host, 403]);
    }
    expect((await pack({ Host: 'localhost:4000', Origin: 'http://localhost:4000' })).status).toBe(200);
  });

  test('is refused to pages of other origins, those of other ports too', async () => {
    expect((await pack({ Origin: 'http://evil.example.org' })).status).toBe(403);
    expect((await pack({ Origin: 'http://127.0.0.1:9999' })).status).toBe(403);
    expect((await pack({ Origin: 'null' })).status).toBe(403);
    for (const site of ['cross-site', 'same-site']) {
      expect((await pack({ Origin: '', 'Sec-Fetch-Site': site })).status).toBe(403);
    }
  });

  test('is refused for a POST without an origin and without the JSON content type', async () => {
    const check = (headers: Record<string, string>) =>
      bench.ask(`${bench.base}/api/check`, { method: 'POST', body: { unsaved: {} }, headers });
    expect((await check({})).status).toBe(200);
    expect((await check({ Origin: '', 'Sec-Fetch-Site': '' })).status).toBe(403);
    expect((await check({ 'Content-Type': 'text/plain' })).status).toBe(400);
  });

  test('works by a one-time link', async () => {
    expect((await bench.ask(bench.link)).status).toBe(403);
    expect((await bench.ask(`${bench.base}/open?token=wrong`)).status).toBe(403);
    expect(bench.cookie).toMatch(/^lintel_workbench=\S{30,}$/);
  });

  test('limits the page to its own origin', async () => {
    const page = await bench.ask(`${bench.base}/`);
    const policy = page.headers.get('Content-Security-Policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; ");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(page.headers.get('Cache-Control')).toBe('no-store');
    expect(await page.text()).not.toMatch(/https?:|<script>|<style>/);
  });
});

describe('writing', () => {
  const save = (path: string, text: string, before?: string) =>
    bench.ask(`${bench.base}/api/file`, { method: 'PUT', body: { path, text, before } });

  test('is refused outside the pack, through links too', async () => {
    const { pack, folder } = bench.clinic;
    const outside = join(folder, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'there.yaml'), 'kept');
    symlinkSync(outside, join(pack, 'linked'));
    symlinkSync(join(outside, 'there.yaml'), join(pack, 'link.yaml'));
    const before = readdirSync(folder, { recursive: true }).length;
    const paths = [
      ...['../outside/new.yaml', '/tmp/new.yaml', 'a/../../new.yaml', 'linked/new.yaml', 'link.yaml', '.hidden.yaml'],
      ...[
        'pack.yaml/new.yaml',
        'run.sh',
        'schema.lock.json',
        'mapping.schema.json',
        'package.json',
        'SCHEMA.lock.json',
        'inner/schema.lock.json',
        `${'long'.repeat(100)}.yaml`,
        'a\\..\\new.yaml',
        'new.yaml\0',
        '',
      ],
    ];
    for (const path of paths) expect([path, (await save(path, 'x')).status]).toEqual([path, 403]);
    expect(readdirSync(folder, { recursive: true }).length).toBe(before);
    expect(readFileSync(join(outside, 'there.yaml'), 'utf8')).toBe('kept');
    rmSync(join(pack, 'linked'));
    rmSync(join(pack, 'link.yaml'));
  });

  test('is refused for a file that is not UTF-8, which is shown', async () => {
    const place = join(bench.clinic.pack, 'latin.yaml');
    const bytes = Buffer.from('# año\n', 'latin1');
    writeFileSync(place, bytes);
    const { files } = (await (await bench.ask(`${bench.base}/api/pack`)).json()) as WirePack;
    const shown = files.find(({ path }) => path === 'latin.yaml');
    expect(shown).toMatchObject({ fixed: true });
    const refused = await save('latin.yaml', shown?.text ?? '', shown?.hash);
    expect([refused.status, await refused.json()]).toMatchObject([403, { error: expect.stringMatching(/not UTF-8/) }]);
    expect(readFileSync(place)).toEqual(bytes);
    rmSync(place);
  });

  test('replaces only the version that was read', async () => {
    const place = join(bench.clinic.pack, 'wards/note.yaml');
    const made = await save('wards/note.yaml', '# one\n');
    const { hash } = (await made.json()) as { hash: string };
    expect((await save('wards/note.yaml', '# again\n')).status).toBe(409);
    expect((await save('wards/note.yaml', '# two\n', hash)).status).toBe(200);
    expect((await save('wards/note.yaml', '# three\n', hash)).status).toBe(409);
    expect(readFileSync(place, 'utf8')).toBe('# two\n');
    expect(readdirSync(join(bench.clinic.pack, 'wards'))).toEqual(['note.yaml']);
    rmSync(join(bench.clinic.pack, 'wards'), { recursive: true });
    expect(existsSync(place)).toBe(false);
  });
});

test('the hashes of files are sent without their text, and change with external writes', async () => {
  const { pack } = bench.clinic;
  const hashes = async (): Promise<Record<string, string>> => {
    const answer = await bench.ask(`${bench.base}/api/hashes`, { method: 'POST', body: {} });
    expect(answer.status).toBe(200);
    const text = await answer.text();
    expect(text).not.toContain('SURNAME');
    return (JSON.parse(text) as { hashes: Record<string, string> }).hashes;
  };
  const { files } = (await (await bench.ask(`${bench.base}/api/pack`)).json()) as WirePack;
  const before = await hashes();
  expect(before).toEqual(Object.fromEntries(files.map(({ path, hash }) => [path, hash])));
  writeFileSync(join(pack, 'other.yaml'), '# new\n');
  const added = await hashes();
  expect(added).toEqual({ ...before, 'other.yaml': expect.stringMatching(/^[0-9a-f]{24}$/) });
  writeFileSync(join(pack, 'other.yaml'), '# changed\n');
  const changed = await hashes();
  expect(changed['other.yaml']).not.toBe(added['other.yaml']);
  rmSync(join(pack, 'other.yaml'));
  expect(await hashes()).toEqual(before);
});

test('a file system error is printed in the terminal, with path and advice', async () => {
  const { pack } = bench.clinic;
  renameSync(pack, `${pack}-away`);
  const shown = await bench.ask(`${bench.base}/api/pack`);
  renameSync(`${pack}-away`, pack);
  expect([shown.status, await shown.json()]).toEqual([500, { error: 'The workbench failed; see the terminal' }]);
  expect(bench.told).toEqual([expect.stringContaining(`${pack} is not there (ENOENT)`)]);
});

describe('an unsaved text', () => {
  test('is checked and previewed without a file of it', async () => {
    const person = readFileSync(join(bench.clinic.pack, 'person.yaml'), 'utf8');
    const check = async (text: string) =>
      (
        await bench.ask(`${bench.base}/api/check`, { method: 'POST', body: { unsaved: { 'person.yaml': text } } })
      ).json();
    expect(await check(person.replace('from: SURNAME', 'from: SURNAMES'))).toMatchObject({
      problems: [
        {
          severity: 'error',
          place: { file: 'person.yaml', line: 6 },
          fix: { found: 'SURNAMES', suggestion: 'SURNAME' },
        },
      ],
    });
    const asked = { unsaved: { 'person.yaml': person.replace('family:', 'text:') }, mapping: 'people', key: ['1'] };
    const shown = await bench.ask(`${bench.base}/api/preview`, { method: 'POST', body: asked });
    expect(await shown.json()).toMatchObject({
      stale: false,
      resource: { resourceType: 'Patient', name: [{ text: 'Kowalski' }] },
    });
    expect(readFileSync(join(bench.clinic.pack, 'person.yaml'), 'utf8')).toBe(person);
  });
});
