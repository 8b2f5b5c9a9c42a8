/**
 * Parses SQL Server's type names. In: `VARCHAR(40)`, `DECIMAL(9,2)`, or a type with a suffix from the catalog: the code
 * page of the collation, `VARCHAR(40) CP1250`, or UTC for a period column of a temporal table, `DATETIME2(7) UTC`. Out:
 * a ColumnType; undefined for a type that no mapping can use (xml, geography, …).
 * https://learn.microsoft.com/sql/t-sql/data-types/data-types-transact-sql
 */
import type { ColumnType } from '../column-type.ts';

const PATTERN = /^\s*([a-z][a-z0-9 ]*?)\s*(?:\(\s*(max|\d+)\s*(?:,\s*(\d+)\s*)?\))?(?:\s+(?:CP(\d+)|(UTC)))?\s*$/i;

/** A FLOAT(n) with at most so many bits of mantissa is a REAL. */
const MOST_OF_SINGLE = 24;

/** Parses a declared SQL Server type. */
export function parseMssqlType(declared: string): ColumnType | undefined {
  const match = PATTERN.exec(declared);
  if (!match) return undefined;
  const type = typeNamed(match);
  const [, , , , codePage, utc] = match;
  if (utc !== undefined) {
    const isFine = type?.kind === 'datetime' && type.name === 'datetime2';
    return isFine ? { kind: 'instant', fraction: type.fraction, utc: true } : undefined;
  }
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
      return { kind: 'float', ...((number ?? 53) <= MOST_OF_SINGLE && { single: true }) };
    case 'real':
      return { kind: 'float', single: true };
    case 'date':
      return { kind: 'date' };
    case 'datetime':
      return { kind: 'datetime', name: 'datetime', fraction: 3 };
    case 'smalldatetime':
      return { kind: 'datetime', name: 'smalldatetime', fraction: 0 };
    case 'datetime2':
      return { kind: 'datetime', name: 'datetime2', fraction: number ?? 7 };
    case 'datetimeoffset':
      return { kind: 'instant', fraction: number ?? 7 };
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

/** Returns the spelling that a parameter is declared with; for text of another code page followed by that. */
export function printMssqlType(type: ColumnType): string {
  switch (type.kind) {
    case 'text':
      return `${type.unicode ? 'n' : ''}${type.fixed ? 'char' : 'varchar'}(${type.length})${type.codePage === undefined ? '' : ` CP${type.codePage}`}`;
    case 'integer':
      return { 8: 'tinyint', 16: 'smallint', 32: 'int', 64: 'bigint' }[type.bits];
    case 'decimal':
      return `decimal(${type.precision},${type.scale})`;
    case 'datetime':
      return type.name === 'datetime2' ? `datetime2(${type.fraction})` : type.name;
    case 'instant':
      return type.utc ? `datetime2(${type.fraction})` : `datetimeoffset(${type.fraction})`;
    case 'time':
      return `time(${type.fraction})`;
    case 'uuid':
      return 'uniqueidentifier';
    case 'binary':
      return `varbinary(${type.length})`;
    case 'float':
      return type.single ? 'real' : 'float';
    case 'bit':
    case 'date':
      return type.kind;
  }
}
