/**
 * Measures ten US Core searches at several database sizes, and compares page 1 with page 1,000. In: SQLite files of the
 * demo's schema, smallest first. Out: milliseconds of CPU per search by number of patients (clock.ts), the ratio of
 * largest to smallest, and memory at the end; then the same for codes one join away, in a schema of concepts.
 */
import { openConcepts } from '../law/concepts.ts';
import { sideBySide } from './clock.ts';
import { CONTEXT, type Opened, openDemo } from './demo.ts';
import { printTable } from './table.ts';

/** Number of patients for each search. */
const PATIENTS = 41;

interface Person {
  readonly id: string;
  readonly identifier: string;
  readonly family: string;
  readonly birthDate: string;
}

type Parameters = readonly (readonly [string, string])[];

interface Asked {
  readonly title: string;
  readonly type: string;
  readonly of: (person: Person) => Parameters;
}

const SEARCHES: readonly Asked[] = [
  { title: 'Patient?_id', type: 'Patient', of: ({ id }) => [['_id', id]] },
  { title: 'Patient?identifier', type: 'Patient', of: ({ identifier }) => [['identifier', identifier]] },
  {
    title: 'Patient?family&birthdate',
    type: 'Patient',
    of: ({ family, birthDate }) => [
      ['family', family],
      ['birthdate', birthDate],
    ],
  },
  {
    title: 'Observation?patient&category=laboratory',
    type: 'Observation',
    of: patient => [['patient', patient.id], LABORATORY],
  },
  {
    title: 'Observation?patient&code',
    type: 'Observation',
    of: patient => [
      ['patient', patient.id],
      ['code', 'http://loinc.org|4548-4'],
    ],
  },
  {
    title: 'Observation?patient&category=vital-signs&date',
    type: 'Observation',
    of: patient => [
      ['patient', patient.id],
      ['category', 'vital-signs'],
      ['date', 'ge2015-01-01'],
    ],
  },
  {
    title: 'Condition?patient&clinical-status',
    type: 'Condition',
    of: patient => [
      ['patient', patient.id],
      ['clinical-status', 'active'],
    ],
  },
  { title: 'Encounter?patient', type: 'Encounter', of: patient => [['patient', patient.id]] },
  {
    title: 'MedicationRequest?patient&intent',
    type: 'MedicationRequest',
    of: patient => [
      ['patient', patient.id],
      ['intent', 'order'],
    ],
  },
  {
    title: 'DocumentReference?patient&category',
    type: 'DocumentReference',
    of: patient => [
      ['patient', patient.id],
      ['category', 'clinical-note'],
    ],
  },
];

const LABORATORY = ['category', 'laboratory'] as const;

/** Number of requests for each page per round. */
const PAGES_IN_A_ROUND = 20;
const PAGES = [1, 2, 1000];

/** The requests measured in one database, sent one after the other. */
type Requests = readonly { readonly type: string; readonly parameters: Parameters }[];

export async function benchGrowth(files: readonly string[]): Promise<void> {
  const opened: Opened[] = [];
  for (const file of files) opened.push(await openDemo(file));
  const people: (readonly Person[])[] = [];
  for (const one of opened) people.push(await somePeople(one));
  const rows: string[][] = [];
  for (const { title, type, of } of SEARCHES) {
    const requests = people.map(some => some.map(person => ({ type, parameters: of(person) })));
    rows.push(row(title, await timesOf(opened, requests)));
  }
  // All pages of all databases in alternation, because pages are compared with each other as well.
  const pages: Requests[] = [];
  for (const page of PAGES) for (const one of opened) pages.push(await requestsOfPage(one, page));
  const times = await timesOf(
    PAGES.flatMap(() => opened),
    pages,
  );
  PAGES.forEach((page, i) => {
    rows.push(row(`Observation, page ${page}`, times.slice(i * opened.length, (i + 1) * opened.length)));
  });
  printTable(['search', ...files.map(nameOf), 'growth'], rows);
  console.log(`start-up to the first answer: ${opened.map(({ started }) => `${started.toFixed(0)} ms`).join(', ')}`);
  // Mostly the pages of each file in SQLite's cache, at most 64 MB, and V8's heap.
  console.log(`memory of the process, all of them open: ${(process.memoryUsage.rss() / 1e6).toFixed(0)} MB`);
  await Promise.all(opened.map(({ database }) => database.close()));
  await benchConcepts();
}

