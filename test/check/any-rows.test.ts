/**
 * Resources show and searches find whatever the rows hold: the check runs completely on tables of random types with
 * valid and odd random values, random indexes and random mappings. `ROWS_SEEDS=100` tries more of them. Excluded are
 * the cases that docs/limits.md names, and dates that a codec for another form does not read, because the check reports
 * those as losses.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { expect, test } from 'vitest';
import { Random } from '../../fixtures/random.ts';
import { lintel } from '../cli/lintel.ts';
import { shareOf } from '../share.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const SEEDS =
  process.env['ROWS_SEEDS'] === undefined
    ? shareOf([1, 2, 3], 3)
    : Array.from({ length: Number(process.env['ROWS_SEEDS']) }, (_, i) => i + 1);

type Value = SQLInputValue;
/** Declared types, valid values, and odd ones. */
interface Kind {
  readonly types: readonly string[];
  sound(random: Random): Value;
  readonly odd: readonly Value[];
}

const two = (n: number): string => String(n).padStart(2, '0');
const day = (random: Random): string => `${random.int(1935, 2026)}-${two(random.int(1, 12))}-${two(random.int(1, 28))}`;
const clock = (random: Random): string => [random.int(0, 23), random.int(0, 59), random.int(0, 59)].map(two).join(':');
/** No number of JavaScript; with NUMERIC affinity, columns of dates and of bytes can hold it too. */
const TOO_LARGE = 2n ** 53n + 1n;
const NO_DATES = [
  '0000-00-00',
  '',
  ' ',
  'N/A',
  '2024-00-00',
  '2024-02-30',
  null,
  0,
  TOO_LARGE,
  '9999-12-31',
  '~',
  ' 2024-01-02',
  '2024-1-2',
];
const TEXTS = [
  'VARCHAR(40)',
  'NVARCHAR(40)',
  'CHAR(40)',
  'TEXT',
  'VARCHAR(40) COLLATE NOCASE',
  'VARCHAR(40) COLLATE RTRIM',
];

const KINDS = {
  moment: {
    types: ['DATETIME', 'DATETIME2(3)', 'TIMESTAMP'],
    sound: random =>
      `${day(random)}${random.pick([' ', ' ', 'T'])}${clock(random)}${random.pick(['', '', '.125', 'Z'])}`,
    odd: [...NO_DATES, '0000-00-00 00:00:00', '9999-12-31 23:59:59', '2024-03-10T08:30:00+05:30'],
  },
  day: { types: ['DATE'], sound: day, odd: NO_DATES },
  amount: {
    types: ['DECIMAL(8,2)', 'FLOAT', 'NUMERIC'],
    sound: random => random.int(-500, 20_000) / 100,
    odd: [
      '',
      'N/A',
      null,
      '12.50',
      ' 7',
      '1e3',
      '-0',
      1e-7,
      1.005,
      9_007_199_254_740_991,
      TOO_LARGE,
      Number.POSITIVE_INFINITY,
    ],
  },
  whole: {
    types: ['INTEGER', 'BIGINT', 'SMALLINT'],
    sound: random => random.int(0, 9),
    odd: [null, 0, '3', 3, 1.5, -1, 400, TOO_LARGE],
  },
  text: {
    types: TEXTS,
    sound: random => random.pick(['ab', 'abc', 'ABC', "O'Neil-Smith", 'van der Berg', 'b c']),
    odd: [
      '',
      ' ',
      null,
      'x ',
      ' x',
      'É',
      'E\u0301',
      'a  b',
      'a|b',
      'a,b',
      'a$b',
      'a\\b',
      '%',
      '_',
      '[a]',
      'x'.repeat(70),
      5,
      'ß',
      'ı',
      '-',
      '01',
    ],
  },
  code: {
    types: TEXTS,
    sound: random => random.pick(['A', 'B', 'C']),
    odd: [null, '', ' ', 'a', 'A ', ' A', 'Z', '01', '1', 'N/A'],
  },
  name: {
    types: TEXTS,
    sound: random => `${random.pick(['Kowalski', 'Müller'])}^${random.pick(['Anna', 'Jo Ann'])}`,
    odd: ['ABC', '^Def', 'ABC^', 'A^B^C', ' ABC ^ Def ', null, '', 'a|b^c,d$e\\f'],
  },
  pieces: {
    types: TEXTS,
    sound: random => random.pick(['A', 'A;B', 'B;C;A']),
    odd: ['A;;B', ';', ' A ; B ', null, '', 'A;A', 'zz', 'x;'.repeat(20)],
  },
  bytes: {
    types: ['BLOB', 'VARBINARY(40)'],
    sound: random => new Uint8Array([random.int(0, 255), random.int(0, 255)]),
    odd: ['', '  ', 'abc', 'é ', 5, 1.5, TOO_LARGE, null, new Uint8Array(), new Uint8Array([32])],
  },
  result: {
    types: TEXTS,
    sound: random => String(random.int(0, 200) / 10),
    odd: ['<5', '>= 0', '5.', '.5', '-5', 'positive', '5,0', null, ' 5 '],
  },
} as const satisfies Readonly<Record<string, Kind>>;

