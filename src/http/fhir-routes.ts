/**
 * The FHIR interface: read, search, capabilities, and 404 or 405 for the rest. No resource type is named here.
 * https://hl7.org/fhir/R4/http.html
 */
import { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { SearchRequest } from '../facade.ts';
import { FhirError } from '../outcome.ts';
import { nativeContent } from './binary.ts';
import { type AppParts, fhirBase, type HttpContext, type HttpEnv, requestContext } from './context.ts';
import { wrongMethod } from './methods.ts';
import { ID, recordRoutes } from './record-routes.ts';
import { formParameters, urlParameters } from './request-parameters.ts';
import { representationOf, respond, respondToRead } from './respond.ts';
import { offeredTypes } from './samples.ts';
import { systemRoutes } from './system-routes.ts';

export function fhirRoutes(parts: AppParts): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();
  const single = singleRoutes(parts);
  routes.route('/', systemRoutes(parts, single));
  routes.route('/', single);
  return routes;
}

/** Everything that a batch may ask for too. */
function singleRoutes(parts: AppParts): Hono<HttpEnv> {
  const types = new Set(offeredTypes(parts.facade.capabilities({ base: '' })).map(({ type }) => type));
  const routes = new Hono<HttpEnv>();

  /** Unknown types are told apart from wrong methods; known ones are named in the log. */
  const knownType = createMiddleware<HttpEnv>(async (c, next) => {
    const type = c.req.param('type') ?? '';
    if (!types.has(type)) throw new FhirError('not-found', 'No such resource type here; [base]/metadata lists them');
    await next();
    c.set('route', c.req.routePath.replace(':type', type));
  });

  routes.route('/', recordRoutes(parts));
  routes.get('/metadata', c => {
    const representation = representationOf(c, urlParameters(c));
    return respond(c, JSON.stringify(parts.facade.capabilities({ base: fhirBase(c, parts) })), representation);
  });
  routes.get('/:type', knownType, c => search(c, parts, urlParameters(c)));
  routes.get('/:type/_search', knownType, c => search(c, parts, urlParameters(c)));
  routes.post('/:type/_search', knownType, async c => search(c, parts, await formParameters(c)));
  routes.get('/:type/:id', knownType, c => read(c, parts));

  routes.all('/metadata', wrongMethod('GET, HEAD'));
  routes.all('/:type', knownType, wrongMethod('GET, HEAD'));
  routes.all('/:type/_search', knownType, wrongMethod('GET, HEAD, POST'));
  routes.all('/:type/:id', knownType, wrongMethod('GET, HEAD'));
  routes.all('*', () => {
    throw new FhirError('not-found', 'Nothing is here; [base]/metadata says what this server offers');
  });
  return routes;
}

async function read(c: HttpContext, parts: AppParts): Promise<Response> {
  const type = c.req.param('type') ?? '';
  const id = c.req.param('id') ?? '';
  const parameters = urlParameters(c);
  const resource = ID.test(id) ? await parts.facade.read(type, id, parameters, requestContext(c, parts)) : undefined;
  if (resource === undefined) throw new FhirError('not-found', `No ${type} has this id`);
  return nativeContent(c, resource, parameters) ?? respondToRead(c, resource, representationOf(c, parameters));
}

async function search(c: HttpContext, parts: AppParts, parameters: SearchRequest['parameters']): Promise<Response> {
  const representation = representationOf(c, parameters);
  const type = c.req.param('type') ?? '';
  const bundle = await parts.facade.search({ type, parameters }, requestContext(c, parts));
  return respond(c, bundle.json, representation);
}
