/**
 * `boolean`: reads bit and integer columns (1 and 0), or text with listed values for true and false. In: the raw value.
 * Out: a boolean; any other value is absent. It is a code map of two codes.
 */
import type { ColumnType } from '../../sql/column-type.ts';
import type { Coded, CodeMap } from './code-map.ts';
import { codeMapCodec } from './code-map.ts';
import type { Codec } from './codec.ts';

export interface BooleanOptions {
  readonly columnType: ColumnType;
  /** Raw values without trailing blanks. */
  readonly true: readonly string[];
  readonly false: readonly string[];
}

/** Reads raw values as booleans. */
export function booleanCodec(options: BooleanOptions): Codec {
  const map: CodeMap = {
    name: 'boolean',
    rows: new Map<string, Coded>([
      ...options.true.map((raw): [string, Coded] => [raw, { code: 'true' }]),
      ...options.false.map((raw): [string, Coded] => [raw, { code: 'false' }]),
    ]),
    blank: undefined,
    else: { kind: 'absent' },
    fold: false,
  };
  return {
    ...codeMapCodec({ map, facet: 'code', columnType: options.columnType, boolean: true }),
    label: 'boolean',
    options: { true: options.true, false: options.false },
  };
}
