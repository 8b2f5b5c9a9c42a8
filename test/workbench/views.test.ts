/**
 * The views Codes, Coverage and Tests in headless Chromium: their contents, and their links to the line in the editor.
 * Skipped, with a message, if no Chromium is installed.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keptClinic, type SmallClinic } from '../cli/small-clinic.ts';
import { CHROMIUM, openTab, type Tab } from '../clients/chromium.ts';
import { type ServedBench, serveBench } from './served-bench.ts';

const TEST = `# A man.
mapping: people
rows:
  PERSON: [{ ID: 2, SURNAME: Kowalski, SEX: M }]
resource: { gender: other }
`;

/** Texts with too little contrast to their background, as an expression of the page; WCAG 2.1, 1.4.3. */
const FAINT = `(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const light = colors => {
    for (const color of colors) {
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
    }
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map(one => one / 255)
      .map(one => (one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = one => (one === null ? ['white'] : [...behind(one.parentElement), getComputedStyle(one).backgroundColor]);
  const isFaint = (one, color) => {
    const [more, less] = [light([...behind(one), color]), light(behind(one))].sort((a, b) => b - a);
    return (more + 0.05) / (less + 0.05) < 4.5;
  };
  return [...document.querySelectorAll('#workbench *')].filter(one => !one.closest('.unseen') && !one.disabled).filter(one =>
    ([...one.childNodes].some(node => node.nodeType === 3 && node.data.trim() !== '') && isFaint(one, getComputedStyle(one).color)) ||
    (one.placeholder && isFaint(one, getComputedStyle(one, '::placeholder').color))).map(one => one.outerHTML.slice(0, 80)).join();
})()`;

