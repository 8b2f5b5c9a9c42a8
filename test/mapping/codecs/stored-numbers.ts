/** Makes values of number columns in SQLite files, whatever their declared type: numbers, texts, BLOBs, infinities. */
import fc from 'fast-check';
import type { Stored } from './law.ts';

export const STORED_NUMBERS: fc.Arbitrary<Stored> = fc.oneof(
  fc.constantFrom<Stored>(
    ...[
      null,
      0,
      -0,
      1,
      -1,
      5,
      97.6,
      12.5,
      12.505,
      0.1,
      0.30000000000000004,
      1e-7,
      -1e-7,
      5e-324,
      4.95,
      4.949999999999999,
    ],
    ...[1e21, 1.5e300, -1.7976931348623157e308, Infinity, -Infinity, NaN, 20240115, 20240115.5, 1710000000, 2 ** 53],
    ...[2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 63n - 1n, -(2n ** 63n), 2 ** 60, 1152921504606846977n],
    ...['', ' ', '5', ' 5 ', '5.0', '+5', '1e2', '0x10', '5,0', 'N/A', '<5', '9007199254740993', 'Infinity'],
    ...[new Uint8Array(), new Uint8Array([53]), new Uint8Array([0, 255])],
  ),
  fc.double(),
  fc.double({ noNaN: true, min: -1000, max: 1000 }),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.integer({ min: -300, max: 300 }).map(units => units / 100),
);
