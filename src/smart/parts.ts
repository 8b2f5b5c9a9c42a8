/**
 * Declares what the routes of src/smart share: their parts, and how a page or a form passes between browser and server.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from 'hono';
import type Provider from 'oidc-provider';
import { errors } from 'oidc-provider';
import type { Accounts } from '../auth/accounts.ts';
import type { Login } from '../auth/login.ts';
import type { Facade } from '../facade.ts';
import type { Log } from '../log.ts';
import type { AppKeys } from './app-keys.ts';
import type { Charts } from './charts.ts';
import type { Clients } from './clients.ts';
import type { Issuer } from './issuer.ts';
import type { Happened } from './page-records.ts';
import { FORM_POLICY } from './pages.ts';
import type { People } from './people.ts';
import type { Store } from './store.ts';
import { TEXTS } from './texts.ts';

/** An action of a person by a form. */
export interface Done extends Pick<Happened, 'who'> {
  /** HTTP status of the answer. */
  readonly status: number;
  /** Further parameters for the audit. */
  readonly details?: Readonly<Record<string, string>>;
  /** Logical id. */
  readonly patient?: string | undefined;
}

export interface Hospital {
  readonly issuer: Issuer;
  readonly people: People;
}

export interface SmartParts {
  readonly provider: () => Provider;
  /** Absolute, without a trailing slash; so is `fhirBase`. */
  readonly issuer: string;
  readonly fhirBase: string;
  readonly store: Store;
  readonly accounts: Accounts;
  /** Undefined: no login by password. */
  readonly login: Login | undefined;
  /** The hospital's own login service, if it is configured. */
  readonly hospital: Hospital | undefined;
  readonly log: Log;
  readonly clients: Clients;
  readonly appKeys: AppKeys;
  /** Charts that the person who requests a page may see. */
  readonly charts: (c: PageContext) => Charts;
  /** Records an action by a form. Rejects if the audit is required and cannot be written. */
  readonly record: (c: PageContext, done: Done) => Promise<void>;
  /** The facade that is served now. */
  readonly facade: () => Pick<Facade, 'registry' | 'changed'>;
  /** True if the page that plays the EHR is served. */
  readonly playsEhr: boolean;
}

export interface NodeEnv {
  Bindings: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse };
}

export type PageContext = Context<NodeEnv>;

export function pageOf(c: PageContext, html: string, status: 200 | 400 | 401 | 403 | 429 | 503 = 200): Response {
  c.header('Content-Security-Policy', FORM_POLICY);
  return c.html(html, status);
}

/** Reads the fields of a form. Throws if the body is not a form. */
export async function fieldsOf(c: PageContext): Promise<URLSearchParams> {
  const [mediaType = ''] = (c.req.header('content-type') ?? '').split(';');
  if (mediaType.trim().toLowerCase() !== 'application/x-www-form-urlencoded')
    throw new errors.InvalidRequest('Content-Type: expected application/x-www-form-urlencoded');
  return new URLSearchParams(await c.req.text());
}

/** Refuses forms of other sites: browsers say with each form from which page it was sent. */
export function refuseForeign(c: PageContext, { issuer }: SmartParts): void {
  const origin = c.req.header('origin');
  const site = c.req.header('sec-fetch-site');
  const isOwn = origin === undefined ? site === undefined || site === 'same-origin' : origin === new URL(issuer).origin;
  if (!isOwn) throw new errors.AccessDenied(TEXTS.error.foreign);
}

/** Returns the peer's address; behind a proxy it is the proxy's. */
export function addressOf(c: PageContext): string {
  return c.env.incoming.socket.remoteAddress ?? 'unknown';
}
