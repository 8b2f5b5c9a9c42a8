/**
 * Bulk export beside two programs that were written by hand: the best one that runs the same SQL and writes the same
 * bytes, and the obvious one. `npm run bench -- export [people]`. Each runs in a process of its own, over one SQLite file,
 * in turns; printed is the best of three, in resources per second of CPU, and the largest memory.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  createReadStream,
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readConfig } from '../../src/config.ts';
import type { Part } from '../../src/export/job.ts';
import { runPart } from '../../src/export/run-part.ts';
import { openSource } from '../../src/export/source.ts';
import { outputFile } from '../../src/export/store.ts';
import { makeClinic } from '../export/clinic.ts';
import { exportRequest } from '../export/export-request.ts';

const BATCH = 1000;
const EACH = 50;

/** The statement that the facade makes of the mapping, without the place to continue at. */
const SELECT = `SELECT w.[NO], w.UPD, w.PERSON_ID,
  CASE WHEN EXISTS (SELECT 1 FROM PERSON AS p_1 WHERE p_1.ID = w.PERSON_ID) THEN 1 ELSE 0 END AS PERSON_THERE, w.TAKEN,
  w.STAFF_NO, CASE WHEN EXISTS (SELECT 1 FROM STAFF AS s_1 WHERE s_1.[NO] = w.STAFF_NO) THEN 1 ELSE 0 END AS STAFF_THERE,
  CASE WHEN w.KG IS NOT NULL THEN printf('%.2f', w.KG) END AS KG, w.DEVICE_NO,
  CASE WHEN EXISTS (SELECT 1 FROM IMPLANT AS i_1 WHERE i_1.[NO] = w.DEVICE_NO) THEN 1 ELSE 0 END AS DEVICE_THERE
  FROM WEIGHING AS w`;

/** Opens what it reads from; what it gives is measured: the export itself, resolving to the number of resources. */
type Contender = (folder: string, database: string, pack: string) => Promise<() => Promise<number>>;

/** One look-up per day is enough here: the data end before the clocks change. */
function offsets(): (day: string) => string {
  const known = new Map<string, string>();
  const format = new Intl.DateTimeFormat('en', { timeZone: 'Europe/Warsaw', timeZoneName: 'longOffset' });
  return day => {
    const found = known.get(day);
    if (found !== undefined) return found;
    const name = format.formatToParts(new Date(`${day}T12:00:00Z`)).find(({ type }) => type === 'timeZoneName')?.value;
    const offset = (name ?? 'GMT+00:00').slice(3);
    known.set(day, offset);
    return offset;
  };
}

type WeighingRow = readonly [
  number,
  string,
  number,
  number,
  string,
  number,
  number,
  string | null,
  number | null,
  number,
];

const CONTENDERS: Readonly<Record<string, Contender>> = {
  async facade(folder, database, pack) {
    const source = await openSource(readConfig({ DATABASE_URL: `sqlite:${database}`, MAPPINGS: pack }));
    const part: Part = { number: 0, type: 'Observation', scope: 'all', content: 'resources', write: true, collect: [] };
    return async () => {
      const state = await runPart(
        {
          folder,
          job: {
            id: '',
            caller: 'open',
            base: 'http://127.0.0.1/fhir',
            url: '',
            request: exportRequest({ types: ['Observation'] }),
            remarks: [],
            version: '',
            transactionTime: 0,
            status: 'running',
          },
          part,
          parts: 1,
          settings: { batch: BATCH, fileLines: 1e9, checkpoint: 1000 },
          quota: { used: new BigInt64Array(new SharedArrayBuffer(8)), limit: 1e15 },
          stop: new Int32Array(1),
        },
        source,
        () => {},
      );
      await source.database().close();
      return state.files[0]?.lines ?? 0;
    };
  },

  async best(folder, file) {
    const database = new DatabaseSync(file, { readOnly: true });
    database.exec('PRAGMA cache_size = -65536');
    const first = database.prepare(`${SELECT} ORDER BY w.[NO] LIMIT ${BATCH}`);
    const next = database.prepare(`${SELECT} WHERE w.[NO] > ? ORDER BY w.[NO] LIMIT ${BATCH}`);
    first.setReturnArrays(true);
    next.setReturnArrays(true);
    const out = openSync(outputFile(folder, 0, 0), 'w');
    const offset = offsets();
    return async () => {
      let count = 0;
      for (let rows = first.all() as unknown as WeighingRow[]; rows.length > 0; ) {
        let text = '';
        for (const [no, changed, person, personThere, taken, staff, staffThere, kg, device, deviceThere] of rows) {
          text += `{"resourceType":"Observation","id":"w-${no}","meta":{"lastUpdated":"${changed.slice(0, 10)}T${changed.slice(11)}${offset(changed.slice(0, 10))}"},"status":"final","code":{"coding":[{"system":"http://loinc.org","code":"29463-7","display":"Body weight"}],"text":"Body weight"}`;
          if (personThere === 1) text += `,"subject":{"reference":"Patient/${person}"}`;
          text += `,"effectiveDateTime":"${taken.slice(0, 10)}T${taken.slice(11, 19)}${offset(taken.slice(0, 10))}"`;
          if (staffThere === 1) text += `,"performer":[{"reference":"PractitionerRole/r-${staff}"}]`;
          if (kg !== null)
            text += `,"valueQuantity":{"value":${kg},"unit":"kg","system":"http://unitsofmeasure.org","code":"kg"}`;
          if (deviceThere === 1) text += `,"device":{"reference":"Device/i-${device}"}`;
          text += '}\n';
        }
        writeSync(out, Buffer.from(text, 'utf8'));
        count += rows.length;
        rows = next.all(rows.at(-1)?.[0] ?? 0) as unknown as WeighingRow[];
      }
      closeSync(out);
      return count;
    };
  },

  async obvious(folder, file) {
    const database = new DatabaseSync(file, { readOnly: true });
    const statement = database.prepare(`${SELECT} ORDER BY w.[NO]`);
    const out = createWriteStream(outputFile(folder, 0, 0));
    const offset = offsets();
    const zoned = (text: unknown): string => String(text).replace(' ', 'T') + offset(String(text).slice(0, 10));
    return async () => {
      let count = 0;
      for (const row of statement.iterate()) {
        const resource = {
          resourceType: 'Observation',
          id: `w-${row['NO']}`,
          meta: { lastUpdated: zoned(row['UPD']) },
          status: 'final',
          code: {
            coding: [{ system: 'http://loinc.org', code: '29463-7', display: 'Body weight' }],
            text: 'Body weight',
          },
          subject: row['PERSON_THERE'] === 1 ? { reference: `Patient/${row['PERSON_ID']}` } : undefined,
          effectiveDateTime: zoned(row['TAKEN']).replace(/\.\d{3}/, ''),
          performer: row['STAFF_THERE'] === 1 ? [{ reference: `PractitionerRole/r-${row['STAFF_NO']}` }] : undefined,
          valueQuantity: { value: Number(row['KG']), unit: 'kg', system: 'http://unitsofmeasure.org', code: 'kg' },
          device: row['DEVICE_THERE'] === 1 ? { reference: `Device/i-${row['DEVICE_NO']}` } : undefined,
        };
        if (!out.write(`${JSON.stringify(resource)}\n`)) await once(out, 'drain');
        count += 1;
      }
      await new Promise<void>(resolve => out.end(() => resolve()));
      return count;
    };
  },
};

