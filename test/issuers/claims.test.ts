/** Tests what claims permit: a claim that is not understood permits nothing, and widens nothing. */
import { expect, test } from 'vitest';
import { accessOfGrant } from '../../src/auth/granted.ts';
import { NO_RULES } from '../../src/auth/rules.ts';
import { type Claims, grantOfClaims } from '../../src/issuers/claims.ts';
import { issuersIn } from '../../src/issuers/settings.ts';
import { BASE } from './opened.ts';

function grantOf(claims: Claims, more = '') {
  const text = `issuers:\n  - issuer: https://i.example.org\n    audience: x\n${more.replaceAll(/^(?=.)/gm, '    ')}`;
  const { issuers, problems } = issuersIn('access.yaml', text);
  expect(problems).toEqual([]);
  const [issuer] = issuers;
  return issuer && grantOfClaims({ sub: 's', azp: 'app', ...claims }, issuer, { expires: 1, fhirBase: BASE });
}

test.each([
  ['42', '42'],
  ['Patient/42', '42'],
  [`${BASE}/Patient/42`, '42'],
  [['42'], '42'],
  [42, '42'],
  [['42', '43'], undefined],
  ['', undefined],
  ['Practitioner/42', undefined],
  ['https://other.example.org/fhir/Patient/42', undefined],
  ['42 or 43', undefined],
  [{ id: '42' }, undefined],
  [null, undefined],
])('the patient in %j is %s', (patient, expected) => {
  expect(grantOf({ patient })?.patient).toBe(expected);
});

test('an unidentified person sees nothing, whatever the scopes', () => {
  const claims = { scope: 'patient/*.rs user/*.rs system/*.rs', patient: '42' };
  for (const fhirUser of [
    'https://other.example.org/fhir/Practitioner/7',
    ['Patient/1', 'Patient/2'],
    '',
    'doctor',
    {},
  ]) {
    const grant = grantOf({ ...claims, fhirUser });
    expect(grant && accessOfGrant(grant, NO_RULES), JSON.stringify(fhirUser)).toMatchObject({
      kind: 'limited',
      permissions: [],
    });
  }
  const own = grantOf({ ...claims, fhirUser: `${BASE}/Patient/42` });
  expect(own?.fhirUser).toBe('Patient/42');
});

test('system/ scopes in a user token are ignored, unless the token identifies the user', () => {
  const scope = 'openid patient/*.rs system/*.rs system/Patient.read';
  const scopesOf = (claims: Claims, more?: string) => grantOf({ scope, ...claims }, more)?.scopes;
  const limited = ['openid', 'patient/*.rs'];
  expect(scopesOf({})).toEqual(limited);
  expect(scopesOf({ sub: undefined })).toEqual(limited);
  expect(scopesOf({ sub: 'app' })).toEqual(limited);
  expect(scopesOf({ fhirUser: 'Practitioner/7' })).toEqual(scope.split(' '));
  expect(scopesOf({ staff: 'mb' }, 'claims: { login: { rule: staff, claim: staff } }')).toEqual(scope.split(' '));
  // An issuer's word for such a scope does not bypass the limit.
  expect(scopesOf({ scope: 'reader' }, 'scopes: { reader: [user/*.rs, system/*.rs] }')).toEqual(['user/*.rs']);
});

test('a client credentials token is recognised by all claims in the settings', () => {
  const more = 'client-credentials: { idtyp: app, sub: "service-{client}" }';
  const scopesOf = (claims: Claims) => grantOf({ scope: 'system/*.rs', ...claims }, more)?.scopes;
  expect(scopesOf({ idtyp: 'app', sub: 'service-app' })).toEqual(['system/*.rs']);
  for (const claims of [
    { idtyp: 'app' },
    { sub: 'service-app' },
    { idtyp: 'user', sub: 'service-app' },
    { idtyp: 'app', sub: 'service-other' },
    { idtyp: 'app', sub: 'service-{client}' },
    { idtyp: { app: true }, sub: 'service-app' },
  ])
    expect(scopesOf(claims), JSON.stringify(claims)).toEqual([]);
});

test('the first present claim of a list counts; a dotted name is a path', () => {
  const more = 'claims: { patient: [launch.patient, ctx.patient, patient], client: [a.b, azp] }';
  expect(grantOf({ ctx: { patient: '1' }, patient: '2' }, more)?.patient).toBe('1');
  expect(grantOf({ 'ctx.patient': '3', ctx: { patient: '1' } }, more)?.patient).toBe('3');
  expect(grantOf({ patient: '2' }, more)?.patient).toBe('2');
  expect(grantOf({ a: { b: 'inner' } }, more)?.client).toBe('inner');
  expect(grantOf({ a: { b: ['x', 'y'] } }, more)).toBeUndefined();
});

test('inherited object properties are not read as claims', () => {
  const more = 'claims: { patient: [constructor.name, __proto__.x, toString], scopes: [constructor.name] }';
  expect(grantOf({}, more)).toMatchObject({ scopes: [] });
  expect(grantOf({}, more)?.patient).toBeUndefined();
});

test('scopes of all named claims are merged without duplicates', () => {
  const scopes = 'claims: { scopes: [scp, roles, realm_access.roles] }\nclient-credentials: { sub: s }';
  const claims = { scp: 'user/*.rs openid', roles: ['user/*.rs'], realm_access: { roles: ['system/Patient.rs'] } };
  expect(grantOf(claims, scopes)?.scopes).toEqual(['user/*.rs', 'openid', 'system/Patient.rs']);
});

test('a scope prefix is removed, and scopes without it are ignored', () => {
  const more =
    'client-credentials: { sub: s }\nclaims: { scope-prefix: "api://lintel/" }\n' +
    'scopes: { all: system/*.rs, "other:reader": [user/*.rs] }';
  const scope = 'api://lintel/patient/*.rs user/*.rs api://lintel/all other:reader';
  expect(grantOf({ scope }, more)?.scopes).toEqual(['patient/*.rs', 'system/*.rs', 'user/*.rs']);
});

test('names of inherited object properties are not scope words', () => {
  expect(grantOf({ scope: 'constructor __proto__ toString' }, 'scopes: { reader: user/*.rs }')?.scopes).toEqual([
    ...['constructor', '__proto__', 'toString'],
  ]);
});
