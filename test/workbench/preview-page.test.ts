/**
 * The preview in a browser: the layout of a resource's lines, and the changes by an edit. Skipped, with a message, if
 * no Chromium is installed.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHROMIUM } from '../clients/chromium.ts';
import { type OpenedPage, openPage } from './opened-page.ts';

const LONG = 'A text that is far too long for one line of the preview, '.repeat(6).trim();

const PERSON = `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  name: [ { text: "${LONG}", family: { from: SURNAME } } ]
  gender: { from: SEX, via: sex }
  birthDate: { from: BORN }
`;

describe.skipIf(CHROMIUM === undefined)('the preview in a browser', () => {
  let page: OpenedPage;
  beforeAll(async () => {
    page = await openPage({ 'person.yaml': PERSON });
  }, 120_000);
  afterAll(() => page.close());

  test('has each comma directly after its value, also in wrapped lines', { timeout: 120_000 }, async () => {
    const { tab, press, fill } = page;
    await tab.resize(1280, 900);
    await press('.files button', 'person.yaml');
    await tab.when(`document.querySelector('.preview select').value === 'people'`);
    await fill('.key', '1');
    await press('.preview button', 'Preview');
    await tab.when(`document.querySelector('.resource')?.textContent.includes('far too long')`);
    // Pixels between the last character of a text and its comma, and whether they are on one line.
    const gaps = `[...document.querySelectorAll('.resource > div')].flatMap(line => {
      const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
      const signs = [];
      while (walker.nextNode()) {
        for (let i = 0; i < walker.currentNode.length; i++) signs.push([walker.currentNode, i]);
      }
      const boxes = signs.slice(-2).map(([node, i]) => {
        const range = document.createRange();
        range.setStart(node, i);
        range.setEnd(node, i + 1);
        return range.getBoundingClientRect();
      });
      return line.textContent.endsWith(',') ? [Math.round(boxes[1].left - boxes[0].right), boxes[1].top - boxes[0].top] : [];
    })`;
    const lines = await tab.when(`document.querySelectorAll('.resource > div').length`);
    expect(lines).toBeGreaterThan(6);
    expect(await tab.when(`${gaps}.some(gap => Math.abs(gap) > 1) ? ${gaps}.join() : 'none'`)).toBe('none');
  });

  test('belongs to the chosen mapping, and clears key and row of another one', { timeout: 120_000 }, async () => {
    const { tab, press, fill } = page;
    const choose = (name: string): Promise<void> =>
      tab.run(`{ const select = document.querySelector('.preview select'); select.value = '${name}';
        select.dispatchEvent(new Event('change', { bubbles: true })); }`);
    const state = `[document.querySelector('.preview select').value, document.querySelector('.key').value,
      document.querySelector('.beside')?.dataset.of ?? 'no row'].join()`;
    await press('.files button', 'person.yaml');
    await choose('people');
    await fill('.key', '1');
    await press('.preview button', 'Preview');
    await tab.when(`${state} === 'people,1,people 1'`);
    await choose('weights');
    await tab.when(`${state} === 'weights,,no row'`);
    await fill('.key', '7');
    await press('.preview button', 'Preview');
    await tab.when(`${state} === 'weights,7,weights 7'`);
    // Opening a file keeps the row; a key that is only typed belongs to its own mapping.
    await press('.files button', 'weighing.yaml');
    await tab.when(`${state} === 'weights,7,weights 7'`);
    await choose('people');
    await fill('.key', '2');
    await press('.files button', 'pack.yaml');
    await press('.files button', 'weighing.yaml');
    await tab.when(`${state} === 'weights,,no row'`);
  });

  test('makes no test of a row while the pack has errors', { timeout: 120_000 }, async () => {
    const { tab, press, fill } = page;
    const makes = `[...document.querySelectorAll('.preview button')].some(one => /Keep this row|Other values/.test(one.textContent))`;
    const isStale = `document.querySelector('.preview .note')?.textContent.startsWith('The pack has errors')`;
    await press('.files button', 'person.yaml');
    await tab.run(`{ const mapping = document.querySelector('.preview select'); mapping.value = 'people';
      mapping.dispatchEvent(new Event('change', { bubbles: true })); }`);
    await fill('.key', '1');
    await press('.preview button', 'Preview');
    await tab.when(`${makes} && !${isStale}`);
    await tab.run(`document.querySelector('.cm-content').focus()`);
    await tab.press('End', true);
    await tab.write('wrong: [');
    await tab.when(`${isStale} && !${makes}`);
    for (let i = 0; i < 'wrong: ['.length; i++) await tab.press('Backspace');
    await tab.when(`${makes} && !${isStale}`);
    // A recorded test stays, with the same values.
    await press('.preview button', 'Keep this row');
    await tab.when(`document.querySelector('.recorded pre')?.textContent`);
    await tab.write('wrong: [');
    await tab.when(`${isStale} && !${makes} && document.querySelector('.recorded pre') !== null`);
    for (let i = 0; i < 'wrong: ['.length; i++) await tab.press('Backspace');
    await tab.when(`${makes} && !${isStale}`);
  });

  test('shows all buttons above the resource in full', { timeout: 120_000 }, async () => {
    const { tab, press, fill } = page;
    await tab.resize(1280, 500);
    await press('.files button', 'weighing.yaml');
    await tab.run(`{ const mapping = document.querySelector('.preview select'); mapping.value = 'weights';
      mapping.dispatchEvent(new Event('change', { bubbles: true })); }`);
    await tab.when(`document.querySelector('.preview label:nth-of-type(2)')?.textContent.startsWith('NO')`);
    await fill('.key', '7');
    await press('.preview button', 'Preview');
    await tab.when(`document.querySelector('.beside')?.dataset.of === 'weights 7'`);
    // The width of a scroll bar, which this browser does not show.
    await tab.run(`document.querySelector('.side').style.paddingRight = '15px'`);
    const cut = `[...document.querySelectorAll('.sides button')].filter(one => one.scrollWidth > one.clientWidth)`;
    expect(await tab.when(`${cut}.map(one => one.textContent).join() || 'none'`)).toBe('none');
  });
});
