/**
 * Logs people in at the hospital's own login service, by OpenID Connect. In: how Lintel is registered there. Out: where
 * a browser goes to log in, and the claims of the person who comes back. The library checks issuer, audience,
 * signature, times, nonce, state and PKCE.
 * https://openid.net/specs/openid-connect-core-1_0.html, RFC 9207 (mix-up), RFC 7636 (PKCE)
 */
import { importJWK } from 'jose';
import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  type ClientAuth,
  ClientError,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  clockTolerance,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  PrivateKeyJwt,
  ResponseBodyError,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import { boundedFetch } from '../common/bounded-fetch.ts';
import type { IssuerSettings } from '../config/config.ts';

/** The values to remember until the browser comes back. */
export interface Checks {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export type Claims = Readonly<Record<string, unknown>>;

export interface Hints {
  /** A login name that the app has suggested. */
  readonly name?: string | undefined;
  /** True if a person who is logged in there has to authenticate again. */
  readonly anew: boolean;
}

export interface Issuer {
  /** The name that people know it by. */
  readonly label: string;
  /** Returns where a browser goes to log in. Throws IssuerError. */
  begin(hints: Hints): Promise<{ readonly url: string; readonly checks: Checks }>;
  /** Returns the claims of the person who came back with this query. Throws IssuerError. */
  finish(query: URLSearchParams, checks: Checks): Promise<Claims>;
  /** Returns where a browser logs out; undefined if the issuer does not offer it, or does not answer. */
  logout(back: string): Promise<string | undefined>;
}

/** `away`: it does not answer; `denied`: the person did not log in; `refused`: its answer is not valid. */
export type Failure = 'away' | 'denied' | 'refused';

export class IssuerError extends Error {
  override readonly name = 'IssuerError';
  readonly failure: Failure;
  /** An error code of the protocol; contains nothing that anybody typed. */
  readonly code: string;

