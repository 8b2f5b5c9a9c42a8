/**
 * Accepts launches that an EHR announces. In: `POST launch` by a trusted client, with patient, visit and person as
 * JSON. Out: the `launch` value that the app has to send, valid once and for ten minutes, and the address that starts
 * the app. https://hl7.org/fhir/smart-app-launch/STU2.2/app-launch.html (EHR launch)
 */
import { randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import { isFhirUser } from '../auth/accounts.ts';
import type { Tokens } from '../auth/token.ts';
import { ID } from './charts.ts';
import type { Client } from './clients.ts';
import type { Launch, LaunchContext } from './context.ts';
import { isFhirContext } from './fhir-context.ts';
import type { NodeEnv, SmartParts } from './parts.ts';
import { POST_LAUNCH } from './scopes.ts';
import type { Store } from './store.ts';

/** Seconds within which the app has to come, and the person to consent. */
const LIFETIME = 600;

/** Stores a launch for a client. */
export function announce(
  store: Store,
  client: Client,
  context: LaunchContext & Pick<Launch, 'user'>,
): { readonly launch: string; readonly expires: number } {
  const launch = randomBytes(24).toString('base64url');
  const expires = Math.floor(Date.now() / 1000) + LIFETIME;
  store.keep('Launch', launch, { ...context, client: client.id } satisfies Launch, { expires });
  return { launch, expires };
}

/** Returns the address that starts an app in a browser; undefined if the app has no launch address. */
export function launchAddress({ launchUrl }: Client, fhirBase: string, launch: string): string | undefined {
  if (launchUrl === undefined) return undefined;
  const url = new URL(launchUrl);
  url.searchParams.set('iss', fhirBase);
  url.searchParams.set('launch', launch);
  return url.href;
}

export function launchRoutes(parts: SmartParts, tokens: Tokens): Hono<NodeEnv> {
  const routes = new Hono<NodeEnv>();
  routes.post('/', async c => {
    c.header('Cache-Control', 'no-store');
    const token = /^Bearer +(\S{1,200})$/i.exec(c.req.header('authorization') ?? '')?.[1];
    const grant = token === undefined ? undefined : await tokens.grantOf(token, Date.now());
    if (grant === undefined) {
      c.header('WWW-Authenticate', 'Bearer realm="launch"');
      return c.json({ error: 'invalid_token', error_description: 'Expected an access token' }, 401);
    }
    if (!grant.scopes.includes(POST_LAUNCH))
      return c.json({ error: 'insufficient_scope', error_description: `Expected the scope ${POST_LAUNCH}` }, 403);
    const asked = launchOf(await c.req.json().catch(() => undefined));
    if ('problem' in asked) return c.json({ error: 'invalid_request', error_description: asked.problem }, 400);
    const { client: id, ...context } = asked;
    const client = parts.clients.find(id);
    if (client === undefined || client.disabled)
      return c.json({ error: 'invalid_request', error_description: 'client: there is no such client' }, 400);
    const { launch, expires } = announce(parts.store, client, context);
    const url = launchAddress(client, parts.fhirBase, launch);
    return c.json(
      { launch, expires: new Date(expires * 1000).toISOString(), ...(url === undefined ? {} : { url }) },
      201,
    );
  });
  return routes;
}

const FIELDS: Readonly<Record<string, { readonly fits: (value: unknown) => boolean; readonly expected: string }>> = {
  client: { fits: value => typeof value === 'string', expected: 'the id of a client' },
  patient: { fits: isText(ID), expected: 'the id of a patient' },
  encounter: { fits: isText(ID), expected: 'the id of an encounter' },
  user: { fits: value => typeof value === 'string' && isFhirUser(value), expected: 'a reference like Practitioner/7' },
  fhirContext: { fits: isFhirContext, expected: 'a list of references to other resources than Patient and Encounter' },
  intent: { fits: isText(/^[\w.:-]{1,64}$/), expected: 'one word' },
  needPatientBanner: { fits: value => typeof value === 'boolean', expected: 'true or false' },
};

function isText(form: RegExp): (value: unknown) => boolean {
  return value => typeof value === 'string' && form.test(value);
}

/** Checks that a body has the form of a launch. The problem contains no value, because it may be a patient's. */
function launchOf(body: unknown): Launch | { readonly problem: string } {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return { problem: 'the body: expected a JSON object' };
  for (const [name, value] of Object.entries(body)) {
    const field = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
    if (field === undefined) return { problem: `expected only ${Object.keys(FIELDS).join(', ')}` };
    if (!field.fits(value)) return { problem: `${name}: expected ${field.expected}` };
  }
  return 'client' in body ? (body as Launch) : { problem: 'client: expected the id of a client' };
}
