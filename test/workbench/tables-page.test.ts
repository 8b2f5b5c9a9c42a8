/**
 * The view Tables in headless Chromium: search for a column, inspect its table, go to its mapping. Skipped, with a
 * message, if no Chromium is installed.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHROMIUM } from '../clients/chromium.ts';
import { type OpenedPage, openPage } from './opened-page.ts';

describe.skipIf(CHROMIUM === undefined)('the view Tables', () => {
  let page: OpenedPage;
  beforeAll(async () => {
    page = await openPage();
  }, 120_000);
  afterAll(() => page.close());

  const text = (selector: string): Promise<unknown> =>
    page.tab.when(`document.querySelector('${selector}')?.textContent`);

  test('finds a column, shows its values, and links to its line', { timeout: 120_000 }, async () => {
    const { tab, press, fill } = page;
    await press('header nav button', 'Tables');
    await tab.when(`document.querySelectorAll('.table-list tbody tr').length === 2`);
    await press('.table-list thead button', 'Rows');
    await tab.when(`document.querySelector('.table-list thead th:nth-child(2)').ariaSort === 'descending'`);
    await fill('.table-list input[type=search]', 'kg');
    await tab.when(`document.querySelectorAll('.table-list tbody tr').length === 1`);
    expect(await text('.table-list .hits')).toBe('KG');
    await tab.run(`document.querySelector('.table-list tbody button').click()`);
    await tab.when(`document.querySelector('.sampled')?.textContent.startsWith('All 2 rows were read, in ')`);
    await tab.when(`!document.querySelector('.table-detail .keys').textContent.includes('looking…')`);
    expect(await text('.table-detail .keys')).toContain(
      'Likely foreign keysPERSON_ID → PERSON (ID) by name; all 1 sampled',
    );
    await tab.when(`document.querySelectorAll('.columns tbody tr').length === 4`);
    expect(await text('.columns tbody tr:nth-child(4)')).toMatch(
      /^KGDECIMAL\(6,2\)weights valueQuantity\.value weighing\.yaml:10/,
    );
    await press('.columns .place', 'weighing.yaml:10');
    await tab.when(`location.hash === '#mapping'`);
    await tab.when(`document.querySelector('.cm-activeLine')?.textContent.includes('valueQuantity')`);
    await press('header nav button', 'Tables');
    expect(await text('.table-detail h2')).toBe('WEIGHING');
  });

  test('works by keyboard alone', { timeout: 120_000 }, async () => {
    const { tab, fill } = page;
    await fill('.table-list input[type=search]', '');
    await tab.when(`document.querySelectorAll('.table-list tbody tr').length === 2`);
    const focused = `document.activeElement.textContent`;
    await tab.run(`document.querySelector('.table-list tbody button[tabindex="0"]').focus()`);
    expect(await tab.when(focused)).toBe('WEIGHING');
    for (const [key, expected] of [
      ['Home', 'PERSON'],
      ['ArrowDown', 'WEIGHING'],
      ['ArrowUp', 'PERSON'],
    ] as const) {
      await tab.run(
        `document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true }))`,
      );
      expect([key, await tab.when(focused)]).toEqual([key, expected]);
    }
  });

  test('does not wait for a table that was left', { timeout: 120_000 }, async () => {
    const { tab, press, fill } = page;
    await fill('.table-list input[type=search]', '');
    await tab.when(`document.querySelectorAll('.table-list tbody tr').length === 2`);
    await tab.run(`{ const { fetch } = window; window.asked = [];
      window.fetch = (url, init) => { asked.push([String(url), init?.signal]); return fetch(url, init); }; }`);
    await press('.table-list tbody button', 'PERSON');
    await tab.when(`document.querySelector('.sampled')?.textContent.startsWith('All 2 rows were read, in ')`);
    // Likely keys are requested second, so that leaving during the profile avoids the request. The page sends it after
    // it has drawn the profile, so the test waits for that request before it presses a button.
    const order = `asked.map(([url]) => url).filter(url => /profile|likely/.test(url)).join()`;
    await tab.when(`asked.some(([url]) => url.includes('likely'))`);
    expect(await tab.when(order)).toBe('api/tables/profile,api/tables/likely');
    await press('.columns .show', 'of SEX');
    await tab.when(`document.querySelector('.values') !== null`);
    expect(await tab.when(order)).toBe('api/tables/profile,api/tables/likely,api/tables/profile');
    const open = `asked.filter(([, signal]) => signal?.aborted === false).map(([url]) => url)`;
    expect(await tab.when(`${open}.filter(url => /one|profile|likely/.test(url)).length`)).toBe(4);
    await press('header nav button', 'Mapping');
    await tab.when(`document.querySelector('.cm-content') !== null`);
    expect(await tab.when(`${open}.filter(url => /tables/.test(url)).join() || 'none'`)).toBe('none');
  });
});
