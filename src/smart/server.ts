/**
 * Runs Lintel's own authorization server, in the process of the FHIR interface. In: configuration, accounts and
 * clients. Out: an answer to each request under `/auth` and for `.well-known/smart-configuration`, and a verifier of
 * the tokens that it issues.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { errors } from 'oidc-provider';
import type { Audit } from '../audit/audit.ts';
import type { Accounts } from '../auth/accounts.ts';
import type { Login } from '../auth/login.ts';
import type { Meters } from '../auth/meter.ts';
import { fresh, stampOf } from '../auth/private-file.ts';
import type { PackAccess } from '../auth/rules.ts';
import { networkOf } from '../auth/throttle.ts';
import type { Tokens } from '../auth/token.ts';
import { isLoopback } from '../common/loopback.ts';
import type { Config } from '../config/config.ts';
import type { Facade } from '../facade.ts';
import { describeError, type Log } from '../log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { openAppKeys } from './app-keys.ts';
import { appRoutes, loginRoutes } from './apps.ts';
import { chartsOf } from './charts.ts';
import { type Client, clientsOfFile, isOriginOf, joinClients } from './clients.ts';
import { DEMO_APP, demoApp } from './demo-app.ts';
import { ehrRoutes } from './ehr.ts';
import { interactionRoutes } from './interactions.ts';
import { issuerOf } from './issuer.ts';
import { CALLBACK, issuerRoutes } from './issuer-routes.ts';
import { type Keys, readKeys, rotateKeys } from './keys.ts';
import { launchRoutes } from './launches.ts';
import { wholeKeys, wholeStore } from './open-files.ts';
import { recordOfPage } from './page-records.ts';
import { errorPage, FORM_POLICY } from './pages.ts';
import { addressOf, type Hospital, type NodeEnv, type PageContext, pageOf, type SmartParts } from './parts.ts';
import { ownPaths, providerRoute, publishedPaths, publishedRoutes } from './paths.ts';
import { peopleOf, type UserOf } from './people.ts';
import { AUTH_PATH, createProvider, ROUTES } from './provider.ts';
import { isUnwritten, type Store, unwritten, WRITE_AGAIN } from './store.ts';
import { TEXTS } from './texts.ts';
import { answerByProvider } from './to-provider.ts';
import { tokensOf } from './tokens.ts';

export interface SmartOptions {
  readonly config: Pick<
    Config,
    'baseUrl' | 'fhirPath' | 'dataDir' | 'accounts' | 'corsOrigins' | 'hsts' | 'timeout' | 'privateJwks' | 'login'
  >;
  /** Absolute address of the server, without a trailing slash. */
  readonly base: string;
  readonly accounts: Accounts;
  readonly login: Login;
  /** Clients besides those of the file. */
  readonly clients: readonly Client[];
  /** True if the demo's app and its page that plays the EHR are served. */
  readonly playsEhr: boolean;
  readonly facade: () => Pick<Facade, 'search' | 'registry' | 'offers' | 'changed'>;
  /** Finds the user who logs in at the hospital's issuer, by the rules of the pack. */
  readonly userOf?: UserOf | undefined;
  /** Which user sees which patients. */
  readonly rules: () => PackAccess;
  /** Limit of logins begun per address; undefined: none. */
  readonly rate?: Meters | undefined;
  readonly log: Log;
  readonly audit?: Pick<Audit, 'write'> | undefined;
  readonly metrics?: Pick<Metrics, 'request'>;
}

export interface Smart {
  /** Answers a request for the authorization server; false: it is not one. */
  handle(request: IncomingMessage, response: ServerResponse): boolean;
  readonly tokens: Tokens;
  /** Origins of browser apps that are registered. */
  readonly isOrigin: (origin: string) => boolean;
  close(): void;
}

/** Files in DATA_DIR. */
export const FILES = { clients: 'clients.json', keys: 'keys.json' } as const;

/** Milliseconds between two checks of accounts and clients: at most so long a disabled one keeps its access. */
const LOOK = 1000;
/** Checks between two sweeps of expired entries. */
const SWEEP = 60;
/** Maximum bytes of a form. */
const LONGEST_BODY = 64 * 1024;