/** Rows of the databases whose codes are one join away. */
const FACTS = [100_000, 1_000_000];
const CODED = ['code=http://loinc.org|rare', 'code=http://loinc.org|C5'];

/** The same for codes by way of a concept: few rows have the first code, many the second. */
async function benchConcepts(): Promise<void> {
  const opened = await Promise.all(FACTS.map(openConcepts));
  const work = CODED.flatMap(query => {
    const parameters = [...new URLSearchParams(`${query}&_total=none&_count=20`)];
    return opened.map(({ facade }, i) => [
      `${query} ${i}`,
      () => facade.search({ type: 'Observation', parameters }, SERVED),
    ]);
  });
  const times = await sideBySide<string>(Object.fromEntries(work));
  const rows = CODED.map(query =>
    row(
      `Observation?${query}`,
      opened.map((_, i) => (times[`${query} ${i}`] ?? 0) / 1000),
    ),
  );
  printTable(['code one join away', ...FACTS.map(facts => `${facts.toLocaleString('en')} facts`), 'growth'], rows);
  await Promise.all(opened.map(one => one.close()));
}

/** The server's context: its signal can abort, so statements check the clock. */
const SERVED = { ...CONTEXT, signal: new AbortController().signal };

/** Milliseconds per request in each database, in alternation. */
async function timesOf(opened: readonly Opened[], requests: readonly Requests[]): Promise<readonly number[]> {
  const contenders = opened.map(({ facade }, i) => [
    String(i),
    async () => {
      for (const request of requests[i] ?? []) await facade.search(request, SERVED);
    },
  ]);
  const times = await sideBySide(Object.fromEntries(contenders));
  return Object.values(times).map((time, i) => time / 1000 / (requests[i]?.length ?? 1));
}

function row(title: string, times: readonly number[]): string[] {
  const [first = 1] = times;
  return [title, ...times.map(time => `${time.toFixed(2)} ms`), ((times.at(-1) ?? 0) / first).toFixed(2)];
}

function nameOf(file: string): string {
  return file.replace(/^.*\//, '').replace(/\.\w+$/, '');
}

/** Patients spread over the whole table. */
async function somePeople({ facade, database }: Opened): Promise<readonly Person[]> {
  const found: Person[] = [];
  const total = await totalOf(facade);
  for (let i = 0; i < PATIENTS * 2 && found.length < PATIENTS; i++) {
    const id = String(1 + Math.floor((i * total) / (PATIENTS * 2)));
    const read = await facade.read('Patient', id, [], CONTEXT);
    if (!read) continue;
    const { identifier = [], name = [], birthDate } = JSON.parse(read.json);
    const [{ system = '', value = '' } = {}] = identifier;
    if (value !== '' && name[0]?.family !== undefined && birthDate !== undefined)
      found.push({ id, identifier: `${system}|${value}`, family: name[0].family, birthDate });
  }
  if (found.length === 0) throw new Error(`no patients in this ${database.engine} database`);
  return found;
}

async function totalOf(facade: Opened['facade']): Promise<number> {
  const parameters = [['_summary', 'count']] as const;
  const { json } = await facade.search({ type: 'Patient', parameters }, CONTEXT);
  return JSON.parse(json).total;
}

/** A page of Observations by number; follows the links to find its address. */
async function requestsOfPage({ facade }: Opened, page: number): Promise<Requests> {
  let parameters: Parameters = [LABORATORY, ['_count', '20'], ['_total', 'none']];
  for (let at = 1; at < page; at++)
    parameters = nextOf((await facade.search({ type: 'Observation', parameters }, CONTEXT)).json);
  return Array.from({ length: PAGES_IN_A_ROUND }, () => ({ type: 'Observation', parameters }));
}

function nextOf(json: string): Parameters {
  const links: readonly { readonly relation: string; readonly url: string }[] = JSON.parse(json).link;
  const next = links.find(({ relation }) => relation === 'next');
  if (!next) throw new Error('there are too few pages');
  return [...new URL(next.url).searchParams];
}
