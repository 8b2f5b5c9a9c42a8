/**
 * Follows docs/tutorial.md in the page, from an empty pack to a served Patient and a laboratory result: once by
 * keyboard alone and once by mouse. Skipped, with a message, if no Chromium is installed.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/log.ts';
import { startServer } from '../../src/main.ts';
import { CHROMIUM, openTab, type Tab } from '../clients/chromium.ts';
import { type ServedBench, serveBench } from './served-bench.ts';

const TUTORIAL = readFileSync('docs/tutorial.md', 'utf8');

/** A text of the tutorial, by the comment above it. */
function told(remark: string): string {
  const start = TUTORIAL.indexOf(`<!-- ${remark} -->`);
  const [, text] = /^.*\n```\w+\n([\s\S]*?)```/.exec(TUTORIAL.slice(start)) ?? [];
  if (start < 0 || text === undefined) throw new Error(`the tutorial has no ${remark}`);
  return text;
}

/** Accessible name of a control: its label or its text. */
const NAME = `(e => (e.getAttribute('aria-label') ?? e.labels?.[0]?.textContent ?? e.textContent).trim())`;

function isWanted(element: string, { kind, name }: Control): string {
  return `(${element}.matches(${JSON.stringify(kind)}) && ${NAME}(${element}).includes(${JSON.stringify(name)}))`;
}

interface Control {
  /** A selector. */
  readonly kind: string;
  /** Part of its name. */
  readonly name: string;
}

/** How the user reaches the controls of the page. */
interface Hand {
  /** Moves the focus to a control. */
  reach(control: Control): Promise<void>;
  /** Presses a button. */
  push(control: Control): Promise<void>;
}

/** Presses Tab until the control has the focus; Escape first, because Tab indents in the editor. */
function byKeyboard(tab: Tab): Hand {
  const reach = async (control: Control): Promise<void> => {
    await tab.when(
      `[...document.querySelectorAll(${JSON.stringify(control.kind)})].some(e => ${isWanted('e', control)})`,
    );
    for (let i = 0; i < 300; i++) {
      if ((await tab.when(`${isWanted('document.activeElement', control)} ? 'yes' : 'no'`)) === 'yes') return;
      await tab.press('Escape');
      await tab.press('Tab');
    }
    throw new Error(`Tab never reaches ${control.kind} ${control.name}`);
  };
  return {
    reach,
    async push(control) {
      await reach(control);
      await tab.press('Enter');
    },
  };
}

function byMouse(tab: Tab): Hand {
  const click = async (control: Control): Promise<void> => {
    const place = await tab.when(`(() => {
      const found = [...document.querySelectorAll(${JSON.stringify(control.kind)})].find(e => ${isWanted('e', control)} && !e.disabled);
      if (!found) return undefined;
      found.scrollIntoView({ block: 'nearest' });
      const { left, top, width, height } = found.getBoundingClientRect();
      return [left + Math.min(width / 2, 60), top + Math.min(height / 2, 12)].join(' ');
    })()`);
    const [x = 0, y = 0] = String(place).split(' ').map(Number);
    await tab.click(x, y);
  };
  return { reach: click, push: click };
}

