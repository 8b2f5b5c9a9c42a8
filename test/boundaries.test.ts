/**
 * Tests which folders may import which, as docs and folder names promise; and the one owner of each external package.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { expect, test } from 'vitest';

/** Folder or file of src → what it may import besides itself; a longer path takes precedence. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  common: [],
  time: ['common'],
  sql: ['common', 'time'],
  auth: ['common'],
  errors: [],
  outcome: ['errors'],
  log: ['common'],
  r4: [],
  validation: ['mapping', 'r4'],
  observe: ['common', 'log', 'sql/database'],
  cache: ['common', 'time', 'sql', 'auth', 'mapping'],
  config: ['common', 'start/demo', 'log', 'sql/engine', 'sql/engines'],
  mapping: ['time', 'common', 'errors', 'sql', 'r4'],
  profile: ['common', 'sql'],
  search: [
    ...['time', 'mapping', 'r4', 'outcome', 'sql/expression', 'sql/construct'],
    // What a text search compares: words of texts.
    ...['sql/alike', 'sql/column-type', 'sql/shared-functions'],
  ],
  plan: ['common', 'time', 'search', 'mapping', 'sql', 'auth', 'r4', 'outcome'],
  resource: ['common', 'time', 'search', 'mapping', 'sql', 'r4', 'outcome'],
  capability: ['search', 'mapping', 'r4'],
  pipeline: ['common', 'plan', 'resource', 'search', 'mapping', 'sql', 'auth', 'r4', 'outcome', 'cache', 'observe'],
  operations: ['common', 'time', 'pipeline', 'plan', 'resource', 'search', 'mapping', 'r4', 'sql', 'auth', 'outcome'],
  facade: [
    'time',
    'common',
    'operations',
    'pipeline',
    'plan',
    'resource',
    'search',
    'mapping',
    'sql',
    'auth',
    'r4',
    'outcome',
    'cache',
    'capability',
    'observe',
  ],
  access: ['auth', 'facade', 'mapping', 'search/values'],
  audit: ['common', 'auth', 'config', 'facade', 'log', 'mapping', 'outcome', 'r4', 'sql/sqlite'],
  explain: ['facade', 'pipeline', 'plan', 'search', 'mapping', 'sql', 'auth', 'resource/selection'],
  law: ['time', 'facade', 'auth', 'common', 'resource', 'search', 'mapping', 'r4', 'sql'],
  check: ['*'],
  coverage: ['*'],
  // Runs in a browser: it imports only the types of the server's answers.
  'workbench/page': ['workbench/wire'],
  'workbench/wire': [],
  workbench: ['*'],
  ccda: ['common', 'time', 'errors', 'facade', 'mapping', 'outcome', 'r4/check-digits'],
  rest: [
    'time',
    'ccda',
    'facade',
    'auth',
    'config',
    'mapping',
    'search/values',
    'sql/expression-key',
    'sql/shared-functions',
  ],
  export: ['*'],
  http: [
    'audit/audit',
    'audit/record',
    'common',
    'observe',
    'cache',
    'facade',
    'export/job',
    'export/jobs',
    'export/manifest',
    'export/request',
    'explain',
    'ccda',
    'rest',
    'errors',
    'outcome',
    'auth',
    'config',
    'log',
    'search/values',
    'sql/database',
    'sql/retry-after',
    'resource/xml',
    'resource/from-xml',
  ],
  smart: [
    'issuers/fetch',
    'issuers/metadata',
    'issuers/settings',
    'audit/audit',
    'audit/record',
    'auth',
    'config',
    'facade',
    'http/pages/page-frame',
    'log',
    'common',
    'observe/metrics',
    'r4/search-parameters',
    'search/values',
  ],
  issuers: ['common', 'auth', 'config', 'log', 'mapping', 'outcome'],
  cli: ['*'],
  reload: ['*'],
  'start/demo': ['../fixtures', 'common'],
  'start/seen-schema': ['sql'],
  'start/print-error': ['audit/writer', 'config', 'errors', 'log', 'outcome', 'sql/database', 'sql/engines'],
  start: ['*'],
  main: ['*'],
};

/** Packages and the only parts of src that may import each; `node:` modules are free. */
const OWNERS: Readonly<Record<string, string>> = {
  hono: 'http|smart|workbench/server',
  '@hono/node-server': 'http|smart',
  'oidc-provider': 'smart',
  'openid-client': 'smart',
  jose: 'smart|cli/client|auth|issuers',
  zod: 'config|mapping|issuers|workbench/server',
  yaml: 'mapping/load|workbench/completion',
  mssql: 'sql/mssql',
  'lru-cache': 'common',
  'prom-client': 'observe',
  'p-queue': 'export|sql/mssql',
  'fast-xml-parser': 'resource/from-xml|sql/mssql/explain',
  htmlparser2: 'mapping/codecs',
  fhirpath: 'r4/fhirpath|law',
  esbuild: 'workbench/server/bundle',
  preact: 'workbench/page',
  '@codemirror/autocomplete': 'workbench/page',
  '@codemirror/commands': 'workbench/page',
  '@codemirror/lang-json': 'workbench/page',
  '@codemirror/lang-yaml': 'workbench/page',
  '@codemirror/language': 'workbench/page',
  '@codemirror/lint': 'workbench/page',
  '@codemirror/search': 'workbench/page',
  '@codemirror/state': 'workbench/page',
  '@codemirror/view': 'workbench/page',
  '@lezer/highlight': 'workbench/page',
};

