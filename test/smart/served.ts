/**
 * Starts a complete server with ACCESS=smart on a free port of loopback, with accounts and apps, for tests of launches.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { writeAccounts } from '../../src/auth/accounts.ts';
import { hashPassword } from '../../src/auth/password.ts';
import { readConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/log.ts';
import { startServer } from '../../src/main.ts';
import { type Client, hashSecret, writeClients } from '../../src/smart/clients.ts';
import { keptClinic, VISITS } from '../cli/small-clinic.ts';
import { type Browser, boxes, type Fields, formAction, openBrowser, type Page } from './browser.ts';

export const PASSWORD = 'correct horse battery';
export const SECRET = 'a-secret-of-32-characters-or-more';
export const REDIRECT = 'https://app.example.org/back?kept=1';
const ALL = [
  ...['openid', 'fhirUser', 'profile', 'offline_access', 'launch', 'launch/patient', 'launch/encounter'],
  ...['patient/*.rs', 'user/*.rs'],
];

/** URLs of a server and its authorization server. */
export type Ends = Pick<Served, 'auth' | 'fhir'>;

export interface Served {
  readonly base: string;
  readonly fhir: string;
  readonly auth: string;
  readonly folder: string;
  readonly lines: readonly string[];
  /** Private keys of the clients that have one, by algorithm. */
  readonly keys: Readonly<Record<'RS384' | 'ES384', JWK>>;
  readonly clients: readonly Client[];
  setClients(clients: readonly Client[]): void;
  /** Serves the same files in a new server; `other`: variables that differ. */
  restart(other?: Readonly<Record<string, string>>): Promise<Served>;
  stop(): Promise<void>;
}

interface Door {
  readonly url: string;
  /** Sets the server that it forwards to from now on. */
  lead(url: string): void;
  close(): void;
}

/**
 * A URL that stays the same while the servers behind it are replaced; another process might take a server's own port in
 * between.
 */
