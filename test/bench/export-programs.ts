/**
 * The programs that an export is held against, over the clinic of test/export. In: a SQLite file, and the folder to
 * write to. Out: the file that the facade writes too. The best is as fast as we know how to write it by hand; the obvious ones are row objects,
 * objects, JSON.stringify and stream.write, and differ in how they come by the offset of a local time.
 */
import { once } from 'node:events';
import { closeSync, createWriteStream, openSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { outputFile } from '../../src/export/store.ts';
import { offsets, offsetsAsked } from './offsets.ts';

/** Rows that the best program reads at once. */
const BATCH = 1000;
const ZONE = 'Europe/Warsaw';

/** The statement that the facade makes of the mapping, without the place to continue at. */
const SELECT = `SELECT w.[NO], w.UPD, w.PERSON_ID,
  CASE WHEN EXISTS (SELECT 1 FROM PERSON AS p_1 WHERE p_1.ID = w.PERSON_ID) THEN 1 ELSE 0 END AS PERSON_THERE, w.TAKEN,
  w.STAFF_NO, CASE WHEN EXISTS (SELECT 1 FROM STAFF AS s_1 WHERE s_1.[NO] = w.STAFF_NO) THEN 1 ELSE 0 END AS STAFF_THERE,
  CASE WHEN w.KG IS NOT NULL THEN printf('%.2f', w.KG) END AS KG, w.DEVICE_NO,
  CASE WHEN EXISTS (SELECT 1 FROM IMPLANT AS i_1 WHERE i_1.[NO] = w.DEVICE_NO) THEN 1 ELSE 0 END AS DEVICE_THERE
  FROM WEIGHING AS w`;

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

/** Writes the file of a folder; resolves to the number of resources. */
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

/** Array rows, text, encoded some resources at a time into one buffer that is written whole. */
export function bestExport(file: string): Export {
  const database = new DatabaseSync(file, { readOnly: true });
  const prepared = (where: string) => {
    const statement = database.prepare(`${SELECT} ${where} ORDER BY w.[NO] LIMIT ${BATCH}`);
    statement.setReturnArrays(true);
    return (...bound: number[]) => statement.all(...bound) as unknown as readonly WeighingRow[];
  };
  const [first, next] = [prepared(''), prepared('WHERE w.[NO] > ?')];
  const buffer = Buffer.allocUnsafeSlow(BATCH * 600);
  return async folder => {
    const out = openSync(outputFile(folder, 0, 0), 'w');
    let count = 0;
    for (let rows = first(); rows.length > 0; rows = next(rows.at(-1)?.[0] ?? 0)) {
      let [text, filled] = ['', 0];
      for (const row of rows) {
        text += weighingText(row);
        if (text.length < 16_384) continue;
        filled += buffer.write(text, filled, 'utf8');
        text = '';
      }
      filled += buffer.write(text, filled, 'utf8');
      writeSync(out, buffer, 0, filled);
      count += rows.length;
    }
    closeSync(out);
    return count;
  };
}

/** Asks the formatter for the offset of each time, as it comes to hand. */
export function obviousExport(file: string): Export {
  return objectsExport(file, offsetsAsked(ZONE));
}

/** Keeps offsets by the hour: all that the obvious program differs in then is how rows become lines. */
export function keptOffsetsExport(file: string): Export {
  return objectsExport(file, offset);
}

function objectsExport(file: string, offsetOf: (hour: string) => string): Export {
  const database = new DatabaseSync(file, { readOnly: true });
  const statement = database.prepare(`${SELECT} ORDER BY w.[NO]`);
  const zoned = (text: unknown): string => String(text).replace(' ', 'T') + offsetOf(String(text).slice(0, 13));
  return async folder => {
    const out = createWriteStream(outputFile(folder, 0, 0));
    let count = 0;
    for (const row of statement.iterate()) {
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
