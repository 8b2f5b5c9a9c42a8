/**
 * A corpus of slips: one for each kind of key and place, with the expected message. Also any line of the demo's pack
 * deleted, duplicated or misspelt: the messages are few, and the first is near that line.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readLock } from '../../../src/mapping/load/pack/lock.ts';
import { loadPackFiles } from '../../../src/mapping/load/pack/pack.ts';
import { createReport, formatProblem, type Problem } from '../../../src/mapping/load/problem.ts';
import { readPackFiles } from '../../../src/mapping/load/read/files.ts';
import { ACTIVE, ALLERGIES, HEAD, PEOPLE, problemsOf } from './problems-of.ts';

const P = `name: small
title: Small
schema: "4.1"
zone: UTC
systems: { loinc: http://loinc.org, sct: http://snomed.info/sct }
`;

interface Slip {
  readonly slip: string;
  readonly files: Readonly<Record<string, string>>;
  readonly told: readonly string[];
}

const SLIPS: readonly Slip[] = [
  {
    slip: 'form: for from:',
    files: { 'm.yaml': `${PEOPLE}  name: [{ family: { form: LST_NM } }]\n` },
    told: ['m.yaml:6:22: unknown key; found form; did you mean from?'],
  },
  {
    slip: 'form: for from:, beside via',
    files: { 'm.yaml': `${PEOPLE}  gender: { form: SEX, via: sex }\n`, 'codes.yaml': 'sex:\n  rows: { M: male }\n' },
    told: ['m.yaml:6:13: unknown key; found form; did you mean from?'],
  },
  {
    slip: 'a blank at the end of a prefix, which quotes show',
    files: { 'm.yaml': `${PEOPLE}  language: { from: SEX, via: [{ prefix: "A " }, code] }\n` },
    told: ['m.yaml:6:42: a prefix begins and ends with no blank; found "A "'],
  },
  {
    slip: 'a prefix that is a blank',
    files: { 'm.yaml': `${PEOPLE}  language: { from: SEX, via: [{ prefix: " " }, code] }\n` },
    told: ['m.yaml:6:42: a prefix begins and ends with no blank; found " "'],
  },
  {
    slip: 'an option of a codec',
    files: { 'm.yaml': `${PEOPLE}  deceasedDateTime: { from: DTH_DTM, via: { datetime: { midnigth: date } } }\n` },
    told: ['m.yaml:6:57: unknown key; found midnigth; did you mean midnight?'],
  },
  {
    slip: 'a value of an option',
    files: { 'm.yaml': `${PEOPLE}  deceasedDateTime: { from: DTH_DTM, via: { datetime: { midnight: dat } } }\n` },
    told: [
      'm.yaml:6:67: not one of the values allowed; expected date or absent or time; found dat; did you mean date?',
    ],
  },
  {
    slip: 'a codec',
    files: { 'm.yaml': `${PEOPLE}  deceasedDateTime: { from: DTH_DTM, via: dattime }\n` },
    told: ['m.yaml:6:43: unknown codec or code map; found dattime; did you mean datetime?'],
  },
  {
    slip: 'a text step',
    files: { 'm.yaml': `${PEOPLE}  name: [{ family: { from: LST_NM, via: { piec: { by: "^", at: 1 } } } }]\n` },
    told: ['m.yaml:6:43: unknown codec or code map; found piec; did you mean piece?'],
  },
  {
    slip: 'an option of a text step',
    files: { 'm.yaml': `${PEOPLE}  name: [{ family: { from: LST_NM, via: { piece: { bi: "^", at: 1 } } } }]\n` },
    told: ['m.yaml:6:52: unknown key; found bi; did you mean by?'],
  },
  {
    slip: 'a key of source',
    files: { 'm.yaml': ACTIVE.replace('table:', 'tabel:') },
    told: ['m.yaml:3:11: unknown key; found tabel; did you mean table?'],
  },
  {
    slip: 'the key of source',
    files: { 'm.yaml': ACTIVE.replace('key:', 'kay:') },
    told: ['m.yaml:3:33: unknown key; found kay; did you mean key?'],
  },
  {
    slip: 'a key of a mapping',
    files: { 'm.yaml': ACTIVE.replace('resource:', 'resorce:') },
    told: ['m.yaml:2:1: unknown key; found resorce; did you mean resource?'],
  },
  {
    slip: 'the first key of a mapping',
    files: { 'm.yaml': ACTIVE.replace('mapping:', 'maping:') },
    told: ['m.yaml:1:1: unknown key; found maping; did you mean mapping?'],
  },
  {
    slip: 'elements',
    files: { 'm.yaml': ACTIVE.replace('elements:', 'elemnts:') },
    told: ['m.yaml:5:1: unknown key; found elemnts; did you mean elements?'],
  },
  {
    slip: 'lookup',
    files: {
      'm.yaml': ACTIVE.replace('key: [PT_NO]', 'key: [PT_NO], lokup: { c: { table: dbo.CD_LKUP, on: { CD: SEX } } }'),
    },
    told: ['m.yaml:3:47: unknown key; found lokup; did you mean lookup?'],
  },
  {
    slip: 'a key of a lookup',
    files: {
      'm.yaml': ACTIVE.replace('key: [PT_NO]', 'key: [PT_NO], lookup: { c: { table: dbo.CD_LKUP, onn: { CD: SEX } } }'),
    },
    told: ['m.yaml:3:82: unknown key; found onn; did you mean on?'],
  },
  {
    slip: 'a flag of a lookup',
    files: {
      'm.yaml': ACTIVE.replace(
        'key: [PT_NO]',
        'key: [PT_NO], lookup: { c: { table: dbo.CD_LKUP, on: { CD: SEX }, requird: true } }',
      ),
    },
    told: ['m.yaml:3:99: unknown key; found requird; did you mean required?'],
  },
  {
    slip: 'where',
    files: { 'm.yaml': ACTIVE.replace('key: [PT_NO]', 'key: [PT_NO], wher: { SEX: M }') },
    told: ['m.yaml:3:47: unknown key; found wher; did you mean where?'],
  },
  {
    slip: 'an operator of a condition',
    files: { 'm.yaml': ACTIVE.replace('key: [PT_NO]', 'key: [PT_NO], where: { SEX: { nto: M } }') },
    told: ['m.yaml:3:63: unknown key; found nto; did you mean not?'],
  },
  {
    slip: 'a key of a condition',
    files: { 'm.yaml': ACTIVE.replace('key: [PT_NO]', 'key: [PT_NO], where: { anny: [{ SEX: M }] }') },
    told: ['m.yaml:3:56: unknown key; found anny; did you mean any?'],
  },
  {
    slip: 'a key of a condition with columns',
    files: { 'm.yaml': ACTIVE.replace('key: [PT_NO]', 'key: [PT_NO], where: { pressent: [SEX] }') },
    told: ['m.yaml:3:56: unknown column of dbo.PT; found pressent; did you mean present?'],
  },
  {
    slip: 'exists',
    files: {
      'm.yaml': ACTIVE.replace(
        'key: [PT_NO]',
        'key: [PT_NO], where: { exist: { table: dbo.VIT, on: { PT_NO: PT_NO } } }',
      ),
    },
    told: ['m.yaml:3:56: unknown key; found exist; did you mean exists?'],
  },
  {
    slip: 'an element',
    files: { 'm.yaml': `${PEOPLE}  gendre: male\n` },
    told: ['m.yaml:6:3: unknown element of Patient; found gendre; did you mean gender?'],
  },
  {
    slip: 'ref',
    files: { 'm.yaml': `${ACTIVE}---\n${ALLERGIES}  patient: { reff: people, on: { PT_NO: PT_NO } }\n` },
    told: ['m.yaml:14:14: unknown key; found reff; did you mean ref?'],
  },
  {
    slip: 'a key of a reference',
    files: { 'm.yaml': `${ACTIVE}---\n${ALLERGIES}  patient: { ref: people, on: { PT_NO: PT_NO }, exsts: false }\n` },
    told: ['m.yaml:14:49: unknown key; found exsts; did you mean exists?'],
  },
  {
    slip: 'each',
    files: {
      'm.yaml': `${PEOPLE}  name: [{ eahc: { split: LST_NM, by: ";", as: d }, item: { family: { from: d.piece } } }]\n`,
    },
    told: ['m.yaml:6:12: unknown key; found eahc; did you mean each?'],
  },
  {
    slip: 'item',
    files: {
      'm.yaml': `${PEOPLE}  name: [{ each: { split: LST_NM, by: ";", as: d }, itm: { family: { from: d.piece } } }]\n`,
    },
    told: ['m.yaml:6:53: unknown key; found itm; did you mean item?'],
  },
  {
    slip: 'split',
    files: {
      'm.yaml': `${PEOPLE}  name: [{ each: { splt: LST_NM, by: ";", as: d }, item: { family: { from: d.piece } } }]\n`,
    },
    told: ['m.yaml:6:20: unknown key; found splt; did you mean split?'],
  },
  {
    slip: 'first among elements',
    files: { 'm.yaml': `${PEOPLE}  frist: [{ deceasedBoolean: "true" }]\n` },
    told: ['m.yaml:6:3: unknown element of Patient; found frist; did you mean first?'],
  },
  {
    slip: 'a key of pack.yaml',
    files: { 'm.yaml': ACTIVE, 'pack.yaml': P.replace('title:', 'titel:') },
    told: ['pack.yaml:2:1: unknown key; found titel; did you mean title?'],
  },
  {
    slip: 'an optional key of pack.yaml',
    files: { 'm.yaml': ACTIVE, 'pack.yaml': `${P}denny: ["*.SSN"]\n` },
    told: ['pack.yaml:6:1: unknown key; found denny; did you mean deny?'],
  },
  {
    slip: 'a key of absent',
    files: { 'm.yaml': ACTIVE, 'pack.yaml': `${P}absent: { txt: [N/A] }\n` },
    told: ['pack.yaml:6:11: unknown key; found txt; did you mean text?'],
  },
  {
    slip: 'columns of absent',
    files: { 'm.yaml': ACTIVE, 'pack.yaml': `${P}absent: { date: ["17530101"], column: { PT.PHONE: ["0"] } }\n` },
    told: ['pack.yaml:6:31: unknown key; found column; did you mean columns?'],
  },
  {
    slip: 'rows of a code map',
    files: { 'm.yaml': `${PEOPLE}  gender: { from: SEX, via: sex }\n`, 'codes.yaml': 'sex:\n  row: { M: male }\n' },
    told: ['codes.yaml:2:3: unknown key; found row; did you mean rows?'],
  },
  {
    slip: 'else of a code map',
    files: {
      'm.yaml': `${PEOPLE}  gender: { from: SEX, via: sex }\n`,
      'codes.yaml': 'sex:\n  rows: { M: male }\n  els: absent\n',
    },
    told: ['codes.yaml:3:3: unknown key; found els; did you mean else?'],
  },
  {
    slip: 'a key of a code table',
    files: {
      'm.yaml': `${PEOPLE}  maritalStatus: { from: SEX, via: sex }\n`,
      'codes.yaml': 'sex:\n  table: dbo.CD_LKUP\n  key: CD\n  cod: STD_CD\n  system: sct\n',
    },
    told: ['codes.yaml:4:3: unknown key; found cod; did you mean code?'],
  },
  {
    slip: 'the table of a code table',
    files: {
      'm.yaml': `${PEOPLE}  maritalStatus: { from: SEX, via: sex }\n`,
      'codes.yaml': 'sex:\n  tabel: dbo.CD_LKUP\n  key: CD\n  code: STD_CD\n  system: sct\n',
    },
    told: ['codes.yaml:2:3: unknown key; found tabel; did you mean table?'],
  },
  {
    slip: 'variants',
    files: {
      'm.yaml': `${HEAD.replace('{PT_NO}', 'x-{PT_NO}')}varaints:\n  - { variant: a, id: "a-{PT_NO}", elements: { active: "true" } }\nelements:\n  gender: male\n`,
    },
    told: ['m.yaml:5:1: unknown key; found varaints; did you mean variants?'],
  },
  {
    slip: 'variant',
    files: {
      'm.yaml': `${HEAD.replace('{PT_NO}', 'x-{PT_NO}')}variants:\n  - { varaint: a, id: "a-{PT_NO}", elements: { active: "true" } }\nelements:\n  gender: male\n`,
    },
    told: ['m.yaml:6:7: unknown key; found varaint; did you mean variant?'],
  },
  {
    slip: 'a key of a variant',
    files: {
      'm.yaml': `${HEAD.replace('{PT_NO}', 'x-{PT_NO}')}variants:\n  - { variant: a, id: "a-{PT_NO}", elemnts: { active: "true" } }\nelements:\n  gender: male\n`,
    },
    told: ['m.yaml:6:36: unknown key; found elemnts; did you mean elements?'],
  },
  {
    slip: 'insert',
    files: {
      'm.yaml': `${PEOPLE}  name: [{ inser: nm }]\n`,
      'pack.yaml': `${P}fragments: { nm: { family: { from: LST_NM } } }\n`,
    },
    told: ['m.yaml:6:12: unknown element of HumanName; found inser; did you mean insert?'],
  },
  {
    slip: 'a column in the condition of an alternative that another follows',
    files: {
      'm.yaml': `${PEOPLE}  gender: { first: [{ const: male, if: { SX: M } }, unknown] }\n`,
    },
    told: ['m.yaml:6:42: unknown column of dbo.PT; found SX; did you mean SEX?'],
  },
  {
    slip: 'the item of an each, whose elements stand beside it then',
    files: {
      'm.yaml': `${PEOPLE}  name:\n    - each: { split: LST_NM, by: ";", as: d }\n      family: { from: d.piece }\n      text: { from: d.piece }\n`,
    },
    told: ['m.yaml:7:7: `each` without `elements:` or `item:`', 'm.yaml:8:7: unknown keys; found family, text'],
  },
  {
    slip: 'what items need, which stands beside the item instead of inside of it',
    files: {
      'm.yaml': `${PEOPLE}  name:\n    - each: { split: LST_NM, by: ";", as: d }\n      item: { family: { from: d.piece } }\n      needs: [family]\n`,
    },
    told: [
      'm.yaml:9:14: `needs` beside `item` has no effect; expected `needs` in the map of `item`, or `elements:` in place of `item:`',
    ],
  },
  {
    slip: 'elements beside an item',
    files: {
      'm.yaml': `${PEOPLE}  name:\n    - each: { split: LST_NM, by: ";", as: d }\n      item: { family: { from: d.piece } }\n      elements: { text: { from: d.piece } }\n`,
    },
    told: ['m.yaml:9:17: `elements` beside `item` has no effect; expected one of the two'],
  },
  {
    slip: 'insert beside the parameters of a fragment',
    files: {
      'm.yaml': `${PEOPLE}  name: [{ qnsert: nm, $c: LST_NM }]\n`,
      'pack.yaml': `${P}fragments: { nm: { family: { from: $c } } }\n`,
    },
    told: ['m.yaml:6:12: unknown key; found qnsert; did you mean insert?'],
  },
  {
    slip: 'an argument of a fragment',
    files: {
      'm.yaml': `${PEOPLE}  name: [{ insert: nm, $c: LST_NMM }]\n`,
      'pack.yaml': `${P}fragments:\n  nm: { family: { from: $c, via: txt } }\n`,
    },
    told: ['m.yaml:6:28: unknown column of dbo.PT; found LST_NMM; did you mean LST_NM?'],
  },
  {
    slip: 'a line of a fragment',
    files: {
      'm.yaml': `${PEOPLE}  name: [{ insert: nm }]\n`,
      'pack.yaml': `${P}fragments:\n  nm: { family: { from: LSTNM } }\n`,
    },
    told: ['pack.yaml:7:25: unknown column of dbo.PT; found LSTNM; did you mean LST_NM?; inserted at m.yaml:6:20'],
  },
  {
    slip: 'a cell and a line of a macro',
    files: {
      'm.yaml': `${HEAD.replace('{PT_NO}', 'x-{PT_NO}')}variants:\n  - with: [$v, $col]\n    rows:\n      - [a, LST_NM]\n      - [b, LST_MN]\n    variant: $v\n    id: "$v-{PT_NO}"\n    elements: { name: [{ family: { from: $col, via: tex } }] }\nelements:\n  gender: male\n`,
    },
    told: [
      'm.yaml:9:13: unknown column of dbo.PT; found LST_MN; did you mean LST_NM?',
      'm.yaml:12:53: unknown codec or code map; found tex; did you mean text?; in the row m.yaml:8:9',
    ],
  },
  {
    slip: 'indentation',
    files: {
      'm.yaml': `mapping: people\nresource: Patient\n source: { table: dbo.PT, as: p, key: [PT_NO] }\nid: "{PT_NO}"\nelements:\n  active: "true"\n  name: [{ family: { from: LST_NM } }]\n`,
    },
    told: [
      'm.yaml:2:11: a second colon where one value stands; expected the next line with the same indent as its siblings, and quotes around a text with a colon and a blank in it',
    ],
  },
  {
    slip: 'a bracket that is not closed',
    files: {
      'm.yaml': `mapping: people\nresource: Patient\nsource: { table: dbo.PT, as: p, key: [PT_NO]\nid: "{PT_NO}"\nelements:\n  active: "true"\n  name: [{ family: { from: LST_NM } }]\n`,
    },
    told: ['m.yaml:3:9: `{` is not closed; expected `}` at its end'],
  },
  {
    slip: 'a quote that is not closed',
    files: {
      'm.yaml': `mapping: people\nresource: Patient\nsource: { table: "dbo.PT, as: p, key: [PT_NO] }\nid: "{PT_NO}"\nelements:\n  active: "true"\n  name: [{ family: { from: LST_NM } }]\n`,
    },
    told: ['m.yaml:3:18: `"` is not closed; expected `"` at its end'],
  },
  {
    slip: 'tabs',
    files: {
      'm.yaml': `mapping: people\nresource: Patient\nsource:\n\ttable: dbo.PT\n\tkey: [PT_NO]\nid: "{PT_NO}"\nelements:\n  active: "true"\n`,
    },
    told: ['m.yaml:4:1: Tabs are not allowed as indentation; expected blanks'],
  },
  {
    slip: 'no blank behind a colon',
    files: { 'm.yaml': ACTIVE.replace('resource: ', 'resource:') },
    told: ['m.yaml:2:1: a line that is no `key: value`; expected `key: value`, with a blank after the colon'],
  },
  {
    slip: 'syntax of pack.yaml',
    files: { 'm.yaml': ACTIVE, 'pack.yaml': P.replace('systems: {', 'systems: { {') },
    told: ['pack.yaml:5:10: `{` is not closed; expected `}` at its end'],
  },
  {
    slip: 'a bracket too many',
    files: { 'm.yaml': `${PEOPLE}  gender: { from: SEX, via: sex } }\n` },
    told: ['m.yaml:6:35: `}` closes nothing; expected a `{` before it, or one `}` less'],
  },
  {
    slip: 'a comma that is missing',
    files: { 'm.yaml': `${PEOPLE}  gender: { from: SEX via: sex }\n` },
    told: ['m.yaml:6:19: a second key without a comma before it; expected commas between what stands in brackets'],
  },
  {
    slip: 'a key that is indented by one blank more',
    files: { 'm.yaml': `${PEOPLE}  name: [{ family: { from: LST_NM } }]\n   gender: { from: SEX, via: sex }\n` },
    told: [
      'm.yaml:7:1: the line does not begin in the column of its siblings above; expected the same number of blanks before each key, or each dash, of a list',
    ],
  },
  {
    slip: 'no blank between a colon and a bracket',
    files: { 'm.yaml': `${PEOPLE}  name:[{ family: { from: LST_NM } }]\n` },
    told: ['m.yaml:6:3: no blank behind the colon of `name`; expected `name: …`'],
  },
  {
    slip: 'no blank behind a colon in brackets',
    files: { 'm.yaml': `${PEOPLE}  name: [{ family: { from:LST_NM } }]\n` },
    told: ['m.yaml:6:22: no blank behind the colon of `from`; expected `from: …`'],
  },
  {
    slip: 'the line of an element above its own',
    files: {
      'm.yaml': `${PEOPLE}  name:\n    - city: { from: LST_NM }\n      line: [{ from: LST_NM }]\n      postalCode: { from: SEX }\n`,
    },
    told: [
      'm.yaml:7:7: unknown elements of HumanName; expected their parent element in a line above; found city, line, postalCode',
    ],
  },
  {
    slip: 'a key that is missing',
    files: {
      'm.yaml': `mapping: people\nresource: Patient\nid: "{PT_NO}"\nelements:\n  active: "true"\n  name: [{ family: { from: LST_NM } }]\n`,
    },
    told: ['m.yaml:1:1: key `source` is missing'],
  },
];

describe('a typo is reported once, at its place, with a suggestion', () => {
  test.each(SLIPS)('$slip', ({ files, told }) => {
    expect(problemsOf(files)).toEqual(told);
  });
});

const pack = readPackFiles('mappings/medkeep');
const lock = pack.lock && readLock(pack.lock.path, pack.lock.text, createReport());
const LINES = pack.mappings.flatMap(({ path, text }) =>
  text.split('\n').flatMap((line, index) => (/^\s*(?:#.*)?$/.test(line) ? [] : [{ path, index }])),
);

type Harm = 'deleted' | 'written twice' | 'misspelt';

interface Harmed {
  readonly told: readonly Problem[];
  /** The line after the change. */
  readonly line: string;
}

