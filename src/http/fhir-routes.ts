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
import { parseParameters, queryOf } from './parameters.ts';
import { representationOf, respond, respondToRead, respondWithOutcome } from './respond.ts';
import { offeredTypes } from './samples.ts';

/** https://hl7.org/fhir/R4/datatypes.html#id */
const ID = /^[A-Za-z0-9\-.]{1,64}$/;

const FORM = 'application/x-www-form-urlencoded';

export function fhirRoutes(parts: AppParts): Hono<HttpEnv> {
  const types = new Set(offeredTypes(parts.facade.capabilities({ base: '' })).map(({ type }) => type));
  const routes = new Hono<HttpEnv>();

  /** Unknown types are told apart from wrong methods; known ones are named in the log. */
  const knownType = createMiddleware<HttpEnv>(async (c, next) => {
    const type = c.req.param('type') ?? '';
    if (!types.has(type)) throw new FhirError('not-found', 'No such resource type here; [base]/metadata lists them');
    await next();
    c.set('route', c.req.routePath.replace(':type', type));
  });

  routes.get('/metadata', c => {
    const representation = representationOf(c, urlParameters(c));
    return respond(c, JSON.stringify(parts.facade.capabilities({ base: fhirBase(c, parts) })), representation);
  });
  routes.get('/:type', knownType, c => search(c, parts, urlParameters(c)));
  routes.get('/:type/_search', knownType, c => search(c, parts, urlParameters(c)));
  routes.post('/:type/_search', knownType, async c => {
    const body = await c.req.arrayBuffer();
    if (body.byteLength > 0 && mediaTypeOf(c) !== FORM) return wrongMediaType(c);
    return search(c, parts, [...urlParameters(c), ...formParameters(body)]);
  });
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

function wrongMethod(allow: string) {
  return async (c: HttpContext): Promise<Response> => {
    if (c.req.method === 'OPTIONS') return c.body(null, 204, { Allow: allow });
    const issue = {
      severity: 'error',
      code: 'not-supported',
      diagnostics: `This server only reads: ${allow}`,
    } as const;
    return respondWithOutcome(c, 405, [issue], { Allow: allow });
  };
}

function urlParameters(c: HttpContext): SearchRequest['parameters'] {
  return parseParameters(queryOf(c.req.url), 'query string');
}

function mediaTypeOf(c: HttpContext): string {
  const [mediaType = ''] = (c.req.header('content-type') ?? '').split(';');
  return mediaType.trim().toLowerCase();
}

function wrongMediaType(c: HttpContext): Promise<Response> {
  return respondWithOutcome(c, 415, [
    { severity: 'error', code: 'not-supported', diagnostics: `Content-Type: expected ${FORM}` },
  ]);
}

function formParameters(body: ArrayBuffer): SearchRequest['parameters'] {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new FhirError('invalid', 'The body is not UTF-8');
  }
  return parseParameters(text, 'body');
}
