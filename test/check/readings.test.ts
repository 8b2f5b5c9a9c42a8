/**
 * The check on rows finds a fault of any codec, at the line of the element, by a reading of the stored value that is
 * independent of the codec. Likewise an `sql` that is served or searched with another value than the engine computes.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { SEARCHES } from '../../src/check/searches.ts';
import { VALUES } from '../../src/check/values.ts';
import type { Codec, Primitive } from '../../src/mapping/codecs/codec.ts';
import { TRUE } from '../../src/sql/construct.ts';
import type { Database } from '../../src/sql/database.ts';
import { type SmallClinic, smallClinic } from '../cli/small-clinic.ts';
import { check, type Opened, open, reading, told } from './opened.ts';

const SCHEMA = `
CREATE TABLE VISIT (NO INTEGER NOT NULL PRIMARY KEY, PERSON_ID INTEGER, NOTE TEXT COLLATE RTRIM, UID BINARY(16), DONE CHAR(1),
  DAY CHAR(8), CLOCK CHAR(4), NORMAL VARCHAR(20) COLLATE RTRIM, PNAME VARCHAR(40) COLLATE RTRIM, MINUTES INTEGER, SEEN DATE, BY VARCHAR(20) COLLATE RTRIM);
CREATE TABLE LINE (VISIT_NO INTEGER NOT NULL, SEQ INTEGER NOT NULL, QTY INTEGER, PRIMARY KEY (VISIT_NO, SEQ));
`;

/** Forty visits with a note of two lines each, and every kind of value. */
function visits(files: Readonly<Record<string, string>> = {}): SmallClinic {
  const made = smallClinic({ 'visits.yaml': VISITS, ...files });
  const database = new DatabaseSync(join(made.folder, 'clinic.sqlite'));
  database.exec(SCHEMA);
  const visit = database.prepare('INSERT INTO VISIT VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const line = database.prepare('INSERT INTO LINE VALUES (?, ?, ?)');
  for (let i = 1; i <= 40; i++) {
    const two = String(i % 28 || 28).padStart(2, '0');
    visit.run(
      ...[
        i,
        1 + (i % 2),
        `<p>Seen on the ${i}th.</p><p>Rest &amp; fluids.</p>`,
        Buffer.from(Array.from({ length: 16 }, (_, k) => i + k)),
        i % 3 === 0 ? 'Y' : 'N',
      ],
      ...[`202405${two}`, `08${two}`, `${i}.5-${i + 20}.5`, `DOE${i}^ANN`, 10 + i, `2024-05-${two}`, `dr${i}`],
    );
    for (const seq of [1, 2]) line.run(i, seq, i * seq);
  }
  database.close();
  return made;
}

const VISITS = `mapping: visits
resource: Observation
source: { table: VISIT, as: v, key: [NO], lookup: { p: { table: PERSON, on: { ID: PERSON_ID } } } }
id: "v-{NO}"
elements:
  status: final
  code: loinc#29463-7 Body weight
  text: { needs: [div], status: additional, div: { from: NOTE, via: xhtml } }
  identifier: [{ system: "http://example.org/uid", value: { from: UID, via: uuid } }]
  effectiveDateTime: { from: [DAY, CLOCK], via: { date-and-time: { date: ymd8, time: hhmm } } }
  valueBoolean: { from: DONE, via: { boolean: { true: Y, false: N } } }
  referenceRange:
    - low: { value: { from: NORMAL, via: range-text.low } }
      high: { value: { from: NORMAL, via: range-text.high } }
  note: [{ text: { from: NOTE, via: html } }]
  device: { display: { from: PNAME, via: [{ piece: { by: "^", at: 2 } }, upper] } }
  method: { text: { sql: "upper({BY}) || '-' || {p.SURNAME}", type: varchar(60) } }
  issued: { sql: "{SEEN} || ' 08:' || {MINUTES} || ':00'", type: datetime }
  component:
    - each: { table: LINE, as: l, on: { VISIT_NO: NO }, order: [SEQ] }
      elements:
        code: loinc#29463-7 Body weight
        valueInteger: { sql: "{l.QTY} * 10 + {l.SEQ}", type: int }
`;

/** The messages of the sections, one line each. */
async function toldOf(opened: Opened & { close(): Promise<void> }, sections = [VALUES]): Promise<string> {
  const all = told(await check(opened, { sections }));
  await opened.close();
  return all.join('\n');
}

test('a valid pack has no problem, and every row is compared', async () => {
  const opened = await open(visits());
  const reports = await check(opened);
  await opened.close();
  expect(told(reports)).toEqual([]);
  expect(reports[0]?.notes).toHaveLength(1);
});

type Wrong = (value: Primitive | undefined) => Primitive | undefined;
const text =
  (change: (text: string) => string): Wrong =>
  value =>
    typeof value === 'string' ? change(value) : value;

const FAULTS: readonly (readonly [name: string, column: string, label: RegExp, line: number, wrong: Wrong])[] = [
  ['html that loses a paragraph', 'NOTE', /^html$/, 15, text(note => note.split('\n')[0] ?? '')],
  ['html that leaves entities', 'NOTE', /^html$/, 15, text(note => note.replace('&', '&amp;'))],
  ['xhtml with a script', 'NOTE', /^xhtml$/, 8, text(div => div.replace('<p>', '<script>x()</script><p>'))],
  ['xhtml that is lost', 'NOTE', /^xhtml$/, 8, () => undefined],
  ['a UUID in another order of bytes', 'UID', /^uuid$/, 9, text(uuid => uuid.replace(/^(..)(..)/, '0$2$1').slice(1))],
  ['a date without its time', 'DAY', /^date-and-time$/, 10, text(moment => moment.slice(0, 10))],
  ['a time that is an hour off', 'DAY', /^date-and-time$/, 10, text(moment => moment.replace('T08', 'T09'))],
  ['a boolean that is turned', 'DONE', /^boolean$/, 11, value => (typeof value === 'boolean' ? !value : value)],
  ['a boolean that is lost where it is false', 'DONE', /^boolean$/, 11, value => (value === true ? value : undefined)],
  [
    'a low end that is cut',
    'NORMAL',
    /\.low$/,
    13,
    v => (typeof v === 'object' ? { decimal: v.decimal.slice(0, -2) } : v),
  ],
  ['a high end that is the low one', 'NORMAL', /\.high$/, 14, () => ({ decimal: '1.5' })],
  ['a piece that is another', 'PNAME', /^piece/, 16, () => 'DOE'],
  ['a step that is forgotten', 'PNAME', /^piece/, 16, text(name => name.toLowerCase())],
];

/** Each round plants faults of different codecs together. */
const BY_CODEC = [...Map.groupBy(FAULTS, ([, column, label]) => `${column} ${label}`).values()];
const ROUNDS = [0, 1].map(round => BY_CODEC.flatMap(faults => faults.slice(round, round + 1)));

test.each(ROUNDS.map(round => [round.map(([name]) => name).join(', '), round] as const))(
  'a wrong value is reported at its line: %s',
  async (_, round) => {
    const opened = await open(visits());
    for (const [, column, label, , wrong] of round) {
      const { codec } = reading(opened, 'visits', column, label);
      const decode = codec.decode.bind(codec);
      Object.assign(codec, { decode: (...raws: Parameters<Codec['decode']>) => wrong(decode(...raws)) });
    }
    const problems = await toldOf(opened);
    for (const [, column, , line] of round)
      expect(problems).toMatch(
        new RegExp(`^visits\\.yaml:${line}:\\d+: ${column}.* is read as (another|no) value by `, 'm'),
      );
  },
);

/** Alters the value of an expression between database and server. */
const changing =
  (change: (value: string) => string) =>
  (database: Database): Database => ({
    ...database,
    query: async (plan, how) => {
      const rows = await database.query(plan, how);
      if (plan.stored || plan.shape !== 'rows') return rows;
      return rows.map(row =>
        row.map((one, i) => (plan.columns[i]?.kind === 'raw' && one !== null ? change(String(one)) : one)),
      );
    },
  });

test.each([
  ['a text over two tables', 17, (value: string) => value.replace(/^DR/, 'D')],
  ['a moment', 18, (value: string) => value.replace(/ 08:1/, ' 08:2')],
  ['a number of child rows', 23, (value: string) => (/^\d+$/.test(value) ? `${Number(value) + 1}` : value)],
])('an `sql` served other than the engine computes it is reported: %s', async (_, line, change) => {
  const opened = await open(visits());
  const problems = await toldOf({ ...opened, database: changing(change)(opened.database) });
  expect(problems).toMatch(
    new RegExp(`^visits\\.yaml:${line}:\\d+: Observation\\.\\S+ is not what sql holds, in \\d+`, 'm'),
  );
});

test('an `sql` whose search finds too much is reported by its parameter', async () => {
  const opened = await open(
    visits({
      'visits.yaml': VISITS.replace(
        'effectiveDateTime: { from: [DAY, CLOCK], via: { date-and-time: { date: ymd8, time: hhmm } } }',
        'effectiveDateTime: { sql: "{DAY} + 0", type: int, via: ymd8 }',
      ),
    }),
  );
  const node = reading(opened, 'visits', 'sql', /^ymd8$/);
  Object.assign(node.codec, { match: () => TRUE });
  expect(await toldOf(opened, [SEARCHES])).toMatch(/^visits\.yaml:10:\d+: searches by Observation\?date do not agree/m);
});
