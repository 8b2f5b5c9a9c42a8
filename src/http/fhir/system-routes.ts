/**
 * Serves the base: searches over several types by GET or by POST to `_search`, and batches.
 * https://hl7.org/fhir/R4/http.html#search, https://hl7.org/fhir/R4/http.html#transaction
 */
import { Hono } from 'hono';
import type { Parameters } from '../../facade.ts';
import { FhirError } from '../../outcome.ts';
import { type AppParts, fhirBase, type HttpContext, type HttpEnv } from '../context.ts';
import { representationOf, respond } from '../middleware/answer.ts';
import { respondWithResult } from '../middleware/answer-cache.ts';
import { auditAnswers } from '../middleware/audit.ts';
import { onError } from '../middleware/errors.ts';
import { admitted } from '../middleware/limits.ts';
import { wrongMethod } from '../middleware/methods.ts';
import { limitRate } from '../middleware/rate.ts';
import { formParameters, pathOf, urlParameters } from '../middleware/request.ts';
import { answerBatch, type BatchRequest } from './batch.ts';
import { resourceBody } from './resource-body.ts';

/** Returns these routes. `single`: those of requests for one type, which a batch may hold as well. */
export function systemRoutes(parts: AppParts, single: Hono<HttpEnv>): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();
  const searches = searchRoutes(parts);
  const answer = oneByOne(parts, [searches, single]);
  routes.route('/', searches);
  routes.post('/', async c => {
    const representation = representationOf(c, urlParameters(c));
    const bundle = await resourceBody(c, 'Bundle');
    if (bundle === undefined) throw new FhirError('malformed-body', 'The body: expected a Bundle of type batch');
    const json = await admitted(parts.admission?.batches, c.get('signal'), () =>
      answerBatch(bundle, fhirBase(c, parts), request => answer(c, request)),
    );
    return respond(c, json, representation);
  });
  routes.all('/', wrongMethod('GET, HEAD, POST'));
  routes.all('/_search', wrongMethod('GET, HEAD, POST'));
  return routes;
}

/** Returns the routes of searches over several types. https://hl7.org/fhir/R4/search.html#searchcontexts */
function searchRoutes(parts: AppParts): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();
  const search = (c: HttpContext, read: () => Parameters | Promise<Parameters>): Promise<Response> =>
    respondWithResult(c, parts, read, (parameters, context) => {
      if (parameters.length === 0)
        throw new FhirError(
          'wrong-parameters',
          'A search over all types has parameters; [base]/metadata says what is offered',
        );
      return parts.facade.searchAll(parameters, context);
    });
  for (const path of ['/', '/_search']) {
    routes.use(path, async (c, next) => {
      await next();
      c.set('route', `[base]${path}`);
    });
    routes.get(path, c => search(c, () => urlParameters(c)));
  }
  routes.post('/_search', c => search(c, () => formParameters(c)));
  return routes;
}

/** Answers requests of a batch by the routes of single ones, within the time limit and under the id of the batch. */
function oneByOne(parts: AppParts, routes: readonly Hono<HttpEnv>[]) {
  const batches = new WeakMap<Request, HttpContext>();
  const app = new Hono<HttpEnv>({ getPath: pathOf });
  app.use(async (c, next) => {
    const batch = batches.get(c.req.raw);
    if (batch === undefined) throw new RangeError('a request of no batch');
    c.set('requestId', batch.get('requestId'));
    c.set('stages', batch.get('stages'));
    const access = batch.get('access');
    if (access !== undefined) c.set('access', access);
    const grant = batch.get('grant');
    if (grant !== undefined) c.set('grant', grant);
    const glass = batch.get('glass');
    if (glass !== undefined) c.set('glass', glass);
    const warning = batch.get('warning');
    if (warning !== undefined) c.set('warning', warning);
    c.set('batch', batch);
    c.set('signal', batch.get('signal'));
    c.set('timedOut', batch.get('timedOut'));
    await next();
  });
  if (parts.audit !== undefined) app.use(auditAnswers(parts, parts.audit));
  if (parts.rate !== undefined) app.use(limitRate(parts.rate));
  for (const one of routes) app.route('/', one);
  app.onError(onError(parts));
  return async (batch: HttpContext, { method, path, headers, body }: BatchRequest): Promise<Response> => {
    // The answer has to fit into a JSON Bundle, whatever format the request names.
    const url = `${new URL(batch.req.url).origin}/${path}${path.includes('?') ? '&' : '?'}_format=json`;
    const handling = batch.req.header('prefer');
    const request = new Request(url, {
      method,
      headers: { ...headers, ...(handling === undefined ? {} : { Prefer: handling }) },
      ...(body === undefined ? {} : { body }),
    });
    batches.set(request, batch);
    return app.fetch(request);
  };
}
