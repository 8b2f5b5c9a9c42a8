/**
 * Columns of dates in one form with some rows that hold no date and sort apart from all dates: zero dates, blanks,
 * words, numbers, bytes. They are compared unconverted, so that their index serves. The expected answers come from the
 * same rows with one more row, unmapped and in another form, which makes the server compute the columns.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runsOf } from '../share.ts';
import { openSmall } from './small-pack.ts';

type Search = Awaited<ReturnType<typeof openSmall>>;

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: America/New_York\nabsent: { date: ["9999-12-31", "0000-00-00"] }\n',
  'm.yaml': `mapping: visits
resource: Encounter
source: { table: VIS, as: v, key: [NO], where: { STS: { not: X } }, changed: UPD }
id: "{NO}"
elements:
  status: { first: [{ const: finished, if: { UNTIL: { before: now } } }, planned] }
  class: http://terminology.hl7.org/CodeSystem/v3-ActCode#AMB
  period: { start: { from: FR }, end: { from: UNTIL } }
---
mapping: problems
resource: Condition
source: { table: VIS, as: v, key: [NO], where: { STS: { not: X }, FR: { lt: "2024-06-01" } } }
id: "{NO}"
elements:
  subject: { display: somebody }
  recordedDate: { from: SEEN }
  onsetDateTime: { from: FR }
`,
};

const COLUMNS = ['FR', 'UNTIL', 'UPD', 'SEEN'] as const;
const DECLARED = { FR: 'DATETIME', UNTIL: 'TIMESTAMP', UPD: 'DATETIME', SEEN: 'DATE' } as const;

/** SQL of a value that is no date in any form, and sorts apart from all dates. */
const APART = [
  ...["''", "'   '", "'0000-00-00'", "'0000-00-00 00:00:00'", "'0000-01-01'", "'N/A'", "'unknown'", "'-'"],
  ...['NULL', 'NULL', '0', '2024', '1710059400', '2460380.5', "x'323032342d30332d3130'", "'~'", "'00/00/0000'"],
];

/** A date and time in one layout. */
const LAYOUTS: readonly ((iso: string) => string)[] = [
  iso => iso.slice(0, 19).replace('T', ' '),
  iso => iso.slice(0, 16),
  iso => `${iso.slice(0, 19).replace('T', ' ')}.${iso.slice(20, 23)}`,
  iso => iso.slice(0, 10),
  iso => `${iso.slice(0, 19)}Z`,
];

const MOMENTS = [
  ...['0001-01-01T00:00:00.000', '1899-12-31T23:59:59.000', '2023-11-05T01:30:00.000', '2024-03-10T00:00:00.000'],
  ...['2024-03-10T02:30:00.000', '2024-03-10T08:30:00.250', '2024-03-31T23:59:59.000', '2024-06-01T00:00:00.000'],
  ...['2031-01-01T12:00:00.000', '9999-12-31T00:00:00.000', '9999-12-31T23:59:59.999'],
];

interface Written {
  readonly schema: string;
  /** Columns that hold dates, and other values too. */
  readonly mixed: readonly string[];
}

function written(g: fc.GeneratorValue): Written {
  const layouts = COLUMNS.map(column => (column === 'SEEN' ? LAYOUTS[3] : g(fc.constantFrom, ...LAYOUTS)));
  const count = g(fc.integer, { min: 3, max: 14 });
  const rows = Array.from({ length: count }, () =>
    layouts.map(layout => {
      const isApart = g(fc.integer, { min: 0, max: 9 }) < 4;
      return isApart ? g(fc.constantFrom, ...APART) : `'${layout?.(g(fc.constantFrom, ...MOMENTS))}'`;
    }),
  );
  const mixed = COLUMNS.filter((_, i) => {
    const values = rows.map(row => row[i] ?? 'NULL').filter(value => value !== 'NULL');
    const dates = values.filter(value => !APART.includes(value));
    return dates.length > 0 && dates.length < values.length;
  });
  const schema = [
    `CREATE TABLE VIS (NO INTEGER NOT NULL PRIMARY KEY, STS TEXT, ${COLUMNS.map(c => `${c} ${DECLARED[c]}`).join()})`,
    ...COLUMNS.map(column => `CREATE INDEX VIS_${column} ON VIS (${column})`),
    ...rows.map((row, i) => `INSERT INTO VIS VALUES (${i + 1}, 'A', ${row.join()})`),
  ];
  return { schema: `${schema.join(';\n')};\n`, mixed };
}

/** With this row no column has a single form. */
const OTHERWISE = `INSERT INTO VIS VALUES (9999, 'X', ${COLUMNS.map(() => "' 2024-03-10'").join()});`;

const PARAMETERS = [
  ['Encounter', 'date', ['FR', 'UNTIL']],
  ['Encounter', '_lastUpdated', ['UPD']],
  ['Condition', 'recorded-date', ['SEEN']],
  ['Condition', 'onset-date', ['FR']],
] as const;
const PREFIXES = ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'sa', 'eb', 'ap'];
const ASKED = ['2024-03-10', '2024-03', '2024', '0001', '9999', '9999-12-31', '2024-03-10T08:30:00-05:00', '1500'];

