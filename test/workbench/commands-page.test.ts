/**
 * Commands of the page in a browser: each is executed once, in the file that it was given for, wherever the focus is.
 * Skipped, with a message, if no Chromium is installed.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHROMIUM } from '../clients/chromium.ts';
import { type OpenedPage, openPage } from './opened-page.ts';

const CONTENT = `document.querySelector('.cm-content')?.textContent`;

describe.skipIf(CHROMIUM === undefined)('commands of the page', () => {
  let page: OpenedPage;
  beforeAll(async () => {
    page = await openPage();
  }, 120_000);
  afterAll(() => page.close());

  const open = async (path: string, text: string): Promise<void> => {
    await page.press('.files button', path);
    await page.tab.when(`${CONTENT}?.includes('${text}')`);
  };
  /** Leaves the view Mapping, and returns to it. */
  const there = async (view: string): Promise<void> => {
    await page.press('header nav button', view);
    await page.tab.when(`document.querySelector('main.mapping') === null`);
    await page.press('header nav button', 'Mapping');
    await page.tab.when(`document.querySelector('main.mapping .cm-content') !== null`);
  };
  /** Types at the end of the text. */
  const write = async (text: string): Promise<void> => {
    await page.tab.run(`document.querySelector('.cm-content').focus()`);
    await page.tab.press('End', true);
    await page.tab.write(text);
    await page.tab.when(`${CONTENT}.includes('${text}')`);
  };

  test('a fix is applied once, in its own file', { timeout: 120_000 }, async () => {
    const { tab, press } = page;
    await open('person.yaml', 'birthDate');
    await write('  deceasedDateTime: { from: BORNS }');
    await tab.when(`document.querySelector('.problems .fix')?.textContent === 'Change to BORN'`);
    await press('.problems .fix', 'Change to BORN');
    const fixed = 'deceasedDateTime: { from: BORN }';
    await tab.when(`${CONTENT}.includes('${fixed}')`);
    const texts = new Map<string, unknown>([['person.yaml', await tab.when(CONTENT)]]);
    for (const [path, word] of [
      ['weighing.yaml', 'TAKEN'],
      ['codes.yaml', 'administrative-gender'],
    ] as const) {
      await open(path, word);
      texts.set(path, await tab.when(CONTENT));
    }
    for (const [path, view] of [
      ['person.yaml', 'Codes'],
      ['weighing.yaml', 'Tables'],
      ['codes.yaml', 'Search'],
      ['person.yaml', 'Tests'],
    ] as const) {
      await open(path, path === 'person.yaml' ? 'birthDate' : path === 'codes.yaml' ? 'administrative' : 'TAKEN');
      await there(view);
      await tab.when(`document.querySelector('.bar h2').textContent === '${path}'`);
      expect(await tab.when(CONTENT)).toBe(texts.get(path));
    }
    await press('.bar button', 'Take the disk');
    await tab.when(`!${CONTENT}.includes('deceased')`);
    await there('Codes');
    expect(await tab.when(CONTENT)).not.toContain('deceased');
    expect(await tab.when(`String(document.querySelector('.files .mark'))`)).toBe('null');
  });

  test('going to a line works once, and keeps the cursor afterwards', { timeout: 120_000 }, async () => {
    const { tab, press } = page;
    await open('person.yaml', 'birthDate');
    await write('  deceasedDateTime: { from: NOTHING }');
    await tab.when(`document.querySelector('.problems .place') !== null`);
    await tab.press('ArrowUp');
    await tab.when(`document.querySelector('.cm-activeLine').textContent.includes('birthDate')`);
    await press('.problems .place', 'person.yaml');
    await tab.when(`document.querySelector('.cm-activeLine')?.textContent.includes('NOTHING')`);
    await tab.press('ArrowUp');
    await tab.when(`document.querySelector('.cm-activeLine').textContent.includes('birthDate')`);
    await there('Tables');
    await tab.when(`document.querySelector('.cm-activeLine')?.textContent.includes('birthDate')`);
    await press('.bar button', 'Take the disk');
    await tab.when(`!${CONTENT}.includes('NOTHING')`);
  });

  test('a reopened editor uses the current contents of other files', { timeout: 120_000 }, async () => {
    const { tab, press } = page;
    await open('person.yaml', 'birthDate');
    await there('Tables');
    await open('weighing.yaml', 'TAKEN');
    await write('  issued: { from: NOTHING }');
    await tab.when(`document.querySelector('.problems .place')?.textContent.startsWith('weighing.yaml')`);
    await open('person.yaml', 'birthDate');
    await tab.run(`document.querySelector('.cm-content').focus()`);
    await tab.press('F8');
    await tab.when(`document.querySelector('.bar h2').textContent === 'weighing.yaml'`);
    await press('.bar button', 'Take the disk');
    await tab.when(`!${CONTENT}.includes('NOTHING')`);
  });

  describe('Ctrl+S saves', () => {
    const saved = (path: string): string => readFileSync(join(page.clinic.pack, path), 'utf8');

    test('with any focus, and so does Cmd+S', { timeout: 120_000 }, async () => {
      const { tab, press } = page;
      await open('person.yaml', 'birthDate');
      await write('# one');
      await tab.run(`document.querySelector('.preview select').focus()`);
      await tab.press('s', true);
      await expect.poll(() => saved('person.yaml')).toMatch(/# one$/);
      await write(' two');
      await press('header nav button', 'Tables');
      await tab.when(`document.querySelector('main.mapping') === null`);
      // The browser's default action for the key is prevented.
      await tab.run(
        `window.left = dispatchEvent(new KeyboardEvent('keydown', { key: 's', metaKey: true, cancelable: true }))`,
      );
      await expect.poll(() => saved('person.yaml')).toMatch(/# one two$/);
      expect(await tab.when('String(window.left)')).toBe('false');
      await press('header nav button', 'Mapping');
      await tab.when(`document.querySelector('main.mapping .cm-content') !== null`);
      await write(' three');
      await tab.press('s', true);
      await expect.poll(() => saved('person.yaml')).toMatch(/# one two three$/);
    });

    test('in Codes saves the files of the map, with the code being typed', { timeout: 120_000 }, async () => {
      const { tab, press } = page;
      await open('person.yaml', 'birthDate');
      await write(' four');
      await press('header nav button', 'Codes');
      await tab.when(`document.querySelector('tr[data-raw=F] input.code') !== null`);
      await tab.run(
        `{ const code = document.querySelector('tr[data-raw=F] input.code'); code.focus(); code.select(); }`,
      );
      await tab.write('other');
      await tab.press('s', true);
      await expect.poll(() => saved('codes.yaml')).toContain('F: other');
      expect(saved('person.yaml')).toMatch(/# one two three$/);
      await press('header nav button', 'Mapping');
    });

    test('and Codes is counted again', { timeout: 120_000 }, async () => {
      const { tab, press } = page;
      await press('header nav button', 'Codes');
      const state = `[document.querySelector('.files .count')?.textContent,
        document.querySelector('.about [role=status]')?.textContent].join(' | ')`;
      await tab.when(`${state} === ' | The map has every value.'`);
      await tab.run(`document.querySelector('tr[data-raw=M] .remove').click()`);
      await tab.when(`document.querySelector('tr.unmapped[data-raw=M]') !== null`);
      await tab.press('s', true);
      await tab.when(`${state} === '1 values without a row | 1 row holds a value without a row in the map.'`);
      await tab.run(`document.querySelector('tr[data-raw=M] input.code').focus()`);
      await tab.write('male');
      await tab.press('s', true);
      await tab.when(`${state} === ' | The map has every value.'`);
      expect(saved('codes.yaml')).toContain('M: male');
      await press('header nav button', 'Mapping');
    });
  });
});
