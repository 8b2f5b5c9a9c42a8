/**
 * Runs before each test file of a mutation run: answers the questions of the mutants (mutants.ts) and writes the
 * events, line by line, into the journal of the run. After the first failed test, the other tests of the file are
 * skipped.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';

/**
 * Detects a mutant that makes a loop endless: maximum number of questions, as a multiple of the number without a
 * mutant.
 */
const LOOPING = 100;
const AT_LEAST = 100_000;

export interface Trial {
  /** Undefined: the unchanged code. */
  readonly mutant: string | undefined;
  readonly file: string;
  /** Number of questions in this file without a mutant. */
  readonly asked: number;
}

interface Task {
  readonly result?: { readonly state: string } | undefined;
  readonly tasks?: readonly Task[];
}

interface State {
  trial: Trial | undefined;
  isLoaded: boolean;
  begun: number;
  hasFailed: boolean;
  asked: number;
  readonly loading: Map<string, number>;
  readonly running: Map<string, number>;
  readonly killed: Set<string>;
  /** Files that killed a mutant, and have not passed without one since. */
  readonly killers: Set<string>;
  /** True if a mutant left something behind, so that the unchanged code fails: this process can try nothing more. */
  isSpoiled: boolean;
}

declare global {
  var mutant: (id: string) => boolean;
  var mutation: State;
  var tried: (trial: Trial) => boolean;
}

const journal = join(process.env['MUTATION_WORK'] ?? '', 'journal.jsonl');
const isDry = process.env['MUTATION_DRY'] === '1';

function writeLine(line: Readonly<Record<string, unknown>>): void {
  appendFileSync(journal, `${JSON.stringify(line)}\n`);
}

globalThis.mutation ??= {
  trial: undefined,
  isLoaded: false,
  begun: 0,
  hasFailed: false,
  asked: 0,
  loading: new Map(),
  running: new Map(),
  killed: new Set(),
  killers: new Set(),
  isSpoiled: false,
};
const state = globalThis.mutation;

globalThis.mutant = id => {
  if (isDry) {
    const counts = state.isLoaded ? state.running : state.loading;
    counts.set(id, (counts.get(id) ?? 0) + 1);
    return false;
  }
  if (id !== state.trial?.mutant) return false;
  state.asked++;
  if (state.asked > Math.max(AT_LEAST, state.trial.asked * LOOPING)) throw new RangeError('the mutant loops');
  return true;
};

/** Begins a trial; false if its result is known already. */
globalThis.tried = trial => {
  if (state.isSpoiled || (trial.mutant !== undefined && state.killed.has(trial.mutant))) return false;
  // Without a mutant, only files that killed one run again.
  if (trial.mutant === undefined && !state.killers.has(trial.file)) return false;
  state.trial = trial;
  // For the threads and child processes that start from now on (hook.ts).
  if (trial.mutant === undefined) delete process.env['MUTATION_TRIED'];
  else process.env['MUTATION_TRIED'] = trial.mutant;
  writeLine({ begun: trial });
  return true;
};

state.trial = undefined;
state.isLoaded = false;
state.begun = performance.now();
state.hasFailed = false;
state.asked = 0;
state.loading.clear();
state.running.clear();

beforeAll(() => {
  state.isLoaded = true;
});
beforeEach(({ skip }) => {
  if (state.hasFailed) skip();
});
afterEach(({ task }) => {
  if (hasFailed(task)) state.hasFailed = true;
});
// biome-ignore lint/correctness/noEmptyPattern: vitest takes nothing else where a hook uses no fixture
afterAll(({}, suite) => {
  const { trial, loading, running } = state;
  const isRed = hasFailed(suite);
  if (isDry) {
    const milliseconds = performance.now() - state.begun;
    writeLine({ ran: suite.file.filepath, isRed, milliseconds, loading: [...loading.keys()], running: [...running] });
  }
  if (trial === undefined) return;
  state.trial = undefined;
  delete process.env['MUTATION_TRIED'];
  if (trial.mutant === undefined) {
    state.killers.delete(trial.file);
    state.isSpoiled ||= isRed;
  } else if (isRed) {
    state.killed.add(trial.mutant);
    state.killers.add(trial.file);
  }
  writeLine({ ended: trial, isRed });
});

/** A test, or anything in a suite, including its hooks. */
function hasFailed(task: Task): boolean {
  return task.result?.state === 'fail' || (task.tasks ?? []).some(hasFailed);
}