async function pagesOf(search: Search, query: string): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let next: string | undefined = query; next !== undefined; ) {
    const page: Awaited<ReturnType<Search>> = await search(next);
    ids.push(...page.ids);
    next = page.next;
  }
  return ids;
}

test('answers equal those of computed columns', { timeout: 300_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.gen(), async g => {
      const { schema } = written(g);
      const [apart, computed] = await Promise.all([openSmall(schema, PACK), openSmall(schema + OTHERWISE, PACK)]);
      for (const type of ['Encounter', 'Condition'])
        expect((await apart(type)).resources).toEqual((await computed(type)).resources);
      for (const [type, code] of PARAMETERS) {
        const asked = [
          ...PREFIXES.map(prefix => `${code}=${prefix}${g(fc.constantFrom, ...ASKED)}`),
          ...[`${code}:missing=true`, `${code}:missing=false`],
          `${code}=ge${g(fc.constantFrom, ...ASKED)}&${code}=lt${g(fc.constantFrom, ...ASKED)}`,
          `${code}=lt${g(fc.constantFrom, ...ASKED)},gt${g(fc.constantFrom, ...ASKED)}`,
        ];
        for (const query of asked)
          expect((await apart(`${type}?${query}`)).ids, query).toEqual((await computed(`${type}?${query}`)).ids);
        for (const sort of [code, `-${code}`]) {
          const query = `${type}?_sort=${sort}&_count=2`;
          expect(await pagesOf(apart, query), query).toEqual(await pagesOf(computed, query));
        }
      }
    }),
    { numRuns: runsOf(25) },
  );
});

describe('an index serves', () => {
  const rows = Array.from({ length: 60 }, (_, i) => {
    const day = `2024-${String((i % 12) + 1).padStart(2, '0')}-10`;
    const values = i % 3 === 0 ? ["'0000-00-00'", "''", "'N/A'", "'0000-00-00'"] : undefined;
    return `(${i + 1}, 'A', ${(values ?? [`'${day} 08:00:00'`, `'${day} 09:00:00'`, `'${day}T08:00:00Z'`, `'${day}'`]).join()})`;
  });
  const schema = `CREATE TABLE VIS (NO INTEGER NOT NULL PRIMARY KEY, STS TEXT, ${COLUMNS.map(c => `${c} ${DECLARED[c]}`).join()});
    ${COLUMNS.map(column => `CREATE INDEX VIS_${column} ON VIS (${column});`).join('\n')}
    INSERT INTO VIS VALUES ${rows.join()};`;

  test.each([
    ['Encounter?date=2024-03', 'VIS_(FR|UNTIL) \\(\\w+>\\? AND \\w+<\\?\\)'],
    ['Encounter?date=sa2024-11-01', 'VIS_FR \\(FR>\\? AND FR<\\?\\)'],
    ['Encounter?date=eb2024-02-01', 'VIS_UNTIL \\(UNTIL>\\? AND UNTIL<\\?\\)'],
    ['Encounter?_lastUpdated=ge2024-11-01', 'VIS_UPD \\(UPD>\\? AND UPD<\\?\\)'],
    ['Encounter?_lastUpdated=lt2024-02-01', 'VIS_UPD \\(UPD>\\? AND UPD<\\?\\)'],
    ['Condition?recorded-date=2024-03-10', 'VIS_SEEN \\(SEEN=\\?\\)'],
    ['Condition?recorded-date=lt2024-03-10', 'VIS_SEEN \\(SEEN>\\? AND SEEN<\\?\\)'],
    ['Condition?recorded-date=gt2024-03-10', 'VIS_SEEN \\(SEEN>\\? AND SEEN<\\?\\)'],
  ])('%s', async (query, index) => {
    const search = await openSmall(schema, PACK);
    const { served, sql } = await search(`${query}&_summary=count`);
    expect(served.join('\n'), sql.join('\n')).toMatch(new RegExp(`^SEARCH v USING (COVERING )?INDEX ${index}`, 'm'));
  });

  test('of the sort and of the key, and not of a date that rows only need', async () => {
    const mapping = PACK['m.yaml'].replace('elements:\n  status', 'needs: [period]\nelements:\n  status');
    const search = await openSmall(schema, { ...PACK, 'm.yaml': mapping });
    for (const query of ['Encounter?_count=5', 'Encounter?_count=5&status=finished']) {
      const { served, sql } = await search(query);
      expect(served.join('\n'), sql.join('\n')).not.toMatch(/INDEX VIS_|TEMP B-TREE/);
    }
  });

  test.each(['Encounter?_sort=_lastUpdated', 'Encounter?_sort=-_lastUpdated', 'Condition?_sort=-recorded-date'])(
    '%s, page by page',
    async query => {
      const mapping = PACK['m.yaml'].replace(', FR: { lt: "2024-06-01" }', '');
      const search = await openSmall(schema, { ...PACK, 'm.yaml': mapping });
      const first = await search(`${query}&_count=5`);
      const second = await search(first.next ?? '');
      for (const { served, sql } of [first, second]) {
        expect(served.join('\n'), sql.join('\n')).toMatch(/^(SEARCH|SCAN) v USING INDEX VIS_(UPD|SEEN)/m);
        expect(served.join('\n')).not.toMatch(/USE TEMP B-TREE FOR ORDER BY$/m);
      }
    },
  );
});