  constructor(failure: Failure, code: string) {
    super(`The login service failed: ${failure}, ${code}`);
    this.failure = failure;
    this.code = code;
  }
}

/** Seconds: time limit of the issuer, tolerance for clocks, and how long its metadata is cached. */
const TIME_LIMIT = 5;
const SKEW = 60;
const FRESH = 3600;

/**
 * Makes the client of the login service. `redirect`: the redirect address that is registered there. `clock`:
 * milliseconds of a monotonic clock.
 */
export function issuerOf(
  settings: IssuerSettings,
  redirect: string,
  clock: () => number = () => performance.now(),
): Issuer {
  const { url, clientId, scope, label } = settings;
  let known: { readonly configuration: Promise<Configuration>; readonly until: number } | undefined;

  /** Sends one request for all concurrent callers; a failure is not cached. */
  const configured = (): Promise<Configuration> => {
    const now = clock();
    if (known !== undefined && known.until > now) return known.configuration;
    const configuration = discovered(settings);
    const made = { configuration, until: now + FRESH * 1000 };
    known = made;
    configuration.catch(() => {
      if (known === made) known = undefined;
    });
    return configuration;
  };

  return {
    label,
    begin: ({ name, anew }) =>
      withIssuerErrors(async () => {
        const configuration = await configured();
        const checks = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
        const address = buildAuthorizationUrl(configuration, {
          ...{ response_type: 'code', redirect_uri: redirect, scope, state: checks.state, nonce: checks.nonce },
          code_challenge: await calculatePKCECodeChallenge(checks.verifier),
          code_challenge_method: 'S256',
          ...(name === undefined ? {} : { login_hint: name }),
          ...(anew ? { prompt: 'login' } : {}),
        });
        return { url: address.href, checks };
      }),
    finish: (query, { state, nonce, verifier }) =>
      withIssuerErrors(async () => {
        const configuration = await configured();
        // Uses the registered address, whatever Host the request has.
        const back = new URL(redirect);
        back.search = query.toString();
        const tokens = await authorizationCodeGrant(configuration, back, {
          ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true },
        });
        const claims = tokens.claims();
        if (claims === undefined) throw new IssuerError('refused', 'no_id_token');
        const wanted = [settings.userClaim, settings.nameClaim].filter(claim => claim !== undefined);
        const isWhole = wanted.some(claim => claims[claim] !== undefined);
        if (isWhole || configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
        // Some issuers return more claims at the userinfo endpoint.
        const more = await fetchUserInfo(configuration, tokens.access_token, claims.sub);
        return { ...more, ...claims };
      }),
    async logout(back) {
      try {
        const configuration = await configured();
        if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
        return buildEndSessionUrl(configuration, { client_id: clientId, post_logout_redirect_uri: back }).href;
      } catch {
        // The person is logged out here, which was the request.
        return undefined;
      }
    },
  };

  async function discovered({ secret, key }: IssuerSettings): Promise<Configuration> {
    const server = new URL(url);
    // The configuration allows plain HTTP only on loopback.
    const insecure = server.protocol === 'http:' ? [allowInsecureRequests] : [];
    const options = { execute: insecure, timeout: TIME_LIMIT, [customFetch]: bounded };
    const found = await discovery(server, clientId, {}, None(), options);
    const metadata = found.serverMetadata();
    const auth =
      key === undefined ? bySecret(secret, metadata.token_endpoint_auth_methods_supported) : await byKey(key);
    const configuration = new Configuration(metadata, clientId, { [clockTolerance]: SKEW }, auth);
    configuration.timeout = TIME_LIMIT;
    configuration[customFetch] = bounded;
    for (const set of [...insecure, enableNonRepudiationChecks]) set(configuration);
    return configuration;
  }
}

/** The library sends only strings and forms. */
const bounded: CustomFetch = (url, { body, ...rest }) =>
  boundedFetch(url, { ...rest, ...(body !== undefined && { body: body as BodyInit }) });

function bySecret(secret: string | undefined, methods: readonly string[] = ['client_secret_basic']): ClientAuth {
  if (secret === undefined) return None();
  const isPost = methods.includes('client_secret_post') && !methods.includes('client_secret_basic');
  return isPost ? ClientSecretPost(secret) : ClientSecretBasic(secret);
}

async function byKey(key: NonNullable<IssuerSettings['key']>): Promise<ClientAuth> {
  const imported = await importJWK(key, key.alg);
  if (imported instanceof Uint8Array) throw new IssuerError('refused', 'key');
  return PrivateKeyJwt(key.kid === undefined ? imported : { key: imported, kid: key.kid });
}

/** Turns errors into IssuerError. */
async function withIssuerErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw failureOf(error);
  }
}

/**
 * Errors of an authorization response that are not about this login. OpenID Connect Core section 3.1.2.6, RFC 6749
 * 4.1.2.1
 */
const OUTAGES: ReadonlySet<string> = new Set(['server_error', 'temporarily_unavailable']);

/** The library's codes for a missing or unusable answer: too late, another status, or not JSON. */
const NO_ANSWER = /TIMEOUT|ABORT|RESPONSE_IS_NOT_CONFORM|RESPONSE_IS_NOT_JSON|PARSE_ERROR/;

function failureOf(error: unknown): unknown {
  if (error instanceof IssuerError) return error;
  if (error instanceof AuthorizationResponseError) {
    if (OUTAGES.has(error.error)) return new IssuerError('away', error.error);
    return new IssuerError(error.error === 'access_denied' ? 'denied' : 'refused', word(error.error));
  }
  if (error instanceof ResponseBodyError)
    return new IssuerError(error.status >= 500 ? 'away' : 'refused', word(error.error));
  if (error instanceof ClientError) {
    const code = word(error.code ?? 'unknown');
    return new IssuerError(NO_ANSWER.test(code) ? 'away' : 'refused', code);
  }
  // `fetch` throws this if nobody listens.
  if (error instanceof TypeError) return new IssuerError('away', 'no_connection');
  return error;
}

/** Returns a text only if it looks like an error code: others may write anything into an error. */
function word(text: string): string {
  return /^\w{1,60}$/.test(text) ? text : 'unknown';
}
