/**
 * Runs a fake issuer of access tokens on loopback: it serves metadata and keys, signs given tokens, and answers
 * introspection. It counts its requests, and can be unavailable.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

export interface Signing {
  readonly alg?: string;
  readonly key?: CryptoKey | Uint8Array | JWK;
  readonly header?: Readonly<Record<string, unknown>>;
}

export interface FakeIssuer {
  /** `iss` of its tokens, and base of its metadata's URL. */
  readonly url: string;
  readonly origin: string;
  /** Number of requests by path. */
  readonly asked: Record<string, number>;
  /** Bodies of introspection requests, with the Authorization header. */
  readonly questions: { readonly body: URLSearchParams; readonly authorization: string | undefined }[];
  /** Introspection answers by token; other tokens are inactive. */
  readonly active: Map<string, unknown>;
  /** The public keys that it serves. */
  keys: JWK[];
  /** Additional members of the metadata. */
  metadata: Readonly<Record<string, unknown>>;
  state: 'well' | 'away' | 'broken';
  /** Milliseconds of delay before an introspection answer. */
  slow: number;
  /** Replaces the usual answer; true if it has answered. */
  answer: (path: string, response: ServerResponse) => boolean;
  readonly publicKey: JWK;
  sign(claims: Readonly<Record<string, unknown>>, signing?: Signing): Promise<string>;
  /** Replaces the key. */
  rotate(kid: string): Promise<void>;
  close(): Promise<void>;
}

/** An unknown critical header. */
export const EXTENSION = 'http://example.org/extension';

/** Seconds since the epoch. */
export const seconds = (): number => Math.floor(Date.now() / 1000);

/** `path`: of the issuer on its host. */
export async function fakeIssuer(path = '/realms/clinic', kid = 'one'): Promise<FakeIssuer> {
  let pair = await generateKeyPair('RS256', { extractable: true });
  let current = kid;
  const publicOf = async (): Promise<JWK> => ({ ...(await exportJWK(pair.publicKey)), kid: current, use: 'sig' });
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer: FakeIssuer = {
    url: origin + path,
    origin,
    asked: {},
    questions: [],
    active: new Map(),
    keys: [await publicOf()],
    metadata: {},
    state: 'well',
    slow: 0,
    answer: () => false,
    publicKey: await publicOf(),
    sign: (claims, { alg = 'RS256', key = pair.privateKey, header = {} } = {}) =>
      new SignJWT({ iss: origin + path, exp: seconds() + 300, iat: seconds(), ...claims })
        .setProtectedHeader({ alg, kid: current, typ: 'JWT', ...header })
        .sign(key, { crit: { [EXTENSION]: true } }),
    async rotate(next) {
      pair = await generateKeyPair('RS256', { extractable: true });
      current = next;
      issuer.keys = [await publicOf()];
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = '' } = request;
    issuer.asked[url] = (issuer.asked[url] ?? 0) + 1;
    if (issuer.answer(url, response)) return;
    if (issuer.state === 'away') return void request.socket.destroy();
    const send = (status: number, body: unknown): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (issuer.state === 'broken') return send(500, { error: 'server_error' });
    if (url === `${path}/.well-known/openid-configuration`) return send(200, usual());
    if (url === '/keys') return send(200, { keys: issuer.keys });
    if (url === '/moved') return void response.writeHead(302, { location: '/keys' }).end();
    if (url !== '/introspect') return send(404, {});
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { authorization } = request.headers;
    issuer.questions.push({ body: new URLSearchParams(body), authorization });
    if (issuer.slow > 0) await new Promise(resolve => setTimeout(resolve, issuer.slow));
    send(200, issuer.active.get(new URLSearchParams(body).get('token') ?? '') ?? { active: false });
  }
  const usual = () => ({
    issuer: issuer.url,
    jwks_uri: `${origin}/keys`,
    authorization_endpoint: `${issuer.url}/authorize`,
    token_endpoint: `${issuer.url}/token`,
    introspection_endpoint: `${origin}/introspect`,
    ...issuer.metadata,
  });
  return issuer;
}
