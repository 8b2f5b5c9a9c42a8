/** Makes a clinic for one test, with the whole server over it, reached by HTTP. */
import { afterAll, onTestFinished } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/log.ts';
import { startServer } from '../../src/main.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Clinic, makeClinic } from './clinic.ts';

/** A clinic, removed at the end of the test. */
export function clinic(people = 20, each = 3): Clinic {
  const folder = temporaryFolder();
  return makeClinic(folder, people, each);
}

export interface Served {
  readonly fhir: string;
  readonly lines: readonly string[];
  stop(): Promise<void>;
}

/**
 * Called at the top of a file: one server for all of its tests that change no rows and count no jobs. A start with its
 * first export takes a second of CPU.
 */
export function serverOfFile(): () => Promise<Served> {
  let made: Promise<Served> | undefined;
  let remove = (): void => {};
  afterAll(async () => {
    await (await made)?.stop();
    made = undefined;
    remove();
  });
  const folder = (): string =>
    temporaryFolder(removing => {
      remove = removing;
    });
  return () => {
    made ??= served(makeClinic(folder(), 20, 3), { EXPORT_JOBS_PER_CLIENT: '100' }, () => {});
    return made;
  };
}

/** The server of a clinic; stopped at the end of the test. */
export async function served(
  where: Pick<Clinic, 'environment'>,
  more: Readonly<Record<string, string>> = {},
  atEnd: (stop: () => Promise<void>) => void = onTestFinished,
): Promise<Served> {
  const lines: string[] = [];
  const running = await startServer(
    readConfig({ ...where.environment, ...more }),
    { out: () => {}, note: text => lines.push(text) },
    createLog({ level: 'debug', format: 'json', write: line => lines.push(line) }),
  );
  if (!running) throw new Error(lines.join('\n'));
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= running.stop();
    return stopped;
  };
  atEnd(stop);
  return { fhir: `${running.url}/fhir`, lines, stop };
}

export interface Manifest {
  readonly transactionTime: string;
  readonly request: string;
  readonly requiresAccessToken: boolean;
  readonly output: readonly { readonly type: string; readonly url: string; readonly count: number }[];
  readonly deleted: Manifest['output'];
  readonly error: readonly { readonly type: string; readonly url: string }[];
}

export const ASYNC = { prefer: 'respond-async', accept: 'application/fhir+json' };

/** Unsupported parameters are ignored. */
export const LENIENT = { ...ASYNC, prefer: 'respond-async, handling=lenient' };

/** Kicks off, and returns the URL to poll. */
export async function kickOff(url: string, init: RequestInit = {}): Promise<string> {
  const response = await fetch(url, { ...init, headers: { ...ASYNC, ...init.headers } });
  if (response.status !== 202) throw new Error(`${response.status} ${await response.text()}`);
  return response.headers.get('content-location') ?? '';
}

/** Polls until the manifest is there. */
export async function finished(poll: string): Promise<Manifest> {
  const response = await ended(poll);
  if (response.status !== 200) throw new Error(`${response.status}`);
  return (await response.json()) as Manifest;
}

/** Polls until the job has ended, at the pace of Retry-After. */
export async function ended(poll: string): Promise<Response> {
  for (;;) {
    const response = await fetch(poll);
    if (response.status !== 202 && response.status !== 429) return response;
    await response.arrayBuffer();
    await new Promise(resolve => setTimeout(resolve, 150));
  }
}

/** `Type/id` of every resource in the files, in order. */
export async function contents(manifest: Manifest): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { url, type, count } of manifest.output) {
    const lines = (await (await fetch(url)).text()).split('\n');
    if (lines.pop() !== '' || lines.length !== count) throw new Error(`${type}: torn or miscounted`);
    for (const line of lines) {
      const resource = JSON.parse(line) as { resourceType: string; id: string };
      if (resource.resourceType !== type) throw new Error(`${resource.resourceType} among ${type}`);
      found.push(`${type}/${resource.id}`);
    }
  }
  return found;
}
