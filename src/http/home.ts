/**
 * `/`: what is here, for a person (HTML) or a program (JSON). In: what is mapped and the capabilities that follow from
 * it. Out: base URLs, types with live sample links, state of the mappings, requests to try.
 */
import { Hono } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import { type AppParts, fhirBase, type HttpContext, type HttpEnv, type Refused, serverBase } from './context.ts';
import { homePage } from './home-page.ts';
import { accepts } from './negotiate.ts';
import { type OfferedType, offeredTypes, type Sample, sampleRequests } from './samples.ts';

export interface Home {
  readonly pack: AppParts['served']['pack'];
  readonly mappings: number;
  readonly warnings: readonly string[];
  /** Absent while the files of the pack are what is served. */
  readonly refused?: Refused;
  /** Absent while the schema has what the mappings need. */
  readonly lacking?: Refused;
  readonly fhir: string;
  /** Absent where the pack has no documents. */
  readonly rest?: string;
  readonly types: readonly OfferedType[];
  readonly samples: readonly Sample[];
}

export function homeRoutes(parts: AppParts): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();
  routes.get('/', secureHeaders({ contentSecurityPolicy: PAGE_POLICY }), c => {
    const home = describeHome(c, parts);
    const accept = c.req.header('accept');
    if (accept === undefined || accept.trim() === '*/*' || !accepts('text/html', accept)) return c.json(home);
    return c.html(homePage(home));
  });
  return routes;
}

const PAGE_POLICY = {
  defaultSrc: ["'none'"],
  styleSrc: ["'unsafe-inline'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
};

/** Everything the page tells, without any patient's data. */
function describeHome(c: HttpContext, parts: AppParts): Home {
  const fhir = fhirBase(c, parts);
  const types = offeredTypes(parts.facade.capabilities({ base: fhir }));
  const { pack, mappings, warnings } = parts.served;
  const refused = parts.served.refused?.();
  const lacking = parts.served.lacking?.();
  return {
    pack,
    mappings,
    warnings,
    ...(refused === undefined ? {} : { refused }),
    ...(lacking === undefined ? {} : { lacking }),
    fhir,
    ...(parts.rest === undefined ? {} : { rest: `${serverBase(c, parts)}${parts.config.apiPath}` }),
    types,
    samples: sampleRequests(fhir, parts.facade),
  };
}
