/**
 * Tests what the demo's greeting offers: from nothing to a token by Backend Services, and an app launched by the page
 * that plays the EHR. Also the scopes of a certification run over the demo's data.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { run } from '../../src/cli/main.ts';
import { readConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/log.ts';
import { type Running, startServer } from '../../src/main.ts';
import { TEXTS } from '../../src/smart/texts.ts';
import { CHROMIUM, openTab } from '../clients/chromium.ts';
import { type Browser, boxes, formAction, hiddenFields, openBrowser, type Page } from '../smart/browser.ts';
import { post } from '../smart/served.ts';

let folder: string;
let running: Running;
let said: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lintel-'));
  const out: string[] = [];
  const terminal = { out: () => {}, note: () => {}, environment: { DATA_DIR: folder }, secret: async () => PASSWORD };
  for (const [name, fhirUser] of OTHER_PEOPLE) await run(['user', 'add', name, '--fhir-user', fhirUser], terminal);
  const started = await startServer(
    readConfig({ DATA_DIR: folder, PORT: '0', ACCESS: 'smart' }),
    { out: text => out.push(text), note: () => {} },
    createLog({ level: 'error', format: 'json', write: () => {} }),
  );
  if (started === undefined) throw new Error('it did not start');
  running = started;
  said = out.join('\n');
});
afterAll(async () => {
  await running.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A relative of patient 3, and a person without a relation to any patient. */
const OTHER_PEOPLE = [
  ['relative', 'RelatedPerson/2'],
  ['stranger', 'RelatedPerson/none'],
] as const;
const PASSWORD = randomBytes(12).toString('base64url');
const passwordOf = (name: string): string =>
  OTHER_PEOPLE.some(([other]) => other === name)
    ? PASSWORD
    : (new RegExp(`${name} +password (\\S+)`).exec(said)?.[1] ?? '');

test('the curl commands get a token that can read', async () => {
  const [, id = '', key = '', url = ''] = /client assertion (\S+) --key (\S+) --token-url (\S+)\)/.exec(said) ?? [];
  const out: string[] = [];
  const terminal = { out: (text: string) => out.push(text), note: () => {}, environment: { DATA_DIR: folder } };
  expect(await run(['client', 'assertion', id, '--key', key, '--token-url', url], terminal)).toBe(0);
  const { status, body } = await post(url, {
    ...{ grant_type: 'client_credentials', scope: 'system/*.rs', client_assertion: out[0] ?? '' },
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  });
  expect(status).toBe(200);
  const read = await fetch(`${running.url}/fhir/Patient?_count=2`, {
    headers: { authorization: `Bearer ${String(body['access_token'])}` },
  });
  expect([read.status, ((await read.json()) as { readonly entry: readonly unknown[] }).entry.length]).toEqual([200, 2]);
});

test('a doctor launches the app from the simulated EHR, for a patient and a visit', async () => {
  const browser = openBrowser(`${running.url}/auth`);
  const first = await browser.open(`${running.url}/auth/ehr`);
  const page = await browser.send(formAction(first, '/login'), [
    ['username', 'doctor'],
    ['password', passwordOf('doctor')],
    ...hiddenFields(first),
  ]);
  expect(page.html).toContain('Okonkwo-Reyes');
  const shown = await browser.send(formAction(page, '/ehr'), [
    ['app', 'demo-public'],
    ['patient', '1'],
    ['do', 'show'],
  ]);
  const visit = /<select name="encounter">.*?<option value="([^"]+)"/s.exec(shown.html)?.[1] ?? '';
  expect(visit).not.toBe('');
  const app = await browser.send(formAction(shown, '/ehr'), [
    ['app', 'demo-public'],
    ['patient', '1'],
    ['encounter', visit],
    ['do', 'launch'],
  ]);
  const { pathname, searchParams } = new URL(app.url);
  expect([app.status, pathname, searchParams.get('iss')]).toEqual([200, '/demo-app', `${running.url}/fhir`]);
  expect(searchParams.get('launch')).toMatch(/^[\w-]{32}$/);
  expect(app.headers.get('content-security-policy')).toMatch(/script-src 'sha256-/);
});

test('a patient gets no patient choice, and sees only the own record', async () => {
  const browser = openBrowser(`${running.url}/auth`);
  const page = await browser.send(`${running.url}/auth/login`, [
    ['username', 'amelia'],
    ['password', passwordOf('amelia')],
    ['place', 'ehr'],
  ]);
  expect([...page.html.matchAll(/<option value="(\d+)"/g)].map(match => match[1])).toContain('1');
  expect(page.html.match(/born|, \d{4}-\d\d-\d\d<\/option>/g)?.length).toBeGreaterThanOrEqual(1);
  const refused = await browser.send(formAction(page, '/ehr'), [
    ['app', 'demo-public'],
    ['patient', '2'],
    ['do', 'launch'],
  ]);
  expect(refused.html).toContain('This patient cannot be chosen.');
});

