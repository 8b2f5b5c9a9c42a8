/**
 * `npm run bench -- workbench`: response times of the workbench on the pack of the demo. In: a database of the demo.
 * Out: a table with a row per request of the page. A keystroke is a character of the pack at a random place of a random
 * file, weighted by its length, typed and removed again.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DEMO_PACK } from '../../src/start/demo.ts';
import type { WireCheck, WireFile, WirePack } from '../../src/workbench/wire/mapping.ts';
import { type BenchOver, openBenchOn } from '../workbench/opened-bench.ts';
import { printTable } from './table.ts';

const KEYS = 150;
const PREVIEWS = 40;

/** A row of the table: what is asked, how often, and one asking. */
interface Asked {
  readonly what: string;
  readonly times: number;
  readonly ask: (bench: BenchOver, round: number) => Promise<void>;
}

export async function benchWorkbench(database: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lintel-'));
  const pack = join(folder, 'pack');
  cpSync(DEMO_PACK, pack, { recursive: true });
  const bench = await openBenchOn({ DATABASE_URL: `sqlite:${database}`, MAPPINGS: pack, DATA_DIR: folder });
  try {
    const { files } = await asked<WirePack>(bench, 'pack');
    const rows: string[][] = [];
    for (const { what, times, ask } of questionsOf(files, keysIn(database))) {
      const took: number[] = [];
      const worked: number[] = [];
      for (let i = 0; i < times; i++) {
        const before = process.cpuUsage();
        const begun = performance.now();
        await ask(bench, i);
        took.push(performance.now() - begun);
        const { user, system } = process.cpuUsage(before);
        worked.push((user + system) / 1000);
      }
      rows.push([
        what,
        ...[took, worked].flatMap(of => [0.5, 0.95].map(part => `${quantile(of, part).toFixed(0)} ms`)),
      ]);
    }
    printTable(['workbench, pack of the demo', 'median', 'p95', 'CPU median', 'CPU p95'], rows);
  } finally {
    await bench.close();
    rmSync(folder, { recursive: true });
  }
}

function questionsOf(files: readonly WireFile[], keys: readonly string[]): readonly Asked[] {
  const random = seeded(7);
  const texts = files.filter(({ path, fixed }) => !fixed && !path.endsWith('.test.yaml'));
  const key = (): Readonly<Record<string, string>> => {
    const all = texts.reduce((sum, { text }) => sum + text.length, 0);
    let at = Math.floor(random() * all);
    const file = texts.find(({ text }) => {
      at -= text.length;
      return at < 0;
    });
    if (!file) return {};
    const place = Math.floor(random() * file.text.length);
    const typed = file.text.charAt(Math.floor(random() * file.text.length));
    return { [file.path]: file.text.slice(0, place) + typed + file.text.slice(place) };
  };
  return [
    { what: 'first check', times: 1, ask: bench => check(bench, {}) },
    {
      what: 'a key, or its removal, to problems',
      times: KEYS,
      ask: (bench, i) => check(bench, i % 2 === 0 ? key() : {}),
    },
    // Counts the values of all columns that code maps read.
    { what: 'values without a code, of all maps', times: 3, ask: question('codes/unmapped', {}) },
    { what: 'one map with its values and suggestions', times: 20, ask: question('codes/held', { map: 'gender' }) },
    { what: 'coverage of US Core 7.0.0', times: 3, ask: question('coverage', { guide: 'us-core-7.0.0' }) },
    {
      what: 'what a Patient gives in C-CDA',
      times: PREVIEWS,
      ask: async (bench, i) => {
        await asked(bench, 'ccda', { unsaved: {}, mapping: 'patients', key: [keys[i % keys.length]] });
      },
    },
    {
      what: 'preview of a Patient',
      times: PREVIEWS,
      ask: async (bench, i) => {
        await asked(bench, 'preview', { unsaved: {}, mapping: 'patients', key: [keys[i % keys.length]] });
      },
    },
  ];
}

function question(path: string, body: object): Asked['ask'] {
  return async bench => {
    await asked(bench, path, { unsaved: {}, ...body });
  };
}

/** Keys of patients. */
function keysIn(file: string): readonly string[] {
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = database.prepare('SELECT PT_NO FROM PT_MST ORDER BY PT_NO LIMIT 40').all();
  database.close();
  return rows.map(({ PT_NO }) => String(PT_NO));
}

async function check(bench: BenchOver, unsaved: Readonly<Record<string, string>>): Promise<void> {
  await asked<WireCheck>(bench, 'check', { unsaved });
}

async function asked<T>(bench: BenchOver, path: string, body?: object): Promise<T> {
  const response = await bench.ask(`${bench.base}/api/${path}`, body ? { method: 'POST', body } : {});
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/** The same keys each time. https://en.wikipedia.org/wiki/Linear_congruential_generator */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}
