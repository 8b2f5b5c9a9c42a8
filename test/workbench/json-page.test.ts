/**
 * JSON of a pack in the page: a guide is opened, broken, fixed by the button, saved; the output of `lintel lock` is
 * read-only. Skipped, with a message, if no Chromium is installed.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHROMIUM } from '../clients/chromium.ts';
import { type OpenedPage, openPage } from './opened-page.ts';

const GUIDE = `{
  "people": {
    "type": "Patient",
    "profile": "us-core-patient",
    "mustSupport": "name(family), birthDate"
  }
}
`;

describe.skipIf(CHROMIUM === undefined)('JSON in the page', () => {
  let page: OpenedPage;
  beforeAll(async () => {
    page = await openPage({
      'ours.guide.json': GUIDE,
      'schema.lock.json': '{ "engine": "sqlite", "tables": {} }\n',
    });
  }, 120_000);
  afterAll(() => page.close());

  test('is edited, with problems at their place, and saved', { timeout: 120_000 }, async () => {
    const { tab, press } = page;
    const file = join(page.clinic.pack, 'ours.guide.json');
    await press('.files button', 'ours.guide.json');
    await tab.when(`document.querySelector('.cm-content')?.dataset.language === 'json'`);
    await tab.when(`document.querySelector('.problems h2').textContent.startsWith('No problems')`);
    await tab.run(`document.querySelector('.cm-content').focus()`);
    // The input goes to the beginning of the file.
    await tab.write('x');
    await tab.when(
      `document.querySelector('.problems li')?.textContent.startsWith('ours.guide.json:1:1error not JSON; expected')`,
    );
    await tab.when(`document.querySelector('.cm-lintRange-error')?.textContent.startsWith('x')`);
    await tab.press('z', true);
    await tab.when(`document.querySelector('.problems h2').textContent.startsWith('No problems')`);
    writeFileSync(file, GUIDE.replace('"Patient"', '"Pateint"'));
    await tab.run(`document.dispatchEvent(new Event('visibilitychange'))`);
    await tab.when(`document.querySelector('.problems .fix')?.textContent === 'Change to Patient'`);
    await press('.problems .fix', 'Change to Patient');
    await tab.when(`document.querySelector('.problems h2').textContent.startsWith('No problems')`);
    await press('.bar button', 'Save');
    await tab.when(`document.querySelector('.message').textContent.startsWith('ours.guide.json is saved')`);
    expect(readFileSync(file, 'utf8')).toBe(GUIDE);
  });

  test('that is new begins as a guide, and its strings are completed', { timeout: 120_000 }, async () => {
    const { tab, press, fill } = page;
    await fill('.files form input', 'theirs.guide.json');
    await tab.when(`!document.querySelector('.files form button').disabled`);
    await press('.files form button', 'Make');
    await tab.when(`document.querySelector('.message').textContent === 'theirs.guide.json is made'`);
    await tab.when(`document.querySelector('.problems h2').textContent.startsWith('No problems')`);
    // The cursor is at the type.
    await tab.when(`document.activeElement.classList.contains('cm-content')`);
    const line = `[...document.querySelectorAll('.cm-line')].find(e => e.matches('.cm-activeLine'))?.textContent`;
    expect(await tab.when(line)).toBe('    "type": "Patient",');
    for (let i = 0; i < 'Patient'.length; i++) await tab.press('Backspace');
    for (const sign of 'Allergy') await tab.write(sign);
    await accepted('AllergyIntolerance');
    await tab.when(`${line} === '    "type": "AllergyIntolerance",'`);
    await tab.press('ArrowDown');
    await tab.press('End');
    await tab.press('Enter');
    for (const sign of '"cho') await tab.write(sign);
    await accepted('choices');
    await tab.when(`${line} === '    "choices": '`);
    await tab.write('"",');
    await tab.when(`${line} === '    "choices": "",'`);
    await tab.press('s', true);
    await tab.when(`document.querySelector('.message').textContent.startsWith('theirs.guide.json is saved')`);
    const { patient } = JSON.parse(readFileSync(join(page.clinic.pack, 'theirs.guide.json'), 'utf8'));
    expect(patient).toMatchObject({ type: 'AllergyIntolerance', choices: '', shall: ['_id'] });

    async function accepted(label: string): Promise<void> {
      await tab.when(
        `document.querySelector('.cm-tooltip-autocomplete [aria-selected] .cm-completionLabel')?.textContent === '${label}'`,
      );
      // The list ignores keys for a moment after it opens.
      await new Promise(resolve => setTimeout(resolve, 150));
      await tab.press('Enter');
    }
  });

  test('of lintel lock is read-only', { timeout: 120_000 }, async () => {
    const { tab, press } = page;
    await press('.files button', 'schema.lock.json');
    await tab.when(`document.querySelector('.cm-content')?.textContent.includes('"engine": "sqlite"')`);
    await tab.run(`document.querySelector('.cm-content').focus()`);
    await tab.press('x');
    expect(await tab.when(`document.querySelector('.cm-content').getAttribute('aria-readonly')`)).toBe('true');
    expect(await tab.when(`document.querySelector('.bar button').disabled`)).toBe(true);
  });

  test('the problems of a new file are shown at once', { timeout: 120_000 }, async () => {
    const { tab, press, fill } = page;
    await fill('.files form input', 'observations.yaml');
    await tab.when(`!document.querySelector('.files form button').disabled`);
    await press('.files form button', 'Make');
    await tab.when(`document.querySelector('.problems li')?.textContent.startsWith('observations.yaml:')`);
  });
});
