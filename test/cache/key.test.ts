import { expect, test } from 'vitest';
import { type Access, accessToPatients } from '../../src/auth/access.ts';
import { type AnswerKey, answerKey } from '../../src/cache/answers.ts';

const OPEN: Access = { kind: 'all', caller: 'open' };
const ASKED: AnswerKey = {
  ...{
    version: 'v1',
    access: OPEN,
    base: 'http://localhost/fhir',
    handling: 'lenient',
    accept: 'application/fhir+json',
  },
  target: '/fhir/Patient/1',
};

test('equal requests have equal keys', () => {
  expect(answerKey({ ...ASKED, access: { ...OPEN } })).toBe(answerKey(ASKED));
});

test.each<[string, Partial<AnswerKey>]>([
  ['mappings', { version: 'v2' }],
  ['caller', { access: { kind: 'all', caller: 'other' } }],
  ['patients', { access: accessToPatients('open', ['1']) }],
  ['base', { base: 'https://ehr.example.org/fhir' }],
  ['handling', { handling: 'strict' }],
  ['accept', { accept: undefined }],
  ['address', { target: '/fhir/Patient/2' }],
])('a different %s gives a different key', (_what, instead) => {
  expect(answerKey({ ...ASKED, ...instead })).not.toBe(answerKey(ASKED));
});

test('a key that was evicted is never given to another request', () => {
  const before = answerKey(ASKED);
  const others = new Set(Array.from({ length: 20_000 }, (_, i) => answerKey({ ...ASKED, accept: `text/x-${i}` })));
  expect(others.size).toBe(20_000);
  expect(others).not.toContain(before);
  expect(others).not.toContain(answerKey(ASKED));
});
