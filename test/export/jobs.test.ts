/** The life cycle of jobs over scripted threads: limits, expiry, clocks, pause, failure, restart. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { NEW_PART, type Part, type PartState } from '../../src/export/job.ts';
import { type JobOrigin, type Jobs, type JobsOptions, openJobs } from '../../src/export/jobs.ts';
import { progressText } from '../../src/export/manifest.ts';
import { outputFile, replaceFile, writePart } from '../../src/export/store.ts';
import { TaskError, type Threads } from '../../src/export/threads.ts';
import { createLog } from '../../src/log.ts';
import { exportRequest } from './export-request.ts';

const ORIGIN: JobOrigin = {
  access: { kind: 'all', caller: 'ann' },
  base: 'http://127.0.0.1/fhir',
  url: 'http://127.0.0.1/fhir/$export',
};
const PART: Part = { number: 0, type: 'Observation', scope: 'all', content: 'resources', write: true, collect: [] };
const UNDERSTOOD = { request: exportRequest(), stages: { first: [PART], second: [] }, remarks: [] };
const WRITTEN: PartState = { ...NEW_PART, files: [{ lines: 1, bytes: 3 }], done: true, slice: 1 };

type Perform = (folder: string, stop: Int32Array) => Promise<PartState>;

const writes: Perform = async folder => {
  replaceFile(outputFile(folder, 0, 0), '{}\n');
  writePart(folder, 0, WRITTEN);
  return WRITTEN;
};

/** Waits until it is stopped. */
const hangs: Perform = async (_folder, stop) => {
  while (Atomics.load(stop, 0) === 0) await new Promise(resolve => setTimeout(resolve, 5));
  return NEW_PART;
};

function threadsThat(perform: Perform): Threads {
  return {
    async run(task) {
      if (task.kind !== 'part') return { kind: 'members' };
      return { kind: 'part', state: await perform(task.task.folder, task.task.stop) };
    },
    load: () => ({ running: 0, waiting: 0 }),
    async close() {},
  };
}

test('a stopping server ends its export threads before it unlocks the folder', async () => {
  const { open } = world();
  const ended = Promise.withResolvers<void>();
  let asked = false;
  const threads: Threads = {
    ...threadsThat(writes),
    close() {
      asked = true;
      return ended.promise;
    },
  };
  const jobs = open(writes, { threads });
  await jobs.settled(jobs.start(UNDERSTOOD, ORIGIN).job.id);
  const closing = jobs.close();
  await expect.poll(() => asked).toBe(true);
  expect(() => open(writes)).toThrow('The configuration has 1 problem');
  ended.resolve();
  await closing;
  open(writes);
});

function packOf(version: string): JobsOptions['pack'] {
  const none = { pack: undefined, codes: [], tables: [], mappings: [], ccds: undefined, lock: undefined };
  return () => ({ ...none, version, changed: 0 });
}

interface World {
  readonly root: string;
  open(perform: Perform, change?: Partial<JobsOptions>): Jobs;
}

function world(): World {
  const root = join(mkdtempSync(join(tmpdir(), 'lintel-')), 'export');
  onTestFinished(() => rmSync(join(root, '..'), { recursive: true, force: true }));
  return {
    root,
    open(perform, change = {}) {
      const jobs = openJobs({
        root,
        pack: packOf('v1'),
        threads: threadsThat(perform),
        limits: { jobs: 3, jobsPerClient: 2, bytes: 1e6, expiry: 60_000 },
        settings: { batch: 10, fileLines: 10, checkpoint: 0 },
        log: createLog({ level: 'silent', format: 'text' }),
        ...change,
      });
      onTestFinished(() => jobs.close());
      return jobs;
    },
  };
}

