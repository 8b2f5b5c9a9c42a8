/**
 * Builds the HTTP application: the order in which a request passes through middleware and routes. It does not listen;
 * server.ts does, and tests call `createApp(…).request(…)`.
 */
import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { createMiddleware } from 'hono/factory';
import { secureHeaders } from 'hono/secure-headers';
import { type AppParts, fhirBase, type HttpEnv, serverBase } from './context.ts';
import { exportRoutes } from './export/routes.ts';
import { configurationRoute } from './fhir/authorization.ts';
import { fhirRoutes } from './fhir/routes.ts';
import { whyNoDocuments } from './fhir/summary-routes.ts';
import { auditAnswers } from './middleware/audit.ts';
import { type Entry, requireToken } from './middleware/bearer.ts';
import { breakGlass, GLASS, refuseGlass } from './middleware/break-glass.ts';
import { onError } from './middleware/errors.ts';
import { guardHost, limitTime, limitUrl } from './middleware/limits.ts';
import { limitRate } from './middleware/rate.ts';
import { refuse } from './middleware/refuse.ts';
import { pathOf } from './middleware/request.ts';
import { logRequests, requestId } from './middleware/request-log.ts';
import { EXPLAIN_PATH, explainRoutes } from './pages/explain-page.ts';
import { homeRoutes } from './pages/home.ts';
import { searchRoutes } from './pages/search-page.ts';
import { isPublic } from './public.ts';
import { onRestError } from './rest/errors.ts';
import { restRoutes } from './rest/routes.ts';
import { rememberAnswers } from './server/cache-hits.ts';
import { closeHalfRead, createIntake, receiveBody } from './server/intake.ts';
import { metricsRoutes, probeRoutes } from './server/probes.ts';

const SECURE_HEADERS = { xFrameOptions: 'DENY', xDownloadOptions: false, xDnsPrefetchControl: false } as const;

export function createApp(parts: AppParts): Hono<HttpEnv> {
  const { config } = parts;
  const { configuration } = parts.authorization ?? {};
  const isOpenToAll = isPublic(config.fhirPath, configuration !== undefined);
  const app = new Hono<HttpEnv>({ getPath: pathOf });

  app.use(closeHalfRead);
  app.use(requestId);
  app.use(logRequests(parts));
  if (parts.answers !== undefined) app.use(rememberAnswers(parts));
  const strictTransportSecurity = config.hsts > 0 && `max-age=${config.hsts}`;
  app.use(secureHeaders({ ...SECURE_HEADERS, strictTransportSecurity }));
  app.route('/', probeRoutes(parts));

  app.use(`${config.apiPath}/*`, markAsRest);
  if (parts.audit !== undefined) {
    const audited = auditAnswers(parts, parts.audit, isOpenToAll);
    for (const path of [`${config.fhirPath}/*`, `${config.apiPath}/*`, EXPLAIN_PATH]) app.use(path, audited);
  }
  app.use(guardHost(parts));
  app.use(limitUrl);
  const { isAppOrigin } = parts;
  if (config.corsOrigins.length > 0 || isAppOrigin !== undefined)
    app.use(`${config.fhirPath}/*`, crossOrigin(config.corsOrigins, isAppOrigin));
  app.use(describeResponse);
  app.use(setPlace(parts));
  if (config.access !== 'open')
    for (const path of [`${config.fhirPath}/*`, EXPLAIN_PATH]) app.use(path, requireToken(entryOf(parts), isOpenToAll));
  if (parts.rate !== undefined)
    for (const path of [`${config.fhirPath}/*`, EXPLAIN_PATH]) app.use(path, limitRate(parts.rate));
  const takesGlass = (path: string): boolean =>
    [config.fhirPath, config.apiPath].some(base => path.startsWith(`${base}/`) || path === base) && !isOpenToAll(path);
  app.use(refuseGlass(takesGlass));
  app.use(`${config.fhirPath}/*`, breakGlass(parts));
  app.use(receiveBody(parts.intake ?? createIntake()));
  app.use(limitTime(parts));

  app.route('/', homeRoutes(parts));
  app.route('/', searchRoutes(parts));
  if (parts.explain !== undefined) app.route('/', explainRoutes(parts, parts.explain));
  if (parts.metrics !== undefined) app.route('/', metricsRoutes(parts.metrics));
  if (parts.exports !== undefined) app.route(config.fhirPath, exportRoutes(parts, parts.exports));
  if (configuration !== undefined) app.route(config.fhirPath, configurationRoute(configuration));
  app.route(config.fhirPath, fhirRoutes(parts));
  if (parts.rest !== undefined) app.route(config.apiPath, restRoutes(parts, parts.rest));

  const nothing = `Nothing is here; FHIR is at ${config.fhirPath}`;
  app.notFound(c => refuse(c, 404, 'unknown-address', c.get('rest') === true ? whyNoRest(parts) : nothing));
  const [asFhir, asRest] = [onError(parts), onRestError(parts)];
  app.onError((error, c) => (c.get('rest') === true ? asRest(error, c) : asFhir(error, c)));
  return app;
}