test('passwords and secrets stay the same from one start to the next', async () => {
  const out: string[] = [];
  const again = await startServer(
    readConfig({ DATA_DIR: folder, PORT: '0', ACCESS: 'smart' }),
    { out: text => out.push(text), note: () => {} },
    createLog({ level: 'error', format: 'json', write: () => {} }),
  );
  await again?.stop();
  for (const name of ['amelia', 'doctor']) expect(out.join('\n')).toContain(passwordOf(name));
});

/** Types of the launch with full access. */
const TYPES = [
  ...['AllergyIntolerance', 'CarePlan', 'CareTeam', 'Condition', 'Coverage', 'Device', 'DiagnosticReport'],
  ...['DocumentReference', 'Encounter', 'Goal', 'Immunization', 'MedicationDispense', 'MedicationRequest'],
  ...['Observation', 'Procedure', 'Provenance', 'QuestionnaireResponse', 'RelatedPerson', 'ServiceRequest'],
];
/** Types outside the patient compartment, or without a search by patient. */
const OTHERS = ['Location', 'Medication', 'Organization', 'Patient', 'Practitioner', 'PractitionerRole', 'Specimen'];
const REDIRECT = 'http://localhost:4567/custom/smart/redirect';

interface TokenResponse {
  readonly access_token: string;
  readonly scope: string;
  readonly patient?: string;
  readonly encounter?: string;
  readonly need_patient_banner?: boolean;
  readonly smart_style_url?: string;
  readonly id_token?: string;
}

/** Launches the confidential app from the EHR, with authorization by POST; all offered boxes are ticked by default. */
async function launched(user: string, scope: string, ehr?: EhrLaunch): Promise<TokenResponse> {
  const auth = `${running.url}/auth`;
  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id: 'demo-secret', redirect_uri: REDIRECT, scope, state: 'any' },
    ...{ aud: `${running.url}/fhir`, code_challenge: challenge, code_challenge_method: 'S256' },
  });
  const { browser = openBrowser(auth), launch } = ehr ?? {};
  if (launch !== undefined) query.set('launch', launch);
  const headers = { origin: 'http://localhost:4567' };
  const first =
    launch === undefined
      ? await browser.open(`${auth}/authorize?${query}`)
      : await browser.send(`${auth}/authorize`, [...query], headers);
  const consent = first.html.includes('name="password"')
    ? await browser.send(formAction(first, '/login'), [
        ['username', user],
        ['password', passwordOf(user)],
      ])
    : first;
  const done = await browser.send(formAction(consent, '/consent'), [
    ['decision', 'allow'],
    ...boxes(consent, 'scope').map(one => ['scope', one] as const),
  ]);
  const secret = /demo-secret +(\S{43})/.exec(said)?.[1] ?? '';
  const { body } = await post(
    `${auth}/token`,
    {
      ...{ grant_type: 'authorization_code', redirect_uri: REDIRECT, code_verifier: verifier },
      code: new URL(done.url).searchParams.get('code') ?? '',
    },
    { authorization: `Basic ${btoa(`demo-secret:${secret}`)}` },
  );
  return body as unknown as TokenResponse;
}

interface EhrLaunch {
  readonly browser: Browser;
  readonly launch: string;
}

/**
 * A logged-in user launches the confidential app for a patient and the latest visit, from the page that plays the EHR.
 */
async function fromEhr(
  user: string,
  patient: string,
): Promise<EhrLaunch & { readonly encounter: string; send(fields: Readonly<Record<string, string>>): Promise<Page> }> {
  const browser = openBrowser(`${running.url}/auth`);
  await browser.send(`${running.url}/auth/login`, [
    ['username', user],
    ['password', passwordOf(user)],
    ['place', 'ehr'],
  ]);
  const page = await browser.open(`${running.url}/auth/ehr`);
  const choice = [
    ['app', 'demo-secret'],
    ['patient', patient],
  ] as const;
  const shown = await browser.send(formAction(page, '/ehr'), [...choice, ['do', 'show']]);
  const [, encounter] = /<select name="encounter">.*?<option value="([^"]+)"/s.exec(shown.html) ?? [];
  if (encounter === undefined) throw new Error('the patient has no visits');
  const send = (fields: Readonly<Record<string, string>>): Promise<Page> =>
    browser.send(formAction(shown, '/ehr'), [
      ...Object.entries({ app: 'demo-secret', patient, encounter, ...fields }),
      ['do', 'launch'],
    ]);
  const app = await send({});
  return { browser, encounter, send, launch: new URL(app.url).searchParams.get('launch') ?? '' };
}

