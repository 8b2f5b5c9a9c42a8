/**
 * The page in headless Chromium: a mapping is broken, fixed by the button, saved, and its row inspected; another
 * program changes the files meanwhile. Skipped, with a message, if no Chromium is installed.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keptClinic, type SmallClinic } from '../cli/small-clinic.ts';
import { CHROMIUM, openTab, type Tab } from '../clients/chromium.ts';
import { serveBench } from './served-bench.ts';

describe.skipIf(CHROMIUM === undefined)('the page of the workbench', () => {
  let clinic: SmallClinic;
  let tab: Tab;
  let stop: () => Promise<void>;
  let link: string;
  beforeAll(async () => {
    clinic = keptClinic();
    ({ link, stop } = await serveBench(clinic.environment));
    tab = await openTab();
  }, 120_000);
  afterAll(async () => {
    await tab.close();
    await stop();
    rmSync(clinic.folder, { recursive: true, force: true });
  });

  /** Accepts the selected word. The editor ignores a choice within 75 ms of opening the list. */
  const choose = async (): Promise<void> => {
    await setTimeout(200);
    await tab.press('Enter');
  };
  const press = (selector: string, text: string): Promise<void> =>
    tab.run(`[...document.querySelectorAll('${selector}')].find(one => one.textContent.includes('${text}')).click()`);

  test('shows a problem, fixes it, saves, and shows a row', { timeout: 120_000 }, async () => {
    const file = join(clinic.pack, 'person.yaml');
    const sound = readFileSync(file, 'utf8');
    writeFileSync(file, sound.replace('from: SURNAME', 'from: SURNAMES'));
    await tab.open(link);
    await tab.when(`document.querySelector('.files') !== null`);
    await press('.files button', 'person.yaml');
    await tab.when(`document.querySelector('.problems .fix')?.textContent === 'Change to SURNAME'`);
    await press('.problems .fix', 'Change to SURNAME');
    await tab.when(`document.querySelector('.problems h2').textContent.startsWith('No problems')`);
    await press('.bar button', 'Save');
    await tab.when(`document.querySelector('.message').textContent === 'person.yaml is saved'`);
    expect(readFileSync(file, 'utf8')).toBe(sound);
    await tab.when(`document.querySelector('.preview select').value === 'people'`);
    await tab.run(
      `{ const key = document.querySelector('.key'); key.value = '1'; key.dispatchEvent(new Event('input', { bubbles: true })); }`,
    );
    await press('.preview button', 'Preview');
    await tab.when(`document.querySelector('.resource')?.textContent.includes('Kowalski')`);
    await tab.run(
      `[...document.querySelectorAll('.resource .value')].find(one => one.textContent.startsWith('"female"')).focus()`,
    );
    expect(await tab.when(`document.querySelector('.ways dd')?.textContent`)).toMatch(
      /PERSON\.SEX via code map sex\.code person\.yaml:\d+:\d+ code map row codes\.yaml:3:\d+/,
    );
    expect(await tab.when(`document.querySelector('tr.pointed th')?.textContent`)).toBe('SEX');
  });

  test('a row becomes an unsaved test, shown first', { timeout: 120_000 }, async () => {
    const file = join(clinic.pack, 'person.test.yaml');
    await press('.preview button', 'Keep this row as a test');
    const shown = await tab.when(`document.querySelector('.recorded pre')?.textContent`);
    expect(shown).toContain('mapping: people');
    expect(shown).not.toMatch(/kowalski|1970/i);
    expect(existsSync(file)).toBe(false);
    await press('.recorded button', 'Save');
    await tab.when(`document.querySelector('.message').textContent.startsWith('The test stands in person.test.yaml')`);
    await tab.when(`document.querySelector('.cm-content')?.textContent.includes('mapping: people')`);
    expect(existsSync(file)).toBe(false);
    // The tests also run while typing.
    await press('header nav button', 'Tests');
    await tab.when(`document.querySelector('.tests .bar button')?.disabled === false`);
    await press('.tests .bar button', 'Run all');
    await tab.when(`document.querySelector('.tests [role=status]')?.textContent === '1 test, all passed'`);
    await press('header nav button', 'Mapping');
    await tab.when(`document.querySelector('.cm-content')?.textContent.includes('mapping: people')`);
    expect(existsSync(file)).toBe(false);
    await press('.bar button', 'Save');
    // The tests of the pack run after each save, and their number is shown next.
    await expect.poll(() => readFileSync(file, 'utf8')).toBe(shown);
    await tab.when(
      `document.querySelector('.message').textContent === 'person.test.yaml is saved; 1 test, all passed'`,
    );
  });

  test('each line has a verdict, and that of the cursor line is explained below', {
    timeout: 120_000,
  }, async () => {
    await press('.files button', 'person.yaml');
    const marks = `[...document.querySelectorAll('.verdict')].map(one =>
      [...one.childNodes].map(part => part.textContent).join(': '))`;
    expect(await tab.when(`${marks}.length === 3 && ${marks}`)).toEqual([
      'computed: family, name',
      'no index: gender',
      'no index: birthdate',
    ]);
    await tab.run(`document.querySelector('.cm-content').focus()`);
    await tab.press('End', true);
    await tab.write(`  # ${'long '.repeat(80)}end`);
    // However long a line and narrow the page, the line is wrapped, and the result of its search is completely visible.
    const fits = `(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.querySelector('.cm-scroller'))`;
    for (const width of [1280, 1920]) {
      await tab.resize(width, 800);
      await tab.when(
        `innerWidth === ${width} && ${fits} && document.querySelector('.cm-content').textContent.includes('long end')`,
      );
      const seen = `[...document.querySelectorAll('.verdict')].map(({ firstChild }) => {
        const range = document.createRange();
        range.selectNode(firstChild);
        const { left, right, top, height } = range.getBoundingClientRect();
        return [left + 1, right - 1].map(x => document.elementFromPoint(x, top + height / 2)?.className);
      }).flat().join()`;
      expect(await tab.when(seen)).toBe('verdict,verdict,verdict,verdict,verdict,verdict');
    }
    // A continuation is indented more than the beginning of the line.
    const lefts = `(() => { const line = [...document.querySelectorAll('.cm-line')].find(one => one.textContent.includes('long end'));
      const range = document.createRange();
      range.selectNodeContents(line);
      const [first, ...others] = [...range.getClientRects()].filter(({ width }) => width > 0);
      const below = others.filter(({ top }) => top > first.top + 5);
      return below.length > 0 && below.every(({ left }) => left > first.left); })()`;
    await tab.when(lefts);
    await tab.press('z', true);
    await tab.when(`!document.querySelector('.cm-content').textContent.includes('long end')`);
    await tab.press('End', true);
    await tab.press('ArrowUp');
    const law = `document.querySelector('output.law').textContent`;
    expect(await tab.when(`${law}.startsWith('birthDate: ') && ${law}`)).toBe(
      'birthDate: searched by Patient?birthdate as it is stored. No index begins with PERSON.BORN.',
    );
    await tab.press('ArrowUp');
    await tab.when(`${law}.startsWith('gender: ')`);
    // A press on a mark puts the cursor on its line.
    await tab.resize(1920, 1080);
    const middle = await tab.when(`(() => { const mark = [...document.querySelectorAll('.verdict')].at(-1);
      const { left, top, height } = mark.getBoundingClientRect();
      return [left + 4, top + height / 2].join(' '); })()`);
    const [x = 0, y = 0] = String(middle).split(' ').map(Number);
    await tab.click(x, y);
    await tab.when(`${law}.startsWith('birthDate: ')`);
    await tab.press('ArrowUp');
    await tab.when(`${law}.startsWith('gender: ')`);
    // An error removes no mark.
    await tab.write('{ bad ');
    await tab.when(`document.querySelector('.problems h2').textContent.endsWith('problem')`);
    expect(await tab.when(`${marks}.length`)).toBe(3);
    // A line is inserted above while the error exists, and the file is closed: each mark stays at its element.
    await tab.press('ArrowUp');
    await tab.press('End');
    await tab.press('Enter');
    const beside = `[...document.querySelectorAll('.verdict')].map(mark => {
      const { top } = mark.getBoundingClientRect();
      return [...document.querySelectorAll('.cm-line')].find(line => Math.abs(line.getBoundingClientRect().top - top) < 8)
        ?.textContent.trim().split(':')[0];
    }).join()`;
    await tab.when(`${beside} === 'name,gender,birthDate' && ${law} === ''`);
    await press('.files button', 'pack.yaml');
    await tab.when(`document.querySelector('.cm-content')?.textContent.includes('A small clinic')`);
    await press('.files button', 'person.yaml');
    await tab.when(`document.querySelector('.cm-content')?.textContent.includes('birthDate')`);
    await tab.when(`${beside} === 'name,gender,birthDate'`);
    await tab.run(`document.querySelector('.cm-content').focus()`);
    await tab.press('z', true);
    await tab.press('z', true);
    await tab.when(`document.querySelector('.problems h2').textContent.startsWith('No problems')`);
  });

  test('external writes are loaded, reported or marked, and never lose a text', {
    timeout: 120_000,
  }, async () => {
    const file = join(clinic.pack, 'person.yaml');
    const sound = readFileSync(file, 'utf8');
    const [content, told] = [`document.querySelector('.cm-content').textContent`, `document.querySelector('.message')`];
    const tells = (text: string): Promise<unknown> => tab.when(`${told}.textContent.includes('${text}')`);
    /** The page checks the files at once when it becomes visible. */
    const look = (): Promise<void> => tab.run(`document.dispatchEvent(new Event('visibilitychange'))`);
    const mark = (path: string, means: string): string =>
      `[...document.querySelectorAll('.files li')].find(one => one.textContent.includes('${path}'))
        ?.querySelector('[aria-label="${means}"]')`;
    // The page notices by itself, after some seconds.
    writeFileSync(file, `# theirs\n${sound}`);
    await tells('person.yaml was changed on the disk and read again');
    await tab.when(`${content}.includes('# theirs')`);
    expect(await tab.when(`document.querySelector('.bar button').disabled`)).toBe(true);
    await tab.run(`document.querySelector('.cm-content').focus()`);
    await tab.press('z', true);
    await tab.when(`!${content}.includes('# theirs')`);
    await tab.press('s', true);
    await expect.poll(() => readFileSync(file, 'utf8')).toBe(sound);

    await tab.write('# mine ');
    await tab.when(`${content}.includes('# mine')`);
    writeFileSync(file, `# theirs\n${sound}`);
    await look();
    await tells('person.yaml was changed on the disk, and your text is not saved');
    await tab.when(`${mark('person.yaml', 'changed on the disk')} != null`);
    await tab.run(`document.querySelector('.cm-content').focus()`);
    await tab.press('s', true);
    await tells('was changed by another program');
    expect(readFileSync(file, 'utf8')).toBe(`# theirs\n${sound}`);
    expect(await tab.when(content)).toContain('# mine');
    await press('.bar button', 'Take the disk');
    await tab.when(`${content}.includes('# theirs') && !${content}.includes('# mine')`);
    await tab.run(`document.querySelector('.cm-content').focus()`);
    await tab.press('z', true);
    await tab.when(`${content}.includes('# mine') && !${content}.includes('# theirs')`);
    await tab.press('z', true);
    await tab.when(`!${content}.includes('# mine')`);
    await tab.press('s', true);
    await expect.poll(() => readFileSync(file, 'utf8')).toBe(sound);

    writeFileSync(join(clinic.pack, 'added.yaml'), '# nothing yet\n');
    await look();
    await tells('added.yaml is new on the disk');
    await press('.files button', 'added.yaml');
    await tab.when(`${content}.includes('# nothing yet')`);
    rmSync(join(clinic.pack, 'added.yaml'));
    await look();
    await tells('added.yaml was removed from the disk');
    await tab.when(`${mark('added.yaml', 'gone from the disk')} != null`);
    await press('.bar button', 'Save');
    const added = join(clinic.pack, 'added.yaml');
    await expect.poll(() => existsSync(added) && readFileSync(added, 'utf8')).toBe('# nothing yet\n');
    await tab.when(`${mark('added.yaml', 'gone from the disk')} == null`);
    await press('.files button', 'person.yaml');
  });

  test('each file opens at its last cursor position', { timeout: 120_000 }, async () => {
    const file = join(clinic.pack, 'long.yaml');
    writeFileSync(file, '# a line\n'.repeat(400));
    await tab.resize(1280, 800);
    await tab.run(`document.dispatchEvent(new Event('visibilitychange'))`);
    await tab.when(`document.querySelector('.message').textContent.includes('long.yaml is new on the disk')`);
    const line = (path: string, number: string): Promise<unknown> =>
      tab.when(`document.querySelector('.writing h2').textContent === '${path}' &&
        document.querySelector('.cm-activeLineGutter')?.textContent === '${number}'`);
    await press('.files button', 'long.yaml');
    await line('long.yaml', '1');
    await tab.run(`document.querySelector('.cm-content').focus()`);
    await tab.press('End', true);
    await line('long.yaml', '401');
    await press('.files button', 'codes.yaml');
    await tab.when(`document.querySelector('.writing h2').textContent === 'codes.yaml'`);
    await tab.when(`document.querySelector('.cm-scroller').scrollTop === 0`);
    await press('.files button', 'long.yaml');
    await line('long.yaml', '401');
    await tab.run(`document.querySelector('.cm-content').focus()`);
    await tab.press('ArrowUp');
    await line('long.yaml', '400');
    rmSync(file);
    await press('.files button', 'person.yaml');
  });

  test('Escape and Tab leaves the editor, Tab alone indents', { timeout: 120_000 }, async () => {
    await press('.files button', 'person.yaml');
    await tab.when(`document.querySelector('.cm-content')?.textContent.includes('SURNAME')`);
    await tab.run(`document.querySelector('.cm-content').focus()`);
    const description = `document.activeElement.getAttribute('aria-description')`;
    expect(await tab.when(description)).toBe('Escape, then Tab, leaves the editor');
    await tab.press('Tab');
    expect(await tab.when(description)).toContain('Escape');
    await tab.press('z', true);
    await tab.press('Escape');
    await tab.press('Tab');
    await tab.when(`!document.activeElement.closest('.cm-editor')`);
    await tab.when(`document.querySelector('.bar button').disabled`);
  });

  test('an element and its column are completed by the keyboard alone', { timeout: 120_000 }, async () => {
    await press('.files button', 'person.yaml');
    await tab.when(`document.querySelector('.cm-content')?.textContent.includes('SURNAME')`);
    await tab.run(`document.querySelector('.cm-content').focus()`);
    await tab.press('End', true);
    await tab.write('  multipleBirthB');
    await tab.when(
      `document.querySelector('.cm-tooltip-autocomplete [aria-selected]')?.textContent === 'multipleBirthBoolean0..1 boolean'`,
    );
    await tab.when(
      `document.querySelector('.cm-completionInfo')?.textContent === 'Whether patient is part of a multiple birth'`,
    );
    await choose();
    await tab.write('{ from: SURN');
    await tab.when(
      `document.querySelector('.cm-tooltip-autocomplete [aria-selected]')?.textContent.startsWith('SURNAME')`,
    );
    await choose();
    await tab.when(
      `document.querySelector('.cm-content').textContent.includes('multipleBirthBoolean: { from: SURNAME')`,
    );
  });
});