test('unfinished jobs are bounded per client and in total', async () => {
  const jobs = world().open(hangs);
  const first = jobs.start(UNDERSTOOD, ORIGIN);
  jobs.start(UNDERSTOOD, ORIGIN);
  expect(() => jobs.start(UNDERSTOOD, ORIGIN)).toThrow('Too many');
  jobs.start(UNDERSTOOD, { ...ORIGIN, access: { kind: 'all', caller: 'ben' } });
  expect(() => jobs.start(UNDERSTOOD, { ...ORIGIN, access: { kind: 'all', caller: 'cid' } })).toThrow('Too many');
  await jobs.remove('ann', first.job.id);
  jobs.start(UNDERSTOOD, { ...ORIGIN, access: { kind: 'all', caller: 'cid' } });
});

test('a client cannot see, pause, delete or download the job of another', async () => {
  const { open, root } = world();
  const jobs = open(writes);
  const { job } = jobs.start(UNDERSTOOD, ORIGIN);
  await jobs.settled(job.id);
  expect(jobs.view('ben', job.id)).toBeUndefined();
  expect(jobs.list('ben')).toEqual([]);
  expect(await jobs.pause('ben', job.id)).toBeUndefined();
  expect(jobs.resume('ben', job.id)).toBeUndefined();
  expect(await jobs.remove('ben', job.id)).toBe(false);
  expect(jobs.download('ben', job.id, '0-0')).toBeUndefined();
  expect(jobs.download('ann', job.id, '0-0')).toMatchObject({ path: outputFile(join(root, job.id), 0, 0) });
});

test('a paused job stays paused after a restart, until it is resumed', async () => {
  const { open } = world();
  const jobs = open(hangs);
  const { job } = jobs.start(UNDERSTOOD, ORIGIN);
  const paused = await jobs.pause('ann', job.id);
  expect(paused && progressText(paused)).toContain('paused');
  await jobs.close();
  const again = open(writes);
  await again.settled(job.id);
  expect(again.view('ann', job.id)?.job.status).toBe('paused');
  again.resume('ann', job.id);
  await again.settled(job.id);
  expect(again.view('ann', job.id)?.job.status).toBe('complete');
});

/** Ignores a stop until it is released, as a long statement does. */
function slow() {
  const { promise, resolve } = Promise.withResolvers<void>();
  let [atOnce, most] = [0, 0];
  const perform: Perform = async (folder, stop) => {
    most = Math.max(most, ++atOnce);
    await promise;
    atOnce--;
    return Atomics.load(stop, 0) === 0 ? writes(folder, stop) : NEW_PART;
  };
  return { perform, letGo: resolve, most: () => most };
}

test('pause, cancel and stop do not wait for a long statement', async () => {
  const { open, root } = world();
  const { perform, letGo } = slow();
  const jobs = open(perform, { timeLimit: 20 });
  const { job: first } = jobs.start(UNDERSTOOD, ORIGIN);
  const { job: second } = jobs.start(UNDERSTOOD, ORIGIN);
  expect((await jobs.pause('ann', first.id))?.job.status).toBe('paused');
  expect(await jobs.remove('ann', second.id)).toBe(true);
  expect(jobs.view('ann', second.id)).toBeUndefined();
  await jobs.close();
  expect(readdirSync(root).toSorted()).toEqual([first.id, second.id, 'lock'].toSorted());
  // It counts as cancelled, no matter when its files are removed.
  const again = open(writes);
  expect(again.list('ann').map(({ job }) => job.id)).toEqual([first.id]);
  expect(readdirSync(root).toSorted()).toEqual([first.id, 'lock'].toSorted());
  letGo();
});

test('the files of a job cancelled during a statement are removed once the statement ends', async () => {
  const { open, root } = world();
  const { perform, letGo } = slow();
  const jobs = open(perform, { timeLimit: 20 });
  const { job } = jobs.start(UNDERSTOOD, ORIGIN);
  await jobs.remove('ann', job.id);
  expect(await jobs.remove('ann', job.id)).toBe(false);
  letGo();
  await jobs.settled(job.id);
  await expect.poll(() => readdirSync(root)).toEqual(['lock']);
});