interface Import {
  readonly file: string;
  /** Path in src without its extension, or the name of a package. */
  readonly target: string;
  readonly own: boolean;
  /** Loaded on first use. */
  readonly later: boolean;
}

function importsOf(file: string): readonly Import[] {
  const text = readFileSync(join('src', file), 'utf8');
  const found = text.matchAll(/^(?:import|export)\b[^;]*?\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm);
  return [...found].flatMap(match => {
    const name = match[1] ?? match[2] ?? match[3] ?? '';
    if (name.startsWith('node:')) return [];
    const own = name.startsWith('.');
    const later = match[3] !== undefined;
    return [{ file, own, later, target: own ? join(dirname(file), name).replace(/\.tsx?$/, '') : name }];
  });
}

const within = (path: string, place: string) => path === place || path.startsWith(`${place}/`);
const partOf = (path: string) => Object.keys(MAY_IMPORT).find(part => within(path.replace(/\.tsx?$/, ''), part));
const imports = globSync('src/**/*.{ts,tsx}').flatMap(file =>
  importsOf(file.replaceAll('\\', '/').slice('src/'.length)),
);

test('every file of src belongs to a part that has a rule', () => {
  const files = globSync('src/**/*.{ts,tsx}').map(file => file.slice('src/'.length));
  expect(files.length).toBeGreaterThan(20);
  const without = files.filter(file => partOf(file) === undefined);
  expect(without, 'give their folder a row in MAY_IMPORT').toEqual([]);
});

test('parts import only what they may', () => {
  const wrong = imports.filter(({ file, target, own }) => {
    const part = partOf(file) ?? '';
    const allowed = [part, ...(MAY_IMPORT[part] ?? [])];
    return own && !allowed.some(place => place === '*' || within(target, place));
  });
  const cure = 'move what both need further down, or give the row in MAY_IMPORT one more part, if layers stay layers';
  expect(
    wrong.map(({ file, target }) => `${file} imports ${target}`),
    cure,
  ).toEqual([]);
});

test('each package is imported by its owner only', () => {
  const wrong = imports.filter(({ file, target, own }) => {
    const name = target
      .split('/')
      .slice(0, target.startsWith('@') ? 2 : 1)
      .join('/');
    return !own && !(OWNERS[name] ?? '').split('|').some(owner => within(file.replace(/\.tsx?$/, ''), owner));
  });
  expect(
    wrong.map(({ file, target }) => `${file} imports ${target}`),
    'ask the owner in OWNERS for what is needed; a new package needs a row there and in docs/dependencies.md',
  ).toEqual([]);
});

test('a server never loads what only the check needs, nor an open one what only ACCESS=smart needs', () => {
  const loaded = new Set<string>(['main']);
  for (const part of loaded) {
    for (const { file, target, later } of imports) if (!later && file === `${part}.ts`) loaded.add(target);
  }
  expect(loaded).toContain('facade');
  expect(
    [...loaded].filter(
      part =>
        part.startsWith('fhirpath') ||
        within(part, 'smart') ||
        within(part, 'issuers') ||
        within(part, 'law') ||
        within(part, 'validation'),
    ),
  ).toEqual([]);
});

test('the import lines are really read', () => {
  expect(imports).toContainEqual({ file: 'http/app.ts', own: false, later: false, target: 'hono' });
  expect(imports).toContainEqual({ file: 'config/config.ts', own: true, later: false, target: 'config/variables' });
});
