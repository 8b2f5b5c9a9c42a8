/**
 * Mutation run: `npm run test:mutation -- [--folders plan,auth] [--sample 40] [--seed 1] [--tests plan,law]`. In:
 * folders of src, and the number of mutants to try of each. Out: the share that the tests notice, and the line of each
 * mutant that they do not. `--tests`: the folders or files of test to run, by default those about the folder. All
 * mutants are tried in one process, one after the other; survivors are tried again in a separate process without cached
 * results.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, globSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Random } from '../../fixtures/random.ts';
import { MSSQL_URL, ON_SERVER_ALONE } from '../../test/engines/url.ts';
import { type Mutant, mutantsOf } from './mutants.ts';
import type { Trial } from './setup.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const WORK = '.lintel/mutation';
const JOURNAL = join(ROOT, WORK, 'journal.jsonl');
const FOLDERS = 'access,auth,cache,export,plan,search';
/** Folders and files of test about a folder of src; by default the folder of the same name. */
const TESTS: Readonly<Record<string, readonly string[]>> = {
  auth: ['auth', 'access/glass'],
  search: ['search', 'plan'],
  smart: ['smart', 'conformance/smart*'],
};
/** Milliseconds without output after which a process counts as hung. */
const SILENT_MS = 900_000;

interface Covered {
  readonly file: string;
  readonly asked: number;
}

/** For the unchanged code. */
interface Coverage {
  /** Test files that reach a mutant, the quickest first. */
  readonly of: ReadonlyMap<string, readonly Covered[]>;
  /** Mutants that were reached while files were loaded. */
  readonly loading: ReadonlySet<string>;
}

type Line =
  | {
      readonly ran: string;
      readonly isRed: boolean;
      readonly milliseconds: number;
      readonly loading: readonly string[];
      readonly running: readonly (readonly [string, number])[];
    }
  /** Reached by a thread or a child process of the running test file. */
  | { readonly reached: string }
  | { readonly begun: Trial }
  | { readonly ended: Trial; readonly isRed: boolean };

const { values } = parseArgs({
  options: {
    folders: { type: 'string', default: FOLDERS },
    sample: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
    tests: { type: 'string' },
  },
});

mkdirSync(join(ROOT, WORK), { recursive: true });
for (const folder of values.folders.split(',')) await judge(folder, Number(values.sample), Number(values.seed));
rmSync(join(ROOT, WORK), { recursive: true });

async function judge(folder: string, sample: number, seed: number): Promise<void> {
  const source = `src/${folder}`;
  const all = globSync(`${source}/**/*.ts`, { cwd: ROOT })
    .toSorted()
    .flatMap(file => mutantsOf(file, readFileSync(join(ROOT, file), 'utf8')));
  const tests = values.tests?.split(',') ?? TESTS[folder] ?? [folder];
  const exclude = MSSQL_URL === undefined ? ON_SERVER_ALONE : [];
  const files = tests.flatMap(one =>
    globSync([`test/${one}/**/*.test.ts`, `test/${one}.test.ts`], { cwd: ROOT, exclude }).toSorted(),
  );
  const coverage = await coverageOf(source, files);
  const drawn = draw(
    all.filter(({ id }) => coverage.of.has(id) || !coverage.loading.has(id)),
    sample,
    seed,
  );
  const reached = drawn.filter(({ id }) => coverage.of.has(id));
  const killed = await killedOf(source, reached, coverage);
  for (const mutant of reached)
    if (!killed.has(mutant.id)) for (const id of await killedOf(source, [mutant], coverage)) killed.add(id);
  const score = ((100 * killed.size) / drawn.length).toFixed(0);
  console.log(
    `${source}: ${killed.size} of ${drawn.length} noticed (${score} %), drawn from ${all.length} by seed ${seed}`,
  );
  for (const { id, file, line, change } of drawn) {
    if (killed.has(id)) continue;
    console.log(`  ${file}:${line} ${change}${coverage.of.has(id) ? '' : ' (no test reaches it)'}`);
  }
}

function draw(mutants: readonly Mutant[], count: number, seed: number): readonly Mutant[] {
  const random = new Random(seed);
  const left = [...mutants];
  const drawn: Mutant[] = [];
  while (drawn.length < count && left.length > 0) drawn.push(...left.splice(random.int(0, left.length - 1), 1));
  return drawn;
}