test('a job that resumes before its paused statement ends runs on one thread only', async () => {
  const { open } = world();
  const { perform, letGo, most } = slow();
  const jobs = open(perform, { timeLimit: 20 });
  const { job } = jobs.start(UNDERSTOOD, ORIGIN);
  for (let i = 0; i < 3; i++) {
    const pausing = jobs.pause('ann', job.id);
    expect(jobs.resume('ann', job.id)?.job.status).toBe('running');
    await pausing;
  }
  letGo();
  await jobs.settled(job.id);
  expect(jobs.view('ann', job.id)?.job.status).toBe('complete');
  expect(most()).toBe(1);
});

test('a job cancelled during a download does not return after a restart', async () => {
  const { open } = world();
  const jobs = open(writes);
  const { job } = jobs.start(UNDERSTOOD, ORIGIN);
  await jobs.settled(job.id);
  const download = jobs.download('ann', job.id, '0-0');
  expect(await jobs.remove('ann', job.id)).toBe(true);
  expect(existsSync(download?.path ?? '')).toBe(true);
  // The process ends before the client has received the whole file.
  await jobs.close();
  expect(open(writes).list('ann')).toEqual([]);
  expect(existsSync(download?.path ?? '')).toBe(false);
});

test('a running job resumes after a restart; a complete one stays complete', async () => {
  const { open } = world();
  const jobs = open(hangs);
  const { job } = jobs.start(UNDERSTOOD, ORIGIN);
  await jobs.close();
  const again = open(writes);
  await again.settled(job.id);
  expect(again.view('ann', job.id)?.job.status).toBe('complete');
  await again.close();
  expect(open(hangs).view('ann', job.id)?.job.status).toBe('complete');
});

test('files expire, but not while they are downloaded, and not because the clock jumps', async () => {
  const { open, root } = world();
  let now = 1_700_000_000_000;
  const limits = { jobs: 3, jobsPerClient: 2, bytes: 1e6, expiry: 150 };
  const jobs = open(writes, { limits, clock: () => now });
  const { job } = jobs.start(UNDERSTOOD, ORIGIN);
  await jobs.settled(job.id);
  now += 365 * 86_400_000;
  expect(jobs.view('ann', job.id)?.job.status).toBe('complete');
  now -= 730 * 86_400_000;
  const download = jobs.download('ann', job.id, '0-0');
  await new Promise(resolve => setTimeout(resolve, 300));
  expect(existsSync(download?.path ?? '')).toBe(true);
  download?.release();
  expect(jobs.view('ann', job.id)).toBeUndefined();
  expect(readdirSync(root)).toEqual(['lock']);
});

test('files survive a restart, also with the clock set back, for at most their lifetime', async () => {
  const { open } = world();
  const began = 1_700_000_000_000;
  const limits = { jobs: 3, jobsPerClient: 2, bytes: 1e6, expiry: 400 };
  const jobs = open(writes, { limits, clock: () => began });
  const { job } = jobs.start(UNDERSTOOD, ORIGIN);
  await jobs.settled(job.id);
  await jobs.close();
  const again = open(hangs, { limits, clock: () => began - 86_400_000 });
  expect(again.view('ann', job.id)?.job).toMatchObject({ status: 'complete', transactionTime: began });
  await new Promise(resolve => setTimeout(resolve, 500));
  expect(again.view('ann', job.id)).toBeUndefined();
});

test('a running job resumes with its original start time after a restart with another clock', async () => {
  const { open } = world();
  const jobs = open(hangs, { clock: () => 1_700_000_000_000 });
  const { job } = jobs.start(UNDERSTOOD, ORIGIN);
  await jobs.close();
  for (const jump of [-1e9, 1e9]) {
    const later = open(hangs, { clock: () => 1_700_000_000_000 + jump });
    expect(later.view('ann', job.id)?.job).toMatchObject({ status: 'running', transactionTime: 1_700_000_000_000 });
    await later.close();
  }
});

