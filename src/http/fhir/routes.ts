/**
 * Serves the FHIR interface: read, search, capabilities, and 404 or 405 for the rest. Names no resource type.
 * https://hl7.org/fhir/R4/http.html
 */
import { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { Parameters, ResourceText } from '../../facade.ts';
import { timed } from '../../observe/statements.ts';
import { FhirError } from '../../outcome.ts';
import { type AppParts, type HttpContext, type HttpEnv, serverBase } from '../context.ts';
import {
  type Answer,
  answerOf,
  answerOfResource,
  answerWith,
  representationOf,
  versionOf,
} from '../middleware/answer.ts';
import { respondCached, respondWithResult } from '../middleware/answer-cache.ts';
import { wrongMethod } from '../middleware/methods.ts';
import { accepts, asksForFhir } from '../middleware/negotiate.ts';
import { formParameters, headerOf, lastOf, urlParameters } from '../middleware/request.ts';
import { withSecurity } from './authorization.ts';
import { ID, recordRoutes } from './record-routes.ts';
import { summaryRoutes } from './summary-routes.ts';
import { systemRoutes } from './system-routes.ts';

export function fhirRoutes(parts: AppParts): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();
  const single = singleRoutes(parts);
  routes.route('/', systemRoutes(parts, single));
  routes.route('/', single);
  return routes;
}

/** Returns the routes that a batch may use too. */
function singleRoutes(parts: AppParts): Hono<HttpEnv> {
  const types = new Set(parts.facade.offers.types);
  const routes = new Hono<HttpEnv>();

  /** Refuses unknown types with an error of their own, not as a wrong method. Names known types in the log. */
  const knownType = createMiddleware<HttpEnv>(async (c, next) => {
    const type = c.req.param('type') ?? '';
    if (type.startsWith('$')) throw noOperation();
    if (!types.has(type)) throw new FhirError('unknown-type', 'No such resource type here; [base]/metadata lists them');
    await next();
    c.set('route', c.req.routePath.replace(':type', type));
  });

  routes.route('/', recordRoutes(parts));
  routes.route('/', summaryRoutes(parts));
  routes.get('/metadata', c =>
    respondCached(c, parts, async ({ base }) => {
      const { facade, authorization } = parts;
      const statement = facade.capabilities({ base });
      const endpoints = await authorization?.endpoints(serverBase(c, parts));
      const complete = authorization === undefined ? statement : withSecurity(statement, endpoints);
      return answerOf(JSON.stringify(complete), representationOf(c, urlParameters(c)));
    }),
  );
  routes.get('/:type/:id/_history/:version', knownType, c => read(c, parts));
  for (const path of ['/_history', '/:type/_history', '/:type/:id/_history', '/:type/:id/_history/:version'])
    routes.all(path, () => {
      throw noVersions();
    });

  routes.get('/:type', knownType, c => search(c, parts, () => urlParameters(c)));
  routes.get('/:type/_search', knownType, c => search(c, parts, () => urlParameters(c)));
  routes.post('/:type/_search', knownType, c => search(c, parts, () => formParameters(c)));
  routes.get('/:type/:id', knownType, c => read(c, parts));
  routes.get('/:type/:id/:inner', knownType, c => searchCompartment(c, parts, () => urlParameters(c)));
  routes.post('/:type/:id/:inner/_search', knownType, c => searchCompartment(c, parts, () => formParameters(c)));

  routes.all('/metadata', wrongMethod('GET, HEAD'));
  routes.all('/:type', knownType, wrongMethod('GET, HEAD'));
  routes.all('/:type/_search', knownType, wrongMethod('GET, HEAD, POST'));
  routes.all('/:type/:id', knownType, wrongMethod('GET, HEAD'));
  routes.all('*', () => {
    throw new FhirError('unknown-address', 'Nothing is here; [base]/metadata says what this server offers');
  });
  return routes;
}

function noOperation(): FhirError {
  return new FhirError('unknown-operation', 'No such operation here; [base]/metadata lists them');
}

function noVersions(): FhirError {
  return new FhirError('no-history', 'Versions are not kept: a read shows the current data');
}

/** Reads a resource, or its current version, which ETag names, because clients keep it with the id and read by both. */
function read(c: HttpContext, parts: AppParts): Promise<Response> {
  return respondCached(c, parts, async context => {
    const type = c.req.param('type') ?? '';
    const id = c.req.param('id') ?? '';
    if (id.startsWith('$')) throw noOperation();
    const parameters = urlParameters(c);
    const resource = ID.test(id) ? await parts.facade.read(type, id, parameters, context) : undefined;
    if (resource === undefined) throw new FhirError('no-such-resource', `No ${type} has this id`);
    const version = c.req.param('version');
    if (version !== undefined && version !== versionOf(resource)) throw noVersions();
    const native = nativeContent(c, resource, parameters);
    if (native !== undefined) return native;
    const representation = representationOf(c, parameters);
    return timed(context, 'write', () => answerOfResource(resource, representation));
  });
}

/** Reads the parameters; not called if the answer is cached. */
type Read = () => Parameters | Promise<Parameters>;

function search(c: HttpContext, parts: AppParts, read: Read): Promise<Response> {
  const type = c.req.param('type') ?? '';
  return respondWithResult(c, parts, read, (parameters, context) => parts.facade.search({ type, parameters }, context));
}

function searchCompartment(c: HttpContext, parts: AppParts, read: Read): Promise<Response> {
  const { type: compartment = '', id = '', inner: type = '' } = c.req.param() as Readonly<Record<string, string>>;
  return respondWithResult(c, parts, read, (parameters, context) => {
    if (!ID.test(id)) throw new FhirError('no-such-resource', `No ${compartment} has this id`);
    if (type.startsWith('$')) throw noOperation();
    return parts.facade.searchCompartment({ compartment, id, type, parameters }, context);
  });
}

/** A media type that a header can hold: Node throws for other characters. */
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+( *;[\x20-\x7e]*)?$/;

/** The only type whose content R4 serves without the resource around it. */
const CONTENT_TYPE = 'Binary';

/**
 * Returns the content of a Binary if the client asks for no media type of FHIR; undefined if the resource itself has to
 * be sent. The content may come from anywhere: headers keep browsers from guessing its type and from running it.
 * https://hl7.org/fhir/R4/binary.html#rest
 */
export function nativeContent(c: HttpContext, resource: ResourceText, parameters: Parameters): Answer | undefined {
  const accept = headerOf(c, 'accept');
  if (resource.type !== CONTENT_TYPE || asksForFhir(lastOf(parameters, '_format'), accept)) return undefined;
  const { contentType, data }: { contentType?: string; data?: string } = JSON.parse(resource.json);
  if (contentType === undefined || data === undefined) return undefined;
  const [mediaType = ''] = contentType.split(';');
  if (!MEDIA_TYPE.test(contentType) || !accepts(mediaType.trim(), accept)) return undefined;
  return answerWith(Buffer.from(data, 'base64'), contentType, {
    headers: { 'Content-Security-Policy': "default-src 'none'; sandbox" },
  });
}
