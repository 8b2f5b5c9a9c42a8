/**
 * `lintel client`: manages the apps that may request tokens. It makes secrets and prints them once. Private keys stay
 * with the app, which gives the public key or the URL that publishes it.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { importJWK, type JWK, SignJWT } from 'jose';
import { newEra } from '../auth/era.ts';
import { isLoopback } from '../common/loopback.ts';
import { type Client, isClientId, newSecret, REGISTRABLE, readClients, writeClients } from '../smart/clients.ts';
import { ASSERTION_ALGORITHMS } from '../smart/provider.ts';
import { parseResourceScope } from '../smart/scopes.ts';
import { FILES } from '../smart/server.ts';
import { Arguments, ArgumentsError, type Command, configOf, printJson, refuse, type Terminal } from './command.ts';
import { isRecorded } from './recorded.ts';

export const client: Command = {
  summary: 'manages the apps that may request access',
  help: `Usage: lintel client add ID [--public | --secret | --jwks FILE | --jwks-url URL] [--name TEXT]
                         [--redirect URL]… [--launch-url URL] --scope SCOPES [--introspect] [--json]
       lintel client list [--json]
       lintel client disable ID | enable ID | rm ID [--json]
       lintel client rotate ID [--jwks FILE | --jwks-url URL] [--json]
       lintel client assertion ID --key FILE --token-url URL

add        registers an app; prints the secret of one that has one
list       names all apps
disable    ends its tokens and what people have allowed it, and gives it no new ones
enable     gives it new ones again; what has ended stays ended
rm         removes it; its tokens and what people have allowed it end
rotate     gives it a new secret, or new keys; the old ones stop working, and tokens go on
assertion  prints a signed assertion, as an app with a key sends it to the token endpoint; to try it out

Apps are kept in ${FILES.clients} in DATA_DIR; a running server sees changes.`,
  exits: [
    'done',
    'not done: there is no such app, there is one already, its keys, addresses or scopes are wrong, or the audit ' +
      'takes no record',
  ],
  options: {
    public: 'the app keeps no secret: it runs in a browser or on a phone',
    secret: 'the app keeps a secret, and sends it by HTTP Basic',
    jwks: ['FILE', 'the app signs with a private key; FILE has the public ones as a JSON Web Key Set'],
    'jwks-url': ['URL', 'the same; the app publishes the set at this https address'],
    name: ['TEXT', 'the name shown at consent (default: ID)'],
    redirect: [
      'URL',
      'redirect URL after consent, compared exactly; can be repeated. Without any the app acts ' +
        'in its own name alone (Backend Services).',
      'several',
    ],
    'launch-url': ['URL', 'where an EHR launches it'],
    scope: [
      'SCOPES',
      "what it may ask for at most, with spaces between, such as 'openid fhirUser launch/patient offline_access " +
        "patient/*.rs', or 'system/*.rs'; 'system/launch' lets it announce launches, as an EHR does",
    ],
    introspect: 'the app may introspect tokens of other apps',
    key: ['FILE', 'a private JSON Web Key'],
    'token-url': ['URL', 'the token endpoint that an assertion is for'],
    json: 'prints one JSON object: clients, without secrets; or client, done, and secret where one was made',
  },
  positionals: [1, 2],
  async run(args, terminal) {
    const config = configOf(args, terminal);
    const file = join(config.dataDir, FILES.clients);
    const [action = '', id] = args.positionals;
    if (action === 'list' && id === undefined) return list(file, args, terminal);
    if (action === 'assertion' && id !== undefined) return assertion(id, args, terminal);
    const change = Object.hasOwn(CHANGES, action) ? CHANGES[action] : undefined;
    if ((change === undefined && action !== 'add') || id === undefined) {
      throw new ArgumentsError(['Expected add, disable, enable, rm or rotate with an id, or list.']);
    }
    const before = readClients(file);
    const own = before.find(one => one.id === id);
    if ((own === undefined) !== (action === 'add'))
      return refuse([own === undefined ? `There is no client ${id}.` : `There is a client ${id} already.`], terminal);
    const changed = own && change ? change(own, args) : added(id, args);
    if ('problem' in changed) return refuse([changed.problem], terminal);
    const { client: after, secret } = changed;
    const words = ['client', action, id, ...(action === 'add' && after ? ['--scope', after.scopes.join(' ')] : [])];
    if (!isRecorded(words, !TAKING.has(action), config, terminal)) return 1;
    const others = before.filter(one => one !== own);
    writeClients(
      file,
      after === undefined ? others : own ? before.map(one => (one === own ? after : one)) : [...before, after],
    );
    if (args.json) {
      const shown = after === undefined ? null : shownOf(after);
      printJson({ client: shown, done: DONE[action] ?? '', ...(secret === undefined ? {} : { secret }) }, terminal);
      return 0;
    }
    terminal.out(`${id}: ${DONE[action] ?? ''}`);
    if (secret !== undefined) terminal.out(`Secret: ${secret}`);
    return 0;
  },
};

/** Actions that remove access. */
const TAKING: ReadonlySet<string> = new Set(['disable', 'rm']);

