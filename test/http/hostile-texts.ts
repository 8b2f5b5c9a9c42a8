/** Makes hostile texts, and requests with them: any parameter of any type, with any modifier. */
import fc from 'fast-check';
import type { Offers } from '../../src/search/offers.ts';
import { MODIFIERS } from '../../src/search/query.ts';

/** Occurs in every hostile request, and nowhere else in the server's output. */
export const CANARY = 'Zqxkowal';

const INJECTIONS = [
  `${CANARY}'`,
  `${CANARY}'; DROP TABLE PT_MST; --`,
  `${CANARY}' OR '1'='1`,
  `${CANARY}") OR 1=1 --`,
  `${CANARY}]; EXEC xp_cmdshell('x')`,
  `${CANARY}\\' UNION SELECT 1 --`,
  `?1 ${CANARY}`,
  `@p0 ${CANARY}`,
  `\${${CANARY}}`,
  `{"$ne":"${CANARY}"}`,
  `<script>${CANARY}</script>`,
  `${CANARY}\r\nSet-Cookie: a=b`,
];
const WILD = [
  '%',
  '_',
  '[a-z]*',
  '*',
  '?',
  '^$',
  '\\',
  '\\,',
  '\\|',
  '.*.*.*=.*',
  '(((((',
  `${'a'.repeat(2000)}!`,
  ' '.repeat(2000),
];
const UNICODE = ['\u202e', '\u0301', '\ufeff', '\ufffe', '\u{1f600}', 'İıſß', '\u00ad', '١٢٣', '\u2028', '\u0085'];
const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'];
const NUMBERS = [
  '1e309',
  '-1e309',
  '1e-999',
  '9'.repeat(300),
  `0.${'0'.repeat(300)}1`,
  '--1',
  '+',
  '.',
  'NaN',
  '0x10',
  '-0',
];
const DATES = [
  '0000',
  '9999-12-31T23:59:60Z',
  '2020-02-30',
  '2020-01-01T00:00:00+99:99',
  '99999',
  '0001-01-01',
  '-2020',
  '2020-1-1',
];
const PARTS = [
  '',
  '|',
  '||',
  '|||',
  '$',
  '$$',
  ',',
  ',,,',
  'Patient/',
  '/',
  '//',
  'http://[',
  '#',
  'Patient/1/_history/2',
];
const PREFIXES = ['', 'eq', 'ne', 'gt', 'lt', 'ge', 'le', 'sa', 'eb', 'ap', 'xx'];

const text = fc.oneof(
  fc.constantFrom(...INJECTIONS, ...WILD, ...UNICODE, ...NAMES, ...NUMBERS, ...DATES, ...PARTS),
  fc.string({ unit: 'grapheme', maxLength: 30 }).filter(one => one.isWellFormed() && !one.includes('\0')),
  fc.constantFrom(...PREFIXES).chain(prefix => fc.constantFrom(...NUMBERS, ...DATES).map(one => prefix + one)),
);

/** One value, or several joined by the separators of searches. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  text,
  fc
    .tuple(fc.constantFrom('|', '$', ',', '\\,'), fc.array(text, { minLength: 2, maxLength: 4 }))
    .map(([by, parts]) => parts.join(by)),
);

const SUFFIXES = [...MODIFIERS, 'missing', 'Patient', 'iterate', ''];
const RESULTS = [
  '_count',
  '_sort',
  '_include',
  '_revinclude',
  '_include:iterate',
  '_elements',
  '_summary',
  '_total',
  '_format',
  '_pretty',
  '_cursor',
  '_type',
  '_contained',
  '_filter',
  '_has',
];

export interface HostileRequest {
  readonly type: string;
  readonly parameters: readonly (readonly [name: string, value: string])[];
}

/** Requests with offered parameters, and with others. */
export function hostileRequest(offers: Offers): fc.Arbitrary<HostileRequest> {
  const ofType = (type: string): fc.Arbitrary<HostileRequest> => {
    const codes = offers.of(type).map(({ parameter }) => parameter.code);
    const offered = fc.constantFrom(...codes);
    const name = fc.oneof(
      { weight: 4, arbitrary: offered },
      {
        weight: 3,
        arbitrary: fc.tuple(offered, fc.constantFrom(...SUFFIXES, ...NAMES)).map(([code, one]) => `${code}:${one}`),
      },
      {
        weight: 1,
        arbitrary: fc
          .tuple(offered, fc.constantFrom('name', '_id', 'identifier', ...NAMES))
          .map(([code, one]) => `${code}.${one}`),
      },
      { weight: 1, arbitrary: fc.constantFrom(...RESULTS, ...NAMES) },
      { weight: 1, arbitrary: offered.map(code => `_has:${type}:${code}:_id`) },
      { weight: 1, arbitrary: text },
    );
    return fc
      .array(fc.tuple(name, hostileText), { minLength: 1, maxLength: 3 })
      .map(parameters => ({ type, parameters }));
  };
  return fc.constantFrom(...offers.types).chain(ofType);
}

export function encoded(parameters: HostileRequest['parameters']): string {
  return parameters.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
}
