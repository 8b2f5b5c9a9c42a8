/**
 * Starts the authorization server in two steps, as its address is known only once the HTTP server listens. In:
 * configuration, and the people and clients of the demo. Out: what the HTTP server and the verifier of tokens ask
 * meanwhile. Loaded only if ACCESS is `smart`.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Account } from '../auth/accounts.ts';
import type { Tokens } from '../auth/token.ts';
import type { Config } from '../config/config.ts';
import { type DemoPerson, type SmartDemo, smartDemo } from './demo.ts';
import { type Endpoints, endpointsOf } from './discovery.ts';
import { demoGreeting, SMART_GREETING } from './greeting.ts';
import { AUTH_PATH } from './provider.ts';
import { openSmart, type Smart, type SmartOptions } from './server.ts';

export interface SmartStart {
  /** People of the demo, who are in no file. */
  readonly accounts: readonly Account[];
  readonly tokens: Tokens;
  /** False: the request is somebody else's. */
  handle(request: IncomingMessage, response: ServerResponse): boolean;
  /** Whether a browser app is registered at an origin. */
  isOrigin(origin: string): boolean;
  /** Its own routes answer that. */
  readonly configuration: undefined;
  /** Of a server at an address: where apps get tokens. */
  endpoints(base: string): Promise<Endpoints>;
  /** Opens it at the address of the server. Resolves to what a person should read. Throws what the system says. */
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
      return demo === undefined ? SMART_GREETING : demoGreeting(base, config.fhirPath, demo);
    },
    close: () => smart?.close(),
  };
}
