/**
 * `npm run bench -- startup`: from the start of the process to its first answer, as `npm start` runs it, with the
 * demo's mappings and with a pack of 40 of them; as the first start after an install, and as any later one, which finds
 * compiled modules.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadPack } from '../../src/mapping/load/pack/pack.ts';
import { median } from './clock.ts';
import { printTable } from './table.ts';

const ROUNDS = 7;
const PROGRAM = fileURLToPath(new URL('../../bin/lintel.mjs', import.meta.url));
const DEMO = fileURLToPath(new URL('../../mappings/medkeep', import.meta.url));

/** What the smaller pack does without: nothing that is left refers to it. */
const LEFT_OUT = ['ccds', 'allergy.test', 'provenance', 'vital-signs', 'social-history', 'group', 'care-plan'];

/** Milliseconds; CPU where the system tells it. */
interface Start {
  readonly waited: number;
  readonly cpu: number | undefined;
}

export async function benchStartup(database: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lintel-'));
  try {
    const rows: string[][] = [];
    for (const pack of [smallerPack(join(folder, 'pack')), DEMO]) {
      const mappings = loadPack(pack, undefined).registry?.mappings.length;
      for (const [what, more] of [
        ['first start', { NODE_DISABLE_COMPILE_CACHE: '1' }],
        ['later start', {}],
      ] as const) {
        const environment = { DATABASE_URL: `sqlite:${database}`, MAPPINGS: pack, DATA_DIR: folder, ...more };
        const starts: Start[] = [];
        for (let i = -1; i < ROUNDS; i++) {
          const made = await start(environment);
          if (i >= 0) starts.push(made);
        }
        const cpu = starts.flatMap(one => one.cpu ?? []);
        rows.push([
          `${mappings} mappings, ${what}`,
          seconds(median(starts.map(({ waited }) => waited))),
          cpu.length > 0 ? seconds(median(cpu)) : '',
        ]);
      }
    }
    printTable([`start to first answer, median of ${ROUNDS}`, 'time', 'CPU'], rows);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function smallerPack(folder: string): string {
  cpSync(DEMO, folder, { recursive: true });
  for (const name of LEFT_OUT) rmSync(join(folder, `${name}.yaml`));
  return folder;
}

async function start(environment: Readonly<Record<string, string>>): Promise<Start> {
  const begun = performance.now();
  const child = spawn(process.execPath, [...process.execArgv, PROGRAM, 'serve'], {
    env: { ...environment, PORT: '0', RELOAD_INTERVAL: '0', LOG_LEVEL: 'silent' },
    // What the smaller pack no longer uses is told there each time.
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let said = '';
  for await (const chunk of child.stdout) {
    said += chunk;
    if (said.includes('Stop with')) break;
  }
  const [base] = /http:\/\/\S+\/fhir\b/.exec(said) ?? [];
  if (base === undefined) throw new Error('The server does not start');
  const response = await fetch(`${base}/Patient?_count=1`);
  if (!response.ok) throw new Error(`The first answer is ${response.status}`);
  await response.text();
  const waited = performance.now() - begun;
  const cpu = cpuOf(child.pid ?? 0);
  child.kill('SIGTERM');
  await once(child, 'exit');
  return { waited, cpu };
}

/** https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html: utime and stime in ticks of 10 ms. */
function cpuOf(pid: number): number | undefined {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return undefined;
  const fields = readFileSync(file, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}