const DONE: Readonly<Record<string, string>> = {
  add: 'added',
  disable: 'disabled',
  enable: 'enabled',
  rm: 'removed',
  rotate: 'has other credentials',
};

type Changed =
  /** The client after the change; undefined if it is removed. */
  { readonly client: Client | undefined; readonly secret?: string } | { readonly problem: string };

type Change = (own: Client, args: Arguments) => Changed;

const CHANGES: Readonly<Record<string, Change>> = {
  disable: own => ({ client: { ...own, disabled: true, era: newEra() } }),
  enable: own => ({ client: { ...own, disabled: false } }),
  rm: () => ({ client: undefined }),
  rotate(own, args) {
    if (own.kind === 'public') return { problem: 'A public client has no credentials.' };
    const credentials = credentialsOf(own.kind === 'secret' ? new Arguments({ secret: true }, []) : args);
    if ('problem' in credentials) return credentials;
    if (credentials.kind !== own.kind)
      return { problem: 'Expected --jwks or --jwks-url with the keys that it has now.' };
    const { jwks: _jwks, jwksUrl: _url, ...kept } = own;
    return withCredentials(kept, credentials);
  },
};

function added(id: string, args: Arguments): Changed {
  if (!isClientId(id))
    return { problem: 'An id has 1 to 100 letters, digits and . _ ~ - and begins with a letter or digit.' };
  const credentials = credentialsOf(args);
  if ('problem' in credentials) return credentials;
  const redirects = args.list('redirect');
  const launchUrl = args.text('launch-url');
  const scopes = (args.text('scope') ?? '').split(' ').filter(scope => scope !== '');
  const problem = addressProblem(redirects, launchUrl) ?? scopeProblem(scopes, redirects, credentials.kind);
  if (problem !== undefined) return { problem };
  const client = {
    ...{ id, name: args.text('name') ?? id, redirects, scopes, disabled: false, era: newEra() },
    ...(launchUrl === undefined ? {} : { launchUrl }),
    introspects: args.is('introspect'),
  };
  return withCredentials(client, credentials);
}

/** Adds credentials; of a secret only the hash is stored. */
function withCredentials(client: Omit<Client, 'kind'>, { secret, ...rest }: Credentials): Changed {
  if (secret === undefined) return { client: { ...client, ...rest } };
  return { client: { ...client, ...rest, secret: secret.hash }, secret: secret.secret };
}

type Credentials = Pick<Client, 'kind' | 'jwks' | 'jwksUrl'> & { readonly secret?: ReturnType<typeof newSecret> };

function credentialsOf(args: Arguments): Credentials | { readonly problem: string } {
  const [file, url] = [args.text('jwks'), args.text('jwks-url')];
  const ways = [args.is('public'), args.is('secret'), file !== undefined, url !== undefined];
  if (ways.filter(way => way).length !== 1)
    return { problem: 'Expected one of --public, --secret, --jwks and --jwks-url.' };
  if (file !== undefined) return keySet(file);
  if (url !== undefined) {
    const parsed = URL.parse(url);
    const isSafe = parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && isLoopback(parsed.hostname));
    return isSafe ? { kind: 'key', jwksUrl: url } : { problem: '--jwks-url: expected an https address.' };
  }
  return args.is('public') ? { kind: 'public' } : { kind: 'secret', secret: newSecret() };
}

const PRIVATE_PARTS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k'];