async function fixedAddress(): Promise<Door> {
  let port = 0;
  const door = createServer(socket => {
    const inside = connect(port, '127.0.0.1');
    const end = (): void => void [socket, inside].map(one => one.destroy());
    socket.on('error', end).on('close', end).pipe(inside);
    inside.on('error', end).on('close', end).pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(door, 'listening');
  return {
    url: `http://127.0.0.1:${(door.address() as AddressInfo).port}`,
    lead: (url: string) => {
      port = Number(new URL(url).port);
    },
    close: () => void door.close(),
  };
}

/** A server that keeps its URL after a restart. */
export async function serveRestartable(more: Readonly<Record<string, string>> = {}): Promise<Served> {
  return serveSmart(more, undefined, await fixedAddress());
}

/** `more`: variables; `files`: of the pack besides patients and weighings; `door`: forwards to the server. */
export async function serveSmart(
  more: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, string>> = { 'visit.yaml': VISITS },
  door: Door | undefined = undefined,
): Promise<Served> {
  const clinic = keptClinic(files);
  const data = join(clinic.folder, 'data');
  const password = await hashPassword(PASSWORD);
  writeAccounts(join(data, 'accounts.json'), [
    { name: 'anna', password, disabled: false, fhirUser: 'Patient/1' },
    { name: 'bert', password, disabled: false, fhirUser: 'Patient/2' },
    { name: 'doctor', password, disabled: false, fhirUser: 'Practitioner/7' },
    { name: 'gone', password, disabled: true, fhirUser: 'Patient/1' },
  ]);
  const [rsa, elliptic] = await Promise.all([
    generateKeyPair('RS384', { extractable: true }),
    generateKeyPair('ES384', { extractable: true }),
  ]);
  const keys = {
    RS384: { ...(await exportJWK(rsa.privateKey)), kid: 'one', alg: 'RS384' },
    ES384: { ...(await exportJWK(elliptic.privateKey)), kid: 'two', alg: 'ES384' },
  };
  const jwks = {
    keys: [
      { ...(await exportJWK(rsa.publicKey)), kid: 'one', alg: 'RS384' },
      { ...(await exportJWK(elliptic.publicKey)), kid: 'two', alg: 'ES384' },
    ],
  };
  const app = { redirects: [REDIRECT], scopes: ALL, introspects: false, disabled: false };
  const launchUrl = 'https://app.example.org/launch';
  const clients: Client[] = [
    { ...app, id: 'public', name: 'Growth <chart>', kind: 'public', launchUrl },
    { ...app, id: 'secret', name: 'With a secret', kind: 'secret', secret: hashSecret(SECRET), introspects: true },
    { ...app, id: 'key', name: 'With a key', kind: 'key', jwks },
    { ...app, id: 'backend', name: 'Backend', kind: 'key', jwks, redirects: [], scopes: ['system/*.rs'] },
    { ...app, id: 'ehr', name: 'The EHR', kind: 'key', jwks, redirects: [], scopes: ['system/launch'] },
  ];
  const file = join(data, 'clients.json');
  writeClients(file, clients);
  const start = async (other: Readonly<Record<string, string>> = {}): Promise<Served> => {
    const lines: string[] = [];
    const notes: string[] = [];
    const running = await startServer(
      readConfig({ ...clinic.environment, ACCESS: 'smart', ...(door && { BASE_URL: door.url }), ...more, ...other }),
      { out: () => {}, note: text => notes.push(text) },
      createLog({ level: 'debug', format: 'json', write: line => lines.push(line) }),
    );
    if (running === undefined) throw new Error(notes.join('\n'));
    door?.lead(running.url);
    const base = door?.url ?? running.url;
    const ends = { base, fhir: `${base}/fhir`, auth: `${base}/auth`, folder: data, lines, keys, clients };
    return {
      ...ends,
      setClients: changed => writeClients(file, changed),
      async restart(different) {
        await running.stop();
        return start(different);
      },
      async stop() {
        await running.stop();
        door?.close();
        rmSync(clinic.folder, { recursive: true, force: true });
      },
    };
  };
  return start();
}

export interface Authorization {
  readonly client?: string;
  readonly scope?: string;
  readonly user?: string;
  /** Changes parameters of the request; null removes one. */
  readonly parameters?: Readonly<Record<string, string | null>>;
  readonly method?: 'GET' | 'POST';
  readonly browser?: Browser;
  /** Selects the ticked scopes on the consent page. */
  readonly tick?: (page: Page) => readonly string[];
  readonly decision?: 'allow' | 'deny';
  readonly patient?: string;
  /** Value of the button pressed on the page of visits. */
  readonly encounter?: string;
}

export interface Authorized {
  /** The URL at which the browser ended. */
  readonly page: Page;
  readonly code: string | undefined;
  readonly verifier: string;
  /** Pages on the way, by the last segment of their URL. */
  readonly seen: readonly Page[];
}

/** Completes login and consent as a user does. */
export async function authorize({ auth, fhir }: Ends, options: Authorization = {}): Promise<Authorized> {
  const { client = 'public', user = 'anna', method = 'GET', decision = 'allow', tick = boxesTicked } = options;
  const { browser = openBrowser(auth) } = options;
  const verifier = randomBytes(32).toString('base64url');
  const parameters: Record<string, string | null> = {
    response_type: 'code',
    client_id: client,
    redirect_uri: REDIRECT,
    scope: options.scope ?? 'launch/patient openid fhirUser offline_access patient/*.rs',
    state: 'the-state',
    aud: fhir,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...options.parameters,
  };
  const fields: Fields = Object.entries(parameters).flatMap(([name, value]) => (value === null ? [] : [[name, value]]));
  const address = `${auth}/authorize`;
  const seen: Page[] = [];
  let page =
    method === 'GET'
      ? await browser.open(`${address}?${new URLSearchParams(fields.map(([name, value]) => [name, value]))}`)
      : await browser.send(address, fields, { origin: 'https://app.example.org' });
  seen.push(page);
  if (page.html.includes('name="password"')) {
    page = await browser.send(formAction(page, '/login'), [
      ['username', user],
      ['password', PASSWORD],
    ]);
    seen.push(page);
  }
  if (page.html.includes('/patient"')) {
    page = await browser.send(formAction(page, '/patient'), [['patient', options.patient ?? '1']]);
    seen.push(page);
  }
  if (page.html.includes('/encounter"')) {
    const [patient = ''] = /(?<=name="patient" value=")[^"]*/.exec(page.html) ?? [];
    page = await browser.send(formAction(page, '/encounter'), [
      ['patient', patient],
      ['encounter', options.encounter ?? '7'],
    ]);
    seen.push(page);
  }
  if (page.html.includes('/consent"')) {
    const hidden = ['patient', 'encounter'].flatMap(name => {
      const [, value] = new RegExp(`type="hidden" name="${name}" value="([^"]*)"`).exec(page.html) ?? [];
      return value === undefined ? [] : [[name, value] as const];
    });
    page = await browser.send(formAction(page, '/consent'), [
      ['decision', decision],
      ...hidden,
      ...tick(page).map(scope => ['scope', scope] as const),
    ]);
  }
  const code = new URL(page.url).searchParams.get('code') ?? undefined;
  return { page, code, verifier, seen };
}

function boxesTicked(page: Page): readonly string[] {
  return boxes(page, 'scope');
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Posts a form to an endpoint of the authorization server. */
export async function post(
  url: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const response = await fetch(url, { method: 'POST', headers, body: new URLSearchParams(fields) });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? {} : (JSON.parse(text) as Answer['body']),
  };
}

export const BASIC = { authorization: `Basic ${btoa(`secret:${SECRET}`)}` };

const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

export interface AssertionOptions {
  readonly alg?: 'RS384' | 'ES384';
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  readonly key?: JWK;
}

/** The client assertion of a client with a key; like a test kit's, without `iat`, valid for exactly five minutes. */
export async function assertionOf(
  { auth, keys }: Served,
  client: string,
  { alg = 'RS384', claims, header, key = keys[alg] }: AssertionOptions = {},
): Promise<Readonly<Record<string, string>>> {
  const now = Math.floor(Date.now() / 1000);
  const payload = { iss: client, sub: client, aud: `${auth}/token`, exp: now + 300, jti: randomUUID(), ...claims };
  const token = await new SignJWT(payload)
    .setProtectedHeader({ alg, kid: key.kid ?? '', typ: 'JWT', ...header })
    .sign(key);
  return { client_assertion_type: ASSERTION, client_assertion: token };
}

/** Exchanges a code for tokens, by default as the public client. */
export function redeem(
  { auth }: Ends,
  { code = '', verifier }: Pick<Authorized, 'code' | 'verifier'>,
  fields: Readonly<Record<string, string>> = { client_id: 'public' },
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const own = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT, code_verifier: verifier };
  return post(`${auth}/token`, { ...own, ...fields }, headers);
}

/** Completes the whole flow to tokens. A client with a key needs the keys. */
export async function launch(served: Ends | Served, options: Authorization = {}): Promise<Answer> {
  const done = await authorize(served, options);
  const { client = 'public' } = options;
  if (client === 'secret') return redeem(served, done, {}, BASIC);
  const isKey = client === 'key' && 'keys' in served;
  return redeem(served, done, isKey ? await assertionOf(served, client) : { client_id: client });
}

/** Sends a request with a token to the FHIR interface. */
export async function read({ fhir }: Served, path: string, token: unknown): Promise<number> {
  const response = await fetch(`${fhir}/${path}`, { headers: { authorization: `Bearer ${String(token)}` } });
  await response.arrayBuffer();
  return response.status;
}