test('the page in the role of an EHR launches nothing for an app, a patient or a visit that is not there', async () => {
  const { send, encounter } = await fromEhr('doctor', '1');
  for (const wrong of [{ app: 'nothing' }, { patient: 'nobody' }, { encounter: 'none' }, { patient: '2', encounter }]) {
    const { url, html } = await send(wrong);
    expect(url).toBe(`${running.url}/auth/ehr`);
    expect(html).toContain(TEXTS.error.noPatient);
  }
  expect((await send({ encounter: '' })).url).toContain('launch=');
});

interface Found {
  readonly status: number;
  readonly resources: readonly { readonly id: string; readonly category?: readonly Concept[] }[];
}

interface Concept {
  readonly coding?: readonly { readonly system?: string; readonly code?: string }[];
}

async function search(token: string, question: string): Promise<Found> {
  const response = await fetch(`${running.url}/fhir/${question}`, { headers: { authorization: `Bearer ${token}` } });
  const { entry = [] } = (await response.json()) as {
    readonly entry?: readonly { readonly resource: Found['resources'][number] }[];
  };
  return { status: response.status, resources: entry.map(({ resource }) => resource) };
}

test('full access of a patient: every type is granted and searched, without records of others', async () => {
  const wanted = [...TYPES, ...OTHERS].map(type => `patient/${type}.rs`);
  const scope = ['launch/patient', 'openid', 'fhirUser', 'offline_access', ...wanted].join(' ');
  const token = await launched('amelia', scope);
  expect(token.scope.split(' ').toSorted()).toEqual(scope.split(' ').toSorted());
  expect(token.patient).toBe('1');
  for (const type of TYPES) {
    const { status, resources } = await search(token.access_token, `${type}?patient=1&_count=1`);
    expect([type, status, resources.length]).toEqual([type, 200, 1]);
    expect((await search(token.access_token, `${type}?patient=2`)).resources).toEqual([]);
  }
  for (const question of [
    ...['CarePlan?category=assess-plan', 'CareTeam?status=proposed', 'MedicationRequest?intent=proposal'],
    ...['DiagnosticReport?category=LAB', 'Observation?code=2708-6'],
  ])
    expect([question, (await search(token.access_token, `${question}&patient=1`)).status]).toEqual([question, 200]);
  expect((await search(token.access_token, 'Patient/2')).status).toBe(404);
});

const CATEGORY = 'http://terminology.hl7.org/CodeSystem';
const CORE = 'http://hl7.org/fhir/us/core/CodeSystem';

test.each<[title: string, parts: Readonly<Record<string, readonly string[]>>]>([
  [
    'the first',
    {
      Condition: [`${CATEGORY}/condition-category|encounter-diagnosis`, `${CORE}/condition-category|health-concern`],
      Observation: [`${CATEGORY}/observation-category|laboratory`, `${CATEGORY}/observation-category|social-history`],
    },
  ],
  [
    'the second',
    {
      Condition: [`${CATEGORY}/condition-category|problem-list-item`],
      Observation: [
        ...[`${CATEGORY}/observation-category|vital-signs`, `${CATEGORY}/observation-category|survey`],
        `${CORE}/us-core-category|sdoh`,
      ],
    },
  ],
])('granular scopes, %s group: all of these categories, and no others', async (_title, parts) => {
  const asked = Object.entries(parts).flatMap(([type, categories]) =>
    categories.map(category => `patient/${type}.rs?category=${category}`),
  );
  const whole = await launched('amelia', 'launch/patient patient/Condition.rs patient/Observation.rs');
  const part = await launched('amelia', `launch/patient patient/Patient.rs ${asked.join(' ')}`);
  expect(part.scope.split(' ').toSorted()).toEqual(['launch/patient', 'patient/Patient.rs', ...asked].toSorted());
  for (const [type, categories] of Object.entries(parts)) {
    const question = `${type}?patient=1&_count=1000`;
    const all = await search(whole.access_token, question);
    const has = ({ category = [] }: Found['resources'][number]): boolean =>
      category.some(({ coding = [] }) => coding.some(({ system, code }) => categories.includes(`${system}|${code}`)));
    const expected = all.resources.filter(has).map(({ id }) => id);
    const found = await search(part.access_token, question);
    expect(found.resources.map(({ id }) => id).toSorted()).toEqual(expected.toSorted());
    expect(expected.length).toBeGreaterThan(0);
    expect(expected.length).toBeLessThan(all.resources.length);
    const hidden = all.resources.find(one => !has(one));
    expect((await search(part.access_token, `${type}/${hidden?.id}`)).status).toBe(404);
    expect((await search(part.access_token, `${type}/${expected[0]}`)).status).toBe(200);
  }
});

