/**
 * Makes the routes of operations that return patients' data, from the table of these operations. Each is called by GET,
 * or by POST with Parameters.
 * https://hl7.org/fhir/R4/operations.html
 */
import { Hono } from 'hono';
import type { Parameters } from '../../facade.ts';
import { FhirError } from '../../outcome.ts';
import type { AppParts, HttpContext, HttpEnv } from '../context.ts';
import { respondWithResult } from '../middleware/answer-cache.ts';
import { wrongMethod } from '../middleware/methods.ts';
import { urlParameters } from '../middleware/request.ts';
import { bodyParameters } from './resource-body.ts';

/** https://hl7.org/fhir/R4/datatypes.html#id */
export const ID = /^[A-Za-z0-9\-.]{1,64}$/;

export function recordRoutes(parts: AppParts): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();
  for (const operation of parts.facade.recordOperations) {
    const { code, level } = operation;
    for (const type of operation.types) {
      const ofInstance = `/${type}/:id/$${code}`;
      const ofType = `/${type}/$${code}`;
      const run = async (c: HttpContext, read: () => Parameters | Promise<Parameters>): Promise<Response> => {
        const route = c.req.routePath;
        const id = c.req.param('id');
        const response = await respondWithResult(c, parts, read, (parameters, context) => {
          if (id !== undefined && !ID.test(id)) throw new FhirError('no-such-resource', `No ${type} has this id`);
          return parts.facade.operate(operation, id, parameters, context);
        });
        c.set('route', route);
        return response;
      };
      const path = level === 'instance' ? ofInstance : ofType;
      routes.get(path, c => run(c, () => urlParameters(c)));
      routes.post(path, c => run(c, () => bodyParameters(c)));
      routes.all(path, wrongMethod('GET, HEAD, POST'));
      if (level === 'instance') routes.all(ofType, refused(type, code));
    }
  }
  return routes;
}

/** Refuses a call for all patients: `$export` does that, and writes files. */
function refused(type: string, code: string) {
  return (): never => {
    throw new FhirError('too-costly', `$${code} is called on one ${type}; [base]/${type}/$export has all of them`);
  };
}
