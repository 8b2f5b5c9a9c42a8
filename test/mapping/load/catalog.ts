/** Makes a schema for the loader's tests. In: lines of `COLUMN TYPE`, with a `!` for NOT NULL. Out: a Catalog. */
import type { Catalog, ColumnInfo, TableInfo } from '../../../src/sql/catalog.ts';
import { declaredType } from '../../../src/sql/engines.ts';

const TABLES: Readonly<Record<string, readonly string[]>> = {
  PT: [
    'PT_NO INT!',
    'MRN VARCHAR(12)',
    'LST_NM NVARCHAR(40)',
    'SEX CHAR(1)',
    'DOB CHAR(8)',
    'PHONE VARCHAR(20)',
    'SSN CHAR(11)',
    'RACE_CD VARCHAR(20)',
    'NOTE XML',
    'UID UNIQUEIDENTIFIER',
    'DTH_DTM DATETIME',
    'DEL_FL CHAR(1)',
    'UPD_DTM DATETIME',
  ],
  ALLRGY: [
    'ALG_ID INT!',
    'PT_NO INT!',
    'ALG_CD CHAR(8)',
    'ALG_TXT VARCHAR(80)',
    'STS CHAR(1)',
    'ONSET_DT CHAR(8)',
    'DEL_FL CHAR(1)',
    'UPD_DTM DATETIME',
  ],
  ALLRGY_RXN: ['ALG_ID INT!', 'SEQ_NO SMALLINT!', 'RXN_TXT VARCHAR(80)', 'SEV CHAR(1)', 'DEL_FL CHAR(1)'],
  CD_LKUP: [
    'TBL_ID CHAR(6)!',
    'CD CHAR(8)!',
    'ALT_CD CHAR(8)',
    'STD_SYS CHAR(8)',
    'STD_CD VARCHAR(20)',
    'DESCR VARCHAR(80)',
  ],
  VIT: [
    'VIT_ID INT!',
    'PT_NO INT!',
    'VIT_DTM DATETIME!',
    'SYS_BP SMALLINT',
    'DIA_BP SMALLINT',
    'PULSE DECIMAL(5,1)',
    'RESP DECIMAL(5,1)',
    'DONE BIT!',
    'RES VARCHAR(40)',
  ],
};

const KEYS: Readonly<Record<string, readonly string[]>> = { PT: ['PT_NO'], ALLRGY: ['ALG_ID'], VIT: ['VIT_ID'] };

function tableOf(name: string, lines: readonly string[]): TableInfo {
  const columns = lines.map((line): ColumnInfo => {
    const [column = '', declared = ''] = line.replace('!', '').split(' ');
    return { name: column, type: declaredType('mssql', declared), declared, nullable: !line.endsWith('!') };
  });
  const primaryKey = KEYS[name] ?? [];
  const indexes = primaryKey.length > 0 ? [{ name: `PK_${name}`, columns: primaryKey, unique: true }] : [];
  return { name, columns: new Map(columns.map(c => [c.name.toLowerCase(), c])), primaryKey, indexes };
}

export const catalog: Catalog = {
  engine: 'mssql',
  tables: new Map(Object.entries(TABLES).map(([name, lines]) => [name.toLowerCase(), tableOf(name, lines)])),
};