test('a practitioner launches from the EHR with user scopes: context, banner, style, and the practitioner as fhirUser', async () => {
  const ehr = await fromEhr('doctor', '1');
  const wanted = [...TYPES, ...OTHERS].map(type => `user/${type}.rs`);
  const scope = ['launch', 'openid', 'fhirUser', 'offline_access', ...wanted].join(' ');
  const token = await launched('doctor', scope, ehr);
  expect(token.scope.split(' ').toSorted()).toEqual(scope.split(' ').toSorted());
  expect(token).toMatchObject({ patient: '1', encounter: ehr.encounter, need_patient_banner: true });
  const style = await fetch(token.smart_style_url ?? '');
  expect([style.status, style.headers.get('content-type')]).toEqual([200, 'application/json']);
  const claims = JSON.parse(Buffer.from(token.id_token?.split('.')[1] ?? '', 'base64url').toString());
  expect(claims.fhirUser).toBe(`${running.url}/fhir/Practitioner/1`);
  const authorization = `Bearer ${token.access_token}`;
  expect((await fetch(claims.fhirUser, { headers: { authorization } })).status).toBe(200);
  for (const question of ['Patient/1', 'Patient/2', `Encounter/${ehr.encounter}`, 'Condition?patient=2'])
    expect([question, (await search(token.access_token, question)).status]).toEqual([question, 200]);
});

test('a relative launches from the EHR for the one patient, and is identified as RelatedPerson', async () => {
  const ehr = await fromEhr('relative', '3');
  const token = await launched('relative', 'launch openid fhirUser user/Patient.rs user/RelatedPerson.rs', ehr);
  expect([token.patient, token.encounter]).toEqual(['3', ehr.encounter]);
  const claims = JSON.parse(Buffer.from(token.id_token?.split('.')[1] ?? '', 'base64url').toString());
  expect(claims.fhirUser).toBe(`${running.url}/fhir/RelatedPerson/2`);
  expect((await search(token.access_token, 'RelatedPerson/2')).status).toBe(200);
  expect((await search(token.access_token, 'Patient')).resources.map(({ id }) => id)).toEqual(['3']);
});

test('somebody who may see no patient is told so by the EHR page, which launches nothing', async () => {
  const browser = openBrowser(`${running.url}/auth`);
  const page = await browser.send(`${running.url}/auth/login`, [
    ['username', 'stranger'],
    ['password', passwordOf('stranger')],
    ['place', 'ehr'],
  ]);
  expect(page.html).toContain(TEXTS.ehr.noPatients);
  for (const patient of ['', '1', ' ', 'a,b', 'x'.repeat(5000)]) {
    const { status, html } = await browser.send(formAction(page, '/ehr'), [
      ['app', 'demo-public'],
      ['patient', patient],
      ['encounter', patient],
      ['do', 'launch'],
    ]);
    expect([patient.slice(0, 9), status, html.includes(TEXTS.error.noPatient)]).toEqual([
      patient.slice(0, 9),
      200,
      true,
    ]);
  }
});

test('an EHR launch with patient scopes stays within the patient of the launch', async () => {
  const ehr = await fromEhr('doctor', '3');
  const token = await launched('doctor', 'launch openid fhirUser patient/Patient.rs', ehr);
  expect([token.patient, token.encounter]).toEqual(['3', ehr.encounter]);
  for (const [path, status] of [
    ['Patient/3', 200],
    ['Patient/1', 404],
    ['Condition?patient=3', 403],
  ] as const)
    expect([path, (await search(token.access_token, path)).status]).toEqual([path, status]);
});

