/**
 * Runs the server's process: configuration → database → mappings → facade → HTTP, until SIGTERM or SIGINT drains it.
 */
import { unknownLogins, userFinder, userOfLogin, withLogins } from './access/logins.ts';
import { type Audit, openAudit } from './audit/audit.ts';
import { forwardAudit } from './audit/forward.ts';
import { openTrail, type Trail } from './audit/trail.ts';
import { whyUnreadable } from './auth/accounts.ts';
import { accessOfGrant } from './auth/granted.ts';
import { createMeters, perMinute } from './auth/meter.ts';
import type { PackAccess } from './auth/rules.ts';
import { endingAlso } from './auth/token.ts';
import { createAnswerCache } from './cache/answers.ts';
import { isLoopback } from './common/loopback.ts';
import { whyNotWritable } from './common/make-folder.ts';
import { type Config, ConfigError } from './config/config.ts';
import { exportThreads, openExports } from './export/open.ts';
import type { Answer } from './http/middleware/answer.ts';
import { createEntry } from './http/middleware/bearer.ts';
import { createPlaces } from './http/middleware/limits.ts';
import { createIntake } from './http/server/intake.ts';
import { refuseStarting } from './http/server/malformed.ts';
import { type Answers, listen } from './http/server/server.ts';
import { openTls } from './http/server/tls.ts';
import { createLog, describeError, type Log } from './log.ts';
import { problemLine } from './mapping/load/problem.ts';
import { createMetrics, type Metrics } from './observe/metrics.ts';
import { rememberProblems } from './observe/problems.ts';
import { type CountStatements, countStatements } from './observe/statements.ts';
import { lookAhead } from './plan/offers.ts';
import { logCustodian } from './reload/custodian.ts';
import { watchForms } from './reload/forms-watch.ts';
import { type LivePack, livePack, type Outcome, type SoundPack } from './reload/pack.ts';
import { readingsOf } from './reload/readings.ts';
import { type SchemaWatch, watchSchema } from './reload/schema-watch.ts';
import { type Version, versionOf } from './reload/version.ts';
import { type Watch, watchFolder } from './reload/watch.ts';
import { openEntrance } from './rest/start.ts';
import { type Database, DatabaseError } from './sql/database.ts';
import { DEMO_PEOPLE, DEMO_USER } from './start/demo.ts';
import { greeting } from './start/greeting.ts';
import { setUp } from './start/setup.ts';
import { stopSignal } from './start/signals.ts';
import { SOFTWARE_VERSION } from './start/version.ts';

/** Where a server writes messages for people; the log is separate. */
export interface Console {
  readonly out: (text: string) => void;
  readonly note: (text: string) => void;
}

export interface Running {
  /** The URL that it actually listens at. */
  readonly url: string;
  /** Checks the mappings on disk and the schema, and serves them if they have no errors. */
  reload(): Promise<Outcome>;
  /** Finishes the requests under way, then closes everything. */
  stop(): Promise<void>;
}

/** Starts a server. Undefined if the pack has errors: they are reported, and it is not served. */
export async function startServer(
  config: Config,
  console: Console,
  log: Log,
  metrics: Metrics = createMetrics(),
): Promise<Running | undefined> {
  const { database, ...checked } = await setUp(config, console.note);
  try {
    const { registry, problems } = checked.pack;
    for (const problem of problems) console.note(problemLine(problem));
    if (registry === undefined) {
      console.note('The mappings have errors and are not served; `npx lintel check` lists them again.');
      console.note(
        '`npx lintel serve --degraded` serves those that work, where the database is at fault for the others.',
      );
      await database.close();
      return undefined;
    }
    if (checked.pack.unserved) console.note(`Not served, for these errors: ${checked.pack.unserved.join(', ')}.`);
    return await serve({ ...checked, registry }, database, { config, console, log, metrics });
  } catch (error) {
    await database.close();
    throw error;
  }
}

const READABLE =
  'HOST: this server is reached from the network without TLS, so tokens can be intercepted. Set TLS_CERT and TLS_KEY, or let ' +
  'a proxy speak https and name its address as BASE_URL.';

/** True if tokens cross the network unencrypted. */
function isReadable({ host, tls, baseUrl, access }: Config): boolean {
  return access !== 'open' && !isLoopback(host) && tls === undefined && baseUrl?.startsWith('https:') !== true;
}

/**
 * Limits of concurrent answers, at most and at least, and of those that may wait, so that together they fit into
 * memory.
 */
const ANSWERS = { most: 200, least: 64, queue: 1000 } as const;

/** Likewise for batches, each of which may take 32 million characters. */
const BATCHES = { most: 4, least: 4, queue: 50 } as const;

/** Milliseconds that an answer waits for a slot; the rest of REQUEST_TIMEOUT is for making it. */
const QUEUED = 500;

/** Milliseconds that a client may stop reading an answer, in addition to the time that the answer may take. */
const TIME_LIMIT = 60_000;