describe.skipIf(CHROMIUM === undefined)('the tutorial in the page', () => {
  let folder: string;
  let pack: string;
  let environment: Readonly<Record<string, string>>;
  let bench: ServedBench;
  let tab: Tab;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'lintel-tutorial-'));
    pack = join(folder, 'my-clinic');
    mkdirSync(pack);
    const database = new DatabaseSync(join(pack, 'clinic.sqlite'));
    database.exec(told('my-clinic/clinic.sql'));
    database.close();
    environment = {
      DATABASE_URL: `sqlite:${join(pack, 'clinic.sqlite')}`,
      MAPPINGS: pack,
      DATA_DIR: join(folder, 'data'),
      PORT: '0',
    };
    bench = await serveBench(environment);
    tab = await openTab();
    await tab.resize(1280, 800);
    await tab.open(bench.link);
    await tab.when(`document.querySelector('.files') !== null`);
  }, 120_000);
  afterEach(async () => {
    await tab.close();
    await bench.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const text = (path: string): string => readFileSync(join(pack, path), 'utf8');
  const saved = (path: string): Promise<unknown> =>
    tab.when(`document.querySelector('.message').textContent.includes('${path} is saved')`);
  const noProblems = (): Promise<unknown> =>
    tab.when(`document.querySelector('.problems')?.getAttribute('aria-busy') === 'false' &&
      document.querySelector('.problems h2').textContent.startsWith('No problems')`);

  async function make(hand: Hand, path: string): Promise<void> {
    await hand.reach({ kind: '.files input', name: 'New file' });
    await tab.write(path);
    await hand.push({ kind: '.files form button', name: 'Make' });
    await tab.when(`document.querySelector('.writing h2').textContent === '${path}'`);
  }

  /** Replaces the initial text of the open file, or appends to it, and saves. */
  async function type(hand: Hand, path: string, written: string, isMore = false): Promise<void> {
    await hand.reach({ kind: '.cm-content', name: `Text of ${path}` });
    await tab.press('a', true);
    if (isMore) await tab.press('ArrowDown');
    await tab.write(written);
    await tab.press('Escape');
    await tab.press('s', true);
    await saved(path);
  }

  async function view(hand: Hand, title: string): Promise<void> {
    await hand.push({ kind: 'header nav button', name: title });
    await tab.when(`document.querySelector('header nav [aria-current=page]')?.textContent.startsWith('${title}')`);
  }

  async function preview(hand: Hand, mapping: string, column: string, key: string): Promise<string> {
    await hand.reach({ kind: '.preview select', name: 'Mapping' });
    await tab.press('Escape');
    const chosen = `document.querySelector('.preview select').value === '${mapping}' ? 'yes' : 'no'`;
    for (let i = 0; i < 5 && (await tab.when(chosen)) === 'no'; i++) await tab.press(i < 2 ? 'ArrowDown' : 'ArrowUp');
    await hand.reach({ kind: '.preview .key', name: column });
    await tab.press('a', true);
    await tab.write(key);
    await hand.push({ kind: '.preview button[type=submit]', name: 'Preview' });
    return String(
      await tab.when(`document.querySelector('.beside[data-of="${mapping} ${key}"] .resource')?.textContent`),
    );
  }

  /** Accepts a suggestion, or the typed text. */
  async function accepted(raw: string): Promise<void> {
    await tab.when(`[...document.querySelectorAll('.map tr[data-raw]')]
      .some(e => e.dataset.raw === '${raw}' && !e.classList.contains('unmapped'))`);
  }

  async function tutorial(hand: Hand): Promise<void> {
    await view(hand, 'Tables');
    await tab.when(`['PERSON', 'LAB'].every(name => document.querySelector('main')?.textContent.includes(name))`);
    await view(hand, 'Mapping');
    await make(hand, 'pack.yaml');
    await type(hand, 'pack.yaml', told('my-clinic/pack.yaml'));
    await make(hand, 'codes.yaml');
    await type(hand, 'codes.yaml', told('my-clinic/codes.yaml, begun'));
    await make(hand, 'patient.yaml');
    await type(hand, 'patient.yaml', told('my-clinic/patient.yaml'));
    expect(text('patient.yaml')).toBe(told('my-clinic/patient.yaml'));
    await noProblems();
    expect(await preview(hand, 'people', 'ID', '1')).toContain('"unknown"');

    await view(hand, 'Codes');
    await hand.push({ kind: '.accept', name: 'Accept for F: female' });
    await accepted('F');
    await hand.push({ kind: '.accept', name: 'Accept for M: male' });
    await accepted('M');
    expect(await tab.when(`[...document.querySelectorAll('.map tr.unmapped')].length === 0 && 'none'`)).toBe('none');
    await hand.push({ kind: '.map .bar button', name: 'Save' });
    await saved('codes.yaml');
    expect(text('codes.yaml')).toBe(told('my-clinic/codes.yaml'));

    await view(hand, 'Mapping');
    expect(await preview(hand, 'people', 'ID', '1')).toContain('"Kowalski"');
    await tab.when(`document.querySelector('.resource')?.textContent.includes('"female"')`);
    await hand.push({ kind: '.files li button', name: 'codes.yaml' });
    await type(hand, 'codes.yaml', told('added to my-clinic/codes.yaml, begun'), true);
    await make(hand, 'lab.yaml');
    await type(hand, 'lab.yaml', told('my-clinic/lab.yaml'));
    await noProblems();

    await view(hand, 'Codes');
    // The list is sorted once the values are counted.
    await tab.when(`!document.querySelector('.codes nav p').textContent.startsWith('Counting')`);
    await hand.push({ kind: '.codes nav button', name: 'lab-test' });
    for (const [raw, code, display] of [
      ['GLU', '2345-7', 'Glucose'],
      ['HBA1C', '4548-4', 'Hemoglobin A1c'],
    ] as const) {
      await hand.reach({ kind: 'input.code', name: `code of ${raw}` });
      await tab.write(code);
      await hand.reach({ kind: 'input.display', name: `display of ${raw}` });
      await tab.write(display);
      await tab.press('Enter');
      await accepted(raw);
    }
    await hand.push({ kind: '.codes nav button', name: 'lab-state' });
    await hand.push({ kind: '.accept', name: 'Accept for F: final' });
    await accepted('F');
    await hand.push({ kind: '.accept', name: 'Accept for P: preliminary' });
    await accepted('P');
    await hand.push({ kind: '.map .bar button', name: 'Save' });
    await saved('codes.yaml');
    expect(text('codes.yaml')).toBe(told('my-clinic/codes.yaml') + told('added to my-clinic/codes.yaml'));

    await view(hand, 'Mapping');
    expect(await preview(hand, 'lab-results', 'NO', '7')).toContain('"2345-7"');
    await serves();
  }

  /** The server runs the pack that the page wrote. */
  async function serves(): Promise<void> {
    const running = await startServer(
      readConfig(environment),
      { out: () => undefined, note: () => undefined },
      createLog({ level: 'silent', format: 'json', write: () => undefined }),
    );
    if (!running) throw new Error('the server did not start');
    try {
      const read = async (path: string): Promise<unknown> => (await fetch(`${running.url}/fhir/${path}`)).json();
      expect(await read('Patient/1')).toEqual(JSON.parse(told('answer Patient/1')));
      expect(await read('Observation/7')).toMatchObject({
        resourceType: 'Observation',
        status: 'final',
        code: { coding: [{ system: 'http://loinc.org', code: '2345-7', display: 'Glucose' }] },
        subject: { reference: 'Patient/1' },
        valueQuantity: { value: 104, unit: 'mg/dL' },
      });
    } finally {
      await running.stop();
    }
  }

  test('by keyboard alone', { timeout: 240_000 }, async () => {
    await tutorial(byKeyboard(tab));
  });

  test('by mouse', { timeout: 240_000 }, async () => {
    await tutorial(byMouse(tab));
  });
});