/** Reads the keys of a file; refuses private ones. */
function keySet(file: string): Credentials | { readonly problem: string } {
  let set: { readonly keys?: unknown };
  try {
    set = JSON.parse(readFileSync(file, 'utf8')) as typeof set;
  } catch {
    return { problem: '--jwks: expected the path of a file with JSON.' };
  }
  const keys: readonly unknown[] | undefined = Array.isArray(set?.keys) ? set.keys : undefined;
  if (keys === undefined || keys.length === 0 || !keys.every(isPublicKey))
    return { problem: '--jwks: expected a JSON Web Key Set, {"keys": […]}, of public RSA or P-384 keys.' };
  return { kind: 'key', jwks: { keys } };
}

function isPublicKey(one: unknown): one is Readonly<Record<string, unknown>> {
  const key = (one ?? {}) as Readonly<Record<string, unknown>>;
  const isFit = key['kty'] === 'RSA' || (key['kty'] === 'EC' && key['crv'] === 'P-384');
  return isFit && PRIVATE_PARTS.every(part => key[part] === undefined);
}

function addressProblem(redirects: readonly string[], launchUrl: string | undefined): string | undefined {
  const isWrong = (address: string): boolean => {
    const url = URL.parse(address);
    if (url === null || address.includes('#') || /[\s"'<>\\]/.test(address)) return true;
    if (url.protocol === 'http:') return !isLoopback(url.hostname);
    return url.protocol !== 'https:' && !/^[a-z][a-z0-9+-]*\.[a-z0-9.+-]*:$/.test(url.protocol);
  };
  if (redirects.some(isWrong))
    return '--redirect: expected https addresses without #, http ones of this machine, or those of a phone app (com.example.app:/…).';
  if (launchUrl !== undefined && isWrong(launchUrl)) return '--launch-url: expected an https address without #.';
  return undefined;
}

function scopeProblem(
  scopes: readonly string[],
  redirects: readonly string[],
  kind: Client['kind'],
): string | undefined {
  if (scopes.length === 0) return '--scope: expected scopes with spaces between; lintel client --help has examples.';
  const unknown = scopes.find(scope => !REGISTRABLE.has(scope) && !parseResourceScope(scope)?.letters);
  if (unknown !== undefined) return `--scope: ${unknown} is no scope that can be granted; Lintel only reads.`;
  const system = scopes.some(scope => scope.startsWith('system/'));
  if (system && kind === 'public') return '--scope: system/ scopes need --secret, --jwks or --jwks-url.';
  if (redirects.length === 0 && scopes.some(scope => !scope.startsWith('system/')))
    return '--redirect: expected with scopes other than system/.';
  return undefined;
}

/** Returns the parts that may be shown: without the hash of the secret. */
function shownOf({ secret: _secret, era: _era, ...client }: Client): object {
  return client;
}

function list(file: string, args: Arguments, terminal: Terminal): number {
  const clients = readClients(file);
  if (args.json) {
    printJson({ clients: clients.map(shownOf) }, terminal);
    return 0;
  }
  for (const { id, name, kind, scopes, redirects, disabled } of clients) {
    terminal.out(`${id} (${kind}${disabled ? ', disabled' : ''}) ${name}`);
    terminal.out(`  scopes: ${scopes.join(' ')}`);
    for (const redirect of redirects) terminal.out(`  redirect: ${redirect}`);
  }
  if (clients.length === 0) terminal.note('There are no clients; lintel client add ID makes one.');
  return 0;
}

/** Makes a client assertion. It expires after four minutes, so a stolen one is soon worthless. */
async function assertion(id: string, args: Arguments, terminal: Terminal): Promise<number> {
  const [file, audience] = [args.text('key'), args.text('token-url')];
  if (file === undefined || audience === undefined) {
    throw new ArgumentsError(['lintel client assertion needs --key and --token-url.']);
  }
  let jwk: JWK;
  try {
    jwk = JSON.parse(readFileSync(file, 'utf8')) as JWK;
  } catch {
    return refuse(['--key: expected the path of a file with a private JSON Web Key.'], terminal);
  }
  const [rsa, elliptic] = ASSERTION_ALGORITHMS;
  const alg = jwk.kty === 'RSA' ? rsa : elliptic;
  const key = await importJWK(jwk, alg);
  const header = { alg, typ: 'JWT', ...(jwk.kid === undefined ? {} : { kid: jwk.kid }) };
  const token = new SignJWT().setProtectedHeader(header).setIssuer(id).setSubject(id).setAudience(audience);
  terminal.out(await token.setJti(randomUUID()).setIssuedAt().setExpirationTime('4m').sign(key));
  return 0;
}