/** Opens its files, and makes keys if there are none. Throws the system's errors. */
export async function openSmart(options: SmartOptions): Promise<Smart> {
  const { config, base, log } = options;
  const issuer = base + AUTH_PATH;
  const fhirBase = base + config.fhirPath;
  const clientFile = join(config.dataDir, FILES.clients);
  const clients = joinClients(
    options.clients,
    clientsOfFile(clientFile, error =>
      log.error('the file of clients cannot be read: its clients get no tokens', {
        file: clientFile,
        ...describeError(error),
      }),
    ),
  );
  const keyFile = join(config.dataDir, FILES.keys);
  let keys: Keys = wholeKeys(keyFile, log) ?? (await rotateKeys(keyFile));
  const store = wholeStore(config.dataDir, log);
  // Reports an unreadable file at the start, not at the first request.
  clients.all();
  const hospital = hospitalOf(options, issuer, fhirBase, store);
  const { accounts } = hospital?.people ?? options;
  const failed = (error: unknown): void => log.error('the authorization server failed', describeError(error));

  const appKeys = openAppKeys({
    privateHosts: config.privateJwks || isLoopback(new URL(base).hostname),
    failed: reason => log.warn('the keys of an app cannot be fetched', { reason }),
  });

  const provider = fresh(keyFile, () => {
    try {
      keys = readKeys(keyFile) ?? keys;
    } catch (error) {
      // The previous keys remain valid.
      failed(error);
    }
    return createProvider({
      ...{ issuer, fhirBase, store, keys, accounts, clients, appKeys, failed },
      isAudience: audienceOf(options, fhirBase),
      corsOrigins: config.corsOrigins,
      errorPage: ({ error, error_description: text }) => ({ html: errorPage(text ?? error), policy: FORM_POLICY }),
    });
  });
  provider();

  let changes = 0;
  let looks = 0;
  let isUnswept = false;
  let seen = '';
  const timer = setInterval(() => {
    try {
      const now = [clientFile, config.accounts].map(stampOf).join();
      if (now !== seen) changes++;
      seen = now;
      if (++looks % SWEEP === 0 || isUnswept) isUnswept = store.sweep();
    } catch (error) {
      if (!isUnwritten(error)) failed(error);
    }
  }, LOOK).unref();
  const tokens = tokensOf({ provider, fhirBase, store, accounts, clients, epoch: () => store.epoch() + changes });

  const chartsFor = { ...options, fhirBase, timeLimit: config.timeout.request };
  const charts = (c: PageContext) => chartsOf(chartsFor, addressOf(c));
  const record: SmartParts['record'] = async (c, { who, status, details = {}, patient }) => {
    const route = `${c.req.method} ${c.req.routePath}`;
    const more = new URLSearchParams(details).toString();
    const happened = { who, status, route, query: more === '' ? route : `${route}?${more}` };
    const patients = patient === undefined ? [] : [patient];
    const where = { address: addressOf(c), server: new URL(base).hostname, interaction: 'operation' } as const;
    await options.audit?.write(recordOfPage({ ...happened, ...where, patients })).catch(cause => {
      throw unwritten(cause);
    });
  };
  const parts: SmartParts = {
    ...{
      provider,
      issuer,
      fhirBase,
      store,
      accounts,
      clients,
      appKeys,
      charts,
      record,
      hospital,
      log,
      playsEhr: options.playsEhr,
    },
    login: config.login.passwords ? options.login : undefined,
    facade: options.facade,
  };
  const own = ownRoutes(parts, tokens, config.fhirPath, failed);
  const ownListener = getRequestListener(own.fetch);
  const isOwn = ownPaths(parts, config.fhirPath);

  return {
    tokens,
    isOrigin: origin => clients.all().some(client => isOriginOf(client, origin)),
    handle(request, response) {
      const { url = '' } = request;
      const [path = ''] = url.split('?', 1);
      const route = isOwn(path);
      if (route === undefined && !path.startsWith(`${AUTH_PATH}/`)) return false;
      prepare(request, response, new URL(base), config.hsts);
      logRequest(request, response, route ?? providerRoute(path), options);
      if (options.rate !== undefined && beginsLogin(request.method, route ?? path)) {
        const seconds = Math.ceil(options.rate(loginKey(request)).take() / 1000);
        if (seconds > 0) {
          refuseLogin(response, seconds);
          return true;
        }
      }
      if (route !== undefined) void ownListener(request, response);
      else
        answerByProvider(request, response, parts).catch(error => {
          failed(error);
          if (response.headersSent) response.destroy();
          else response.writeHead(500, { 'Content-Type': 'application/json' }).end('{"error":"server_error"}');
        });
      return true;
    },
    close() {
      clearInterval(timer);
      store.close();
    },
  };
}

/** True if a request makes the server store a login before anybody has authenticated. */
function beginsLogin(method: string | undefined, route: string): boolean {
  if (method === 'GET' || method === 'HEAD') return route === AUTH_PATH + ROUTES.authorization;
  return method === 'POST' && ISSUER_LOGINS.has(route);
}

const ISSUER_LOGINS: ReadonlySet<string> = new Set([
  `${AUTH_PATH}/login/issuer`,
  `${AUTH_PATH}/interaction/:uid/issuer`,
]);

/** Returns a key separate from that of requests without a token from the same address. */
function loginKey({ socket }: IncomingMessage): string {
  return `login ${networkOf(socket.remoteAddress ?? 'unknown')}`;
}

