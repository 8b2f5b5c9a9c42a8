/**
 * The options of a SQL Server address: names, defaults, expected values, meaning. address.ts reads addresses by this
 * table, and docs/configuration.md is printed from it.
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
    meaning: 'TLS for the whole connection; a server that offers none is sent no login.',
  },
  trustServerCertificate: {
    ...FLAG,
    default: 'false',
    meaning: 'Takes any certificate: anyone between can then read along. For trying out only; prefer `ca`.',
  },
  ca: {
    default: '',
    expected: 'the path of a PEM file',
    pattern: /^.+$/,
    meaning: 'File with the authority that signed the certificate of the server, where the system does not know it.',
  },
  serverName: { ...TEXT, default: '', meaning: 'Name in the certificate of the server, where it is not the host.' },
  auth: {
    default: 'sql',
    expected: 'one of `sql`, `ntlm`, `azure-password`, `azure-secret`, `azure-default`',
    pattern: /^(sql|ntlm|azure-(password|secret|default))$/,
    meaning:
      'How to log in: a SQL login; a Windows account by NTLM (`domain`); Microsoft Entra ID (Azure AD) by user and password (`clientId`, `tenantId`), as an application (`clientId` and the secret in place of user and password, `tenantId`), or by what the environment offers, such as a managed identity.',
  },
  domain: { ...TEXT, default: '', meaning: 'Windows domain of the user, with `auth=ntlm`.' },
  clientId: { ...TEXT, default: '', meaning: 'Application or managed identity, with `auth=azure-…`.' },
  tenantId: { ...TEXT, default: '', meaning: 'Tenant, with `auth=azure-password` and `auth=azure-secret`.' },
  applicationName: { ...TEXT, default: 'Lintel', meaning: 'What the DBA sees as program_name of the sessions.' },
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
    meaning: 'How long a login may take. It decides how soon requests are answered with 503 when the host is away.',
  },
  packetSize: {
    default: '16383',
    expected: 'bytes, one of `4096`, `8192`, `16383`, `32767`',
    pattern: /^(4096|8192|16383|32767)$/,
    meaning:
      'Size of the network packets that is asked for. The default is the most that goes with TLS; with the 4096 that drivers ask for, rows take this process twice as long. Logins with `auth=azure-…` always ask for 4096: their tokens are sent before the size is agreed on.',
  },
  lockTimeout: {
    ...whole(6, 'milliseconds'),
    default: '5000',
    meaning:
      'LOCK_TIMEOUT of the sessions: how long a statement waits for the lock of somebody else; never longer than a quarter of `queueTimeout`.',
  },
  pool: { ...whole(3, 'connections'), default: '10', meaning: 'Connections for requests.' },
  queue: {
    ...whole(4, 'statements'),
    default: '100',
    meaning: 'Statements that may wait for one of them; more are answered with 503 and Retry-After.',
  },
  queueTimeout: { ...whole(6, 'milliseconds'), default: '5000', meaning: 'How long a statement may wait there.' },
  timeout: {
    ...whole(7, 'milliseconds'),
    default: '30000',
    meaning: 'How long a statement of a request may take before it is cancelled on the server.',
  },
  exportPool: {
    default: '2',
    expected: 'connections, a whole number from 2 to 999',
    pattern: /^([2-9]|[1-9]\d{1,2})$/,
    meaning:
      'Connections for exports, apart from those above: one streams rows, the others fetch what belongs to them.',
  },
  exportQueue: { ...whole(4, 'statements'), default: '100', meaning: 'Statements that may wait for one of them.' },
  exportQueueTimeout: {
    ...whole(7, 'milliseconds'),
    default: '600000',
    meaning: 'How long a statement of an export may wait there.',
  },
  exportTimeout: {
    ...whole(7, 'milliseconds'),
    default: '300000',
    meaning: 'How long a statement of an export may take before it is cancelled on the server.',
  },
} as const satisfies Readonly<Record<string, AddressOption>>;

export type OptionName = keyof typeof OPTIONS;

/** What stands before the options. */
const PARTS: Readonly<Record<string, string>> = {
  '`<host>`': 'Server, by name or address; an IPv6 address in square brackets.',
  '`\\<instance>`':
    'Named instance; the SQL Server Browser of the host is asked for its port. Default: the default instance.',
  '`:<port>`': 'Port. Default: `1433`.',
  '`/<database>`': 'Database.',
  '`<user>:<password>@`':
    'Login. The password may stand in `DATABASE_PASSWORD` or in the file named by `DATABASE_PASSWORD_FILE` instead.',
};

/** The parts of an address and its options as Markdown, for docs/configuration.md. */
export function addressTable(): string {
  const parts = Object.entries(PARTS).map(([name, meaning]) => `| ${name} | ${meaning} |`);
  const options = Object.entries<AddressOption>(OPTIONS).map(([name, one]) => {
    const usual = one.default === '' ? 'Default: none.' : `Default: \`${one.default}\`.`;
    return `| \`${name}\` | ${one.meaning} Expected: ${one.expected}. ${usual} |`;
  });
  return ['| part or option | meaning |', '|---|---|', ...parts, ...options].join('\n');
}