describe.skipIf(CHROMIUM === undefined)('the views', () => {
  let clinic: SmallClinic;
  let bench: ServedBench;
  let tab: Tab;
  beforeAll(async () => {
    clinic = keptClinic({ 'person.test.yaml': TEST });
    bench = await serveBench(clinic.environment);
    tab = await openTab();
    await tab.open(bench.link);
    await tab.when(`document.querySelector('header nav') !== null`);
  }, 120_000);
  afterAll(async () => {
    await tab.close();
    await bench.stop();
    rmSync(clinic.folder, { recursive: true, force: true });
  });

  const press = async (selector: string, text: string): Promise<void> => {
    const found = `[...document.querySelectorAll('${selector}')].find(one => one.textContent.includes('${text}') && !one.disabled)`;
    await tab.when(`${found} !== undefined`);
    await tab.run(`${found}.click()`);
  };
  const view = (title: string): Promise<void> => press('header nav button', title);
  /** Position of the editor's cursor. */
  const cursorAt = (path: string): Promise<unknown> =>
    tab.when(`document.querySelector('.writing h2')?.textContent === '${path}' &&
      document.querySelector('.cm-activeLineGutter')?.textContent`);

  /** Each view, with a part that appears with its answer. */
  const SHOWN: readonly (readonly [string, string])[] = [
    ['Tables', '.table-list tbody tr'],
    ['Mapping', '.cm-content'],
    ['Search', '.query .cm-content'],
    ['Codes', '.map tbody tr'],
    ['Coverage', '.profiles summary'],
    ['Tests', '.tests li'],
  ];

  test('name each control and each table to a screen reader', { timeout: 120_000 }, async () => {
    const named = /^(button|link|textbox|searchbox|combobox|checkbox|radio|listbox|table|region|navigation|img)$/;
    for (const [title, part] of SHOWN) {
      await view(title);
      await tab.when(`document.querySelector('${part}') !== null`);
      const told = await tab.told();
      const nameless = told.filter(({ role, name }) => named.test(role) && name.trim() === '');
      expect({ title, nameless }).toEqual({ title, nameless: [] });
      const landmarks = ['banner', 'navigation', 'main'].filter(role => told.some(one => one.role === role));
      expect({ title, landmarks }).toEqual({ title, landmarks: ['banner', 'navigation', 'main'] });
      expect(told.some(({ role, isLive }) => role === 'status' && isLive)).toBe(true);
    }
  });

  test('write every text, also that of an empty field, in a contrast of 4.5 and more', {
    timeout: 120_000,
  }, async () => {
    for (const [title, part] of SHOWN) {
      await view(title);
      await tab.when(`document.querySelector('${part}') !== null`);
      if (title === 'Tables') {
        await press('.table-list tbody button', 'PERSON');
        await tab.when(`document.querySelector('.columns tbody tr') !== null`);
      }
      expect({ title, faint: await tab.when(`${FAINT} || 'none'`) }).toEqual({ title, faint: 'none' });
    }
  });

  test('announce the number of problems, and each new one', { timeout: 120_000 }, async () => {
    const file = join(clinic.pack, 'person.yaml');
    const said = `document.querySelector('.problems [role=status]')?.textContent`;
    const says = (what: string): Promise<unknown> => tab.when(`${said} === ${JSON.stringify(what)} || undefined`);
    await view('Mapping');
    await press('.files button', 'person.yaml');
    await tab.when(`document.querySelector('.cm-content')?.textContent.includes('mapping: people')`);
    await says('No problems');
    const change = (from: string, to: string): Promise<void> => {
      writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
      return tab.run(`document.dispatchEvent(new Event('visibilitychange'))`);
    };
    await change('BORN', 'BORNE');
    const told = 'unknown column of PERSON; found BORNE; did you mean BORN? [LNT-507]';
    await says(`1 problem. New: error in person.yaml, line 8: ${told}`);
    await change('BORNE', 'BORNN');
    await says(`1 problem. New: error in person.yaml, line 8: ${told.replace('BORNE', 'BORNN')}`);
    await change('BORNN', 'BORN');
    await says('No problems');
  });

  test('go by F8 to a problem of another file, and back', { timeout: 120_000 }, async () => {
    const file = join(clinic.pack, 'weighing.yaml');
    const sound = readFileSync(file, 'utf8');
    await view('Mapping');
    writeFileSync(file, sound.replace('from: KG', 'from: KGS'));
    await tab.run(`document.dispatchEvent(new Event('visibilitychange'))`);
    await tab.when(`document.querySelector('.problems li')?.textContent.startsWith('weighing.yaml:10')`);
    await press('.files button', 'person.yaml');
    await tab.when(`document.querySelector('.cm-content')?.textContent.includes('mapping: people')`);
    await tab.run(`document.querySelector('.cm-content').focus()`);
    await tab.press('F8');
    await tab.when(`document.querySelector('.writing h2').textContent === 'weighing.yaml' &&
      document.querySelector('.cm-activeLineGutter')?.textContent === '10'`);
    await tab.press('F8');
    expect(await tab.when(`document.querySelector('.cm-tooltip-lint')?.textContent`)).toContain('found KGS');
    writeFileSync(file, sound);
    await tab.run(`document.dispatchEvent(new Event('visibilitychange'))`);
    await tab.when(`document.querySelector('.problems h2').textContent.startsWith('No problems')`);
  });

  test('ask for confirmation before leaving unsaved text', { timeout: 120_000 }, async () => {
    const asks = `!dispatchEvent(new Event('beforeunload', { cancelable: true }))`;
    await view('Mapping');
    await press('.files button', 'person.yaml');
    await tab.when(`document.querySelector('.cm-content')?.textContent.includes('mapping: people')`);
    expect(await tab.when(`${asks} ? 'asks' : 'goes'`)).toBe('goes');
    await tab.run(`document.querySelector('.cm-content').focus()`);
    await tab.write('# mine');
    await tab.when(`document.querySelector('.files .mark') !== null`);
    await tab.when(asks);
    await tab.press('z', true);
    await tab.when(`document.querySelector('.files .mark') === null`);
    await tab.when(`!(${asks})`);
  });

  test('show why Codes counts nothing', { timeout: 120_000 }, async () => {
    const file = join(clinic.pack, 'pack.yaml');
    const sound = readFileSync(file, 'utf8');
    writeFileSync(file, `${sound}deny: ["PERSON.SEX"]\n`);
    await view('Mapping');
    await tab.run(`document.dispatchEvent(new Event('visibilitychange'))`);
    await tab.when(`document.querySelector('.problems li')?.textContent.includes('LNT-508')`);
    await view('Codes');
    expect(
      await tab.when(`document.querySelector('.files p')?.textContent.includes('not') &&
      document.querySelector('.files p').textContent`),
    ).toBe('Values are not counted');
    // Until the answer arrives, the page shows that values are being counted.
    await tab.when(`document.querySelector('.about [role=status]')?.textContent ===
      'The pack has errors: correct them to count the values'`);
    writeFileSync(file, sound);
    await view('Mapping');
    await tab.run(`document.dispatchEvent(new Event('visibilitychange'))`);
    await tab.when(`document.querySelector('.problems h2').textContent.startsWith('No problems')`);
  });

  test('comply with the Content-Security-Policy', { timeout: 120_000 }, async () => {
    for (const [title, part] of SHOWN) {
      await view(title);
      await tab.when(`document.querySelector('${part}') !== null`);
    }
    expect(await tab.when(`document.querySelectorAll('header nav button').length`)).toBe(SHOWN.length);
    expect(tab.refusals()).toEqual([]);
    // The browser does report what it blocks.
    await tab.run(
      `document.head.append(Object.assign(document.createElement('style'), { textContent: 'b { top: 0 }' }))`,
    );
    await tab.when(`document.querySelector('head > style:last-child').sheet === null`);
    expect(tab.refusals()).toMatchObject([expect.stringContaining('style-src')]);
  });

  test('a failing test shows both values and links to its line; a save runs it again', {
    timeout: 120_000,
  }, async () => {
    await view('Tests');
    expect(await tab.when(`document.querySelector('.failures dl')?.textContent`)).toBe('expectedotherfoundmale');
    expect(await tab.when(`document.querySelector('.tests li p')?.textContent`)).toContain('A man.');
    expect(await tab.when(`document.querySelector('header nav .count')?.textContent`)).toBe('1 failed');
    await press('.failures .place', 'person.test.yaml:5');
    expect(await cursorAt('person.test.yaml')).toBe('5');
    await press('.files button', 'person.test.yaml');
    await tab.run(`document.querySelector('.cm-content').focus()`);
    await tab.press('a', true);
    await tab.write(TEST.replace('other', 'male'));
    await tab.press('s', true);
    await tab.when(`document.querySelector('.message').textContent.includes('all passed')`);
    await tab.when(`document.querySelector('header nav .count') === null`);
    await view('Tests');
    expect(await tab.when(`document.querySelectorAll('.tests li.true').length`)).toBe(1);
  });

  test('test results of a save are shown, also if another program changes a file meanwhile', {
    timeout: 120_000,
  }, async () => {
    const file = join(clinic.pack, 'weighing.yaml');
    await view('Mapping');
    await press('.files button', 'person.test.yaml');
    await tab.when(`document.querySelector('.writing h2')?.textContent === 'person.test.yaml'`);
    await tab.run(`{ const { fetch } = window; window.fetch = async (url, init) => {
      const first = String(url).endsWith('api/tests') && !window.late;
      if (!first) return fetch(url, init);
      window.late = true;
      await new Promise(resolve => init.signal.addEventListener('abort', resolve));
      window.ended = true;
      return fetch(url, init);
    }; }`);
    // The editor appears a moment after the heading of its file.
    await tab.when(`document.querySelector('.cm-content') !== null`);
    await tab.run(`document.querySelector('.cm-content').focus()`);
    await tab.press('End', true);
    await tab.write('# more');
    await tab.press('s', true);
    await tab.when(`window.late === true`);
    writeFileSync(file, `# theirs\n${readFileSync(file, 'utf8')}`);
    await tab.run(`document.dispatchEvent(new Event('visibilitychange'))`);
    await tab.when(`window.ended === true`);
    await tab.when(`document.querySelector('.message').textContent.includes('all passed')`);
  });

  test('coverage lists each profile, and explains the test kit', { timeout: 120_000 }, async () => {
    await view('Coverage');
    await press('.profiles summary', 'us-core-allergyintolerance');
    expect(await tab.when(`document.querySelector('details[open] .because')?.textContent`)).toContain(
      'The tests find no AllergyIntolerance of us-core-allergyintolerance',
    );
    // An unmapped profile lists its elements, too.
    expect(await tab.when(`document.querySelector('details[open] tbody')?.textContent`)).toContain('clinicalStatus');
    await press('.profiles summary', 'Medication Allergies');
    expect(await tab.when(`document.querySelectorAll('details[open]')[1]?.textContent`)).toContain('no ccds.yaml');
    writeFileSync(
      join(clinic.pack, 'ours.guide.json'),
      JSON.stringify({ beds: { type: 'Location', profile: 'http://example.org/bed', mustSupport: 'name, status' } }),
    );
    await press('.coverage button', 'Measure again');
    await tab.when(`[...document.querySelectorAll('.coverage option')].some(one => one.textContent === 'ours')`);
    await tab.run(`{ const guide = document.querySelector('.coverage select'); guide.value = 'ours';
      guide.dispatchEvent(new Event('change', { bubbles: true })); }`);
    await press('.profiles summary', 'bed');
    expect(await tab.when(`document.querySelector('.profiles details').textContent`)).toContain(
      'No mapping claims the profile. Write it as `profile` in one that makes Location.',
    );
  });

  test('Ctrl+Z restores a row removed in Codes, there and in the editor', {
    timeout: 120_000,
  }, async () => {
    const file = join(clinic.pack, 'codes.yaml');
    const sound = readFileSync(file, 'utf8');
    await view('Codes');
    await press('.acts .remove', 'Remove M');
    expect(await tab.when(`document.querySelector('.map tr.unmapped')?.dataset.raw`)).toBe('M');
    await tab.run(`document.querySelector('.map tr.unmapped input.code').blur()`);
    await press('.map .bar button', 'Undo');
    await tab.when(`document.querySelector('.map tr.unmapped') === null`);
    await press('.map .bar button', 'Redo');
    await tab.when(`document.querySelector('.map tr.unmapped') !== null`);
    await press('.map .bar button', 'Undo');
    await tab.when(`document.querySelector('.map tr.unmapped') === null`);
    await press('.acts .remove', 'Remove M');
    await tab.when(`document.querySelector('.map tr.unmapped') !== null`);
    await press('.about .place', 'codes.yaml');
    await cursorAt('codes.yaml');
    await tab.when(`document.querySelector('.cm-content').textContent.includes('{ F: female }')`);
    await tab.press('z', true);
    await tab.when(`document.querySelector('.cm-content').textContent.includes('M: male')`);
    expect(readFileSync(file, 'utf8')).toBe(sound);
  });

  test('a list begins a map, which becomes a file on save', { timeout: 120_000 }, async () => {
    await view('Codes');
    await tab.run(`{
      const input = document.querySelector('.codes nav input[type=file]');
      const list = new DataTransfer();
      list.items.add(new File(['local,target\\n7,29463-7\\n'], 'kind.csv'));
      input.files = list.files;
      input.dispatchEvent(new Event('change', { bubbles: true }));
    }`);
    await tab.when(`document.querySelector('.map h2')?.textContent === 'kind'`);
    expect(await tab.when(`document.querySelector('.map input.code')?.value`)).toBe('29463-7');
    const file = join(clinic.pack, 'kind.csv');
    expect(existsSync(file)).toBe(false);
    await press('.map .bar button', 'Save');
    await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8')).toContain('7,29463-7');
    rmSync(file);
  });
});
