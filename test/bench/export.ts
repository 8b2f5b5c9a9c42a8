/**
 * Compares bulk export with hand-written programs (export-programs.ts): `npm run bench -- export [people]`. Each runs
 * in a process of its own over one SQLite file, in alternation, after a warm-up. Prints medians in resources per second
 * of CPU, and the peak memory; nothing if the best program's bytes differ from the facade's.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/config/config.ts';
import { outputFile } from '../../src/export/store.ts';
import { openThreads } from '../../src/export/threads.ts';
import { readPackFiles } from '../../src/mapping/load/read/files.ts';
import { makeClinic } from '../export/clinic.ts';
import { median, WARM_UP } from './clock.ts';
import { bestExport, type Export, keptOffsetsExport, obviousExport } from './export-programs.ts';
import { type ExportStatements, exportStatements, exportTask } from './export-source.ts';

const EACH = 50;
const ROUNDS = 5;
/** Measured runs per process. */
const RUNS = 2;

/** Opens its inputs; only the export that it returns is measured. */
type Contender = (database: string, pack: string, statements: ExportStatements) => Export;

const CONTENDERS = {
  facade: facadeExport,
  best: (database, _, statements) => bestExport(database, statements),
  obvious: (database, _, statements) => obviousExport(database, statements),
  'obvious, offsets kept': (database, _, statements) => keptOffsetsExport(database, statements),
} as const satisfies Readonly<Record<string, Contender>>;

type Name = keyof typeof CONTENDERS;
const NAMES = Object.keys(CONTENDERS) as readonly Name[];

/** Exports like a server: in a thread with little memory, whose CPU counts with that of the process. */
function facadeExport(database: string, pack: string): Export {
  const threads = openThreads(readConfig({ DATABASE_URL: `sqlite:${database}`, MAPPINGS: pack }), 1);
  const files = readPackFiles(pack);
  return async folder => {
    const outcome = await threads.run({ kind: 'part', files, task: exportTask(folder) }, () => {});
    return outcome.kind === 'part' ? (outcome.state.files[0]?.lines ?? 0) : 0;
  };
}

interface Run {
  readonly count: number;
  /** Seconds. */
  readonly cpu: number;
  readonly wall: number;
}

interface Result {
  readonly runs: readonly Run[];
  /** Megabytes. */
  readonly memory: number;
}

/** Runs a contender in a process of its own: some runs to warm up, and some that count. */
async function runOne(
  name: Name,
  folder: string,
  file: string,
  pack: string,
  statements: ExportStatements,
): Promise<Result> {
  const runs: Run[] = [];
  const place = (what: string): string => {
    const into = join(folder, what);
    rmSync(into, { recursive: true, force: true });
    mkdirSync(into);
    return into;
  };
  const run = CONTENDERS[name](file, pack, statements);
  for (const end = performance.now() + WARM_UP; performance.now() < end; ) await run(place('warm'));
  for (let i = 0; i < RUNS; i++) {
    const into = place(String(i));
    const [cpu, wall] = [process.cpuUsage(), performance.now()];
    const count = await run(into);
    const { user, system } = process.cpuUsage(cpu);
    runs.push({ count, cpu: (user + system) / 1e6, wall: (performance.now() - wall) / 1000 });
  }
  return { runs, memory: process.resourceUsage().maxRSS / 1024 };
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** Throws if the best program's bytes differ from the facade's: the comparison would be void. */
export async function benchExport(people = 4000): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lintel-'));
  try {
    const clinic = makeClinic(folder, people, EACH);
    clinic.change(`UPDATE WEIGHING SET KG = printf('%.2f', 40 + NO % 6000 / 100.0),
      TAKEN = strftime('%Y-%m-%d %H:%M:%S.000', '2020-01-01', (NO % 79) || ' days', (NO % 1440) || ' minutes')`);
    const pack = join(folder, 'pack');
    const heard = join(folder, 'heard');
    mkdirSync(heard);
    const statements = JSON.stringify(await exportStatements(clinic.file, pack, heard));
    const results = new Map<Name, Result[]>(NAMES.map(name => [name, []]));
    const hashes = new Map<Name, string>();
    for (let round = 0; round < ROUNDS; round++) {
      for (const name of NAMES) {
        const out = join(folder, 'out');
        mkdirSync(out);
        const args = [new URL(import.meta.url).pathname, '--run', name, out, clinic.file, pack, statements];
        results.get(name)?.push(JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Result);
        hashes.set(name, await hashOf(outputFile(join(out, '0'), 0, 0)));
        rmSync(out, { recursive: true });
      }
      if (hashes.get('facade') !== hashes.get('best')) throw new Error('the best program writes other bytes');
    }
    report(results);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function report(results: ReadonlyMap<Name, readonly Result[]>): void {
  const costs = new Map<Name, number>();
  for (const [name, own] of results) {
    const runs = own.flatMap(result => result.runs);
    const cost = median(runs.map(({ cpu, count }) => (cpu / count) * 1e6));
    costs.set(name, cost);
    const memory = Math.max(...own.map(result => result.memory));
    const [rate, wall] = [Math.round(1e6 / cost), median(runs.map(run => run.wall))];
    console.log(
      `${name}: ${runs[0]?.count} resources, ${cost.toFixed(2)} µs of CPU each, ${rate}/CPU-s, ${wall.toFixed(2)} s, ${Math.round(memory)} MB`,
    );
  }
  const ratio = (name: Name): string => ((costs.get(name) ?? 0) / (costs.get('facade') ?? 0)).toFixed(2);
  console.log(`facade / best ${ratio('best')} (mark: 0.75)`);
  console.log(`facade / obvious ${ratio('obvious')} (mark: 3); with offsets kept ${ratio('obvious, offsets kept')}`);
}

if (import.meta.main) {
  const [, name = '', folder = '', file = '', pack = '', statements = ''] = process.argv.slice(2);
  const known = NAMES.find(own => own === name);
  if (known === undefined) throw new RangeError(`no contender ${name}`);
  process.stdout.write(
    JSON.stringify(await runOne(known, folder, file, pack, JSON.parse(statements) as ExportStatements)),
  );
  // Does not wait until the idle threads end by themselves.
  process.exit();
}