const TABLES = {
  PERSON: { born: 'day', name: 'name', nick: 'text', number: 'text', ward: 'code', edited: 'moment', photo: 'bytes' },
  ENTRY: {
    ...{
      person: 'whole',
      begun: 'moment',
      ended: 'moment',
      sent: 'moment',
      on_day: 'day',
      amount: 'amount',
      low: 'amount',
    },
    ...{ state: 'code', code: 'code', label: 'text', key: 'text', kinds: 'pieces', result: 'result' },
  },
  PART: { entry: 'whole', code: 'code', amount: 'amount' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, keyof typeof KINDS>>>>;

function fill(database: DatabaseSync, random: Random): void {
  for (const [table, columns] of Object.entries(TABLES)) {
    const of = Object.entries(columns).map(([name, kind]) => {
      const { types, sound, odd } = KINDS[kind] as Kind;
      const share = random.pick([0, 0.05, 0.3]);
      const chosen = Array.from({ length: random.int(1, 6) }, () => random.pick(odd));
      return {
        name,
        type: random.pick(types),
        value: () => (random.chance(share) ? random.pick(chosen) : sound(random)),
      };
    });
    database.exec(
      `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, ${of.map(({ name, type }) => `${name} ${type}`).join(', ')})`,
    );
    const insert = database.prepare(`INSERT INTO ${table} VALUES (?${', ?'.repeat(of.length)})`);
    for (let id = 1; id <= (table === 'PERSON' ? 8 : 24); id++) insert.run(id, ...of.map(({ value }) => value()));
    for (const { name } of of) {
      if (!random.chance(0.5)) continue;
      const how = random.pick(['', ' COLLATE BINARY', ' COLLATE RTRIM', ' COLLATE NOCASE', ' DESC']);
      database.exec(`CREATE INDEX ${table}_${name} ON ${table} (${name}${how})`);
    }
  }
  database.exec(`CREATE TABLE KIND (code ${random.pick(TEXTS)} PRIMARY KEY, meaning VARCHAR(20), words VARCHAR(20))`);
  database.exec(
    "INSERT INTO KIND VALUES ('A', 'exam', 'Exam'), ('B', 'survey ', NULL), ('01', '', ' x '), ('Z', NULL, 'Z')",
  );
}

function packOf(random: Random): Readonly<Record<string, string>> {
  const condition = (column: string): string =>
    random.pick([
      ...[`${column}: A`, `${column}: [A, B]`, `${column}: { not: A }`, `present: [${column}]`, `absent: [${column}]`],
      ...[`any: [{ ${column}: A }, { absent: [${column}] }]`, `${column}: { matches: "A*" }`, `${column}: { ge: B }`],
    ]);
  const rest = random.pick(['', '  else: text\n', '  else: { system: other }\n']);
  const fold = random.pick(['', '  fold: true\n']);
  return {
    'pack.yaml': `name: any
title: Any
zone: ${random.pick(['Europe/Berlin', 'America/New_York', 'UTC', 'Australia/Lord_Howe'])}
systems: { own: https://example.org/own, other: https://example.org/other }
${random.pick(['', 'absent: { text: [N/A, "-"], date: [9999-12-31] }\n'])}`,
    'codes.yaml': `state:
  system: http://hl7.org/fhir/observation-status
  rows: { A: final, B: preliminary, "01": amended }
  else: unknown
inline:
  system: own
  rows: { A: aa Alpha, B: bb, Z: absent }
${rest}${fold}listed:
  table: KIND
  key: [code]
  code: meaning
  display: words
  system: own
${rest}${fold}`,
    'person.yaml': `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [id]${random.pick(['', ', changed: edited'])}${random.chance(0.3) ? `, where: { ${condition('ward')} }` : ''} }
id: "{id}"
elements:
  identifier: [{ system: own, value: { from: number${random.pick(['', ', via: code'])} } }]
  name:
    - family: { from: name, via: [{ piece: { by: "^", at: 1 } }] }
      given: [{ from: name, via: [{ piece: { by: "^", at: 2 } }] }, { from: nick }]
  birthDate: { from: born }
  photo: [{ contentType: image/png, data: { from: photo, via: base64 }, title: { from: nick, if: { ${random.pick(['present', 'absent'])}: [photo] } } }]
${random.pick(['', 'needs: [photo]\n'])}`,
    'entry.yaml': `mapping: entries
resource: Observation
source: { table: ENTRY, as: e, key: [id]${random.chance(0.3) ? `, where: { ${condition('code')} }` : ''} }
id: "e-{id}"
needs: [code${random.pick(['', ', subject'])}]
elements:
  status: { from: state, via: state, else: unknown }
  identifier: [{ system: own, value: { from: key } }]
  category: [{ each: { split: kinds, by: ";", as: kind }, item: ${random.pick(['{ coding: [{ system: own, code: { from: kind.piece, via: code } }] }', '{ from: kind.piece, via: listed }', '{ from: kind.piece, via: inline }'])} }]
  code: ${random.pick(['{ from: code, via: inline }', '{ from: code, via: listed }', '{ coding: [{ system: own, code: { from: key, via: code } }], text: { from: label } }'])}
  subject: { ref: people, on: { id: person } }
  ${random.pick(['effectiveDateTime: { from: begun }', 'effectiveDateTime: { from: begun, via: { datetime: { midnight: date } } }', 'effectivePeriod: { start: { from: begun }, end: { from: ended } }', 'effectiveDateTime: { from: on_day }'])}
  issued: { from: sent }
  first:
    - valueQuantity: ${random.pick(['{ value: { from: amount }, unit: kg }', '{ value: { from: result, via: comparator-number.value }, comparator: { from: result, via: comparator-number.comparator } }', '{ value: { from: result, via: number } }'])}
    - valueString: { from: label${random.chance(0.5) ? `, if: { ${condition('state')} }` : ''} }
    - dataAbsentReason: http://terminology.hl7.org/CodeSystem/data-absent-reason#unknown
  referenceRange: [{ low: { value: { from: low } } }]
  component:
    each: { table: PART, as: part, on: { entry: id }, order: [id]${random.chance(0.4) ? `, where: { ${condition('code')} }` : ''} }
    needs: [code]
    elements:
      code: { from: part.code, via: inline }
      valueQuantity: { value: { from: part.amount } }
`,
  };
}

/** A number of days since 1970. */
const dayNumber = (random: Random): number => random.int(-12_000, 20_500);
const isoDay = (at: number): string => new Date(at * 86_400_000).toISOString().slice(0, 10);
const digitsOf = (at: number): number => Number(isoDay(at).replaceAll('-', ''));
const ordinalOf = (at: number): number => {
  const year = Math.floor(digitsOf(at) / 10_000);
  return year * 1000 + at - Date.UTC(year, 0, 0) / 86_400_000;
};
const ODD = [null, 0, -1, 99_999, 2_980_014, 'x', '', 1.5, 9_999_999, 3_240_314.0831];

/** Forms of dates in numbers and texts, each with its codecs: for a plain date, and for an instant. */
const DATED: readonly (readonly [
  types: readonly string[],
  via: string,
  asInstant: string,
  sound: (random: Random) => Value,
])[] = [
  ...[
    ['1840-12-31', 47_117],
    ['1899-12-30', 25_569],
    ['1970-01-01', 0],
  ].flatMap(([since, add]): (typeof DATED)[number][] => [
    [
      ['INTEGER', 'BIGINT', 'DECIMAL(7,0)'],
      `{ days: { since: ${since} } }`,
      `{ days: { since: ${since}, at: "02:30" } }`,
      random => dayNumber(random) + Number(add),
    ],
    [
      ['REAL', 'DOUBLE PRECISION', 'NUMERIC', 'DECIMAL(14,8)'],
      `{ days: { since: ${since}, midnight: date } }`,
      `{ days: { since: ${since} } }`,
      random => dayNumber(random) + Number(add) + random.int(0, 86_399) / 86_400,
    ],
  ]),
  [
    TEXTS,
    'horolog',
    '{ horolog: { at: "00:00" } }',
    random => `${dayNumber(random) + 47_117}${random.pick(['', ',', `,${random.int(0, 86_399)}`])}`,
  ],
  [
    TEXTS,
    'dtm',
    '{ dtm: { at: "00:00" } }',
    random =>
      `${digitsOf(dayNumber(random))}${random.pick(['', '08', '0830', '013005', '235959.12'])}${random.pick(['', '-0500', '+0000', '+1400'])}`,
  ],
  [
    TEXTS,
    'iso',
    '{ iso: { at: "00:00" } }',
    random =>
      `${isoDay(dayNumber(random))}${random.pick(['', 'T08:30', ' 01:30:05', 'T23:59:59.12'].flatMap(time => (time === '' ? [time] : ['', 'Z', '+02:00', '-0500', ' +14'].map(zone => time + zone))))}`,
  ],
  [['INTEGER', 'VARCHAR(7)'], 'yddd', '{ yddd: { at: "00:00" } }', random => ordinalOf(dayNumber(random))],
  [
    ['INTEGER', 'DECIMAL(6,0)', 'VARCHAR(6)'],
    '{ yddd: { since: 1900 } }',
    '{ yddd: { since: 1900, at: "00:00" } }',
    random => ordinalOf(dayNumber(random)) - 1_900_000,
  ],
  [
    ['REAL', 'NUMERIC', 'DECIMAL(13,6)', 'VARCHAR(14)'],
    '{ ymd14: { since: 1700 } }',
    '{ ymd14: { since: 1700, at: "00:00" } }',
    random => digitsOf(dayNumber(random)) - 17_000_000 + random.pick([0, 0.083, 0.24, 0.153005, 0.000001]),
  ],
];

/** Makes a table of such dates, and its mappings. */
function dated(database: DatabaseSync, random: Random): string {
  const [first, second, third] = [random.pick(DATED), random.pick(DATED), random.pick(DATED)];
  const share = random.pick([0, 0.05, 0.3]);
  database.exec(
    `CREATE TABLE DATED (id INTEGER PRIMARY KEY, a ${random.pick(first[0])}, b ${random.pick(second[0])}, c ${random.pick(third[0])})`,
  );
  const insert = database.prepare('INSERT INTO DATED VALUES (?, ?, ?, ?)');
  for (let id = 1; id <= 24; id++)
    insert.run(id, ...[first, second, third].map(one => (random.chance(share) ? random.pick(ODD) : one[3](random))));
  for (const name of ['a', 'b', 'c']) database.exec(`CREATE INDEX DATED_${name} ON DATED (${name})`);
  return `mapping: messages
resource: Communication
source: { table: DATED, as: d, key: [id], changed: { from: c, via: ${third[2]} } }
compartment: { none: numbers alone }
id: "{id}"
elements:
  status: completed
  sent: { from: a, via: ${first[1]} }
  received: { from: b, via: ${second[2]} }
---
mapping: relatives
resource: RelatedPerson
source: { table: DATED, as: d, key: [id] }
compartment: { none: numbers alone }
id: "{id}"
elements:
  patient: { display: x }
  birthDate: { from: a, via: ${first[1].replace(', midnight: date', '')} }
`;
}

test.each(SEEDS)('random rows, %i: the check finds nothing wrong with what is served', async seed => {
  const random = new Random(20_261_127, seed);
  const folder = temporaryFolder();
  const pack = join(folder, 'pack');
  mkdirSync(pack);
  for (const [name, text] of Object.entries(packOf(random))) writeFileSync(join(pack, name), text);
  const database = new DatabaseSync(join(folder, 'any.sqlite'));
  fill(database, random);
  writeFileSync(join(pack, 'dated.yaml'), dated(database, new Random(20_261_128, seed)));
  database.close();
  const environment = {
    DATABASE_URL: `sqlite:${join(folder, 'any.sqlite')}`,
    MAPPINGS: pack,
    DATA_DIR: join(folder, 'data'),
  };
  const { out, notes } = await lintel(environment, 'check', '--all', '--seed', '1');
  expect(out, notes).toMatch(/ 4 mappings of 4 types; /);
  expect(out.split('\n').filter(line => / \[LNT-(?:604|711|9\d\d)\]/.test(line))).toEqual([]);
});