test('a job without disk space fails with a reason, its files are removed, and others continue', async () => {
  const { open, root } = world();
  let full = true;
  const jobs = open(async (folder, stop) => {
    if (!full) return writes(folder, stop);
    replaceFile(outputFile(folder, 0, 0), '{}\n');
    throw new TaskError('full', 'ENOSPC');
  });
  const { job } = jobs.start(UNDERSTOOD, ORIGIN);
  await jobs.settled(job.id);
  expect(jobs.view('ann', job.id)?.job).toMatchObject({
    status: 'failed',
    failure: expect.stringContaining('no space'),
  });
  expect(readdirSync(join(root, job.id))).toEqual(['job.json']);
  full = false;
  const next = jobs.start(UNDERSTOOD, ORIGIN);
  await jobs.settled(next.job.id);
  expect(jobs.view('ann', next.job.id)?.job.status).toBe('complete');
});

test('a thread that crashes is replaced; one that always crashes fails the job', async () => {
  const { open } = world();
  let crashes = 0;
  const jobs = open(async (folder, stop) => {
    if (crashes++ < 2) throw new TaskError('crashed', 'exit');
    return writes(folder, stop);
  });
  const { job } = jobs.start(UNDERSTOOD, ORIGIN);
  await jobs.settled(job.id);
  expect(jobs.view('ann', job.id)?.job.status).toBe('complete');
  crashes = -100;
  const next = jobs.start(UNDERSTOOD, ORIGIN);
  await jobs.settled(next.job.id);
  expect(jobs.view('ann', next.job.id)?.job.status).toBe('failed');
});

test('a job is not continued with other mappings after a restart', async () => {
  const { open } = world();
  const jobs = open(hangs);
  const { job } = jobs.start(UNDERSTOOD, ORIGIN);
  await jobs.close();
  const failed = open(writes, { pack: packOf('v2') }).view('ann', job.id)?.job;
  expect(failed).toMatchObject({ status: 'failed', failure: expect.stringContaining('mappings have changed') });
});

test.each([
  ['empty', ''],
  ['cut off', undefined],
  ['null', 'null'],
  ['of an earlier version', '{"id":"x"}'],
  ['of another form', `export-job/0 ${'0'.repeat(64)}\n{}`],
  ['changed by a character', 'x'],
])(
  'a job with a damaged record (%s) is reported as lost, its files are removed, others continue',
  async (what, text) => {
    const { open, root } = world();
    const jobs = open(writes);
    const [kept, hit] = [jobs.start(UNDERSTOOD, ORIGIN).job, jobs.start(UNDERSTOOD, ORIGIN).job];
    await Promise.all([kept, hit].map(({ id }) => jobs.settled(id)));
    await jobs.close();
    const file = join(root, hit.id, 'job.json');
    const before = readFileSync(file, 'utf8');
    writeFileSync(
      file,
      what === 'changed by a character' ? before.replace('ann', 'bob') : (text ?? before.slice(0, 200)),
    );
    // At the start that finds the fault, and at the next.
    for (let start = 0; start < 2; start++) {
      const after = open(writes);
      expect(after.list('ann').map(({ job }) => job.id)).toEqual([kept.id]);
      expect([after.isLost(hit.id), after.isLost(kept.id), after.isLost('0'.repeat(32))]).toEqual([true, false, false]);
      expect(readdirSync(join(root, hit.id))).toEqual(['job.json.damaged']);
      await after.close();
    }
    const later = open(writes, { clock: () => Date.now() + 1e12 });
    expect(later.isLost(hit.id)).toBe(false);
    expect(existsSync(join(root, hit.id))).toBe(false);
  },
);

