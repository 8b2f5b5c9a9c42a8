/**
 * `lintel export`: writes resources to NDJSON files in a folder, with the jobs and threads of the server's export. Only
 * the threads load the mappings.
 */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { OPEN_ACCESS } from '../auth/access.ts';
import { makeFolder } from '../common/make-folder.ts';
import type { Config } from '../config/config.ts';
import { type ExportLevel, resourcesOf } from '../export/job.ts';
import type { JobOrigin, Jobs } from '../export/jobs.ts';
import { type JobView, shareOf } from '../export/manifest.ts';
import { exportThreads, openExports } from '../export/open.ts';
import type { UnderstoodRequest } from '../export/request.ts';
import { withSmallHeap } from '../export/small-heap.ts';
import { JOB_ID } from '../export/store.ts';
import type { RequestContext } from '../facade.ts';
import { createLog } from '../log.ts';
import { readPackFiles } from '../mapping/load/read/files.ts';
import { sqliteAddress } from '../sql/sqlite/engine.ts';
import { demoDatabase } from '../start/demo.ts';
import { stopSignal } from '../start/signals.ts';
import {
  type Arguments,
  type Command,
  configOf,
  DATABASE,
  MAPPINGS,
  printJson,
  SCHEMA,
  type Terminal,
} from './command.ts';
import { placeExport } from './export-files.ts';
import { progressLine } from './progress.ts';

/** Folder within the target; removed once the export is complete. */
const UNFINISHED = '.unfinished';
const TICK_MILLISECONDS = 200;

const PARAMETERS = {
  type: '_type',
  since: '_since',
  until: '_until',
  filter: '_typeFilter',
  elements: '_elements',
  patient: 'patient',
} as const;

export const exportCommand: Command = {
  summary: 'writes resources into NDJSON files of a folder',
  help: `Usage: lintel export FOLDER [--type TYPES] [--since INSTANT] [--group ID | --patients] [options]

Writes all resources, one file or more per type, and manifest.json into FOLDER. The same command continues an export
that was interrupted, and replaces a complete one. Ctrl+C stops it; written files are kept.`,
  exits: ['complete', 'not complete, or some type or patient could not be exported'],
  options: {
    type: ['TYPES', 'resource types, with commas between'],
    since: ['INSTANT', 'only resources changed at or after this instant'],
    until: ['INSTANT', 'only resources changed at or before this instant'],
    filter: ['SEARCHES', 'searches like Observation?category=laboratory, with commas between'],
    elements: ['NAMES', 'elements, with or without their type'],
    patients: 'the compartments of all patients and the resources they refer to',
    group: ['ID', 'the same for the members of this group'],
    patient: ['IDS', 'only of these patients, with commas between'],
    json: 'prints one JSON object: complete, resources, files and errors',
    base: ['URL', 'base of absolute addresses in resources and manifest.json (default: BASE_URL and FHIR_PATH)'],
    ...DATABASE,
    ...MAPPINGS,
    ...SCHEMA,
  },
  positionals: [1, 1],
  async run(args, terminal) {
    const config = await withDatabase(configOf(args, terminal), terminal);
    const folder = args.positionals[0] ?? '';
    const context = contextOf(args, config);
    const files = readPackFiles(config.mappings, config.schema);
    const threads = exportThreads(config);
    try {
      const asked = { level: levelOf(args), parameters: parametersOf(args), context };
      const outcome = await withSmallHeap(() => threads.run({ kind: 'understand', files, ...asked }, () => {}));
      if (outcome.kind !== 'understood') return 1;
      const { understood, notes } = outcome;
      for (const text of notes) terminal.note(text);
      if (understood === undefined) return 1;
      makeFolder(folder);
      const log = createLog({ ...config.log, level: 'error' });
      const jobs = openExports(config, () => files, log, { root: join(folder, UNFINISHED), threads });
      try {
        const request = { access: context.access, base: context.base, url: requestUrl(asked) };
        const id = await begin(jobs, understood, request, terminal);
        return await follow(jobs, id, { folder, json: args.json }, terminal);
      } finally {
        await jobs.close();
      }
    } finally {
      await threads.close();
    }
  },
};

/** Builds the demo's database here, so that progress can be shown. */
async function withDatabase(config: Config, { note }: Terminal): Promise<Config> {
  if (config.database) return config;
  return { ...config, database: sqliteAddress(await demoDatabase(config.dataDir, note)) };
}

/** The export that the options request. */
interface Asked {
  readonly level: ExportLevel;
  readonly parameters: readonly (readonly [name: string, value: string])[];
  readonly context: RequestContext;
}

