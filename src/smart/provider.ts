/**
 * Sets up the OpenID provider for SMART App Launch and Backend Services. In: addresses, storage, keys, accounts,
 * clients. Out: an `oidc-provider` that supports launches: `aud`, scopes on resources, context in token responses. The
 * library implements the protocols; this file makes the decisions.
 * https://hl7.org/fhir/smart-app-launch/STU2.2/app-launch.html, …/backend-services.html
 */
import { hash } from 'node:crypto';
import {
  type Adapter,
  type AdapterPayload,
  type Configuration,
  type ErrorOut,
  errors,
  interactionPolicy,
  type JWKS,
  type KoaContextWithOIDC,
  Provider,
} from 'oidc-provider';
import { type Account, type Accounts, sessionMark } from '../auth/accounts.ts';
import { eraOf, NO_ERA } from '../auth/era.ts';
import type { AppKeys } from './app-keys.ts';
import { type Clients, fitsSecret, isOriginOf, metadataOf } from './clients.ts';
import { type GrantContext, type Launch, stillHolds } from './context.ts';
import type { Keys } from './keys.ts';
import { CONTEXT_SCOPES, grantable } from './scopes.ts';
import { type Store, TOKENS_AGAIN, WRITE_AGAIN } from './store.ts';
import { STYLE_PATH } from './style.ts';

export interface ProviderOptions {
  /** Absolute, without a slash at the end. */
  readonly issuer: string;
  readonly fhirBase: string;
  /** True if an `aud` names the FHIR interface. */
  readonly isAudience: (aud: string) => boolean;
  readonly store: Store;
  readonly keys: Keys;
  readonly accounts: Accounts;
  readonly clients: Clients;
  /** Origins of browser applications besides those of redirect addresses. */
  readonly corsOrigins: readonly string[];
  /** Keys that apps publish. */
  readonly appKeys: Pick<AppKeys, 'known'>;
  /** Called with errors that are not a client's mistake. */
  readonly failed: (error: unknown) => void;
  /** Returns HTML that tells a person of an error. */
  readonly errorPage: (error: ErrorOut) => { readonly html: string; readonly policy: string };
}

/** Seconds. */
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const LIFETIMES = {
  code: MINUTE,
  accessToken: HOUR,
  /** Backend Services recommends at most five minutes. */
  clientToken: 5 * MINUTE,
  /** Counted from its last use; a grant with its refresh tokens ends after a year even if they are used. */
  refreshToken: 100 * DAY,
  grant: 365 * DAY,
  /** For a grant without refresh tokens: as long as its code and its token. */
  onlineGrant: HOUR + 5 * MINUTE,
  session: 8 * HOUR,
  interaction: 15 * MINUTE,
} as const;

/** Tolerance for clocks in seconds. */
const SKEW = 60;
/** Maximum lifetime of a client's assertion in seconds. */
const LONGEST_ASSERTION = 5 * MINUTE;

/** Path of the authorization server, and the provider's paths relative to it. */
export const AUTH_PATH = '/auth';

export const ROUTES = {
  authorization: '/authorize',
  token: '/token',
  introspection: '/introspect',
  revocation: '/revoke',
  jwks: '/jwks',
} as const;

export const ASSERTION_ALGORITHMS = ['RS384', 'ES384'] as const;

/** A login of a session: the mark of the account is part of it, so that a changed mark ends sessions. */
export interface LoggedIn {
  readonly mark: string;
  readonly way: 'password' | 'issuer';
}

/** Returns the mark of a login. It is sent with the result, so that a delayed result counts as of when it was made. */
export function loginMark(account: Account): string {
  return hash('sha256', sessionMark(account), 'base64url');
}

