/** Opens a workbench over a small clinic, without a port: requests go to its application. */
import { rmSync } from 'node:fs';
import { readConfig } from '../../src/config/config.ts';
import { printError } from '../../src/start/print-error.ts';
import { openDatabase } from '../../src/start/setup.ts';
import { createWorkbench } from '../../src/workbench/server/app.ts';
import { Desk } from '../../src/workbench/server/desk.ts';
import { keptClinic, type SmallClinic } from '../cli/small-clinic.ts';

const HOST = '127.0.0.1:4000';

export interface OpenedBench extends BenchOver {
  readonly clinic: SmallClinic;
}

export interface BenchOver {
  /** Path of the link, which has been used already. */
  readonly link: string;
  readonly base: string;
  readonly cookie: string;
  /** Output to the terminal. */
  readonly told: readonly string[];
  /** Sends a request like the page; `headers` replace its own, empty ones are removed. */
  ask(
    path: string,
    init?: { method?: string; body?: unknown; headers?: Record<string, string>; signal?: AbortSignal },
  ): Promise<Response>;
  /** Sends a request to the application, by its path below `/api/`. */
  post(path: string, body: unknown, signal?: AbortSignal): Promise<Response>;
  /** Returns the answer to one. Throws for another status than 200. */
  asked<T>(path: string, body: unknown): Promise<T>;
  close(): Promise<void>;
}

/** The clinic is removed when the bench is closed. */
export async function openBench(): Promise<OpenedBench> {
  const clinic = keptClinic();
  const bench = await openBenchOn(clinic.environment);
  return {
    ...{ ...bench, clinic },
    async close() {
      await bench.close();
      rmSync(clinic.folder, { recursive: true, force: true });
    },
  };
}

/**
 * The same over any database and pack. `timeLimit`: milliseconds for samples of rows, generous because no test may
 * depend on it.
 */
export async function openBenchOn(
  environment: Readonly<Record<string, string>>,
  timeLimit?: number,
): Promise<BenchOver> {
  const config = readConfig(environment, {});
  const database = await openDatabase(config, () => {});
  const bundle = { script: '', style: '' };
  const told: string[] = [];
  const bench = createWorkbench({
    ...{
      desk: new Desk(database, config),
      bundle,
      database: 'SQLite',
      ...(timeLimit === undefined ? {} : { timeLimit }),
    },
    failed: error => printError(error, text => told.push(text)),
  });
  const base = bench.link.slice(0, bench.link.indexOf('/open'));
  const entered = await bench.fetch(new Request(`http://${HOST}${bench.link}`, { headers: { Host: HOST } }));
  const [cookie = ''] = (entered.headers.get('Set-Cookie') ?? '').split(';');
  const ask: BenchOver['ask'] = async (path, { method = 'GET', body, headers = {}, signal } = {}) => {
    const all: Record<string, string> = {
      ...{ Host: HOST, Origin: `http://${HOST}`, 'Sec-Fetch-Site': 'same-origin', Cookie: cookie },
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    };
    const sent = Object.entries(all).filter(([, value]) => value !== '');
    return bench.fetch(
      new Request(`http://${HOST}${path}`, {
        ...{ method, headers: sent },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signal && { signal }),
      }),
    );
  };
  const post: BenchOver['post'] = (path, body, signal) =>
    ask(`${base}/api/${path}`, { method: 'POST', body, ...(signal && { signal }) });
  return {
    ...{ base, cookie, told, ask, post },
    link: bench.link,
    async asked<T>(path: string, body: unknown) {
      const response = await post(path, body);
      if (response.status !== 200) throw new Error(`${path} answers ${response.status}`);
      return (await response.json()) as T;
    },
    close: () => database.close(),
  };
}
