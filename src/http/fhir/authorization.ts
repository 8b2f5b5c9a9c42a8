/**
 * Tells how a caller gets a token: `.well-known/smart-configuration`, and the same in the CapabilityStatement.
 * https://hl7.org/fhir/smart-app-launch/STU2.2/conformance.html, https://hl7.org/fhir/R4/security.html
 */
import { Hono } from 'hono';
import type { HttpEnv } from '../context.ts';
import { SMART_CONFIGURATION } from '../public.ts';

/** What a server that is not open knows of those who give tokens. */
export interface Authorization {
  /**
   * Of apps that are launched; undefined where this server does not tell it. Rejects while the issuer does not answer.
   */
  readonly configuration: (() => Promise<object>) | undefined;
  /**
   * Addresses of the authorization server that launches apps; undefined where none does, or while it does not answer.
   * `base`: address of this server.
   */
  endpoints(base: string): Promise<Endpoints | undefined>;
}

export interface Endpoints {
  readonly authorize: string;
  readonly token: string;
  readonly introspect?: string | undefined;
  readonly revoke?: string | undefined;
  readonly register?: string | undefined;
  readonly manage?: string | undefined;
}

/** Answers any origin, and needs no token. */
export function configurationRoute(configuration: () => Promise<object>): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();
  routes.get(SMART_CONFIGURATION, async c => {
    c.header('Access-Control-Allow-Origin', '*');
    return c.json(await configuration());
  });
  return routes;
}

const OAUTH_URIS = 'http://fhir-registry.smarthealthit.org/StructureDefinition/oauth-uris';
const SERVICES = 'http://terminology.hl7.org/CodeSystem/restful-security-service';

interface Statement {
  readonly rest?: readonly { readonly security?: object }[];
}

/** A CapabilityStatement that says how to get a token. https://hl7.org/fhir/R4/extension-oauth-uris.html */
export function withSecurity(statement: Statement, endpoints: Endpoints | undefined): object {
  const code = endpoints === undefined ? 'OAuth' : 'SMART-on-FHIR';
  const uris = Object.entries(endpoints ?? {}).flatMap(([url, valueUri]) => (valueUri ? [{ url, valueUri }] : []));
  const security = {
    ...(uris.length > 0 && { extension: [{ url: OAUTH_URIS, extension: uris }] }),
    service: [{ coding: [{ system: SERVICES, code }] }],
  };
  return {
    ...statement,
    rest: (statement.rest ?? []).map(one => ({ ...one, security: { ...security, ...one.security } })),
  };
}