/** Tells a caller why the REST interface is not offered, or that it has no such call. */
function whyNoRest({ rest, summary, served, config }: AppParts): string {
  if (rest !== undefined) return `Nothing is here; docs/ccds-documents.md has the calls of ${config.apiPath}`;
  if (summary === undefined) return `The REST interface is not offered. ${whyNoDocuments(served)}`;
  return 'The REST interface is not offered; lintel check says what the mappings of Patient and Encounter lack for it';
}

/** Throws RangeError if access is not open and nothing verifies tokens, because such a server would answer nobody. */
function entryOf({ entry }: AppParts): Entry {
  if (entry === undefined) throw new RangeError('ACCESS is not open, and no verifier of tokens is configured');
  return entry;
}

/** Allows browser apps of other origins (CORS). `isAppOrigin`: true if an app is registered at this origin. */
function crossOrigin(origins: readonly string[], isAppOrigin: (origin: string) => boolean = () => false) {
  const isAllowed = (origin: string): boolean => origins.includes(origin) || isAppOrigin(origin);
  return cors({
    origin: origins.includes('*') ? '*' : origin => (isAllowed(origin) ? origin : null),
    allowMethods: ['GET', 'HEAD', 'POST', 'DELETE'],
    exposeHeaders: [
      GLASS,
      'Cache-Status',
      'Content-Location',
      'ETag',
      'Last-Modified',
      'Retry-After',
      'Server-Timing',
      'X-Progress',
      'X-Request-Id',
      'X-Correlation-Id',
    ],
    maxAge: 600,
  });
}

/**
 * Sets `place`, which pages use for links to other answers. Only a caller who may see everything gets a link to the
 * SQL.
 */
function setPlace(parts: AppParts) {
  const { config } = parts;
  return createMiddleware<HttpEnv>(async (c, next) => {
    c.set('place', () => {
      const { pathname, search } = new URL(c.req.url);
      const server = serverBase(c, parts);
      const sees = config.access === 'open' ? 'all' : c.get('access')?.kind;
      const mayExplain = parts.explain !== undefined && sees === 'all';
      return {
        base: fhirBase(c, parts),
        self: server + pathname + (c.req.method === 'GET' ? search : ''),
        explain: mayExplain ? `${server}${EXPLAIN_PATH}` : undefined,
      };
    });
    await next();
  });
}

const markAsRest = createMiddleware<HttpEnv>(async (c, next) => {
  c.set('rest', true);
  await next();
});

/** Forbids caches on the way to store patients' data, and tells them that the representation depends on Accept. */
const describeResponse = createMiddleware<HttpEnv>(async (c, next) => {
  await next();
  // Not with `c.header`, which rebuilds the finished response.
  const { headers } = c.res;
  headers.set('Cache-Control', 'no-store');
  headers.append('Vary', 'Accept');
});