export function createProvider(options: ProviderOptions): Provider {
  const { issuer, store } = options;
  const provider = new Provider(issuer, configurationOf(options));
  // Makes the library use the address in the proxy headers, which this server sets to the issuer's.
  provider.proxy = true;
  provider.Client.prototype.compareClientSecret = function compare(secret: string): boolean {
    return fitsSecret(secret, this.clientSecret ?? '');
  };
  provider.use(async (ctx, next) => {
    await next();
    addContext(ctx as KoaContextWithOIDC, store, issuer);
    if (ctx.status === 503) ctx.set('Retry-After', String(WRITE_AGAIN));
    if (ctx.status === 429) ctx.set('Retry-After', String(TOKENS_AGAIN));
    if (ctx.status === 404 && !ctx.body && ctx.accepts('json', 'html') === 'html') {
      const { html, policy } = options.errorPage({ error: 'not_found', error_description: 'there is no such page' });
      ctx.set('Content-Security-Policy', policy);
      ctx.type = 'html';
      ctx.body = html;
      ctx.status = 404;
    }
  });
  provider.on('interaction.ended', ctx => rememberLogin(ctx, options));
  provider.on('server_error', (_ctx, error) => options.failed(error));
  return provider;
}

function configurationOf(options: ProviderOptions): Configuration {
  const { fhirBase, store, keys, accounts, clients, appKeys } = options;
  /** True if the account and the app of a grant still exist, even if others have their names now. */
  const isGood = (token: object | undefined): boolean => {
    const { grantId, accountId = '' } = (token ?? {}) as { readonly grantId?: string; readonly accountId?: string };
    const context = grantId === undefined ? undefined : store.find<GrantContext>('Context', grantId)?.value;
    const account = accounts.find(accountId);
    // A token of a program, or before consent.
    if (context === undefined) return true;
    return account !== undefined && !account.disabled && stillHolds(context, account, clients.find(context.client));
  };
  return {
    adapter: model => {
      const own = store.adapter(model);
      if (model === 'ClientCredentials') return endingWithClient(own, clients);
      return model === 'Client' ? { ...own, find: async id => clientOf(clients, appKeys, id) } : own;
    },
    jwks: { keys: [...keys.signing] } as JWKS,
    cookies: {
      keys: [...keys.cookies],
      names: { session: 'lintel_session', interaction: 'lintel_interaction', resume: 'lintel_resume' },
      long: { httpOnly: true, sameSite: 'lax', path: new URL(options.issuer).pathname },
      short: { httpOnly: true, sameSite: 'lax' },
    },
    routes: ROUTES,
    scopes: [...CONTEXT_SCOPES],
    claims: { openid: ['sub'], fhirUser: ['fhirUser'], profile: ['fhirUser'] },
    // Clients look for fhirUser only in the id_token.
    conformIdTokenClaims: false,
    responseTypes: ['code'],
    clientAuthMethods: ['none', 'client_secret_basic', 'private_key_jwt'],
    enabledJWA: {
      clientAuthSigningAlgValues: [...ASSERTION_ALGORITHMS],
      idTokenSigningAlgValues: ['RS256'],
    },
    clientDefaults: { id_token_signed_response_alg: 'RS256' },
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    clockTolerance: SKEW,
    rotateRefreshToken: true,
    issueRefreshToken: async (_ctx, _client, source) => source.scopes.has('offline_access'),
    // Otherwise a second launch of the same app in one browser would end the tokens of the first.
    expiresWithSession: async () => false,
    revokeGrantPolicy: () => true,
    // Claims for introspection.
    extraTokenClaims: (_ctx, token) => {
      const grant = 'grantId' in token ? token.grantId : undefined;
      const context = grant === undefined ? undefined : store.find<GrantContext>('Context', grant)?.value;
      if (context === undefined || !('accountId' in token)) return undefined;
      const { patient, encounter } = context;
      const fhirUser = token.scopes.has('fhirUser') ? accounts.find(token.accountId ?? '')?.fhirUser : undefined;
      return {
        ...(patient === undefined ? {} : { patient }),
        ...(encounter === undefined ? {} : { encounter }),
        ...(fhirUser === undefined ? {} : { fhirUser: `${fhirBase}/${fhirUser}` }),
      };
    },
    // Each launch has its own patient and its own consent.
    loadExistingGrant: ctx => {
      const grantId = ctx.oidc.result?.consent?.grantId;
      return grantId === undefined ? undefined : ctx.oidc.provider.Grant.find(grantId);
    },
    ttl: {
      AuthorizationCode: LIFETIMES.code,
      AccessToken: LIFETIMES.accessToken,
      ClientCredentials: LIFETIMES.clientToken,
      RefreshToken: LIFETIMES.refreshToken,
      IdToken: LIFETIMES.accessToken,
      Grant: (_ctx, grant) =>
        grant.getOIDCScope().split(' ').includes('offline_access') ? LIFETIMES.grant : LIFETIMES.onlineGrant,
      Session: LIFETIMES.session,
      Interaction: LIFETIMES.interaction,
    },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
      clientCredentials: { enabled: true },
      revocation: { enabled: true, allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId },
      introspection: {
        enabled: true,
        allowedPolicy: async (_ctx, client, token) =>
          isGood(token) && (token.clientId === client.clientId || clients.find(client.clientId)?.introspects === true),
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: async () => fhirBase,
        useGrantedResource: async () => true,
        getResourceServerInfo: (ctx, resource, client) => resourceServer(ctx, resource, client.clientId, options),
      },
    },
    extraParams: {
      aud: (_ctx, aud) => {
        if (aud === undefined) throw new errors.InvalidRequest('missing required parameter(s): aud');
        if (!options.isAudience(aud)) throw new errors.InvalidRequest('aud must be the address of the FHIR interface');
      },
      launch: (_ctx, launch, client) => {
        if (launch === undefined) return;
        const found = store.find<Launch>('Launch', launch);
        if (found === undefined || found.value.client !== client.clientId)
          throw new errors.InvalidRequest('launch is unknown, used, expired, or of another client');
      },
    },
    assertJwtClientAuthClaimsAndHeader: async (_ctx, claims, header, client) => {
      const longest = Math.floor(Date.now() / 1000) + LONGEST_ASSERTION + SKEW;
      if (Number(claims['exp']) > longest)
        throw new errors.InvalidClientAuth(`the client_assertion must expire within ${LONGEST_ASSERTION} seconds`);
      if (claims['sub'] !== client.clientId) throw new errors.InvalidClientAuth('sub must be the client_id');
      const jku = header['jku'];
      if (jku !== undefined && jku !== clients.find(client.clientId)?.jwksUrl)
        throw new errors.InvalidClientAuth('jku must be the JWKS URL that the client was registered with');
    },
    // The library fetches only keys of apps, which it is given.
    fetch: () => Promise.reject(new Error('the library was to fetch nothing')),
    clientBasedCORS: (_ctx, origin, client) =>
      options.corsOrigins.includes('*') ||
      options.corsOrigins.includes(origin) ||
      isOriginOf(clients.find(client.clientId), origin),
    interactions: { policy: policyOf(options), url: (_ctx, { uid }) => `${options.issuer}/interaction/${uid}` },
    findAccount: async (_ctx, sub, token) => {
      const account = accounts.find(sub);
      if (account === undefined || account.disabled || !isGood(token)) return undefined;
      const { fhirUser } = account;
      return {
        accountId: sub,
        claims: async () => ({ sub, ...(fhirUser === undefined ? {} : { fhirUser: `${fhirBase}/${fhirUser}` }) }),
      };
    },
    renderError: async (ctx, out) => {
      const { html, policy } = options.errorPage(out);
      ctx.type = 'html';
      ctx.set('Content-Security-Policy', policy);
      ctx.body = html;
    },
  };
}

