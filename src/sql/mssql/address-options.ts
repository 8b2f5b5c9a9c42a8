/**
 * Lists the options of a SQL Server address: names, defaults, expected values, meaning. address.ts parses addresses by
 * this table, and docs/configuration.md is generated from it.
 */

export interface AddressOption {
  readonly default: string;
  readonly expected: string;
  readonly meaning: string;
  readonly pattern: RegExp;
}

const FLAG = { expected: '`true` or `false`', pattern: /^(true|false)$/ };
const TEXT = { expected: 'a text', pattern: /^.{1,128}$/ };

const whole = (digits: number, unit: string) => ({
  expected: `${unit}, a whole number from 1 to ${'9'.repeat(digits)}`,
  pattern: new RegExp(`^[1-9]\\d{0,${digits - 1}}$`),
});

export const OPTIONS = {
  encrypt: {
    ...FLAG,
    default: 'true',
    meaning: 'TLS for the whole connection; without TLS on the server no login is sent.',
  },
  trustServerCertificate: {
    ...FLAG,
    default: 'false',
    meaning: 'Accepts any certificate, which allows interception. For trials only; prefer `ca`.',
  },
  ca: {
    default: '',
    expected: 'the path of a PEM file',
    pattern: /^.+$/,
    meaning: 'File with the certificate authority of the server, if the system does not trust it.',
  },
  serverName: { ...TEXT, default: '', meaning: 'Name in the certificate of the server, if other than the host.' },
  auth: {
    default: 'sql',
    expected: 'one of `sql`, `ntlm`, `azure-password`, `azure-secret`, `azure-default`',
    pattern: /^(sql|ntlm|azure-(password|secret|default))$/,
    meaning:
      'How to log in: a SQL login; a Windows account by NTLM (`domain`); Microsoft Entra ID (Azure AD) by user and password (`clientId`, `tenantId`), as an application (`clientId` and the secret instead of user and password, `tenantId`), or by credentials of the environment, such as a managed identity.',
  },
  domain: { ...TEXT, default: '', meaning: 'Windows domain of the user, with `auth=ntlm`.' },
  clientId: { ...TEXT, default: '', meaning: 'Application or managed identity, with `auth=azure-…`.' },
  tenantId: { ...TEXT, default: '', meaning: 'Tenant, with `auth=azure-password` and `auth=azure-secret`.' },
  applicationName: { ...TEXT, default: 'Lintel', meaning: '`program_name` of the sessions, as the DBA sees it.' },
  applicationIntent: {
    default: 'ReadWrite',
    expected: '`ReadOnly` or `ReadWrite`',
    pattern: /^Read(Only|Write)$/,
    meaning: '`ReadOnly` lets an availability group send the sessions to a readable secondary.',
  },
  multiSubnetFailover: { ...FLAG, default: 'false', meaning: 'Tries all addresses of the host at the same time.' },
  connectTimeout: {
    ...whole(5, 'milliseconds'),
    default: '1500',
    meaning: 'Time limit of a login, after which requests get 503 if the host is away.',
  },
  packetSize: {
    default: '16383',
    expected: 'bytes, one of `4096`, `8192`, `16383`, `32767`',
    pattern: /^(4096|8192|16383|32767)$/,
    meaning:
      'Requested size of network packets. The default is the maximum with TLS; with the usual 4096 rows take this process twice as long. Logins with `auth=azure-…` always request 4096, as their tokens are sent before the size is negotiated.',
  },
  lockTimeout: {
    ...whole(6, 'milliseconds'),
    default: '5000',
    meaning:
      'LOCK_TIMEOUT of the sessions: how long a statement waits for a lock; at most a quarter of `queueTimeout`.',
  },
  pool: { ...whole(3, 'connections'), default: '10', meaning: 'Connections for requests.' },
  queue: {
    ...whole(4, 'statements'),
    default: '100',
    meaning: 'Statements that may wait for a connection; more get 503 and Retry-After.',
  },
  queueTimeout: {
    ...whole(6, 'milliseconds'),
    default: '5000',
    meaning: 'How long a statement may wait for a connection.',
  },
  timeout: {
    ...whole(7, 'milliseconds'),
    default: '30000',
    meaning: 'How long a statement of a request may take before it is cancelled on the server.',
  },
  exportPool: {
    default: '2',
    expected: 'connections, a whole number from 2 to 999',
    pattern: /^([2-9]|[1-9]\d{1,2})$/,
    meaning: 'Additional connections for exports: one streams rows, the others fetch their child rows.',
  },
  exportQueue: { ...whole(4, 'statements'), default: '100', meaning: 'Statements that may wait for a connection.' },
  exportQueueTimeout: {
    ...whole(7, 'milliseconds'),
    default: '600000',
    meaning: 'How long a statement of an export may wait for a connection.',
  },
  exportTimeout: {
    ...whole(7, 'milliseconds'),
    default: '300000',
    meaning: 'How long a statement of an export may take before it is cancelled on the server.',
  },
} as const satisfies Readonly<Record<string, AddressOption>>;

export type OptionName = keyof typeof OPTIONS;

/** The parts of an address before the options. */
const PARTS: Readonly<Record<string, string>> = {
  '`<host>`': 'Server, by name or address; an IPv6 address in square brackets.',
  '`\\<instance>`':
    'Named instance; the SQL Server Browser of the host is asked for its port. Default: the default instance.',
  '`:<port>`': 'Port. Default: `1433`.',
  '`/<database>`': 'Database.',
  '`<user>:<password>@`':
    'Login. The password can be in `DATABASE_PASSWORD` or in the file of `DATABASE_PASSWORD_FILE` instead.',
};

/** Returns the parts of an address and its options as Markdown, for docs/configuration.md. */
export function addressTable(): string {
  const parts = Object.entries(PARTS).map(([name, meaning]) => `| ${name} | ${meaning} |`);
  const options = Object.entries<AddressOption>(OPTIONS).map(([name, one]) => {
    const usual = one.default === '' ? 'Default: none.' : `Default: \`${one.default}\`.`;
    return `| \`${name}\` | ${one.meaning} Expected: ${one.expected}. ${usual} |`;
  });
  return ['| part or option | meaning |', '|---|---|', ...parts, ...options].join('\n');
}
