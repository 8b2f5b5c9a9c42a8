/**
 * Passes requests to the provider, completed where the provider needs more. In: a request to the authorization server
 * that no page answers. Out: the provider's answer. Adds the client of a refresh token, and `prompt=consent`; turns an
 * authorization request by form into a GET; fetches the keys of an app that sends an assertion.
 */
import { IncomingMessage, type ServerResponse } from 'node:http';
import type { Provider } from 'oidc-provider';
import { readAssertion } from './app-keys.ts';
import type { Clients } from './clients.ts';
import { errorPage, FORM_POLICY } from './pages.ts';
import type { SmartParts } from './parts.ts';
import { AUTH_PATH, ROUTES } from './provider.ts';

/**
 * Passes a request to the provider. A `POST` of an authorization request comes from another site, without this site's
 * cookies; it is redirected to the equivalent `GET`, with which browsers send them.
 */
export async function answerByProvider(
  request: IncomingMessage,
  response: ServerResponse,
  { provider, clients, appKeys }: SmartParts,
): Promise<void> {
  const server = provider();
  const [path = ''] = (request.url ?? '').split('?', 1);
  if (request.method !== 'POST') {
    const isLong = (request.url ?? '').length > LONGEST_REQUEST + path.length;
    if (isLong && path === AUTH_PATH + ROUTES.authorization) refuse(request, response);
    else await pass(request, response, server);
    return;
  }
  const body = await bodyOf(request);
  if (body === undefined || !isForm(request)) refuse(request, response);
  else if (path === AUTH_PATH + ROUTES.authorization) sendAsGet(body, request, response, server.issuer);
  else {
    const assertion = new URLSearchParams(body).get('client_assertion');
    if (assertion !== null && (await readAssertion(assertion, { clients, appKeys })) === 'deep') {
      refuse(request, response);
      return;
    }
    const more = path === AUTH_PATH + ROUTES.token ? await publicClientOf(body, request, server, clients) : '';
    await pass(withBody(request, body + more), response, server);
  }
}

function pass(
  request: IncomingMessage & { originalUrl?: string },
  response: ServerResponse,
  server: Provider,
): Promise<void> {
  // Tells the provider where it is mounted.
  const mount = new URL(server.issuer).pathname;
  request.url = askingConsent((request.url ?? '').slice(AUTH_PATH.length));
  request.originalUrl = mount + request.url;
  return server.callback()(request, response);
}

/**
 * Returns the client parameter for a public app, which may omit it when it refreshes: its token names it. RFC 6749
 * section 6
 */
async function publicClientOf(
  body: string,
  { headers }: IncomingMessage,
  server: Provider,
  clients: Clients,
): Promise<string> {
  const fields = new URLSearchParams(body);
  const isNamed = headers.authorization !== undefined || fields.has('client_id') || fields.has('client_assertion');
  if (isNamed || fields.get('grant_type') !== 'refresh_token') return '';
  const token = await server.RefreshToken.find(fields.get('refresh_token') ?? '');
  const client = clients.find(token?.clientId ?? '');
  return client?.kind === 'public' ? `&client_id=${encodeURIComponent(client.id)}` : '';
}

/** Adds `prompt=consent`, which apps do not send; without it the library issues no refresh tokens. */
function askingConsent(url: string): string {
  const [path, query = ''] = url.split(/\?(.*)/s, 2);
  if (path !== ROUTES.authorization) return url;
  const parameters = new URLSearchParams(query);
  const prompts = parameters.getAll('prompt');
  const words = (prompts[0] ?? '').split(' ').filter(word => word !== '');
  // A repeated `prompt` is refused by the provider, so it has to stay.
  if (prompts.length > 1 || words.includes('none')) return url;
  parameters.set('prompt', [...new Set([...words, 'consent'])].join(' '));
  return `${path}?${parameters}`;
}

/**
 * Maximum characters of the parameters of an authorization request, which are stored until the person has logged in.
 */
const LONGEST_REQUEST = 8000;

function sendAsGet(body: string, request: IncomingMessage, response: ServerResponse, issuer: string): void {
  // Only printable ASCII may be in a URL.
  if (body.length > LONGEST_REQUEST || /[^\x21-\x7e]/.test(body)) refuse(request, response);
  else response.writeHead(303, { Location: `${issuer}${ROUTES.authorization}?${body}` }).end();
}

function refuse({ headers }: IncomingMessage, response: ServerResponse): void {
  if (headers.accept?.includes('text/html')) {
    response.setHeader('Content-Security-Policy', FORM_POLICY);
    response.writeHead(400, { 'Content-Type': 'text/html; charset=utf-8' }).end(errorPage('invalid_request'));
    return;
  }
  response.writeHead(400, { 'Content-Type': 'application/json' }).end('{"error":"invalid_request"}');
}

/** Maximum bytes of a body. */
const LONGEST = 64 * 1024;

/**
 * Reads the body of a request before the provider does. Out: its text; undefined if it is too long, or the client has
 * disconnected.
 */
export async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of request) {
      chunks.push(chunk as Buffer);
      length += (chunk as Buffer).byteLength;
      if (length > LONGEST) return undefined;
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks).toString('utf8');
}

export function isForm({ headers }: IncomingMessage): boolean {
  return /^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '');
}

/** Copies the request with another body, which nobody has read yet. */
export function withBody(request: IncomingMessage, body: string): IncomingMessage {
  const bytes = Buffer.from(body, 'utf8');
  const copy = new IncomingMessage(request.socket);
  const { 'transfer-encoding': _chunked, ...headers } = request.headers;
  Object.assign(copy, {
    ...{ method: request.method, url: request.url, httpVersion: request.httpVersion, complete: true },
    headers: { ...headers, 'content-length': String(bytes.byteLength) },
  });
  copy.push(bytes);
  copy.push(null);
  return copy;
}
