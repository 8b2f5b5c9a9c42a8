/**
 * Tells clients how to get a token: `.well-known/smart-configuration`, and the same in the CapabilityStatement.
 * https://hl7.org/fhir/smart-app-launch/STU2.2/conformance.html, https://hl7.org/fhir/R4/security.html
 */
import { Hono } from 'hono';
import type { HttpEnv } from '../context.ts';
import { SMART_CONFIGURATION } from '../public.ts';

/** How callers of a server that is not open get tokens. */
export interface Authorization {
  /**
   * The SMART configuration for apps; undefined if this server does not publish one. Rejects while the issuer does not
   * answer.
   */
  readonly configuration: (() => Promise<object>) | undefined;
  /**
   * Addresses of the authorization server that launches apps; undefined if there is none, or while it does not answer.
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

/** Serves the SMART configuration to any origin, without a token. */
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

/**
 * Adds to a CapabilityStatement how to get a token. https://hl7.org/fhir/R4/extension-oauth-uris.html `introspect` and
 * `revoke` are those of SMART 1.0; R4's definition lacks them, so HL7's validator reports them. The certification tests
 * require that they equal those of the SMART configuration.
 */
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