interface Result {
  readonly count: number;
  readonly cpu: number;
  readonly wall: number;
  /** Megabytes. */
  readonly memory: number;
}

/** In a process of its own. */
async function runOne(name: string, folder: string, file: string, pack: string): Promise<void> {
  const contender = CONTENDERS[name];
  if (!contender) throw new RangeError(`no contender ${name}`);
  const warm = join(folder, 'warm');
  mkdirSync(warm);
  await (await contender(warm, file, pack))();
  const run = await contender(folder, file, pack);
  const [cpu, wall] = [process.cpuUsage(), performance.now()];
  const count = await run();
  const { user, system } = process.cpuUsage(cpu);
  const result: Result = {
    count,
    cpu: (user + system) / 1e6,
    wall: (performance.now() - wall) / 1000,
    memory: process.resourceUsage().maxRSS / 1024,
  };
  process.stdout.write(JSON.stringify(result));
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

export async function benchExport(people = 6000): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lintel-'));
  try {
    const clinic = makeClinic(folder, people, EACH);
    clinic.change(`UPDATE WEIGHING SET KG = printf('%.2f', 40 + NO % 6000 / 100.0),
      TAKEN = strftime('%Y-%m-%d %H:%M:%S.000', '2020-01-01', (NO % 79) || ' days', (NO % 1440) || ' minutes')`);
    const names = Object.keys(CONTENDERS);
    const best = new Map<string, Result>();
    const hashes = new Map<string, string>();
    for (let round = 0; round < 3; round++) {
      for (const name of names) {
        const out = join(folder, name);
        mkdirSync(out);
        const args = [new URL(import.meta.url).pathname, '--run', name, out, clinic.file, join(folder, 'pack')];
        const result: Result = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
        if (result.cpu < (best.get(name)?.cpu ?? Number.POSITIVE_INFINITY)) best.set(name, result);
        hashes.set(name, await hashOf(outputFile(out, 0, 0)));
        rmSync(out, { recursive: true });
      }
    }
    if (hashes.get('facade') !== hashes.get('best')) console.log('The bytes differ: this comparison is not fair.');
    const rate = (name: string): number => (best.get(name)?.count ?? 0) / (best.get(name)?.cpu ?? 1);
    for (const name of names) {
      const { count = 0, cpu = 0, wall = 0, memory = 0 } = best.get(name) ?? {};
      console.log(
        `${name.padEnd(8)} ${count} resources, ${cpu.toFixed(2)} s CPU, ${wall.toFixed(2)} s, ${Math.round(rate(name))}/CPU-s, ${Math.round(memory)} MB`,
      );
    }
    console.log(`facade / best ${(rate('facade') / rate('best')).toFixed(2)} (mark: 0.75)`);
    console.log(`facade / obvious ${(rate('facade') / rate('obvious')).toFixed(2)} (mark: 3)`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.main) {
  const [, name = '', folder = '', file = '', pack = ''] = process.argv.slice(2);
  await runOne(name, folder, file, pack);
}
