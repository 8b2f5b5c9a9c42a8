/**
 * Starts the authorization server in two steps, because its address is known only once the HTTP server listens. In:
 * configuration, and the people and clients of the demo. Out: what the HTTP server and the verifier of tokens need
 * until then. Loaded only if ACCESS is `smart`.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Account } from '../auth/accounts.ts';
import type { Tokens } from '../auth/token.ts';
import { curlOf } from '../common/curl.ts';
import type { Config } from '../config/config.ts';
import { type DemoPerson, type SmartDemo, smartDemo } from './demo.ts';
import { DEMO_APP } from './demo-app.ts';
import { type Endpoints, endpointsOf } from './discovery.ts';
import { AUTH_PATH } from './provider.ts';
import { openSmart, type Smart, type SmartOptions } from './server.ts';

export interface SmartStart {
  /** People of the demo, who are in no file. */
  readonly accounts: readonly Account[];
  readonly tokens: Tokens;
  /** Answers a request for the authorization server; false: it is not one. */
  handle(request: IncomingMessage, response: ServerResponse): boolean;
  /** True if a browser app is registered at an origin. */
  isOrigin(origin: string): boolean;
  /** Its own routes serve the SMART configuration. */
  readonly configuration: undefined;
  /** Returns where apps get tokens, for a server at this address. */
  endpoints(base: string): Promise<Endpoints>;
  /** Opens it at the address of the server. Resolves to the greeting for the console. Throws the system's errors. */
  open(options: Omit<SmartOptions, 'clients' | 'playsEhr'>): Promise<string>;
  close(): void;
}

export async function startSmart(config: Config, people: readonly DemoPerson[]): Promise<SmartStart> {
  const demo: SmartDemo | undefined =
    config.database === undefined ? await smartDemo(config.dataDir, people) : undefined;
  let smart: Smart | undefined;
  return {
    accounts: demo?.accounts ?? [],
    tokens: {
      async grantOf(token, now) {
        if (smart === undefined) throw new Error('the authorization server has not started');
        return smart.tokens.grantOf(token, now);
      },
      epoch: () => smart?.tokens.epoch?.() ?? 0,
    },
    handle: (request, response) => smart?.handle(request, response) ?? false,
    isOrigin: origin => smart?.isOrigin(origin) ?? false,
    configuration: undefined,
    endpoints: async base => endpointsOf(base + AUTH_PATH),
    async open(options) {
      const { base } = options;
      smart = await openSmart({ ...options, clients: demo?.clients(base) ?? [], playsEhr: demo !== undefined });
      return demo === undefined ? SMART_GREETING : demoGreeting(base, config, demo);
    },
    close: () => smart?.close(),
  };
}

export const SMART_GREETING = [
  'Who may read is decided by tokens (ACCESS=smart); docs/smart.md describes how to give people and apps access:',
  '',
  '  npx lintel user add NAME --fhir-user TYPE/ID',
  '  npx lintel client add ID --public --redirect URL --scope SCOPES',
].join('\n');

/** Writes the demo's greeting: how to launch an app, and how to get a token with curl. */
export function demoGreeting(
  base: string,
  config: Pick<Config, 'fhirPath' | 'tls'>,
  { people, secret, keyFile }: SmartDemo,
): string {
  const curl = curlOf(config.tls);
  const token = `${base}${AUTH_PATH}/token`;
  return [
    'Who may read is decided by tokens (ACCESS=smart). To try it:',
    '',
    ...people.map(({ name, password }) => `  Log in as    ${name.padEnd(8)} password ${password}`),
    `  An app       ${base}${DEMO_APP}`,
    `  The EHR      ${base}${AUTH_PATH}/ehr   launches apps for a patient`,
    `  My apps      ${base}${AUTH_PATH}/apps  ends their access`,
    '',
    '  Clients      demo-public, demo-secret, demo-key, demo-backend',
    `  demo-secret  ${secret}`,
    `  Keys         ${keyFile}  (of demo-key and demo-backend)`,
    '',
    'A token by Backend Services:',
    '',
    `  TOKEN=$(${curl} -s -d grant_type=client_credentials -d 'scope=system/*.rs' \\`,
    '    -d client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer \\',
    `    -d client_assertion="$(npx lintel client assertion demo-backend --key ${keyFile} --token-url ${token})" \\`,
    `    ${token} | node -p 'JSON.parse(require("fs").readFileSync(0)).access_token')`,
    '',
    'And with it:',
    '',
    `  ${curl} -H "Authorization: Bearer $TOKEN" '${base}${config.fhirPath}/Patient?_count=2'`,
  ].join('\n');
}
