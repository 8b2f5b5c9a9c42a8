import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseSqlServerAddress, type SqlServerAddress } from '../../../src/sql/mssql/address.ts';
import { addressTable } from '../../../src/sql/mssql/address-options.ts';

function addressOf(text: string, password?: string): SqlServerAddress {
  const read = parseSqlServerAddress(text, password);
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  return read.address;
}

function problemsOf(text: string): readonly string[] {
  const read = parseSqlServerAddress(text);
  return 'problems' in read ? read.problems : [];
}

test('a URL has server, database and login, and encryption by default', () => {
  expect(addressOf('mssql://reader:secret@db.example.org/EHR')).toMatchObject({
    ...{ host: 'db.example.org', instance: undefined, port: 1433, database: 'EHR' },
    login: { kind: 'sql', user: 'reader', password: 'secret' },
    ...{ encrypt: true, trustServerCertificate: false, readOnlyIntent: false, applicationName: 'Lintel' },
  });
});

test('instance and port may follow the host', () => {
  expect(addressOf('mssql://reader:s@db\\PROD/EHR')).toMatchObject({ host: 'db', instance: 'PROD' });
  expect(addressOf('mssql://reader:s@db:14330/EHR')).toMatchObject({ host: 'db', port: 14_330 });
  expect(addressOf('mssql://reader:s@[::1]:14330/EHR')).toMatchObject({ host: '::1', port: 14_330 });
});

test.each([
  ['p%40ss%2F%3A%23', 'p@ss/:#'],
  ['p@ss:word', 'p@ss:word'],
  ['100%', '100%'],
])('the password %s is parsed', (written, meant) => {
  expect(addressOf(`mssql://reader:${written}@db/EHR`).login).toMatchObject({ user: 'reader', password: meant });
});

test('a separate password takes precedence over that in the URL', () => {
  expect(addressOf('mssql://reader:old@db/EHR', 'new').login).toMatchObject({ password: 'new' });
});

test('sessions to an availability group have read-only intent', () => {
  const address = addressOf('mssql://r:s@db/EHR?applicationIntent=ReadOnly&multiSubnetFailover=true');
  expect(address).toMatchObject({ readOnlyIntent: true, multiSubnetFailover: true });
});

test.each([
  ['auth=ntlm&domain=HOSP', { kind: 'ntlm', user: 'u', password: 's', domain: 'HOSP' }],
  [
    'auth=azure-password&clientId=c&tenantId=t',
    { kind: 'azure-password', user: 'u', password: 's', clientId: 'c', tenantId: 't' },
  ],
  ['auth=azure-secret&tenantId=t', { kind: 'azure-secret', clientId: 'u', clientSecret: 's', tenantId: 't' }],
  ['auth=azure-default', { kind: 'azure-default', clientId: undefined }],
])('a login with %s', (options, login) => {
  expect(addressOf(`mssql://u:s@db/EHR?${options}`).login).toEqual(login);
});

test('packets are large, but of default size for a login with a token', () => {
  expect(addressOf('mssql://r:s@db/EHR').packetSize).toBe(16_383);
  expect(addressOf('mssql://r:s@db/EHR?packetSize=8192').packetSize).toBe(8192);
  expect(addressOf('mssql://r:s@db/EHR?auth=azure-default').packetSize).toBe(4096);
});

test('the bulkheads have limits of their own', () => {
  const { interactive, export: bulk } = addressOf('mssql://r:s@db/EHR?pool=3&queue=4&timeout=5000&exportPool=4');
  expect(interactive).toEqual({ size: 3, queue: 4, wait: 5000, timeout: 5000 });
  expect(bulk).toEqual({ size: 4, queue: 100, wait: 600_000, timeout: 300_000 });
});

test.each([
  ['mssql://', ['not mssql://<user>:<password>@<host>/<database>']],
  ['mssql://r:s@db', ['no name of a database after the host']],
  ['mssql://r:s@db:99999/EHR', ['the port is no number up to 65535']],
  ['mssql://r:s@db/EHR?pool=0', ['option pool: expected connections, a whole number from 1 to 999']],
  ['mssql://r:s@db/EHR?pool=1&pool=2', ['option pool stands twice']],
  ['mssql://r:s@db/EHR?auth=kerberos', [expect.stringContaining('option auth: expected one of')]],
  ['mssql://r:s@db/EHR?auth=azure-secret', ['auth=azure-secret needs option tenantId']],
])('%s is refused with what is missing', (text, problems) => {
  expect(problemsOf(text)).toEqual(problems);
});

test('every URL option in docs/configuration.md is supported', () => {
  const page = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
  expect(page).toContain(addressTable());
});
