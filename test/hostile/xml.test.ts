/**
 * External XML opens no connection and no file: the bodies of every route, and notes of the database in HTML, XML or
 * RTF. The tests watch the process meanwhile, and show that each watch works.
 */
import { createHook } from 'node:async_hooks';
import { lookup } from 'node:dns';
import fs, { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Jobs } from '../../src/export/jobs.ts';
import { narrative, plainText } from '../../src/mapping/codecs/html.ts';
import { type Demo, openDemo } from '../law/demo.ts';
import { type RestUnderTest, restUnderTest } from '../rest/rest-under-test.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const SECRET = 'what-stands-in-the-file';
const folder = temporaryFolder(afterAll);
const file = join(folder, 'secret.txt');
writeFileSync(file, SECRET);

/** Number of connections that XML caused. */
let connections = 0;
const trap = createServer((_, response) => void response.end('<!ENTITY e "led here">')).on('connection', () => {
  connections++;
});
let address = '';
let demo: Demo;
let rest: RestUnderTest;

beforeAll(async () => {
  await new Promise<void>(resolve => trap.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(trap.address() as AddressInfo).port}/led`;
  demo = await openDemo({ patients: 2 });
  rest = await restUnderTest(demo.facade, {}, undefined, {
    exports: { jobs: {} as Jobs, facade: demo.facade },
    summary: async () => undefined,
  });
}, 120_000);
afterAll(async () => {
  trap.close();
  await demo.close();
});

/** Asynchronous resources for connections, names, files and other processes. */
const REACHES =
  /^(?:TCPCONNECTWRAP|PIPECONNECTWRAP|GETADDRINFOREQWRAP|GETNAMEINFOREQWRAP|QUERYWRAP|UDPWRAP|PROCESSWRAP|FSREQ.*)$/;
const READERS = ['openSync', 'readFileSync', 'createReadStream'] as const;

/** Kinds of resources that the process used while a function ran. */
async function reached(run: () => unknown): Promise<readonly string[]> {
  const seen: string[] = [];
  const hook = createHook({ init: (_, kind) => void (REACHES.test(kind) && seen.push(kind)) });
  const before = READERS.map(name => [name, fs[name]] as const);
  for (const [name, read] of before) {
    const watched = (...args: readonly unknown[]): unknown => {
      seen.push(name);
      return Reflect.apply(read, fs, args);
    };
    Object.assign(fs, { [name]: watched });
  }
  syncBuiltinESMExports();
  hook.enable();
  try {
    await run();
  } finally {
    hook.disable();
    for (const [name, read] of before) Object.assign(fs, { [name]: read });
    syncBuiltinESMExports();
  }
  return seen;
}

test('the monitor of this test detects connections, DNS lookups, files and processes', async () => {
  const dialled = await reached(
    () =>
      new Promise(resolve =>
        connect((trap.address() as AddressInfo).port, '127.0.0.1')
          .on('connect', resolve)
          .end(),
      ),
  );
  expect(dialled).toContain('TCPCONNECTWRAP');
  expect(await reached(() => new Promise(resolve => lookup('localhost', resolve)))).toContain('GETADDRINFOREQWRAP');
  expect(await reached(() => fs.promises.readFile(file))).toContain('FSREQPROMISE');
  expect(await reached(() => fs.readFileSync(file))).toContain('readFileSync');
  connections = 0;
});

/** Declarations with external references or expansion, each with an element that uses them. */
function prologues(): Readonly<Record<string, string>> {
  const url = `file://${file}`;
  return {
    'an entity of a file': `<!DOCTYPE x [<!ENTITY e SYSTEM "${url}">]>`,
    'an entity of an address': `<!DOCTYPE x [<!ENTITY e SYSTEM "${address}">]>`,
    'a public entity': `<!DOCTYPE x [<!ENTITY e PUBLIC "-//x//y" "${address}">]>`,
    'an entity of parameters': `<!DOCTYPE x [<!ENTITY % p SYSTEM "${address}"> %p;]>`,
    'a document type elsewhere': `<!DOCTYPE x SYSTEM "${address}">`,
    'a document type in other case': `<!doctype x SYSTEM "${address}">`,
    'entities of entities': `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">${[...'bcdefghij']
      .map((name, i) => `<!ENTITY ${name} "${`&${'abcdefghij'.charAt(i)};`.repeat(10)}">`)
      .join('')}<!ENTITY e "&j;">]>`,
    'a style sheet': `<?xml-stylesheet type="text/xsl" href="${address}"?>`,
    'a version and a style sheet': `<?xml version="1.0" standalone="no"?><?xml-stylesheet href="${url}"?>`,
  };
}

const FHIR = 'xmlns="http://hl7.org/fhir"';

/** Bodies of a resource: `e` is the entity that a prologue declares. */
function bodies(type: string): Readonly<Record<string, string>> {
  const named = `<${type} ${FHIR}><language value="&e;"/><implicitRules value="&e;"/></${type}>`;
  return {
    ...Object.fromEntries(Object.entries(prologues()).map(([name, prologue]) => [name, prologue + named])),
    'an entity that nothing declares': named,
    'an included part': `<${type} ${FHIR} xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="${address}" parse="text"/></${type}>`,
    'a schema elsewhere': `<${type} ${FHIR} xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://hl7.org/fhir ${address}"><led/></${type}>`,
    'a narrative with a picture': `<${type} ${FHIR}><text><status value="generated"/><div xmlns="http://www.w3.org/1999/xhtml"><img src="${address}"/></div></text></${type}>`,
  };
}

const MEDIA = [
  'application/fhir+xml',
  'application/xml',
  'text/xml',
  'application/fhir+xml; charset=utf-8',
  'text/html',
];

/** The text as it is, after a byte order mark, and in encodings that hide ASCII from naive filters. */
function encodings(text: string): readonly Uint8Array<ArrayBuffer>[] {
  const utf16 = Buffer.from(`\uFEFF${text}`, 'utf16le');
  return [Buffer.from(text), Buffer.from(`\uFEFF${text}`), utf16, Buffer.from(utf16).swap16()].map(one =>
    Uint8Array.from(one),
  );
}

/** The paths of routes that take a body, with a value in place of each parameter. */
function routesWithBody(): readonly (readonly [method: string, path: string])[] {
  const filled = (path: string): string =>
    path.replace(':type', 'Patient').replace(':inner', 'Observation').replace(/:\w+/g, '1').replaceAll('*', 'x');
  const all = rest.app.routes.filter(({ method }) => /^(?:POST|PUT|PATCH|DELETE)$/.test(method));
  return [...new Map(all.map(({ method, path }) => [`${method} ${path}`, [method, filled(path)] as const])).values()];
}

describe('bodies in XML', () => {
  test('no route accepts an external entity, and none is fetched', { timeout: 120_000 }, async () => {
    const routes = routesWithBody();
    expect(routes.map(([, path]) => path)).toEqual(
      expect.arrayContaining(['/fhir', '/fhir/Patient/_search', '/fhir/Patient/1/$everything', '/fhir/$export']),
    );
    const answers: string[] = [];
    const faults: string[] = [];
    let asked = 0;
    const reaches = await reached(async () => {
      for (const [method, path] of routes)
        for (const [name, text] of Object.entries(bodies(path === '/fhir' ? 'Bundle' : 'Parameters')))
          for (const media of MEDIA)
            for (const body of encodings(text).slice(0, media === 'application/fhir+xml' ? 4 : 1)) {
              const headers = { 'content-type': media, prefer: 'respond-async' };
              const answer = await rest.app.request(`http://localhost${path}`, { method, headers, body });
              asked++;
              answers.push(await answer.text());
              if (answer.status >= 500) faults.push(`${method} ${path}, ${name}, ${media}: ${answer.status}`);
            }
    });
    expect(asked).toBeGreaterThan(1000);
    expect(reaches).toEqual([]);
    expect(connections).toBe(0);
    expect(faults).toEqual([]);
    expect(answers.filter(text => text.includes(SECRET) || text.includes('led here'))).toEqual([]);
    expect(rest.lines.join('\n')).not.toContain(SECRET);
  });

  test('a document type declaration is refused with a message, the same body without it accepted', async () => {
    const ask = async (text: string): Promise<readonly [number, string]> => {
      const init = { method: 'POST', headers: { 'content-type': 'application/fhir+xml' }, body: text };
      const answer = await rest.app.request('http://localhost/fhir/Patient/1/$everything', init);
      return [answer.status, await answer.text()];
    };
    const plain = `<Parameters ${FHIR}><parameter><name value="_count"/><valueInteger value="1"/></parameter></Parameters>`;
    expect((await ask(plain))[0]).toBe(200);
    for (const [name, prologue] of Object.entries(prologues())) {
      const [status, text] = await ask(prologue + plain);
      if (name.includes('style sheet')) expect([name, status]).toEqual([name, 200]);
      else expect([name, status, text]).toEqual([name, 400, expect.stringContaining('document type')]);
    }
  });
});

describe('notes of the database', () => {
  test('fetch nothing, and keep no external reference', async () => {
    const notes = Object.values(bodies('div')).concat(
      ...[`<img src="${address}">`, `<link rel=stylesheet href=${address}>`, `<iframe src='${address}'></iframe>`].map(
        markup => `<p>seen</p>${markup}`,
      ),
      `<svg><image xlink:href="${address}"/></svg><object data="file://${file}"></object>`,
      `<style>@import url(${address})</style><p style="background:url(${address})">x</p>`,
      `{\\rtf1 {\\field{\\*\\fldinst INCLUDEPICTURE "${address}"}{\\fldrslt x}} {\\*\\template ${file}}}`,
      `{\\rtf1 {\\object\\objautlink{\\*\\objclass x}{\\*\\objdata 00}} {\\field{\\*\\fldinst INCLUDETEXT "${file}"}}}`,
    );
    const made: string[] = [];
    const reaches = await reached(() => {
      for (const note of notes) made.push(narrative(note), plainText(note));
    });
    expect(reaches).toEqual([]);
    expect(connections).toBe(0);
    expect(made.length).toBeGreaterThan(30);
    for (const text of made) {
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain('led here');
    }
    for (const note of notes)
      expect(narrative(note)).not.toMatch(/<(?:!|\?|img|link|iframe|object|style|image|svg)|(?:src|href)=/i);
  });
});
