/**
 * A driver type for decimals of up to 38 digits. In: a number as text, with precision and scale. Out: sign and units
 * as in TDS. `sql.Decimal` of the driver converts to doubles, which are exact for 15 digits only.
 * https://learn.microsoft.com/openspecs/windows_protocols/ms-tds/f79bb5b5-5919-439a-a696-48064b78b091
 */
import sql, { type ISqlType } from 'mssql';

/** What the driver asks of a type; it hands types on that it does not know. */
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

/** DECIMALN in the stream, DECIMAL for the driver. */
const IN_STREAM = 0x6a;
const NULL_LENGTH = Buffer.from([0]);

/** Bytes of a decimal by its precision, the sign included. */
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

/** Throws a TypeError, without the value, for a text that is no number without exponent. */
export function exactDecimal(value: string | null, precision: number, scale: number): ExactDecimal {
  if (value !== null && !DECIMAL.test(value)) throw new TypeError('a decimal parameter is no number');
  // The factory is the driver's own, so that nothing else of the type has to be made up.
  return { type: { ...sql.Decimal(precision, scale), type: EXACT as unknown as ISqlType['type'] }, value };
}

/**
 * The number times ten to the power of `scale`. Digits beyond the scale are told by the last one: where it would be 0,
 * it is 1, so that a number between two neighbours equals neither. A number beyond all of the precision is the last of
 * them.
 */
function unitsOf(text: string, precision: number, scale: number): bigint {
  const [, sign, whole = '', fraction = ''] = DECIMAL.exec(text) ?? [];
  const kept = BigInt(whole + fraction.slice(0, scale).padEnd(scale, '0'));
  const more = /[1-9]/.test(fraction.slice(scale)) && kept % 10n === 0n ? 1n : 0n;
  const most = 10n ** BigInt(precision) - 1n;
  const units = kept + more > most ? most : kept + more;
  return sign === '-' ? -units : units;
}
