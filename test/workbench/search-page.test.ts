/**
 * The view Search in headless Chromium: a search is completed, run and read by keyboard alone. Skipped, with a message,
 * if no Chromium is installed.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHROMIUM } from '../clients/chromium.ts';
import { type OpenedPage, openPage } from './opened-page.ts';

describe.skipIf(CHROMIUM === undefined)('the view Search', () => {
  let page: OpenedPage;
  beforeAll(async () => {
    page = await openPage();
  }, 120_000);
  afterAll(() => page.close());

  test('completes a search, shows its Bundle, its SQL and an index', { timeout: 120_000 }, async () => {
    const { tab, press } = page;
    /** As if typed at the cursor. */
    const type = (text: string): Promise<void> => tab.run(`document.execCommand('insertText', false, '${text}')`);
    const key = (name: string): Promise<void> =>
      tab.run(
        `document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: '${name}', bubbles: true, cancelable: true }))`,
      );
    const chosen = `document.querySelector('.cm-tooltip-autocomplete li[aria-selected] .cm-completionLabel')?.textContent`;
    await press('header nav button', 'Search');
    await tab.when(`document.activeElement?.ariaLabel === 'FHIR search'`);
    await type('Pati');
    await tab.when(`${chosen} === 'Patient'`);
    await type('ent?gend');
    await tab.when(`${chosen} === 'gender'`);
    await type('er=female');
    await key('Escape');
    await key('Enter');
    await tab.when(`document.querySelector('.bundle h2')?.textContent.startsWith('1 match on this page')`);
    expect(await tab.when(`document.querySelector('.bundle pre').textContent`)).toContain('"family": "Kowalski"');
    expect(await tab.when(`document.querySelector('.way').textContent`)).toMatch(/FROM PERSON[\s\S]*WHERE p\.SEX/);
    expect(await tab.when(`document.querySelector('.advice').textContent`)).toMatch(
      /CREATE INDEX LINTEL_PERSON_SEX ON PERSON[\s\S]*For Patient\?gender\.[\s\S]*USING (COVERING )?INDEX LINTEL_PERSON_SEX/,
    );
  });

  test('an answer links to the preview of its row and back, and another row to a search for it', {
    timeout: 120_000,
  }, async () => {
    const { tab, press, fill } = page;
    const text = (selector: string): string => `document.querySelector('${selector}')?.textContent`;
    await press('.hit button', 'Preview');
    await tab.when(`${text('.resource')}?.includes('Kowalski')`);
    expect(await tab.when(`document.querySelector('.preview .key').value`)).toBe('1');
    expect(await tab.when(text('.to-search'))).toBe('← Patient?gender=female');
    await press('.to-search', 'Patient');
    await tab.when(`${text('.bundle h2')}?.startsWith('1 match on this page')`);
    await press('header nav button', 'Mapping');
    await tab.when(`${text('.resource')}?.includes('Kowalski')`);
    await fill('.preview .key', '2');
    await press('.preview button', 'Preview');
    await tab.when(`${text('.to-search')} === 'Search for it'`);
    await press('.to-search', 'Search for it');
    await tab.when(`${text('.query .cm-content')} === 'Patient?_id=2'`);
    await tab.when(`${text('.bundle pre')}?.includes('Müller')`);
  });

  test('reports the plan of a search without an index', { timeout: 120_000 }, async () => {
    const { tab } = page;
    const told = `[...document.querySelectorAll('.way > p.quiet')].map(e => e.textContent).join()`;
    await tab.run(`document.querySelector('.query .cm-content').focus()`);
    for (const [query, said] of [
      ['Observation?status=final', 'No known index would help this search: its plan scans all rows (SCAN w).'],
      ['Observation?patient=1', 'No index is missing for this search.'],
    ] as const) {
      await tab.press('a', true);
      await tab.write(query);
      await tab.press('Escape');
      await tab.press('Enter');
      await tab.when(`${told} === ${JSON.stringify(said)}`);
    }
  });
});