/** Stores the era of the client in tokens of programs, because these belong to no grant. */
function endingWithClient(own: Adapter, clients: Clients): Adapter {
  const eraOfClient = (id = ''): string => eraOf(undefined, clients.find(id));
  return {
    ...own,
    upsert: (id, payload, lifetime) => own.upsert(id, { ...payload, era: eraOfClient(payload.clientId) }, lifetime),
    async find(id) {
      const found = await own.find(id);
      if (found === undefined || found === null) return undefined;
      const { era = NO_ERA, ...token } = found as AdapterPayload & { readonly era?: string };
      return era === eraOfClient(token.clientId) ? token : undefined;
    },
  };
}

function clientOf(clients: Clients, appKeys: Pick<AppKeys, 'known'>, id: string) {
  const client = clients.find(id);
  if (client?.jwksUrl === undefined) return client && metadataOf(client);
  return metadataOf({ ...client, jwks: { keys: appKeys.known(client.jwksUrl) } });
}

/**
 * Returns the scopes that a request may be granted; narrows those of Backend Services, while consent narrows those of
 * launches.
 */
function resourceServer(
  ctx: KoaContextWithOIDC,
  resource: string,
  clientId: string,
  { fhirBase, isAudience, clients }: ProviderOptions,
) {
  if (!isAudience(resource)) throw new errors.InvalidTarget();
  const registered = clients.find(clientId)?.scopes ?? [];
  const { params, entities } = ctx.oidc;
  const isClient = params?.['grant_type'] === 'client_credentials';
  const source = entities.AuthorizationCode?.scope ?? entities.RefreshToken?.scope ?? String(params?.['scope'] ?? '');
  const scopes = grantable(source.split(' '), registered, isClient ? 'client' : 'person');
  if (isClient && params !== undefined) {
    if (source === '') throw new errors.InvalidScope('missing required parameter(s): scope', '');
    if (scopes.length === 0) throw new errors.InvalidScope('none of the scopes is allowed', source);
    params['scope'] = scopes.join(' ');
  }
  return {
    scope: scopes.join(' '),
    audience: fhirBase,
    accessTokenFormat: 'opaque' as const,
    accessTokenTTL: isClient ? LIFETIMES.clientToken : LIFETIMES.accessToken,
  };
}

