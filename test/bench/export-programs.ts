/**
 * Hand-written programs to compare an export with, over the clinic of test/export. In: a SQLite file, and an output
 * folder. Out: the same file as the facade's. All run the facade's own statements. The best is hand-optimised; the
 * straightforward ones use row objects, objects, JSON.stringify and stream.write, and differ in how they get the offset
 * of a local time.
 */
import { once } from 'node:events';
import { closeSync, createWriteStream, openSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { outputFile } from '../../src/export/store.ts';
import { withNames } from './column-names.ts';
import type { ExportStatements } from './export-source.ts';
import { offsets, offsetsAsked } from './offsets.ts';

/** Rows that the best program reads per batch. */
const BATCH = 1000;
const ZONE = 'Europe/Warsaw';

/** Names of the columns of the facade's statement. */
const NAMES = 'NO UPD PERSON_ID PERSON_THERE TAKEN STAFF_NO STAFF_THERE KG DEVICE_NO DEVICE_THERE'.split(' ');

type WeighingRow = readonly [
  number: number,
  changed: string,
  person: number,
  personThere: number,
  taken: string,
  staff: number,
  staffThere: number,
  kilograms: string | null,
  device: number | null,
  deviceThere: number,
];

/** Writes the file into a folder; resolves to the number of resources. */
export type Export = (folder: string) => Promise<number>;

const offset = offsets(ZONE);

function weighingText(row: WeighingRow): string {
  const [no, changed, person, personThere, taken, staff, staffThere, kilograms, device, deviceThere] = row;
  let text = `{"resourceType":"Observation","id":"w-${no}","meta":{"lastUpdated":"${changed.slice(0, 10)}T${changed.slice(11)}${offset(changed.slice(0, 13))}"},"status":"final","code":{"coding":[{"system":"http://loinc.org","code":"29463-7","display":"Body weight"}],"text":"Body weight"}`;
  if (personThere === 1) text += `,"subject":{"reference":"Patient/${person}"}`;
  text += `,"effectiveDateTime":"${taken.slice(0, 10)}T${taken.slice(11, 19)}${offset(taken.slice(0, 13))}"`;
  if (staffThere === 1) text += `,"performer":[{"reference":"PractitionerRole/r-${staff}"}]`;
  if (kilograms !== null)
    text += `,"valueQuantity":{"value":${kilograms},"unit":"kg","system":"http://unitsofmeasure.org","code":"kg"}`;
  if (deviceThere === 1) text += `,"device":{"reference":"Device/i-${device}"}`;
  return `${text}}\n`;
}

/** Reads rows as arrays, and encodes a batch of resources into one buffer per write. */
export function bestExport(file: string, { first, next, constants }: ExportStatements): Export {
  const database = new DatabaseSync(file, { readOnly: true });
  const [beginning, continued] = [first, next].map(sql => {
    const statement = database.prepare(sql);
    statement.setReturnArrays(true);
    return statement;
  });
  /** A further batch begins with the last row of the one before. */
  const rowsAfter = (key: number | undefined): readonly WeighingRow[] => {
    const rows: unknown =
      key === undefined ? beginning?.all(...constants, BATCH) : continued?.all(...constants, key, BATCH);
    return rows as readonly WeighingRow[];
  };
  const buffer = Buffer.allocUnsafeSlow(BATCH * 600);
  return async folder => {
    const out = openSync(outputFile(folder, 0, 0), 'w');
    let count = 0;
    let key: number | undefined;
    for (;;) {
      const [rows, skip] = [rowsAfter(key), key === undefined ? 0 : 1];
      if (rows.length <= skip) break;
      let [text, filled] = ['', 0];
      for (let i = skip; i < rows.length; i++) {
        text += weighingText(rows[i] as WeighingRow);
        if (text.length < 16_384) continue;
        filled += buffer.write(text, filled, 'utf8');
        text = '';
      }
      filled += buffer.write(text, filled, 'utf8');
      writeSync(out, buffer, 0, filled);
      count += rows.length - skip;
      key = rows.at(-1)?.[0];
    }
    closeSync(out);
    return count;
  };
}

/** Asks the formatter for the offset of each time. */
export function obviousExport(file: string, statements: ExportStatements): Export {
  return objectsExport(file, statements, offsetsAsked(ZONE));
}

/** Caches offsets by the hour, so that only the conversion of rows to lines differs from the best program. */
export function keptOffsetsExport(file: string, statements: ExportStatements): Export {
  return objectsExport(file, statements, offset);
}

/** One statement reads the whole table. */
function objectsExport(
  file: string,
  { first, constants }: ExportStatements,
  offsetOf: (hour: string) => string,
): Export {
  const database = new DatabaseSync(file, { readOnly: true });
  const statement = database.prepare(withNames(first, NAMES));
  const bound = [...constants, Number.MAX_SAFE_INTEGER];
  const zoned = (text: unknown): string => String(text).replace(' ', 'T') + offsetOf(String(text).slice(0, 13));
  return async folder => {
    const out = createWriteStream(outputFile(folder, 0, 0));
    let count = 0;
    for (const row of statement.iterate(...bound)) {
      const resource = {
        resourceType: 'Observation',
        id: `w-${row['NO']}`,
        meta: { lastUpdated: zoned(row['UPD']) },
        status: 'final',
        code: {
          coding: [{ system: 'http://loinc.org', code: '29463-7', display: 'Body weight' }],
          text: 'Body weight',
        },
        subject: row['PERSON_THERE'] === 1 ? { reference: `Patient/${row['PERSON_ID']}` } : undefined,
        effectiveDateTime: zoned(row['TAKEN']).replace(/\.\d{3}/, ''),
        performer: row['STAFF_THERE'] === 1 ? [{ reference: `PractitionerRole/r-${row['STAFF_NO']}` }] : undefined,
        valueQuantity: { value: Number(row['KG']), unit: 'kg', system: 'http://unitsofmeasure.org', code: 'kg' },
        device: row['DEVICE_THERE'] === 1 ? { reference: `Device/i-${row['DEVICE_NO']}` } : undefined,
      };
      if (!out.write(`${JSON.stringify(resource)}\n`)) await once(out, 'drain');
      count += 1;
    }
    out.end();
    await once(out, 'close');
    return count;
  };
}
