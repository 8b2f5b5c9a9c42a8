import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base64Codec, base64OfNote } from '../../../src/mapping/codecs/base64.ts';
import type { Codec } from '../../../src/mapping/codecs/codec.ts';
import { htmlCodec } from '../../../src/mapping/codecs/html.ts';
import { filled, not } from '../../../src/sql/construct.ts';
import { nullable, RUNS, rowsOf, text } from './arbitrary.ts';
import { expectPresent, table } from './law.ts';

describe('base64', () => {
  it('writes bytes, and text as UTF-8', () => {
    expect(base64Codec().decode(new Uint8Array([0, 255]))).toBe('AP8=');
    expect(base64Codec().decode('é')).toBe('w6k=');
    expect(base64Codec().decode('  ')).toBeUndefined();
  });

  it('is present exactly where it writes something', () => {
    const rows = table('NVARCHAR(400)');
    fc.assert(
      fc.property(rowsOf(nullable(text)), raws => {
        rows.fill(raws.map(one => [one]));
        expectPresent(base64Codec(), rows);
      }),
      RUNS,
    );
  });

  it('is present exactly where it writes something, in a column of bytes that SQLite lets hold any value', () => {
    const rows = table('VARBINARY(400)');
    const bytes = fc.uint8Array({ maxLength: 3 });
    const blank = fc.constantFrom('', ' ', '   ');
    fc.assert(
      fc.property(rowsOf(nullable(fc.oneof(bytes, blank, text, fc.integer(), fc.double({ noNaN: true })))), raws => {
        rows.fill(raws.map(one => [one]));
        expectPresent(base64Codec(), rows);
      }),
      RUNS,
    );
  });
});

describe('a note as a file', () => {
  const files = (['plain', 'xhtml'] as const).map(form => base64OfNote(htmlCodec(form), form));
  const read = (codec: Codec | undefined, note: string): string =>
    Buffer.from(String(codec?.decode(note)), 'base64').toString('utf8');

  it('is made safe before it is encoded', () => {
    const note = '<p onclick="x()">Café <b>now</b></p><script>alert(1)</script>';
    expect(read(files[0], note)).toBe('Café now');
    expect(read(files[1], note)).toBe(
      '<!DOCTYPE html><html><head><meta charset="utf-8"/></head><body><div xmlns="http://www.w3.org/1999/xhtml"><p>Café <b>now</b></p></div></body></html>',
    );
    expect(files.map(codec => codec.decode(' \t'))).toEqual([undefined, undefined]);
  });

  it('is present exactly where it writes something', () => {
    const rows = table('NVARCHAR(400)');
    fc.assert(
      fc.property(rowsOf(nullable(text)), raws => {
        rows.fill(raws.map(one => [one]));
        for (const codec of files) expectPresent(codec, rows);
      }),
      RUNS,
    );
  });
});

describe('base64 of bytes', () => {
  const rows = table('VARBINARY(400)');
  const [column] = rows.columns;
  if (!column) throw new Error('a table without a column');
  rows.fill([[null], [new Uint8Array()], [new Uint8Array([0])], [new Uint8Array([1, 2])]]);

  it('is present exactly where it writes something: zero bytes are absent', () => {
    expectPresent(base64Codec(), rows);
  });

  it('agrees with the presence of the column in conditions', () => {
    expect(rows.select(filled(column))).toEqual([2, 3]);
    expect(rows.select(not(filled(column)))).toEqual([0, 1]);
  });
});