/** Runs the tests on the unchanged code. Throws if one fails. */
async function coverageOf(source: string, files: readonly string[]): Promise<Coverage> {
  const of = new Map<string, { readonly file: string; readonly asked: number; readonly milliseconds: number }[]>();
  const loading = new Set<string>();
  const ran = new Set<string>();
  const elsewhere = new Set<string>();
  for (const line of await run(source, files, { MUTATION_DRY: '1' })) {
    if ('reached' in line) elsewhere.add(line.reached);
    if (!('ran' in line)) continue;
    const { milliseconds } = line;
    const file = line.ran.slice(ROOT.length + 1);
    ran.add(file);
    if (line.isRed) throw new Error(`${file} fails without a mutant`);
    for (const id of line.loading) loading.add(id);
    const reached = new Map(line.running);
    for (const id of elsewhere) reached.set(id, reached.get(id) ?? 0);
    elsewhere.clear();
    for (const [id, asked] of reached) of.set(id, [...(of.get(id) ?? []), { file, asked, milliseconds }]);
  }
  const silent = files.filter(file => !ran.has(file));
  if (silent.length > 0) throw new Error(`${silent.join(', ')} did not run: see ${WORK}/log.txt`);
  for (const files of of.values()) files.sort((a, b) => a.milliseconds - b.milliseconds);
  return { of, loading };
}

/** Returns the mutants that a test notices, or that keep a test from ending. */
async function killedOf(source: string, mutants: readonly Mutant[], { of }: Coverage): Promise<Set<string>> {
  const killed = new Set<string>();
  const done = new Set<string>();
  const trialsOf = ({ id }: Mutant): readonly Trial[] =>
    killed.has(id)
      ? []
      : (of.get(id) ?? []).map(({ file, asked }) => ({ mutant: id, file, asked })).filter(one => !done.has(key(one)));
  for (;;) {
    const trials = mutants.flatMap(trialsOf);
    if (trials.length === 0) return killed;
    // After each trial, the same file runs on the unchanged code, to show whether the mutant left something behind.
    const files = trials.flatMap(trial => [trial, { ...trial, mutant: undefined }]).map(written);
    const before = done.size;
    const open = new Map<string, string>();
    for (const line of await run(source, files, {})) {
      const trial = 'begun' in line ? line.begun : 'ended' in line ? line.ended : undefined;
      if (trial?.mutant === undefined) continue;
      done.add(key(trial));
      if ('begun' in line) open.set(key(trial), trial.mutant);
      else open.delete(key(trial));
      if ('ended' in line && line.isRed) killed.add(trial.mutant);
    }
    for (const mutant of open.values()) killed.add(mutant);
    if (done.size === before) throw new Error('the tests did not begin: run vitest on their folder');
  }
}

function key({ mutant, file }: Trial): string {
  return `${mutant} ${file}`;
}

/** A file that runs a test file under a mutant. */
function written(trial: Trial, number: number): string {
  const file = `${WORK}/${number}.test.ts`;
  const text = `import { test } from 'vitest';
if (globalThis.tried(${JSON.stringify(trial)})) await import('../../${trial.file}?${number}');
else test('known already', () => {});
`;
  writeFileSync(join(ROOT, file), text);
  return file;
}

/** Runs test files in one process, until it ends or is silent for too long. Out: its journal. */
async function run(source: string, files: readonly string[], more: NodeJS.ProcessEnv): Promise<readonly Line[]> {
  writeFileSync(join(ROOT, WORK, 'files.json'), JSON.stringify(files));
  writeFileSync(JOURNAL, '');
  const log = openSync(join(ROOT, WORK, 'log.txt'), 'w');
  const child = spawn(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', '--config', 'tools/mutation/vitest.config.ts', '--reporter', 'dot'],
    {
      cwd: ROOT,
      env: {
        ...process.env,
        ...more,
        MUTATION_FOLDER: source,
        MUTATION_WORK: join(ROOT, WORK),
        NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, 'hook.ts'))}`,
      },
      stdio: ['ignore', log, log],
      detached: true,
    },
  );
  const watch = setInterval(() => {
    if (Date.now() - statSync(JOURNAL).mtimeMs > SILENT_MS && child.pid !== undefined)
      process.kill(-child.pid, 'SIGKILL');
  }, 1000);
  await once(child, 'exit');
  clearInterval(watch);
  closeSync(log);
  return readFileSync(JOURNAL, 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as Line);
}