/** Starts a job, or continues one for the same request; resolves to its id. */
async function begin(
  jobs: Jobs,
  understood: UnderstoodRequest,
  origin: JobOrigin,
  { note }: Terminal,
): Promise<string> {
  const { caller } = origin.access;
  const asked = JSON.stringify(understood.request);
  for (const { job } of jobs.list(caller)) if (job.status === 'failed') await jobs.remove(caller, job.id);
  // A complete job was interrupted before its files were moved.
  const same = jobs.list(caller).find(({ job }) => JSON.stringify(job.request) === asked);
  if (same) note('Continuing an export that was interrupted.');
  return (same ?? jobs.start(understood, origin)).job.id;
}

/** Returns the URL of the equivalent HTTP request, which the manifest names. */
function requestUrl({ level, parameters, context }: Asked): string {
  const path = { system: '', patient: '/Patient', group: `/Group/${level.kind === 'group' ? level.id : ''}` }[
    level.kind
  ];
  const query = new URLSearchParams(parameters.map(([name, value]) => [name, value])).toString();
  return `${context.base}${path}/$export${query === '' ? '' : `?${query}`}`;
}

function parametersOf(args: Arguments): readonly (readonly [name: string, value: string])[] {
  return Object.entries(PARAMETERS).flatMap(([option, name]) => {
    const text = args.text(option);
    return text === undefined ? [] : [[name, text] as const];
  });
}

function levelOf(args: Arguments): ExportLevel {
  const group = args.text('group');
  if (group !== undefined) return { kind: 'group', id: group };
  return { kind: args.is('patients') || args.text('patient') !== undefined ? 'patient' : 'system' };
}

function contextOf(args: Arguments, config: Config): RequestContext {
  const base = args.text('base') ?? `${config.baseUrl ?? `http://${config.host}:${config.port}`}${config.fhirPath}`;
  return { access: OPEN_ACCESS, base: base.replace(/\/+$/, ''), handling: 'strict' };
}

interface Wanted {
  readonly folder: string;
  readonly json: boolean;
}

/** Shows progress until the job is over, then moves its files to their place. */
async function follow(jobs: Jobs, id: string, { folder, json }: Wanted, terminal: Terminal): Promise<number> {
  const { out, note } = terminal;
  const begun = performance.now();
  const view = (): JobView | undefined => jobs.view(OPEN_ACCESS.caller, id);
  const shown = ({ parts }: JobView) => ({ share: shareOf(parts), lines: resourcesIn(parts) });
  const before = view();
  const from = before && shown(before);
  let again = false;
  const show = (): void => {
    const now = view();
    if (!now) return;
    // On a terminal, overwrite the previous line.
    if (again && process.stderr.isTTY) process.stderr.write('\u001b[1A\u001b[2K');
    again = true;
    note(progressLine({ ...shown(now), elapsed: performance.now() - begun, ...(from && { from }) }));
  };
  const ticks = setInterval(show, process.stderr.isTTY ? TICK_MILLISECONDS : 10_000);
  await untilStopped(jobs.settled(id), () => jobs.close());
  clearInterval(ticks);
  const done = view();
  if (done?.job.status !== 'complete') {
    note(done?.job.failure ?? 'The export is not complete; the same command continues it.');
    if (json) printJson({ complete: false }, terminal);
    return 1;
  }
  show();
  const files = placeExport(done, join(folder, UNFINISHED, id), folder);
  const errors = done.errors.filter(({ severity }) => severity === 'error');
  for (const { diagnostics } of done.errors) note(diagnostics);
  await jobs.remove(OPEN_ACCESS.caller, id);
  if (!readdirSync(join(folder, UNFINISHED)).some(name => JOB_ID.test(name)))
    rmSync(join(folder, UNFINISHED), { recursive: true });
  if (json) printJson({ complete: true, resources: resourcesIn(done.parts), files, errors: errors.length }, terminal);
  else out(`${resourcesIn(done.parts)} resources in ${files} ${files === 1 ? 'file' : 'files'} of ${folder}`);
  return errors.length === 0 ? 0 : 1;
}

const resourcesIn = (parts: JobView['parts']): number => parts.reduce((sum, { state }) => sum + resourcesOf(state), 0);

/** Waits until the work is done, or until a signal has come and `stop` is done. */
async function untilStopped(work: Promise<void>, stop: () => Promise<void>): Promise<void> {
  const { signalled, forget } = stopSignal();
  try {
    await Promise.race([work, signalled.then(stop)]);
  } finally {
    forget();
  }
}
