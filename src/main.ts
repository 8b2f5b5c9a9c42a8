/**
 * The server's process: configuration → database → mappings → facade → HTTP, until SIGTERM or SIGINT drains it.
 */
import { once } from 'node:events';
import { type Config, ConfigError, readConfig } from './config.ts';
import { openExports } from './export/open.ts';
import type { Facade } from './facade.ts';
import { createApp } from './http/app.ts';
import { offeredTypes, sampleRequests } from './http/samples.ts';
import { listen } from './http/server.ts';
import { createLog, describeError, type Log } from './log.ts';
import { formatProblem } from './mapping/load/problem.ts';
import type { Registry } from './mapping/model.ts';
import { type DemoAccount, type StartedRest, startRest } from './rest/start.ts';
import { facadeOf, SOFTWARE_VERSION, setUp } from './setup.ts';
import { DatabaseError } from './sql/database.ts';

/** Where a server says what a person should read; the log goes elsewhere. */
export interface Console {
  readonly out: (text: string) => void;
  readonly note: (text: string) => void;
}

export interface Running {
  /** As it really listens. */
  readonly url: string;
  /** Answers what is under way, then closes everything. */
  stop(): Promise<void>;
}

/** A pack with errors is not served: undefined, and every problem has been told. */
export async function startServer(config: Config, console: Console, log: Log): Promise<Running | undefined> {
  const { database, pack, content, changed } = await setUp(config, console.note);
  try {
    for (const problem of pack.problems) console.note(formatProblem(problem));
    if (pack.registry === undefined) {
      console.note('The mappings have errors and are not served; `npx lintel check` tells them again.');
      await database.close();
      return undefined;
    }
    const facade = facadeOf(pack.registry, database, changed, config);
    const rest = await startRest(config, facade, content, SOFTWARE_VERSION);
    const exports = openExports(config, pack.registry, log);
    const app = createApp({
      facade,
      exports: { jobs: exports, facade },
      served: {
        pack: {
          name: pack.registry.pack.name,
          title: pack.registry.pack.title,
          version: pack.registry.version,
        },
        mappings: pack.registry.mappings.length,
        warnings: pack.problems.map(formatProblem),
      },
      config,
      log,
      ping: () => database.ping(),
      rest: rest.parts,
    });
    const server = await listen(app, { host: config.host, port: config.port, drain: config.timeout.drain });
    console.out(greeting(config.baseUrl ?? server.url, config, pack.registry, facade, rest));
    return {
      url: server.url,
      async stop() {
        await server.close();
        await exports.close();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** What a person reads first: where everything is, and requests to try. */
function greeting(base: string, config: Config, registry: Registry, facade: Facade, rest: StartedRest): string {
  const fhir = base + config.fhirPath;
  const types = offeredTypes(facade.capabilities({ base: fhir }));
  return [
    `Lintel serves ${registry.pack.title}: ${types.length} resource types from ${registry.mappings.length} mappings.`,
    '',
    `  Start here   ${base}/`,
    `  FHIR base    ${fhir}`,
    ...(rest.parts === undefined ? [] : [`  REST base    ${base}${config.apiPath}`]),
    ...(rest.demo === undefined ? [] : [`  Log in as    ${demoText(rest.demo)}`]),
    '',
    'Try:',
    '',
    ...sampleRequests(fhir, types).map(({ url }) => `  curl '${url}'`),
    '',
    'Stop with Ctrl+C.',
  ].join('\n');
}

function demoText({ user, password }: DemoAccount): string {
  return password === undefined ? `${user}, with DEMO_PASSWORD` : `${user}, password ${password}`;
}

/** Serves until a signal says stop; a second one does not wait. Resolves to the exit code. */
export async function runServer(config: Config, console: Console): Promise<number> {
  const log = createLog(config.log);
  // Node's own report of such an error shows its message, which may hold anything.
  process.once('uncaughtException', error => {
    log.error('uncaught error', describeError(error));
    process.exit(1);
  });
  const running = await startServer(config, console, log);
  if (running === undefined) return 1;
  const [signal] = await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
  log.info('stopping', { signal: String(signal) });
  for (const again of ['SIGTERM', 'SIGINT'] as const) process.once(again, () => process.exit(1));
  await running.stop();
  return 0;
}

/** Tells an error that ends a process: what a person can mend in full, anything else without its message. */
export function tellError(error: unknown, { note }: Pick<Console, 'note'>): void {
  if (error instanceof ConfigError) {
    note([`${error.message}:`, ...error.problems.map(problem => `  ${problem}`)].join('\n'));
  } else if (error instanceof DatabaseError) {
    note(`The database: ${error.message}`);
  } else if (isSystemError(error)) {
    note(`The system refuses: ${error.message}`);
  } else {
    const { kind, at } = describeError(error);
    note(`Unexpected ${kind} at ${at}`);
  }
}

/** Of the file system or the network: a port that is taken, a folder that is not there. */
function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}

if (import.meta.main) {
  const console: Console = {
    out: text => process.stdout.write(`${text}\n`),
    note: text => process.stderr.write(`${text}\n`),
  };
  try {
    process.exitCode = await runServer(readConfig(), console);
  } catch (error) {
    tellError(error, console);
    process.exitCode = 1;
  }
}
