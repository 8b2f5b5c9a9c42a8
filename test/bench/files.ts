/**
 * `npm run bench -- files`: lists the files of src that the first search of a server executes, with the executed lines
 * of each, by V8's coverage from that request on. test/files-of-a-search.test.ts has the limit.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/log.ts';
import { startServer } from '../../src/main.ts';
import { printTable } from './table.ts';

const SEARCH = '/fhir/Observation?patient=Patient/1&code=8867-4';
/** The server is at rest after this number of consecutive idle looks; each look lasts LOOK milliseconds. */
const LOOKS = 4;
const LOOK = 25;
/** Maximum share of a look in which a server at rest works. */
const AT_REST = 0.1;
const SOURCE = fileURLToPath(new URL('../../src', import.meta.url));

/** Prints one row for each file; the last line is the count. */
export async function benchFiles(database: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lintel-'));
  process.once('exit', () => rmSync(folder, { recursive: true }));
  const environment = { DATABASE_URL: `sqlite:${database}`, DATA_DIR: folder, PORT: '0', RELOAD_INTERVAL: '0' };
  const config = readConfig(environment);
  const silent = { out: () => {}, note: () => {} };
  const server = await startServer(config, silent, createLog({ level: 'silent', format: 'json' }));
  if (server === undefined) throw new Error('The server does not start');
  await untilAtRest();
  const scripts = await covered(async () => {
    const answer = await fetch(server.url + SEARCH);
    const bundle = (await answer.json()) as { entry?: readonly unknown[] };
    if (!answer.ok || bundle.entry === undefined) throw new Error(`${SEARCH} finds nothing: ${answer.status}`);
  });
  await server.stop();
  const files = scripts
    .filter(({ url }) => url.startsWith('file:') && fileURLToPath(url).startsWith(SOURCE))
    .map(script => ({ name: relative(SOURCE, fileURLToPath(script.url)), ...linesOf(script) }))
    .filter(({ ran }) => ran > 0)
    .sort((a, b) => a.name.localeCompare(b.name));
  printTable(
    ['file of src', 'lines that ran', 'lines'],
    files.map(({ name, ran, lines }) => [name, String(ran), String(lines)]),
  );
  console.log(`${files.length} files, ${files.reduce((sum, { ran }) => sum + ran, 0)} lines: ${SEARCH}`);
}

/** Waits for the server's own work after its start: it examines what can be searched, some milliseconds at a time. */
async function untilAtRest(): Promise<void> {
  for (let quiet = 0; quiet < LOOKS; ) {
    const before = performance.eventLoopUtilization();
    await sleep(LOOK);
    quiet = performance.eventLoopUtilization(before).utilization < AT_REST ? quiet + 1 : 0;
  }
}

async function covered(run: () => Promise<void>): Promise<readonly Profiler.ScriptCoverage[]> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  await run();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  return result;
}

/** Lines inside functions that ran; what ran when a module was loaded does not count. */
function linesOf({ url, functions }: Profiler.ScriptCoverage): { readonly ran: number; readonly lines: number } {
  const text = readFileSync(fileURLToPath(url), 'utf8');
  const counted = new Uint8Array(text.length);
  // Inner ranges come after outer ones and overrule them.
  for (const { ranges, functionName, isBlockCoverage } of functions) {
    for (const { startOffset, endOffset, count } of ranges) {
      const module = functionName === '' && startOffset === 0 && isBlockCoverage !== undefined;
      counted.fill(module || count === 0 ? 0 : 1, startOffset, endOffset);
    }
  }
  const lines = text.split('\n');
  let offset = 0;
  let ran = 0;
  for (const line of lines) {
    const code = line.trim();
    if (code !== '' && !code.startsWith('//') && !code.startsWith('*') && !code.startsWith('/*')) {
      if (counted.subarray(offset, offset + line.length).includes(1)) ran++;
    }
    offset += line.length + 1;
  }
  return { ran, lines: lines.length - 1 };
}
