/** Pages of a search while the table is written to, and the cost of a late page. */
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { render } from '../../src/sql/render.ts';
import { SQLITE } from '../../src/sql/sqlite/dialect.ts';
import { registerFunctions } from '../../src/sql/sqlite/functions.ts';
import { type SmallClinic, smallClinic } from '../cache/small-clinic.ts';
import { runsOf } from '../share.ts';

interface Page {
  readonly ids: readonly string[];
  /** Path after the base; undefined on the last page. */
  readonly next: string | undefined;
}

function pageOf(json: string): Page {
  const { link, entry = [] } = JSON.parse(json) as {
    link: readonly { relation: string; url: string }[];
    entry?: readonly { resource: { id: string } }[];
  };
  const next = link.find(({ relation }) => relation === 'next')?.url;
  return { ids: entry.map(({ resource }) => resource.id), next: next?.slice(next.indexOf('/fhir/') + 6) };
}

/** A day; NULL for a few. */
const changed = (n: number): string =>
  n % 11 === 0 ? 'NULL' : `'2024-01-${String((n % 28) + 1).padStart(2, '0')} 08:00:00.000'`;
const surname = (n: number): string => (n % 7 === 0 ? 'NULL' : `'N${n % 5}'`);
const person = (id: number): string => `(${id}, ${surname(id)}, 'N', ${changed(id)})`;

const QUERIES = [
  'Patient?',
  'Patient?family=n&',
  'Patient?_sort=_lastUpdated&',
  'Patient?_sort=-_lastUpdated&',
  'Patient?_sort=family,-_lastUpdated&',
  'Patient?_sort=-family&',
];

/** Rows inserted and deleted between two pages; those with even numbers stay. */
const writes = fc.array(fc.record({ insert: fc.boolean(), id: fc.integer({ min: 0, max: 60 }).map(n => 2 * n + 1) }), {
  maxLength: 6,
});

test.each(QUERIES)(
  '%s: a row that exists throughout comes exactly once, despite writes between pages',
  async query => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.integer({ min: 1, max: 120 }), { minLength: 5, maxLength: 30 }),
        fc.integer({ min: 1, max: 7 }),
        fc.array(writes, { minLength: 1, maxLength: 12 }),
        async (ids, count, between) => {
          const clinic = await smallClinic();
          try {
            clinic.write(`INSERT INTO PERSON VALUES ${ids.map(person).join()}`);
            const matches = pageOf(await clinic.look(`${query}_count=50`)).ids;
            const stay = matches.filter(id => Number(id) % 2 === 0);
            const seen: string[] = [];
            let at: string | undefined = `${query}_count=${count}`;
            for (let pages = 0; at !== undefined; pages++) {
              const page: Page = pageOf(await clinic.look(at));
              seen.push(...page.ids);
              at = page.next;
              // Each page ends further on, so the paging ends although rows are inserted behind it.
              expect(pages).toBeLessThan(250);
              for (const { insert, id } of between[pages % between.length] ?? []) {
                clinic.write(
                  insert ? `INSERT OR REPLACE INTO PERSON VALUES ${person(id)}` : `DELETE FROM PERSON WHERE ID = ${id}`,
                );
              }
            }
            expect(seen.filter(id => Number(id) % 2 === 0).toSorted()).toEqual(stay.toSorted());
            expect(new Set(seen).size).toBe(seen.length);
          } finally {
            await clinic.close();
          }
        },
      ),
      { numRuns: runsOf(12) },
    );
  },
  60_000,
);

/** Number of rows that the engine reads for the matches of one page. */
async function visited(clinic: SmallClinic, query: string): Promise<{ readonly rows: number; readonly page: Page }> {
  clinic.sent.plans.length = 0;
  const { text } = await clinic.ask(query);
  const [matches] = clinic.sent.plans;
  if (!matches) throw new Error('Expected a statement');
  const statement = render(matches, SQLITE);
  expect(statement.text).not.toMatch(/OFFSET/i);
  const counted = new DatabaseSync(clinic.file, { readOnly: true });
  registerFunctions(counted);
  let rows = 0;
  counted.function('looked', { deterministic: false }, () => {
    rows++;
    return 1;
  });
  const sql = statement.text.replace('WHERE ', 'WHERE looked() = 1 AND ');
  counted.prepare(sql).all(...statement.parameters.map(({ value }) => value));
  counted.close();
  return { rows, page: pageOf(text) };
}

test.each(['Patient?', 'Patient?_sort=_lastUpdated&', 'Patient?_sort=-_lastUpdated&'])(
  '%s: page 1,000 reads as many rows as page 2',
  async query => {
    const clinic = await smallClinic();
    onTestFinished(() => clinic.close());
    const rows = Array.from({ length: 2050 }, (_, i) => {
      const minute = new Date(Date.UTC(2024, 0, 1) + ((i * 919) % 2050) * 60_000).toISOString();
      return `(${i + 1}, 'N', 'N', '${minute.replace('T', ' ').replace('Z', '')}')`;
    });
    clinic.write(`INSERT INTO PERSON VALUES ${rows.join()}; ANALYZE`);
    const costs: number[] = [];
    let at = `${query}_count=2`;
    for (let number = 1; number <= 1000; number++) {
      if (number === 1 || number === 2 || number === 1000) costs.push((await visited(clinic, at)).rows);
      at = pageOf(await clinic.look(at)).next ?? '';
    }
    const [first = 0, second = 0, thousandth = 0] = costs;
    expect(first).toBeGreaterThan(2);
    expect(second).toBeLessThanOrEqual(first + 2);
    expect(thousandth).toBeLessThanOrEqual(second);
  },
  60_000,
);
