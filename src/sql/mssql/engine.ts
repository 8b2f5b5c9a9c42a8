/** Defines SQL Server as an engine for the list in ../engines.ts. */
import { accessSync, constants } from 'node:fs';
import type { DatabaseAddress, Engine } from '../engine.ts';
import { parseSqlServerAddress, type SqlServerAddress } from './address.ts';
import { MSSQL } from './dialect.ts';
import { parseMssqlType, printMssqlType } from './types.ts';
import { mssqlWordTable } from './word-table.ts';

interface MssqlAddress extends DatabaseAddress {
  readonly engine: 'mssql';
  readonly address: SqlServerAddress;
}

const NETWORK = 'Check the host and the port in DATABASE_URL, and firewalls between.';

export const MSSQL_ENGINE: Engine<MssqlAddress> = {
  name: 'mssql',
  title: 'SQL Server',
  dialect: MSSQL,
  addressForm: 'mssql://<user>:<password>@<host>/<database>',
  isAddress: text => URL.parse(text)?.protocol === 'mssql:',
  readAddress(text, password) {
    const read = parseSqlServerAddress(text, password);
    if ('problems' in read) return read;
    const { address } = read;
    if (address.ca !== undefined && !isReadable(address.ca))
      return { problems: ['option ca: expected the path of a file that can be read'] };
    return { address: { engine: 'mssql', address } };
  },
  describe: ({ address: { host, instance, database } }) =>
    `${database} on ${host}${instance === undefined ? '' : `\\${instance}`}`,
  // Loaded on use: the driver is large, and the demo does not need it.
  open: async ({ address }) => (await import('./database.ts')).openMssql(address),
  parseType: parseMssqlType,
  printType: printMssqlType,
  textType: 'nvarchar(40)',
  holdsAnything: false,
  // `substring` reads the text of its hexadecimal digits.
  digitsOfByte: 2,
  foldsWords: true,
  indexKey: sql => sql,
  isScan: line => /\|--(?:Table|Clustered Index|Index|Columnstore Index) Scan\(/.test(line),
  wordTable: mssqlWordTable,
  cures: {
    18456: 'Look at the user and the password of DATABASE_URL, or at DATABASE_PASSWORD.',
    4060: 'Look at the name of the database in DATABASE_URL, and whether the login may open it.',
    ELOGIN: 'Look at the user, the password and the name of the database in DATABASE_URL.',
    ESOCKET: NETWORK,
    ETIMEOUT: NETWORK,
  },
};

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