test.skipIf(CHROMIUM === undefined)('the steps of the README work in a browser', async () => {
  const tab = await openTab();
  onTestFinished(() => tab.close());
  const press = async (selector: string): Promise<void> => {
    await tab.when(`document.querySelector(${JSON.stringify(selector)}) !== null`);
    await tab.run(`document.querySelector(${JSON.stringify(selector)}).click()`);
  };
  const logIn = async (name: string): Promise<void> => {
    await tab.when(`document.querySelector('[name=password]') !== null`);
    for (const [field, value] of [
      ['username', name],
      ['password', passwordOf(name)],
    ])
      await tab.run(`document.querySelector('[name=${field}]').value = ${JSON.stringify(value)}`);
    await press('form:has([name=password]) button');
  };
  const shown = async (): Promise<{ readonly token: TokenResponse; readonly patient: { readonly id: string } }> => {
    const text = (id: string): string => `document.getElementById('${id}')?.textContent`;
    const found = await tab.when(`${text('patient')} && { token: ${text('token')}, patient: ${text('patient')} }`);
    const { token, patient } = found as { readonly token: string; readonly patient: string };
    return { token: JSON.parse(token), patient: JSON.parse(patient) };
  };

  await tab.open(`${running.url}/demo-app`);
  await press('#start');
  await logIn('amelia');
  await press('button[value=allow]');
  expect(await shown()).toMatchObject({ token: { patient: '1' }, patient: { resourceType: 'Patient', id: '1' } });

  await tab.open(`${running.url}/auth/apps`);
  const listed = `[...document.querySelectorAll('section')].find(one => one.querySelector('h2')?.textContent === 'Demo app')`;
  await tab.when(`${listed} !== undefined`);
  await tab.run(`${listed}.querySelector('button').click()`);
  await tab.when(`${listed} === undefined && document.querySelector('[role=status]') !== null`);
  await press('form[action$="/logout"] button');
  await tab.when(`document.querySelector('form[action$="/logout"]') === null`);

  await tab.open(`${running.url}/auth/ehr`);
  await logIn('doctor');
  const choose = (name: string, value: string): Promise<void> =>
    tab.run(`document.querySelector('select[name=${name}]').value = ${JSON.stringify(value)}`);
  await tab.when(`document.querySelector('select[name=patient]') !== null`);
  await choose('app', 'demo-public');
  await choose('patient', '1');
  // The page before also has a list of visits, of the patient selected when it was loaded.
  await tab.run('window.isPageBefore = true');
  await press('button[value=show]');
  const visit = await tab.when(
    `window.isPageBefore === undefined && document.querySelector('select[name=encounter] option[value]:not([value=""])')?.value`,
  );
  await choose('encounter', String(visit));
  await press('button[value=launch]');
  await press('button[value=allow]');
  expect(await shown()).toMatchObject({ token: { patient: '1', encounter: visit }, patient: { id: '1' } });
});

test('an export needs system scopes: a person who may see every patient cannot start one', async () => {
  const { access_token: token } = await launched('doctor', 'openid fhirUser user/*.rs');
  for (const path of ['$export', 'Patient/$export', 'Group/1/$export']) {
    const response = await fetch(`${running.url}/fhir/${path}`, {
      headers: { authorization: `Bearer ${token}`, prefer: 'respond-async' },
    });
    expect([path, response.status, await response.text()]).toEqual([path, 403, expect.stringContaining('system')]);
  }
});

test('the doctor of the demo breaks the glass, and a patient may not', async () => {
  const { access_token: token } = await launched('doctor', 'openid fhirUser user/*.rs');
  const label = 'http://terminology.hl7.org/CodeSystem/v3-ActCode|SUD';
  const question = `${running.url}/fhir/Condition?_security=${encodeURIComponent(label)}&_count=1`;
  const ask = async (reason: Readonly<Record<string, string>>) => {
    const response = await fetch(question, { headers: { authorization: `Bearer ${token}`, ...reason } });
    return { status: response.status, text: await response.text() };
  };
  expect((await ask({})).text).not.toContain('"resourceType":"Condition"');
  const broken = await ask({ 'break-glass': 'Found unconscious in the street' });
  expect([broken.status, broken.text.includes('"resourceType":"Condition"')]).toEqual([200, true]);
  // The whole patient is restricted: without the reason there is no document, neither before nor after.
  const [, patient = ''] = /"subject":\{"reference":"(Patient\/[^"]+)"/.exec(broken.text) ?? [];
  expect(patient).not.toBe('');
  for (const [reason, status] of [
    [{}, 404],
    [{ 'break-glass': 'Found unconscious in the street' }, 200],
    [{}, 404],
  ] as const) {
    const document = await fetch(`${running.url}/fhir/${patient}/$ccd`, {
      headers: { authorization: `Bearer ${token}`, accept: 'application/xml', ...reason },
    });
    expect([document.status, (await document.text()).includes('<ClinicalDocument')]).toEqual([status, status === 200]);
  }
  const { access_token: own } = await launched('amelia', 'launch/patient patient/*.rs');
  const refused = await fetch(`${running.url}/fhir/Patient/1`, {
    headers: { authorization: `Bearer ${own}`, 'break-glass': 'It is my own record' },
  });
  expect(refused.status).toBe(403);
});