/** Milliseconds between two checks of a schema that lacks something. */
const SCHEMA_PAUSE = 10_000;

/** Milliseconds between two checks whether rows still have the same form. */
const FORMS_PAUSE = 10_000;

/** Throws ConfigError if a setting names a login rule that the pack does not have. */
function refuseUnknownLogins(setting: string, rules: readonly string[], access: PackAccess): void {
  const unknown = unknownLogins(rules, access);
  if (unknown !== undefined) throw new ConfigError([`${setting}: ${unknown}`]);
}

interface Process {
  readonly config: Config;
  readonly console: Console;
  readonly log: Log;
  readonly metrics: Metrics;
}

async function serve(
  first: SoundPack,
  database: Database,
  { config, console, log: written, metrics }: Process,
): Promise<Running> {
  const { log, problems } = rememberProblems(written);
  const loginRules = config.login.issuer?.rules ?? [];
  refuseUnknownLogins('LOGIN_RULES', loginRules, first.access);
  const tls = config.tls && openTls(config.tls, log);
  if (isReadable(config)) console.note(READABLE);
  const schema: SchemaWatch = watchSchema({
    pause: SCHEMA_PAUSE,
    look: async () => ((await live.look()) !== 'later' && live.isWhole() ? 'whole' : 'lacking'),
  });
  const count: CountStatements = ended => {
    metrics.statements(ended);
    if (ended.outcome === 'missing') schema.missed();
  };
  const tallied = countStatements(database, count);
  const smart =
    config.access === 'smart' ? await (await import('./smart/start.ts')).startSmart(config, DEMO_PEOPLE) : undefined;
  // On a server that is not open, only users who are linked to a person of the database see anything.
  const demoUser = config.database === undefined && config.access !== 'open' ? DEMO_USER : undefined;
  const unreadable = whyUnreadable(config.accounts);
  if (unreadable !== undefined) console.note(unreadable);
  const entrance = await openEntrance(config, smart?.accounts, demoUser);
  // Counts versions of the mappings: new ones have other rules, so decisions on access are made again.
  let swaps = 0;
  const rules = (): PackAccess => pack.access;
  const issuers =
    config.access === 'jwt'
      ? (await import('./issuers/start.ts')).startIssuers(config, log, () => base + config.fhirPath)
      : undefined;
  refuseUnknownLogins('ACCESS_FILE, claims.login.rule', issuers?.loginRules ?? [], first.access);
  const verifier = smart?.tokens ?? issuers?.tokens;
  const timeLimit = config.timeout.request;
  const find = userFinder({ facade: () => live.current().facade, access: rules, timeLimit });
  const userOf = (name: string): Promise<string | undefined> => userOfLogin(find, loginRules, name);
  const tokens = verifier && endingAlso(withLogins(verifier, find), () => swaps);
  const entry = tokens && createEntry(tokens, grant => accessOfGrant(grant, rules()));
  const audit = config.audit && (await openAudit(config.audit, log));
  const trail = audit && (await openedTrail(audit, config, log));
  const forwarding =
    config.audit && trail && config.audit.sinks.length > 0
      ? forwardAudit({
          ...{ file: config.audit.file, sinks: config.audit.sinks, facade: trail.facade, log },
          ...{ base: `${config.baseUrl ?? 'http://localhost'}${config.fhirPath}`, version: SOFTWARE_VERSION },
          dataDir: config.dataDir,
        })
      : undefined;
  let pack = first;
  let stopping = false;
  /**
   * True once the authorization server is open. It opens at the address where this server listens, and looks up tokens.
   */
  let opened = smart === undefined;
  /** The server's base URL; known once it listens. */
  let base = config.baseUrl ?? '';
  const unwritable = whyNotWritable(config.dataDir);
  if (unwritable !== undefined) {
    console.note(
      `DATA_DIR: ${config.dataDir} cannot be written (${unwritable}), so bulk export is not offered. ` +
        'Name a folder that the user of this process may write.',
    );
  }
  const jobs =
    unwritable === undefined
      ? openExports(config, () => pack.files, log, { threads: exportThreads(config, count) })
      : undefined;
  const cache = config.cache.maxAge === 0 ? undefined : createAnswerCache<Answer>(config.cache);
  const wait = Math.min(QUEUED, config.timeout.request / 4);
  const admission = {
    answers: createPlaces({ ...ANSWERS, wait }),
    batches: createPlaces({ ...BATCHES, wait }),
  };
  const intake = createIntake();
  const { requestsPerMinute } = config;
  const rate = requestsPerMinute === 0 ? undefined : createMeters(perMinute(requestsPerMinute));
  const make = (next: SoundPack): Version => {
    const [refused, lacking] = [() => live.refused(), () => live.lacking()];
    const made = versionOf(next, {
      config,
      log,
      database: tallied,
      jobs,
      entrance,
      cache,
      metrics,
      admission,
      intake,
      rate,
      problems,
      audit,
      trail,
      refused,
      lacking,
      entry,
      authorization: issuers ?? smart,
      isAppOrigin: smart?.isOrigin,
    });
    pack = next;
    swaps++;
    const ahead = lookAhead(made.facade.offers, () => pack === next && !stopping);
    ahead.catch(error => log.error('what can be searched could not be looked at', describeError(error)));
    if (next.content !== undefined) void logCustodian(next.content, made.facade, log, config.timeout.request);
    return made;
  };
  const live: LivePack<Version> = livePack({
    folder: config.mappings,
    schema: config.schema,
    degraded: config.degraded,
    database,
    log,
    first,
    make,
    onOutcome(outcome, of) {
      if (of === 'files') metrics.reload(outcome);
      else metrics.schemaLook(outcome);
      if (!live.isWhole()) schema.lacking();
    },
  });
  if (!live.isWhole()) schema.lacking();
  const forms = watchForms({
    pause: FORMS_PAUSE,
    look: async () => {
      try {
        return (await database.formsChanged?.()) ?? false;
      } catch (error) {
        // Other code reports an unreachable database.
        if (!(error instanceof DatabaseError))
          log.error('how rows are written could not be looked at', describeError(error));
        return false;
      }
    },
    changed: () => live.again(),
  });
  database.onFormDisproved?.(forms.doubt);
  const served = () => ({ ...pack.registry, refused: live.refused() !== undefined, lacking: !live.isWhole() });
  for (const reading of readingsOf({ database, jobs, cache, admission, audit, forwarding, tls, served }))
    metrics.add(reading);
  // No request is answered with mappings that a row has shown to be wrong.
  const answers: Answers = {
    fetch(...request) {
      const settled = forms.settled();
      const answer = () => live.current().app.fetch(...request);
      return settled === undefined ? answer() : settled.then(answer);
    },
    hits: (request, response) =>
      forms.settled() === undefined && (live.current().app.hits?.(request, response) ?? false),
    isFull: () => admission.answers.isFull(),
    aside(request, response) {
      if (opened || request.url === '/health') return smart?.handle(request, response) ?? false;
      refuseStarting(response);
      return true;
    },
  };
  const { host, port, timeout } = config;
  const server = await listen(answers, {
    ...{ host, port, tls, drain: timeout.drain, idle: timeout.request + TIME_LIMIT },
    refused: metrics.refused,
    failed: error => log.error('unexpected error', describeError(error)),
    connections: {
      most: config.connections.max,
      perAddress: config.connections.perAddress,
      cutOff(bytes) {
        metrics.cutOff();
        log.warn('a client that reads no answers was disconnected', { bytes });
      },
      crowded: metrics.crowded,
    },
  });
  base = config.baseUrl ?? server.url;
  const { accounts, login } = entrance;
  const facade = () => live.current().facade;
  const toTry =
    issuers?.greeting ??
    (await smart?.open({ config, base, accounts, login, facade, rules, log, metrics, audit, userOf, rate }));
  opened = true;
  const watch = watchPack(config, live);
  console.out(greeting(base, config, live.current(), entrance.demo, toTry));
  return {
    url: server.url,
    reload: () => live.reload(true),
    async stop() {
      stopping = true;
      await Promise.all([watch?.stop(), schema.stop(), forms.stop()]);
      await server.close();
      smart?.close();
      await jobs?.close();
      await forwarding?.close();
      await trail?.close();
      await audit?.close();
      await database.close();
    },
  };
}

