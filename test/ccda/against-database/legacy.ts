/**
 * Compares documents with the legacy rows themselves, read by SQL that is independent of the mappings: each row that
 * counts occurs once, with its code, dates, value and status, and nothing else does. A validator cannot detect an
 * untrue document.
 */
import { afterAll, expect } from 'vitest';
import { uuidOf } from '../../../src/ccda/ids.ts';
import { shareOf } from '../../share.ts';
import type { DemoDocuments, MadeDocument } from '../demo-documents.ts';
import { demoOfFile } from '../demo-of-file.ts';
import { at, type Element, withTemplate } from '../xml-tree.ts';

/** Number of charts; ALL selects some of every kind. */
const CHARTS = 40;
const ALL = [1, 3, 4, 5, 6, 9, 10, 12, 13, 16, 17, 18, 21, 24, 25, 26, 27, 28, 30, 35];
export const PATIENTS = shareOf(ALL, 3);

export interface LegacyDemo extends Pick<DemoDocuments, 'rows'> {
  make(topic: string, patient: number): Promise<MadeDocument>;
}

/** Called at the top of a file; makes a document once for several of its tests. */
export function legacyDemo(): LegacyDemo {
  const demo = demoOfFile(CHARTS);
  const made = new Map<string, Promise<MadeDocument>>();
  // The worker's process keeps the module and runs other files after this one.
  afterAll(() => made.clear());
  return {
    rows: demo.rows,
    make(topic, patient) {
      const name = `${topic} of ${patient}`;
      const document = made.get(name) ?? demo.make(topic, patient);
      made.set(name, document);
      return document;
    },
  };
}

export type Facts = Readonly<Record<string, string | undefined>>;

/** The root of an entry's id. */
export const rootOf = (type: string, id: number | string, part = ''): string =>
  uuidOf('medkeep', type, String(id), part);

/** Returns the entries with a template by the root of their id. No id occurs twice. */
export function entriesOf(
  root: Element,
  template: string,
  facts: (entry: Element) => Facts,
): ReadonlyMap<string, Facts> {
  const found = withTemplate(root, template);
  const map = new Map(found.map(entry => [at(entry, 'id')?.attributes['root'] ?? '', facts(entry)]));
  expect(map.size).toBe(found.length);
  return map;
}

/** The same for a topic's document. */
export async function entries(
  demo: LegacyDemo,
  topic: string,
  patient: number,
  template: string,
  facts: (entry: Element) => Facts,
): Promise<ReadonlyMap<string, Facts>> {
  return entriesOf((await demo.make(topic, patient)).root, template, facts);
}

export function compare(found: ReadonlyMap<string, Facts>, expected: ReadonlyMap<string, Facts>): void {
  const sorted = (map: ReadonlyMap<string, Facts>) => [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));
  expect(sorted(found)).toEqual(sorted(expected));
}

export const value = (element: Element | undefined, name = 'value') => element?.attributes[name];
export const day = (time: string | undefined) => time?.slice(0, 8);

/** `20200400` → `202004`; undefined for anything but a date. */
export function ymd8(text: string | number | null): string | undefined {
  const match = /^(\d{4})(\d{2})(\d{2})$/.exec(String(text ?? '').trim());
  if (!match || ['0000', '1753', '9999'].includes(match[1] ?? '')) return undefined;
  const [, year = '', month = '', date = ''] = match;
  if (month === '00') return date === '00' ? year : undefined;
  if (Number(month) > 12) return undefined;
  if (date === '00') return year + month;
  const exists = new Date(Date.UTC(Number(year), Number(month) - 1, Number(date))).getUTCDate() === Number(date);
  return exists ? year + month + date : undefined;
}

/** `2020-04-01 10:30:00.000` → `20200401`. */
export const dayOf = (stamp: string | null): string | undefined => {
  const text = stamp?.slice(0, 10).replaceAll('-', '');
  return text === undefined || text.startsWith('1753') || text.startsWith('9999') ? undefined : text;
};

/** Today by the tests' clock. */
export const TODAY = '20260701';