/** Returns the problems of the demo's pack with one line changed. */
function harmed({ path, index }: (typeof LINES)[number], how: Harm, at: number): Harmed {
  let harm = '';
  const mappings = pack.mappings.map(file => {
    if (file.path !== path) return file;
    const lines = file.text.split('\n');
    const line = lines[index] ?? '';
    const letters = [...line.matchAll(/[A-Za-z]/g)].map(match => match.index);
    const place = letters[at % Math.max(1, letters.length)] ?? 0;
    harm = `${line.slice(0, place)}q${line.slice(place + 1)}`;
    const instead = { deleted: [], 'written twice': [line, line], misspelt: [harm] }[how];
    return { ...file, text: lines.toSpliced(index, 1, ...instead).join('\n') };
  });
  return { told: loadPackFiles({ ...pack, mappings }, lock).problems, line: harm };
}

/**
 * True if a problem is in the line, is caused by it (a row of a macro, an inserted fragment), or suggests the line's
 * new text.
 */
function leadsTo({ position, suggestion }: Problem, { path, index }: (typeof LINES)[number], line: string): boolean {
  const places = [position, ...(position.by ? [position.by.at] : [])];
  return (
    places.some(place => place.file === path && place.line === index + 1) ||
    (suggestion !== undefined && line.includes(suggestion))
  );
}

/** Each case loads the whole pack; SLIPS=300 runs longer, over different lines each time. */
const { SLIPS: long } = process.env;
const RUNS = long === undefined ? { numRuns: 4, seed: 18 } : { numRuns: Number(long) };

describe('a damaged line of a pack', () => {
  test.each<Harm>(['deleted', 'written twice', 'misspelt'])(
    'is reported in a few lines if it is %s',
    how => {
      fc.assert(
        fc.property(fc.constantFrom(...LINES), fc.nat(200), (place, at) => {
          const { told, line } = harmed(place, how, at);
          expect(told.length, told.map(formatProblem).join('\n')).toBeLessThanOrEqual(3);
          if (how === 'misspelt' && told.length > 0)
            expect(
              told.map(problem => leadsTo(problem, place, line)),
              told.map(formatProblem).join('\n'),
            ).toContain(true);
        }),
        RUNS,
      );
    },
    600_000,
  );
});
