/** Checks our dependencies: licences that a hospital can accept, and no install scripts. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Locked {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly integrity?: string;
}

const own = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly license: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
};
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>;
};
const installed = Object.entries(packages)
  .filter(([path]) => path !== '')
  .map(([path, locked]) => ({ ...locked, name: path.replace(/^.*node_modules\//, '') }));
const shipped = installed.filter(({ dev }) => dev !== true);

/** Licences that require no more than a notice. */
const FREE = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'Python-2.0',
]);

/** Checked by a person: the licence in words, and where it is. */
const READ: Readonly<Record<string, string>> = {
  '@lhncbc/ucum-lhc': 'LICENSE.md: free to use with a notice, and the terms of UCUM',
  fhirpath: 'LICENSE.md: BSD with three clauses',
  'is-integer': 'WTFPL OR ISC: taken under ISC',
  'emitter-component': 'component.json: MIT',
};

test('every shipped package has a permissive licence', () => {
  expect(shipped.length).toBeGreaterThan(100);
  const others = shipped.filter(({ name, license }) => !FREE.has(license ?? '') && READ[name] === undefined);
  expect(others.map(({ name, license }) => `${name}: ${license}`)).toEqual([]);
  const names = new Set(shipped.map(({ name }) => name));
  expect(Object.keys(READ).filter(name => !names.has(name))).toEqual([]);
});

test('every install script is allowed or denied by name, and only that of `node` runs', () => {
  const scripted = installed.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => name);
  expect(scripted.toSorted()).toEqual(Object.keys(own.allowScripts).toSorted());
  expect(Object.entries(own.allowScripts).filter(([, runs]) => runs)).toEqual([['node', true]]);
  expect(readFileSync('Dockerfile', 'utf8')).toContain('npm ci --omit=dev --ignore-scripts');
});

test('versions are exact, and every package has a checksum', () => {
  const ranges = Object.entries({ ...own.dependencies, ...own.devDependencies }).filter(
    ([, version]) => !/^\d+\.\d+\.\d+$/.test(version),
  );
  expect(ranges).toEqual([]);
  expect(installed.filter(({ integrity }) => integrity === undefined).map(({ name }) => name)).toEqual([]);
});

test('the licence file matches package.json', () => {
  expect(own.license).toBe('Apache-2.0');
  expect(readFileSync('LICENSE', 'utf8')).toMatch(/^\s*Apache License\n\s*Version 2\.0, January 2004/);
});

test('each image can be pinned by digest, and the Node image has the Node version of package.json', () => {
  const node = `node:${own.dependencies['node']}-slim`;
  const dockerfile = readFileSync('Dockerfile', 'utf8');
  expect(dockerfile).toContain(`ARG NODE_IMAGE=${node}\n`);
  const based = [...dockerfile.matchAll(/^FROM (.*)$/gm)].map(([, image]) => image);
  expect([based.length > 0, based.filter(image => image?.startsWith('$'.concat('{NODE_IMAGE}')) !== true)]).toEqual([
    true,
    [],
  ]);
  const docs = readFileSync('docs/docker.md', 'utf8');
  expect(docs).toContain(`| \`NODE_IMAGE\` | \`${node}\`,`);
  for (const file of ['compose.yaml', 'compose.mssql.yaml']) {
    const text = readFileSync(file, 'utf8');
    for (const [, args] of text.matchAll(/^ +context: \.\n +args: (.*)$/gm))
      expect([file, args]).toEqual([file, `{ NODE_IMAGE: '\${NODE_IMAGE:-${node}}' }`]);
    expect(text).not.toMatch(/build: \./);
    for (const [, image = ''] of text.matchAll(/^ +image: (.*)$/gm)) {
      const [, variable, named] = /^\$\{(\w+):-([^}]+)\}$/.exec(image) ?? [];
      expect([file, image, docs.includes(`| \`${variable}\` | \`${named}\``)]).toEqual([file, image, true]);
    }
  }
});
