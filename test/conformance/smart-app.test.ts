/**
 * An app with fhirclient in Chromium, launched standalone and from an EHR without special options; and the pages that
 * users see meanwhile, operated by keyboard. Skipped, with a message, if no Chromium is installed.
 */
import type { Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHROMIUM, openTab, type Tab } from '../clients/chromium.ts';
import { servePage } from '../clients/page-server.ts';
import { fakeIssuer, ISSUER_CLIENT } from '../smart/fake-issuer.ts';
import { assertionOf, PASSWORD, post, REDIRECT, type Served, serveSmart } from '../smart/served.ts';

describe.skipIf(CHROMIUM === undefined)('an app in a browser', () => {
  let app: Server;
  let origin: string;
  let served: Served;
  let tab: Tab;
  let issuer: Awaited<ReturnType<typeof fakeIssuer>>;
  beforeAll(async () => {
    ({ server: app, origin } = await servePage('launch.html'));
    issuer = await fakeIssuer();
    served = await serveSmart({
      ...{ LOGIN_ISSUER: issuer.url, LOGIN_CLIENT_ID: ISSUER_CLIENT.id, LOGIN_CLIENT_SECRET: ISSUER_CLIENT.secret },
      // The page offers a password as well as the external issuer.
      LOGIN_PASSWORDS: 'true',
    });
    issuer.register(served.auth);
    const [first, ...rest] = served.clients;
    if (first === undefined) throw new Error('no clients');
    const page = { ...first, id: 'page', name: 'A page', redirects: [`${origin}/`], launchUrl: `${origin}/` };
    served.setClients([page, ...rest, first]);
    tab = await openTab();
  });
  afterAll(async () => {
    await tab.close();
    app.close();
    issuer.close();
    await served.stop();
  });

  const told = async (): Promise<unknown> =>
    JSON.parse(String(await tab.when(`document.getElementById('told')?.textContent`)));
  const fill = (name: string, value: string): Promise<void> =>
    tab.run(`document.querySelector('[name=${name}]').value = ${JSON.stringify(value)}`);
  const press = async (selector: string): Promise<void> => {
    await tab.when(`document.querySelector(${JSON.stringify(selector)}) !== null`);
    await tab.run(`document.querySelector(${JSON.stringify(selector)}).click()`);
  };

  test('shows a login page without overlapping elements, also while the login service is away', async () => {
    await tab.resize(390, 800);
    await tab.open(`${served.auth}/apps`);
    await tab.when(`document.querySelector('[name=username]') !== null`);
    expect([await faults(), await upon()]).toEqual([SOUND, []]);
    issuer.mode = 'silent';
    await press('form[action$=issuer] button');
    await tab.when(`document.querySelector('[role=alert]')?.textContent.includes('does not answer')`);
    expect([await faults(), await upon()]).toEqual([SOUND, []]);
  });

  test('redirects to the login service and back, and logs out', async () => {
    Object.assign(issuer, { mode: 'up', who: { sub: 's-1', name: 'Anna Kowalska', fhirUser: 'Patient/1' } });
    await tab.open(`${served.auth}/apps`);
    await press('form[action$=issuer] button');
    await tab.when(`document.querySelector('h1')?.textContent === 'Apps with access'`);
    expect(await tab.when(`document.querySelector('main').textContent.includes('Anna Kowalska')`)).toBe(true);
    await press('form[action$=logout] button');
    await tab.when(`location.origin === ${JSON.stringify(issuer.url)}`);
    await tab.open(`${served.auth}/apps`);
    await tab.when(`document.querySelector('[name=username]') !== null`);
  });

  test('launches by itself, reads, refreshes', async () => {
    await tab.open(`${origin}/?iss=${encodeURIComponent(served.fhir)}`);
    await tab.when(`document.querySelector('[name=username]') !== null`);
    await fill('username', 'anna');
    await fill('password', PASSWORD);
    await press('form:has([name=password]) button');
    await press('button[value=allow]');
    expect(await told()).toEqual({ patient: '1', user: 'Patient/1', again: '1', banner: true, observations: 2 });
  });

  test('is launched by an EHR for a user who is already logged in', async () => {
    const { body } = await post(`${served.auth}/token`, {
      ...{ grant_type: 'client_credentials', scope: 'system/launch' },
      ...(await assertionOf(served, 'ehr')),
    });
    const response = await fetch(`${served.auth}/launch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${String(body['access_token'])}` },
      body: JSON.stringify({ client: 'page', patient: '1', encounter: '8', needPatientBanner: false }),
    });
    const { url } = (await response.json()) as { readonly url: string };
    // Otherwise the library would resume the earlier launch, which the tab's session storage has.
    await tab.run('sessionStorage.clear()');
    await tab.open(url);
    await press('button[value=allow]');
    expect(await told()).toMatchObject({ patient: '1', encounter: '8', banner: false, again: '1' });
  });

  /** Returns the layout faults of the open page on a telephone. */
  const faults = (): Promise<unknown> =>
    tab.when(`({
      scripts: document.scripts.length,
      language: document.documentElement.lang,
      headings: document.querySelectorAll('h1').length,
      nameless: [...document.querySelectorAll('input:not([type=hidden]), select, textarea')].filter(one => one.labels.length === 0).length,
      silent: [...document.querySelectorAll('button')].filter(one => (one.ariaLabel ?? one.textContent).trim() === '').length,
      wide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
    })`);
  /** Returns texts and buttons that overlap those above them. */
  const upon = (): Promise<unknown> =>
    tab
      .when(`({ found: [...document.querySelectorAll('main button, main p, main h1, main dl, main label')]
        .filter(one => one.querySelector('button') === null)
        .map(one => ({ text: one.textContent, ...one.getBoundingClientRect().toJSON() }))
        .filter(({ top }, i, all) => i > 0 && top < all[i - 1].bottom)
        .map(({ text }) => text) })`)
      .then(value => (value as { readonly found: unknown }).found);
  const SOUND = { scripts: 0, language: 'en', headings: 1, nameless: 0, silent: 0, wide: false };

  test('pages have no script, fit on a phone, and work with a screen reader', async () => {
    await tab.resize(390, 800);
    await tab.open(`${served.auth}/apps`);
    await tab.when(`document.querySelector('h1')?.textContent === 'Apps with access'`);
    expect(await faults()).toEqual(SOUND);

    const query = new URLSearchParams({
      ...{ response_type: 'code', client_id: 'public', redirect_uri: REDIRECT, state: 'any', aud: served.fhir },
      scope: 'launch/patient launch/encounter patient/Observation.rs patient/*.rs',
      ...{ code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' },
    });
    await tab.open(`${served.auth}/authorize?${query}`);
    await tab.when(`document.querySelector('h1')?.textContent === 'Which visit?'`);
    expect(await faults()).toEqual(SOUND);
    expect(await upon()).toEqual([]);

    await press('button[name=encounter]');
    await tab.when(`document.querySelector('h1')?.textContent.endsWith('asks for access')`);
    expect(await faults()).toEqual(SOUND);
    await tab.run(`document.querySelectorAll('details').forEach(one => { one.open = true; })`);
    expect(await faults()).toEqual(SOUND);
  });
});