test.each(['', 'null', '{}'])('a job with a damaged part state fails, and its files are removed: %j', async text => {
  const { open, root } = world();
  const jobs = open(writes);
  const { id } = jobs.start(UNDERSTOOD, ORIGIN).job;
  await jobs.settled(id);
  await jobs.close();
  writeFileSync(join(root, id, 'part-0.json'), text);
  const again = open(writes);
  const failed = { status: 'failed', failure: expect.stringContaining('its saved state is damaged') };
  expect(again.view('ann', id)?.job).toMatchObject(failed);
  expect(readdirSync(join(root, id))).toEqual(['job.json']);
  await again.close();
  expect(open(writes).view('ann', id)?.job).toMatchObject(failed);
});

test('with a read-only folder no export starts, and the refusal says so', async () => {
  const { open, root } = world();
  const jobs = open(writes);
  writeFileSync(root, 'no folder');
  expect(() => jobs.start(UNDERSTOOD, ORIGIN)).toThrow(/The folder of the exports cannot be written \(E[A-Z]+\)/);
});

/** Collects the messages of a log. */
function logged(): { readonly lines: readonly string[]; readonly log: JobsOptions['log'] } {
  const lines: string[] = [];
  return { lines, log: createLog({ level: 'error', format: 'text', write: line => lines.push(line) }) };
}

/** Makes the record of a job a folder, so that it cannot be removed; returns what makes it removable. */
function hold(folder: string): () => void {
  rmSync(join(folder, 'job.json'));
  mkdirSync(join(folder, 'job.json'));
  return () => rmSync(join(folder, 'job.json'), { recursive: true });
}

test('a job that cannot be removed stays until it can, and the refusal says so', async () => {
  const { open, root } = world();
  const jobs = open(writes);
  const { id } = jobs.start(UNDERSTOOD, ORIGIN).job;
  await jobs.settled(id);
  const free = hold(join(root, id));
  await expect(jobs.remove('ann', id)).rejects.toThrow(/cannot be written \(.*\); the export was not removed/);
  expect(jobs.view('ann', id)?.job.status).toBe('complete');
  free();
  expect(await jobs.remove('ann', id)).toBe(true);
  expect(existsSync(join(root, id))).toBe(false);
});

test('an expired job that cannot be removed is found by nobody, and the server continues', async () => {
  const { open, root } = world();
  const { lines, log } = logged();
  const jobs = open(writes, { log, limits: { jobs: 3, jobsPerClient: 2, bytes: 1e6, expiry: 50 } });
  const { id } = jobs.start(UNDERSTOOD, ORIGIN).job;
  await jobs.settled(id);
  hold(join(root, id));
  await expect.poll(() => lines.join()).toContain('files of an export could not be removed');
  expect(jobs.list('ann')).toEqual([]);
  expect(lines).toHaveLength(1);
});

test('a folder that vanishes during an export ends the job, not the server', async () => {
  const { open, root } = world();
  const { lines, log } = logged();
  const jobs = open(
    async () => {
      renameSync(root, `${root}.away`);
      // Leads to itself: nothing below can be written or removed.
      symlinkSync(root, root);
      throw new Error('a file cannot be made');
    },
    { log },
  );
  const { id } = jobs.start(UNDERSTOOD, ORIGIN).job;
  await jobs.settled(id);
  expect(jobs.view('ann', id)?.job).toMatchObject({
    status: 'failed',
    failure: 'The export failed of an unexpected error; its files will be removed',
  });
  expect(lines.join()).toContain('files of an export could not be removed');
});

test('a job whose record cannot be written is neither paused nor resumed, and the refusal says so', async () => {
  const { open, root } = world();
  const jobs = open(hangs);
  const { id } = jobs.start(UNDERSTOOD, ORIGIN).job;
  const free = hold(join(root, id));
  await expect(jobs.pause('ann', id)).rejects.toThrow(/cannot be written \(.*\); it continues/);
  expect(jobs.view('ann', id)?.job.status).toBe('running');
  free();
  await jobs.pause('ann', id);
  hold(join(root, id));
  expect(() => jobs.resume('ann', id)).toThrow(/cannot be written \(.*\); it remains paused/);
  expect(jobs.view('ann', id)?.job.status).toBe('paused');
});