function refuseLogin(response: ServerResponse, seconds: number): void {
  response.setHeader('Content-Security-Policy', FORM_POLICY);
  response
    .writeHead(429, { 'Content-Type': 'text/html; charset=utf-8', 'Retry-After': String(seconds) })
    .end(errorPage(TEXTS.error.tooMany(seconds)));
}

/** Opens login at the hospital's issuer; undefined if none is configured. */
function hospitalOf(
  { config, accounts: own, userOf }: SmartOptions,
  issuer: string,
  fhirBase: string,
  store: Store,
): Hospital | undefined {
  const settings = config.login.issuer;
  return (
    settings && {
      issuer: issuerOf(settings, issuer + CALLBACK),
      people: peopleOf({ settings, store, own, fhirBase, userOf }),
    }
  );
}

/**
 * Returns a test for audiences. A server on loopback without BASE_URL answers to each loopback name, so an `aud` may
 * have any of them.
 */
function audienceOf({ config, base }: SmartOptions, fhirBase: string): (aud: string) => boolean {
  const { port, hostname } = new URL(base);
  const hasNames = config.baseUrl === undefined && isLoopback(hostname);
  return aud => {
    const bare = aud.replace(/\/$/, '');
    if (bare === fhirBase) return true;
    const url = hasNames ? URL.parse(bare) : null;
    return (
      url !== null && isLoopback(url.hostname) && url.port === port && url.href === `${url.origin}${config.fhirPath}`
    );
  };
}

function ownRoutes(
  parts: SmartParts,
  tokens: Tokens,
  fhirPath: string,
  failed: (error: unknown) => void,
): Hono<NodeEnv> {
  const app = new Hono<NodeEnv>();
  app.use(async (c, next) => {
    if (Number(c.req.header('content-length') ?? 0) > LONGEST_BODY || c.req.header('transfer-encoding') !== undefined)
      return c.json({ error: 'invalid_request' }, 413);
    return next();
  });
  const published = publishedPaths(fhirPath);
  app.route('/', publishedRoutes(parts, published));
  app.route(AUTH_PATH, issuerRoutes(parts));
  app.route(`${AUTH_PATH}/interaction`, interactionRoutes(parts));
  app.route(`${AUTH_PATH}/apps`, appRoutes(parts));
  app.route(`${AUTH_PATH}/login`, loginRoutes(parts));
  app.route(`${AUTH_PATH}/launch`, launchRoutes(parts, tokens));
  if (parts.playsEhr) {
    const { html, policy } = demoApp(fhirPath);
    app.route(`${AUTH_PATH}/ehr`, ehrRoutes(parts));
    app.get(DEMO_APP, c => {
      c.header('Content-Security-Policy', policy);
      return c.html(html);
    });
  }
  app.onError((error, c) => {
    const { incoming } = c.env;
    // The client disconnected before its form arrived: nothing has failed, and nobody waits for an answer.
    if (incoming.destroyed && !incoming.complete) return c.body(null, 400);
    if (isUnwritten(error)) {
      c.header('Retry-After', String(WRITE_AGAIN));
      return pageOf(c, errorPage(TEXTS.error.unwritten), 503);
    }
    if (error instanceof errors.OIDCProviderError) {
      const text = error instanceof errors.SessionNotFound ? TEXTS.error.expired : error.error_description;
      return pageOf(c, errorPage(text ?? error.error), error instanceof errors.AccessDenied ? 403 : 400);
    }
    failed(error);
    c.header('Content-Security-Policy', FORM_POLICY);
    return c.html(errorPage('server_error'), 500);
  });
  return app;
}

/** Sets the proxy headers to the server's own address, whatever the client sends, and the headers of every answer. */
function prepare(request: IncomingMessage, response: ServerResponse, base: URL, hsts: number): void {
  const { headers } = request;
  headers['x-forwarded-proto'] = base.protocol.slice(0, -1);
  headers['x-forwarded-host'] = base.host;
  delete headers['x-forwarded-for'];
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('X-Frame-Options', 'DENY');
  // With `no-referrer`, browsers would not say where a form comes from.
  response.setHeader('Referrer-Policy', 'same-origin');
  response.setHeader('Content-Security-Policy', "frame-ancestors 'none'");
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Pragma', 'no-cache');
  if (hsts > 0) response.setHeader('Strict-Transport-Security', `max-age=${hsts}`);
}

/** Logs and counts a request by its pattern, because the path may hold the id of a login. */
function logRequest(
  request: IncomingMessage,
  response: ServerResponse,
  route: string,
  { log, metrics }: SmartOptions,
): void {
  const begun = performance.now();
  response.once('finish', () => {
    const milliseconds = performance.now() - begun;
    const { method = '' } = request;
    metrics?.request(method, route, response.statusCode, milliseconds, NOTHING_SPENT);
    log.info('request', { method, route, status: response.statusCode, ms: Math.round(milliseconds * 100) / 100 });
  });
}

const NOTHING_SPENT = { stages: { parse: 0, plan: 0, sql: 0, write: 0 }, statements: 0 } as const;
