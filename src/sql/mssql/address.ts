/**
 * Parses the address of a SQL Server: `mssql://user:password@host[\instance][:port]/database?option=value&…`. In: its
 * text, and possibly a password from elsewhere. Out: the settings of the driver and the bulkheads, or problems, which
 * never repeat a value.
 */
import { type AddressOption, OPTIONS, type OptionName } from './address-options.ts';

export type Login =
  | { readonly kind: 'sql'; readonly user: string; readonly password: string }
  | { readonly kind: 'ntlm'; readonly user: string; readonly password: string; readonly domain: string }
  | {
      readonly kind: 'azure-password';
      readonly user: string;
      readonly password: string;
      readonly clientId: string;
      readonly tenantId: string;
    }
  | {
      readonly kind: 'azure-secret';
      readonly clientId: string;
      readonly clientSecret: string;
      readonly tenantId: string;
    }
  /** Credentials that the Azure library finds: managed identities, the environment, a signed-in developer. */
  | { readonly kind: 'azure-default'; readonly clientId: string | undefined };

export interface BulkheadLimits {
  /** Connections, and therefore concurrent statements. */
  readonly size: number;
  /** Statements that may wait for a connection; further ones are refused at once. */
  readonly queue: number;
  /** Milliseconds that a statement may wait, and that it may take. */
  readonly wait: number;
  readonly timeout: number;
}

export interface SqlServerAddress {
  readonly host: string;
  readonly instance: string | undefined;
  readonly port: number;
  readonly database: string;
  readonly login: Login;
  readonly encrypt: boolean;
  readonly trustServerCertificate: boolean;
  /** PEM file of the authority that signed the server's certificate. */
  readonly ca: string | undefined;
  readonly serverName: string | undefined;
  readonly applicationName: string;
  readonly readOnlyIntent: boolean;
  readonly multiSubnetFailover: boolean;
  /** Bytes. */
  readonly packetSize: number;
  /** Milliseconds. */
  readonly connectTimeout: number;
  readonly lockTimeout: number;
  readonly interactive: BulkheadLimits;
  readonly export: BulkheadLimits;
}

/** Returns the address in a text, or every problem with it. Problems contain no value. */
export function parseSqlServerAddress(
  text: string,
  password?: string,
): { readonly address: SqlServerAddress } | { readonly problems: readonly string[] } {
  // `URL` treats `\` as `/`, so the authority is parsed here. It leaves schemes that it does not know unchanged.
  const [, authority = '', rest = ''] = /^mssql:\/\/([^/?#]*)(.*)$/s.exec(text) ?? [];
  const [, userinfo, host = '', instance, port] =
    /^(?:(.*)@)?([^@\\:]+|\[[0-9a-fA-F:]+\])(?:\\([^@\\:]+))?(?::(\d{1,5}))?$/s.exec(authority) ?? [];
  const url = URL.parse(`mssql://host${rest}`);
  if (host === '' || url === null) return { problems: ['not mssql://<user>:<password>@<host>/<database>'] };
  const problems: string[] = [];
  const option = optionsOf(url.searchParams, problems);
  const database = decoded(url.pathname.slice(1));
  if (database === undefined || database === '') problems.push('no name of a database after the host');
  if (Number(port ?? 1433) > 65_535) problems.push('the port is no number up to 65535');
  const [user, given] = (userinfo ?? '').split(/:(.*)/s, 2).map(decoded);
  const login = loginOf(option, user ?? '', password ?? given ?? '', problems);
  if (problems.length > 0 || login === undefined || database === undefined) return { problems };
  return {
    address: {
      host: host.replace(/^\[(.*)\]$/, '$1'),
      instance,
      port: Number(port ?? 1433),
      database,
      login,
      encrypt: option('encrypt') === 'true',
      trustServerCertificate: option('trustServerCertificate') === 'true',
      ca: option('ca') || undefined,
      serverName: option('serverName') || undefined,
      applicationName: option('applicationName'),
      readOnlyIntent: option('applicationIntent') === 'ReadOnly',
      multiSubnetFailover: option('multiSubnetFailover') === 'true',
      packetSize: option('auth').startsWith('azure-') ? USUAL_PACKET_SIZE : Number(option('packetSize')),
      connectTimeout: Number(option('connectTimeout')),
      lockTimeout: Number(option('lockTimeout')),
      interactive: limits(option, 'pool', 'queue', 'queueTimeout', 'timeout'),
      export: limits(option, 'exportPool', 'exportQueue', 'exportQueueTimeout', 'exportTimeout'),
    },
  };
}

/**
 * The driver splits a login into packets of the requested size, and Azure accepts none larger than these before it has
 * agreed to a size.
 */
const USUAL_PACKET_SIZE = 4096;

type Option = (name: OptionName) => string;

function optionsOf(given: URLSearchParams, problems: string[]): Option {
  for (const name of new Set(given.keys())) {
    if (!Object.hasOwn(OPTIONS, name)) problems.push('an option that there is not; see docs/configuration.md');
    else if (given.getAll(name).length > 1) problems.push(`option ${name} stands twice`);
  }
  const values = new Map<string, string>();
  for (const [name, { default: usual, expected, pattern }] of Object.entries<AddressOption>(OPTIONS)) {
    const value = given.get(name);
    if (value !== null && !pattern.test(value)) problems.push(`option ${name}: expected ${expected}`);
    values.set(name, value ?? usual);
  }
  return name => values.get(name) ?? '';
}

function limits(option: Option, ...[size, queue, wait, timeout]: [OptionName, OptionName, OptionName, OptionName]) {
  return {
    size: Number(option(size)),
    queue: Number(option(queue)),
    wait: Number(option(wait)),
    timeout: Number(option(timeout)),
  };
}

function loginOf(option: Option, user: string, password: string, problems: string[]): Login | undefined {
  const needed = (name: OptionName): string => {
    if (option(name) === '') problems.push(`auth=${option('auth')} needs option ${name}`);
    return option(name);
  };
  const named = (what: string, value: string): string => {
    if (value === '') problems.push(`no ${what} before the host`);
    return value;
  };
  switch (option('auth')) {
    case 'sql':
      return { kind: 'sql', user: named('user', user), password };
    case 'ntlm':
      return { kind: 'ntlm', user: named('user', user), password, domain: needed('domain') };
    case 'azure-password':
      return {
        kind: 'azure-password',
        user: named('user', user),
        password,
        clientId: needed('clientId'),
        tenantId: needed('tenantId'),
      };
    case 'azure-secret':
      return {
        kind: 'azure-secret',
        clientId: option('clientId') || named('user', user),
        clientSecret: named('secret', password),
        tenantId: needed('tenantId'),
      };
    case 'azure-default':
      return { kind: 'azure-default', clientId: option('clientId') || undefined };
    default:
      return undefined;
  }
}

function decoded(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    // A password may contain a plain %.
    return text;
  }
}