/** Requires a new login if the account of a session is gone, disabled or has another password. */
function policyOf(options: ProviderOptions) {
  const policy = interactionPolicy.base();
  const gone = new interactionPolicy.Check('session_ended', 'the account has changed', 'login_required', ({ oidc }) =>
    oidc.session?.accountId === undefined || isLoggedIn(oidc.session, options)
      ? interactionPolicy.Check.NO_NEED_TO_PROMPT
      : interactionPolicy.Check.REQUEST_PROMPT,
  );
  policy.get('login')?.checks.add(gone);
  return policy;
}

/** True if the account of a session is unchanged since the login. */
export function isLoggedIn(
  session: { readonly accountId?: string | undefined; readonly uid: string },
  { accounts, store }: Pick<ProviderOptions, 'accounts' | 'store'>,
): boolean {
  const account = session.accountId === undefined ? undefined : accounts.find(session.accountId);
  const login = store.find<LoggedIn>('Login', session.uid);
  return account !== undefined && !account.disabled && login?.value.mark === loginMark(account);
}

function rememberLogin({ oidc }: KoaContextWithOIDC, { store }: ProviderOptions): void {
  const { login, mark, issuer } = oidc.result ?? {};
  if (login === undefined || typeof mark !== 'string' || oidc.session === undefined) return;
  keepLogin(store, oidc.session.uid, mark, issuer === true ? 'issuer' : 'password');
}

export function keepLogin(store: Store, session: string, mark: string, way: LoggedIn['way']): void {
  const expires = Math.floor(Date.now() / 1000) + LIFETIMES.session;
  store.keep('Login', session, { mark, way } satisfies LoggedIn, { expires });
}

/** Adds the context of the launch to token responses. */
function addContext(ctx: KoaContextWithOIDC, store: Store, issuer: string): void {
  const body = ctx.body as Record<string, unknown> | undefined;
  if (ctx.oidc?.route !== 'token' || ctx.status !== 200 || typeof body?.['access_token'] !== 'string') return;
  const grant = ctx.oidc.entities.Grant?.jti;
  const context = grant === undefined ? undefined : store.find<GrantContext>('Context', grant)?.value;
  if (context === undefined) return;
  const { patient, encounter, fhirContext = [], intent, needPatientBanner = true } = context;
  ctx.body = {
    ...body,
    ...(patient === undefined ? {} : { patient }),
    ...(encounter === undefined ? {} : { encounter }),
    // An empty list is omitted: some apps take any list for one of strings, as in version 1.
    ...(fhirContext.length === 0 ? {} : { fhirContext }),
    ...(intent === undefined ? {} : { intent }),
    need_patient_banner: needPatientBanner,
    smart_style_url: issuer + STYLE_PATH,
  };
}
