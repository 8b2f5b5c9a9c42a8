/** Checks the table of error codes against the code that uses it, and the page made from it. */
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PACK_ERRORS, START_ERRORS } from '../../src/errors/pack-errors.ts';
import { NOTICES, REQUEST_ERRORS } from '../../src/errors/request-errors.ts';
import { FhirError, operationOutcome } from '../../src/outcome.ts';
import { errorsPage } from './errors-page.ts';

const TABLES = { ...REQUEST_ERRORS, ...NOTICES, ...PACK_ERRORS, ...START_ERRORS };

const SOURCES = globSync('src/**/*.ts')
  .filter(file => !file.startsWith('src/errors/'))
  .map(file => ({ file, text: readFileSync(file, 'utf8') }));

test('docs/errors.md equals the output of `npm run errors`', () => {
  expect(readFileSync('docs/errors.md', 'utf8')).toBe(errorsPage());
});

test('each code is unique and has the form LNT-000', () => {
  const codes = Object.values(TABLES).map(([code]) => code);
  expect(new Set(codes).size).toBe(codes.length);
  expect(codes.filter(code => !/^LNT-\d{3}$/.test(code))).toEqual([]);
});

test('each code is used in src', () => {
  const all = SOURCES.map(({ text }) => text).join('\n');
  expect(Object.keys(TABLES).filter(kind => !all.includes(`'${kind}'`))).toEqual([]);
});

/** Pattern for the text before a kind, wherever src makes a problem of a pack or ends a start. */
const MADE = String.raw`(?:\.(?:error|warning|notice)|\[severity\]|\b(?:problem|reportAs|coded))\(\s*|\bkind: |: `;

test('each code of a pack or a start is made in src', () => {
  const all = SOURCES.map(({ text }) => text).join('\n');
  const kinds = Object.keys({ ...PACK_ERRORS, ...START_ERRORS });
  expect(kinds.filter(kind => !new RegExp(`(?:${MADE})'${kind}'`).test(all))).toEqual([]);
});

test('docstrings name existing kinds of errors', () => {
  const named = SOURCES.flatMap(({ file, text }) =>
    [...text.matchAll(/FhirError (`[a-z-]+`(?:(?:, | or )`[a-z-]+`)*)/g)].flatMap(([, kinds = '']) =>
      [...kinds.matchAll(/`([a-z-]+)`/g)].map(([, kind = '']) => ({ file, kind })),
    ),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter(({ kind }) => !Object.hasOwn(REQUEST_ERRORS, kind))).toEqual([]);
});

test('each place that reports a problem of a pack names its code', () => {
  const calls = SOURCES.flatMap(({ file, text }) =>
    [...text.matchAll(/\breport(?:\.(?:error|warning|notice)|\[severity\])\(\s*([^\s,]+)/g)].map(([, first = '']) => ({
      file,
      first,
    })),
  );
  expect(calls.length).toBeGreaterThan(250);
  const kinds = new Set(Object.keys(PACK_ERRORS).map(kind => `'${kind}'`));
  // They pass on a kind, which the compiler checks against the table.
  const passed = ['src/ccda/content.ts', 'src/mapping/load/pack/pack.ts', 'src/mapping/load/read/files.ts'];
  const without = calls.filter(({ file, first }) => !kinds.has(first) && !(first === 'kind' && passed.includes(file)));
  expect(without).toEqual([]);
});

test('issues and outcomes are made in src/outcome.ts alone, which gives each its code', () => {
  const made = /severity: [^,}]*,\s*code\b|resourceType: 'OperationOutcome'/;
  const files = SOURCES.filter(({ text }) => made.test(text)).map(({ file }) => file);
  expect(files).toEqual(['src/outcome.ts']);
});

test('an outcome has the code and its system', () => {
  expect(operationOutcome(new FhirError('unknown-type', 'no such type').issues)).toEqual({
    resourceType: 'OperationOutcome',
    issue: [
      {
        severity: 'error',
        code: 'not-found',
        details: { coding: [{ system: 'urn:lintel:error', code: 'LNT-102' }] },
        diagnostics: 'no such type',
      },
    ],
  });
});
