/**
 * Runs the REST interface over the demo, as for a browser or curl: an application, a cookie jar, an adjustable clock.
 */
import type { Hono } from 'hono';
import { type Account, accountsThat } from '../../src/auth/accounts.ts';
import { accessOfAccounts } from '../../src/auth/granted.ts';
import { createLogin } from '../../src/auth/login.ts';
import { hashPassword } from '../../src/auth/password.ts';
import { NO_RULES, type PackAccess } from '../../src/auth/rules.ts';
import { createSessions } from '../../src/auth/sessions.ts';
import type { Content } from '../../src/ccda/content.ts';
import { readConfig } from '../../src/config/config.ts';
import type { Facade } from '../../src/facade.ts';
import { createApp } from '../../src/http/app.ts';
import type { AppParts, HttpEnv } from '../../src/http/context.ts';
import { createLog } from '../../src/log.ts';
import { numbersOf } from '../../src/rest/numbers.ts';
import { demoContent, NOW } from '../ccda/demo-documents.ts';

export const PASSWORD = 'correct horse battery';

export interface RestUnderTest {
  readonly app: Hono<HttpEnv>;
  readonly lines: string[];
  /** Milliseconds to add to the clock. */
  wait(milliseconds: number): void;
  readonly accounts: Map<string, Account>;
  /** A client with a cookie jar, logged in as anna or another account. */
  client(username?: string): Promise<Client>;
}

export interface Client {
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  post(path: string, body?: URLSearchParams, headers?: Readonly<Record<string, string>>): Promise<Response>;
  json(path: string): Promise<{ readonly status: number; readonly body: unknown }>;
  cookie: string | undefined;
}

export async function restUnderTest(
  facade: Facade,
  environment: Readonly<Record<string, string>> = {},
  content: Content = demoContent(facade),
  more: Partial<AppParts> = {},
  rules: PackAccess = NO_RULES,
): Promise<RestUnderTest> {
  const patients = numbersOf(facade.registry, 'Patient');
  const encounters = numbersOf(facade.registry, 'Encounter');
  if (!patients || !encounters) throw new Error('the demo has no numbers');
  const lines: string[] = [];
  let now = NOW;
  const clock = () => now;
  const config = readConfig(environment);
  const accounts = new Map<string, Account>([
    ['anna', { name: 'anna', password: await hashPassword(PASSWORD), disabled: false }],
  ]);
  const known = { find: (name: string) => accounts.get(name) };
  const { idle, lifetime, max } = config.session;
  const may = ({ restPassword }: Account): boolean => config.login.restPasswords === 'all' || restPassword === true;
  const app = createApp({
    facade,
    served: { pack: { name: 'medkeep', title: 'Demo', version: '1' }, mappings: 1, warnings: [] },
    config,
    log: createLog({ level: 'debug', format: 'json', write: line => lines.push(line) }),
    ping: async () => {},
    rest: {
      source: { facade, content, patients, encounters },
      login: createLogin(known, clock),
      may,
      sessions: createSessions(accountsThat(may, known), { idle, lifetime, most: max, mostPerAccount: max }, clock),
      software: { name: 'Lintel', version: '0' },
      accessOf: accessOfAccounts(rules, config.access === 'open'),
      clock,
    },
    ...more,
  });
  const newClient = (): Client => {
    const send = async (path: string, init: RequestInit): Promise<Response> => {
      const headers = {
        ...(init.headers as Record<string, string>),
        ...(client.cookie ? { cookie: client.cookie } : {}),
      };
      const response = await app.request(`http://localhost${path}`, { ...init, headers });
      const set = response.headers.get('set-cookie');
      if (set !== null) client.cookie = set.split(';')[0];
      return response;
    };
    const client: Client = {
      cookie: undefined,
      get: (path, headers = {}) => send(path, { headers }),
      post: (path, body, headers = {}) =>
        send(path, { method: 'POST', headers, ...(body === undefined ? {} : { body }) }),
      json: async path => {
        const response = await send(path, {});
        return { status: response.status, body: await response.json() };
      },
    };
    return client;
  };
  return {
    app,
    lines,
    accounts,
    wait(milliseconds) {
      now += milliseconds;
    },
    async client(username = 'anna') {
      const client = newClient();
      const response = await client.post('/api/users/login', form({ username, password: PASSWORD }));
      if (response.status !== 200) throw new Error(`login: ${response.status}`);
      return client;
    },
  };
}

export function form(fields: Readonly<Record<string, string>>): URLSearchParams {
  return new URLSearchParams(fields);
}
