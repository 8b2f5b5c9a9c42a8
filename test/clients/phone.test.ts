/**
 * Every page for people on a phone scrolls vertically only. Skipped, with a message, if no Chromium is installed.
 * https://www.w3.org/WAI/WCAG21/Understanding/reflow.html
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TOPICS } from '../../src/ccda/topics.ts';
import { CHROMIUM, openTab, type Tab } from './chromium.ts';
import { type StartedDemo, startDemo } from './started-demo.ts';

const ACCOUNT = { DEMO_USER: 'reader', DEMO_PASSWORD: 'a reader with a phone' };

const PAGES = [
  '/',
  '/fhir/Patient/1?_format=html',
  '/fhir/Observation?patient=1&_count=20&_format=html',
  '/fhir/metadata?_format=html',
  '/fhir/Patient/nobody?_format=html',
  '/explain?query=Observation%3Fcode%3D1',
  '/api/chart',
  '/api/chart/1',
  ...TOPICS.map(({ name }) => `/api/1/ccds/api/${name}`),
];

describe.skipIf(CHROMIUM === undefined)('on a phone', () => {
  let demo: StartedDemo;
  let tab: Tab;
  let root: string;
  beforeAll(async () => {
    demo = await startDemo(ACCOUNT);
    root = new URL(demo.base).origin;
    tab = await openTab();
    await tab.resize(390, 844);
    await tab.open(root);
    await tab.when(`document.querySelector('input[type=password]')`);
    await tab.run(`document.querySelector('[name=username]').value = '${ACCOUNT.DEMO_USER}';
      document.querySelector('[name=password]').value = '${ACCOUNT.DEMO_PASSWORD}';
      document.querySelector('input[type=password]').form.requestSubmit();`);
    await tab.when(`location.pathname.startsWith('/api/chart')`);
  });
  afterAll(async () => {
    await tab.close();
    await demo.stop();
  });

  test.each(PAGES)('%s is not wider than the screen', async page => {
    await tab.open(root + page);
    const state =
      await tab.when(`location.href === ${JSON.stringify(root + page)} && document.readyState === 'complete' &&
      JSON.stringify({ heading: document.querySelector('h1') !== null, width: document.documentElement.scrollWidth })`);
    expect(JSON.parse(String(state))).toEqual({ heading: true, width: 390 });
  });
});
