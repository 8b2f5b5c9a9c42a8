/**
 * The types a column can have, read from SQL Server's spelling (`VARCHAR(40)`, `DECIMAL(9,2)`), which is also what the
 * SQLite copy of a schema declares. In: a declared type. Out: a ColumnType that decides how a literal of a mapping is
 * read, how a parameter is bound and in which form a value is fetched.
 * https://learn.microsoft.com/sql/t-sql/data-types/data-types-transact-sql
 */

export type ColumnType =
  | {
      readonly kind: 'text';
      readonly unicode: boolean;
      readonly fixed: boolean;
      readonly length: number | 'max';
      /** The old types TEXT and NTEXT, which SQL Server compares with nothing unless they are cast. */
      readonly lob?: true;
      /** In which its characters are kept, where that is not 1252: other collations cannot hold them all. */
      readonly codePage?: number;
    }
  | { readonly kind: 'integer'; readonly bits: 8 | 16 | 32 | 64 }
  | { readonly kind: 'bit' }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'float' }
  | { readonly kind: 'date' }
  | {
      readonly kind: 'datetime';
      readonly name: 'datetime' | 'smalldatetime' | 'datetime2';
      /** Digits of a second that the stored text carries. */
      readonly fraction: number;
    }
  | { readonly kind: 'time'; readonly fraction: number }
  | { readonly kind: 'uuid' }
  | { readonly kind: 'binary'; readonly length: number | 'max' };

const PATTERN = /^\s*([a-z][a-z0-9 ]*?)\s*(?:\(\s*(max|\d+)\s*(?:,\s*(\d+)\s*)?\))?(?:\s+CP(\d+))?\s*$/i;

/**
 * Reads a declared SQL Server type, or a text type with the code page that its collation has, such as `VARCHAR(40) CP1250`. Returns undefined for a type that no
 * mapping can use (xml, geography, …).
 */
export function parseColumnType(declared: string): ColumnType | undefined {
  const match = PATTERN.exec(declared);
  if (!match) return undefined;
  const type = typeNamed(match);
  const codePage = match[4];
  if (codePage === undefined) return type;
  return type?.kind === 'text' ? { ...type, codePage: Number(codePage) } : undefined;
}

function typeNamed(match: RegExpExecArray): ColumnType | undefined {
  const name = (match[1] ?? '').toLowerCase();
  const first = match[2]?.toLowerCase();
  const length = first === 'max' ? 'max' : first === undefined ? 1 : Number(first);
  const number = first === undefined || first === 'max' ? undefined : Number(first);
  switch (name) {
    case 'char':
    case 'nchar':
      return { kind: 'text', unicode: name === 'nchar', fixed: true, length };
    case 'varchar':
    case 'nvarchar':
    case 'sysname':
      return { kind: 'text', unicode: name !== 'varchar', fixed: false, length: name === 'sysname' ? 128 : length };
    case 'text':
    case 'ntext':
      return { kind: 'text', unicode: name === 'ntext', fixed: false, length: 'max', lob: true };
    case 'tinyint':
      return { kind: 'integer', bits: 8 };
    case 'smallint':
      return { kind: 'integer', bits: 16 };
    case 'int':
    case 'integer':
      return { kind: 'integer', bits: 32 };
    case 'bigint':
      return { kind: 'integer', bits: 64 };
    case 'bit':
      return { kind: 'bit' };
    case 'decimal':
    case 'numeric':
      return { kind: 'decimal', precision: number ?? 18, scale: Number(match[3] ?? 0) };
    case 'money':
      return { kind: 'decimal', precision: 19, scale: 4 };
    case 'smallmoney':
      return { kind: 'decimal', precision: 10, scale: 4 };
    case 'float':
    case 'real':
      return { kind: 'float' };
    case 'date':
      return { kind: 'date' };
    case 'datetime':
      return { kind: 'datetime', name: 'datetime', fraction: 3 };
    case 'smalldatetime':
      return { kind: 'datetime', name: 'smalldatetime', fraction: 0 };
    case 'datetime2':
      return { kind: 'datetime', name: 'datetime2', fraction: number ?? 7 };
    case 'time':
      return { kind: 'time', fraction: number ?? 7 };
    case 'uniqueidentifier':
      return { kind: 'uuid' };
    case 'binary':
    case 'varbinary':
      return { kind: 'binary', length };
    case 'rowversion':
    case 'timestamp':
      return { kind: 'binary', length: 8 };
    case 'image':
      return { kind: 'binary', length: 'max' };
    default:
      return undefined;
  }
}

/** SQL Server's spelling of a column type, as parameters are declared and messages print it. */
export function printColumnType(type: ColumnType): string {
  switch (type.kind) {
    case 'text':
      return `${type.unicode ? 'n' : ''}${type.fixed ? 'char' : 'varchar'}(${type.length})${type.codePage === undefined ? '' : ` CP${type.codePage}`}`;
    case 'integer':
      return { 8: 'tinyint', 16: 'smallint', 32: 'int', 64: 'bigint' }[type.bits];
    case 'decimal':
      return `decimal(${type.precision},${type.scale})`;
    case 'datetime':
      return type.name === 'datetime2' ? `datetime2(${type.fraction})` : type.name;
    case 'time':
      return `time(${type.fraction})`;
    case 'uuid':
      return 'uniqueidentifier';
    case 'binary':
      return `varbinary(${type.length})`;
    case 'bit':
    case 'float':
    case 'date':
      return type.kind;
  }
}

/** Types of values that exist only inside a statement. */
export const INTEGER: ColumnType = { kind: 'integer', bits: 32 };
export const UNICODE: ColumnType = { kind: 'text', unicode: true, fixed: false, length: 4000 };
export const NUMBER: ColumnType = { kind: 'decimal', precision: 38, scale: 10 };
