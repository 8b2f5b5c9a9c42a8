/**
 * Defines a driver type for decimals of up to 38 digits. In: a number as text, with precision and scale. Out: sign and
 * units as in TDS. The driver's own `sql.Decimal` converts to doubles, which are exact for 15 digits only.
 * https://learn.microsoft.com/openspecs/windows_protocols/ms-tds/f79bb5b5-5919-439a-a696-48064b78b091
 */
import sql, { type ISqlType } from 'mssql';

/** The driver's interface of a type; the driver passes on types that it does not know. */
interface DriverType {
  readonly id: number;
  readonly type: string;
  readonly name: string;
  declaration(parameter: Sized): string;
  validate(value: unknown): unknown;
  generateTypeInfo(parameter: Sized): Buffer;
  generateParameterLength(parameter: Sized): Buffer;
  generateParameterData(parameter: Sized): Generator<Buffer, void>;
}

interface Sized {
  readonly precision: number;
  readonly scale: number;
  readonly value: unknown;
}

/** The type code DECIMALN of the protocol; the driver itself uses DECIMAL. */
const IN_STREAM = 0x6a;
const NULL_LENGTH = Buffer.from([0]);

/** Returns the bytes of a decimal by its precision, including the sign. */
function bytesFor(precision: number): number {
  return precision <= 9 ? 5 : precision <= 19 ? 9 : precision <= 28 ? 13 : 17;
}

const EXACT: DriverType = {
  id: 0x37,
  type: 'DECIMAL',
  name: 'Decimal',
  declaration: ({ precision, scale }) => `decimal(${precision}, ${scale})`,
  validate: value => value,
  generateTypeInfo: ({ precision, scale }) => Buffer.from([IN_STREAM, bytesFor(precision), precision, scale]),
  generateParameterLength: ({ precision, value }) =>
    value === null ? NULL_LENGTH : Buffer.from([bytesFor(precision)]),
  *generateParameterData({ precision, scale, value }) {
    if (typeof value !== 'string') return;
    const units = unitsOf(value, precision, scale);
    const bytes = Buffer.alloc(bytesFor(precision));
    bytes[0] = units < 0n ? 0 : 1;
    let rest = units < 0n ? -units : units;
    for (let at = 1; at < bytes.length; at++) {
      bytes[at] = Number(rest & 0xffn);
      rest >>= 8n;
    }
    yield bytes;
  },
};

export interface ExactDecimal {
  readonly type: ISqlType;
  readonly value: string | null;
}

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

/**
 * Returns type and value of a parameter. Throws a TypeError, without the value, for a text that is no number without
 * exponent.
 */
export function exactDecimal(value: string | null, precision: number, scale: number): ExactDecimal {
  if (value !== null && !DECIMAL.test(value)) throw new TypeError('a decimal parameter is no number');
  // The driver's own factory makes all other fields of the type.
  return { type: { ...sql.Decimal(precision, scale), type: EXACT as unknown as ISqlType['type'] }, value };
}

/**
 * Returns the number times ten to the power of `scale`. If it has more digits than the scale, a last digit of 0 becomes
 * 1, so that a number between two neighbours equals neither. A number beyond the precision becomes the largest one.
 */
function unitsOf(text: string, precision: number, scale: number): bigint {
  const [, sign, whole = '', fraction = ''] = DECIMAL.exec(text) ?? [];
  const kept = BigInt(whole + fraction.slice(0, scale).padEnd(scale, '0'));
  const more = /[1-9]/.test(fraction.slice(scale)) && kept % 10n === 0n ? 1n : 0n;
  const most = 10n ** BigInt(precision) - 1n;
  const units = kept + more > most ? most : kept + more;
  return sign === '-' ? -units : units;
}