/** Opens the audit's store. Undefined if that fails, which only a best-effort audit tolerates. */
async function openedTrail(audit: Audit, config: Config, log: Log): Promise<Trail | undefined> {
  const { page, linkSecret } = config;
  const settings = { pageSize: page.size, pageMax: page.max, secret: linkSecret, softwareVersion: SOFTWARE_VERSION };
  try {
    return await openTrail(audit.file, settings);
  } catch (error) {
    if (config.audit?.mode === 'required') throw error;
    log.error('the audit cannot be read', describeError(error));
    return undefined;
  }
}

function watchPack({ mappings, reloadInterval }: Config, live: LivePack<Version>): Watch | undefined {
  if (reloadInterval === 0) return undefined;
  const changed = async () => ((await live.reload()) === 'later' ? 'later' : 'done');
  return watchFolder(mappings, { every: reloadInterval, changed });
}

/** Serves until a signal stops it; a second signal stops it at once. Resolves to the exit code. */
export async function runServer(config: Config, console: Console): Promise<number> {
  const log = createLog(config.log);
  // Node's own report would show the error's message, which may contain any data.
  process.once('uncaughtException', error => {
    log.error('uncaught error', describeError(error));
    process.exit(1);
  });
  const metrics = createMetrics();
  metrics.addProcess();
  const running = await startServer(config, console, log, metrics);
  if (running === undefined) return 1;
  const reload = (): void => void running.reload();
  process.on('SIGHUP', reload);
  const stop = stopSignal();
  log.info('stopping', { signal: await stop.signalled });
  await running.stop();
  stop.forget();
  process.off('SIGHUP', reload);
  return 0;
}
