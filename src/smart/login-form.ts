/**
 * Shows the page on which people log in, and checks its form: by password, at the hospital's issuer, or both, as
 * configured. In: the purpose of the login. Out: the page, and the outcome of a form with a password.
 */
import type Provider from 'oidc-provider';
import { errors, type InteractionResults } from 'oidc-provider';
import type { Account } from '../auth/accounts.ts';
import { loginPage } from './pages.ts';
import { addressOf, fieldsOf, type PageContext, pageOf, type SmartParts } from './parts.ts';
import { TEXTS } from './texts.ts';

/** The failure of the previous attempt. */
export interface Again {
  readonly name?: string;
  readonly complaint: string;
  readonly status: 401 | 429 | 503;
}

/** Where a login can lead outside of a launch; a form names one of these instead of an address. */
const PLACES = { apps: TEXTS.apps.title, ehr: TEXTS.ehr.title } as const;

export type Place = keyof typeof PLACES;

export function placeOf(text: string | null): Place {
  return text === 'ehr' ? 'ehr' : 'apps';
}

export function loginForPlace(c: PageContext, parts: SmartParts, place: Place, again?: Again): Response {
  const html = loginPage({
    ...waysOf(parts, `${parts.issuer}/login`, `${parts.issuer}/login/issuer`),
    place,
    lead: TEXTS.login.toPage(PLACES[place]),
    name: again?.name ?? '',
    complaint: again?.complaint,
  });
  return pageOf(c, html, again?.status);
}

export function loginForApp(c: PageContext, parts: SmartParts, { uid, params }: Interaction, again?: Again): Response {
  const app = parts.clients.find(String(params['client_id']))?.name ?? '';
  const hint = typeof params['login_hint'] === 'string' ? params['login_hint'] : '';
  const action = `${parts.issuer}/interaction/${uid}`;
  const html = loginPage({
    ...waysOf(parts, `${action}/login`, `${action}/issuer`),
    lead: TEXTS.login.toApp(app),
    name: again?.name ?? hint,
    complaint: again?.complaint,
  });
  return pageOf(c, html, again?.status);
}

function waysOf({ login, hospital }: SmartParts, password: string, issuer: string) {
  return {
    ...(login === undefined ? {} : { action: password }),
    ...(hospital === undefined ? {} : { issuer: { action: issuer, label: hospital.issuer.label } }),
  };
}

/** Tries a password from a form. Returns the account, or what the page should say. */
export async function tryPassword(c: PageContext, parts: SmartParts): Promise<TriedPassword> {
  const { login, record } = parts;
  if (login === undefined) throw new errors.AccessDenied(TEXTS.login.noPasswords);
  const fields = await fieldsOf(c);
  const name = fields.get('username') ?? '';
  const place = placeOf(fields.get('place'));
  const result = await login.try(name, fields.get('password') ?? '', addressOf(c));
  if (result.kind === 'in') {
    await record(c, { who: result.account, status: 303 });
    return { place, account: result.account };
  }
  const isWait = result.kind === 'wait';
  const complaint = isWait ? TEXTS.login.wait(result.seconds) : TEXTS.login.wrong;
  const status = isWait ? 429 : 401;
  await record(c, { who: login.known(name), status });
  return { place, again: { name, complaint, status } };
}

export type TriedPassword = { readonly place: Place } & ({ readonly account: Account } | { readonly again: Again });

export type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

/**
 * Finds the interaction that the provider began for an authorization request. In: a request of the browser that it
 * belongs to. Out: the request's data, and the way back with a result. Throws SessionNotFound if the browser is
 * another, or came too late.
 */
export function interactionOf(c: PageContext, { provider }: Pick<SmartParts, 'provider'>): Promise<Interaction> {
  return provider().interactionDetails(c.env.incoming, c.env.outgoing);
}

export async function finish(
  c: PageContext,
  { provider }: Pick<SmartParts, 'provider'>,
  result: InteractionResults,
): Promise<Response> {
  return c.redirect(await provider().interactionResult(c.env.incoming, c.env.outgoing, result), 303);
}
