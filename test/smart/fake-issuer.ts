/**
 * Runs a fake OpenID Connect provider on loopback, whose id_tokens can be manipulated. In: the next user, and a
 * manipulation of the answer. Out: its URL.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { CompactSign, exportJWK, generateKeyPair, type JWK } from 'jose';
import Provider, { type ClientMetadata } from 'oidc-provider';
import { onTestFinished } from 'vitest';

export interface FakeIssuer {
  readonly url: string;
  /** Login name and claims of the next user; undefined: the user cancels. */
  who: Readonly<Record<string, unknown>> | undefined;
  /** Changes claims and header of the next id_tokens. */
  tamper: ((claims: Record<string, unknown>, header: Record<string, unknown>) => void) | undefined;
  /** A key that signs the next id_tokens instead of its own. */
  key: JWK | undefined;
  /** `down`: answers 503 to everything; `silent`: cuts every connection; `endless`: sends blanks as fast as they go. */
  mode: 'up' | 'down' | 'silent' | 'endless';
  /** Requested paths, followed by `Basic` if the secret came that way. */
  readonly asked: string[];
}

function* blanks(): Generator<string> {
  for (;;) yield ' '.repeat(65_536);
}

export const ISSUER_CLIENT = { id: 'lintel', secret: 'the-secret-of-lintel-at-the-issuer' } as const;

/** `client`: differences in Lintel's registration; `register` sets Lintel's URL once it is known. */
export async function fakeIssuer(
  client: Partial<ClientMetadata> = {},
  { claimsIn = 'id_token' }: { readonly claimsIn?: 'id_token' | 'userinfo' } = {},
): Promise<FakeIssuer & { readonly register: (auth: string) => void; close(): void }> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const own: JWK = { ...(await exportJWK(privateKey)), kid: 'own', alg: 'RS256', use: 'sig' };
  let provider: Provider | undefined;
  const server = createServer((request, response) => answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const fake: FakeIssuer = {
    ...{ url, who: { sub: 's-1' }, tamper: undefined, key: undefined, mode: 'up', asked: [] },
  };

  const register = (auth: string): void => {
    provider = new Provider(url, {
      clients: [
        {
          ...{ client_id: ISSUER_CLIENT.id, client_secret: ISSUER_CLIENT.secret },
          redirect_uris: [`${auth}/callback`],
          post_logout_redirect_uris: [`${auth}/apps`],
          ...client,
        } as ClientMetadata,
      ],
      jwks: { keys: [own] } as never,
      cookies: { keys: [randomUUID()] },
      claims: { openid: ['sub'], profile: ['preferred_username', 'name', 'fhirUser', 'email', 'email_verified'] },
      conformIdTokenClaims: claimsIn === 'userinfo',
      clientAuthMethods: [client.token_endpoint_auth_method ?? 'client_secret_basic'],
      ttl: Object.fromEntries(['Interaction', 'Grant', 'Session', 'AccessToken', 'IdToken'].map(one => [one, 600])),
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
      findAccount: (_ctx, sub) => ({ accountId: sub, claims: async () => ({ ...fake.who, sub }) }),
      loadExistingGrant: async ctx => {
        const { client: asking, session } = ctx.oidc;
        const grant = new ctx.oidc.provider.Grant({
          clientId: asking?.clientId ?? '',
          accountId: session?.accountId ?? '',
        });
        grant.addOIDCScope('openid profile');
        await grant.save();
        return grant;
      },
    });
    provider.use(async (ctx, next) => {
      await next();
      const body = ctx.body as { id_token?: string } | undefined;
      if (typeof body?.id_token === 'string') body.id_token = await resigned(body.id_token);
    });
  };

  const resigned = async (token: string): Promise<string> => {
    const [head = '', payload = ''] = token.split('.').map(part => Buffer.from(part, 'base64url').toString());
    const [header, claims] = [JSON.parse(head), JSON.parse(payload)] as Record<string, unknown>[];
    if (header === undefined || claims === undefined) throw new Error('no id_token');
    fake.tamper?.(claims, header);
    const bytes = Buffer.from(JSON.stringify(claims));
    if (header['alg'] === 'none')
      return `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${bytes.toString('base64url')}.`;
    return new CompactSign(bytes).setProtectedHeader({ ...header, alg: String(header['alg']) }).sign(fake.key ?? own);
  };

  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    fake.asked.push(request.headers.authorization?.startsWith('Basic ') ? `${path} Basic` : path);
    if (fake.mode === 'silent') request.socket.destroy();
    else if (fake.mode === 'endless') Readable.from(blanks()).pipe(response.writeHead(200));
    else if (fake.mode === 'down' || provider === undefined) response.writeHead(503).end();
    else if (path.startsWith('/interaction/')) void loggedIn(provider, request, response);
    else void provider.callback()(request, response);
  };

  const loggedIn = (issuer: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> =>
    issuer.interactionFinished(
      request,
      response,
      fake.who === undefined
        ? { error: 'access_denied', error_description: 'gone' }
        : { login: { accountId: String(fake.who['sub']) } },
    );

  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return Object.assign(fake, { register, close });
}

/** The same; closed at the end of the test. */
export async function testIssuer(...options: Parameters<typeof fakeIssuer>): ReturnType<typeof fakeIssuer> {
  const fake = await fakeIssuer(...options);
  onTestFinished(() => fake.close());
  return fake;
}
