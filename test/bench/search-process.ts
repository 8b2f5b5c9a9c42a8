/**
 * Runs one process of `npm run bench -- search`: a page of 50 Observations and one read, beside the hand-written
 * programs. In: a SQLite file of the demo's schema. Out: a message with microseconds of CPU. Bytes are compared before
 * the measurement.
 */
import type { SearchRequest } from '../../src/facade.ts';
import { toXml } from '../../src/resource/xml.ts';
import { sideBySide, type Work } from './clock.ts';
import { CONTEXT, openDemo } from './demo.ts';
import { laboratoryPages, laboratoryReads, unsealed } from './laboratory-pages.ts';
import { bestProgram, obviousProgram } from './laboratory-programs.ts';
import { offsets, offsetsAsked } from './offsets.ts';

const INCLUDES = [
  ['_include', 'Observation:subject'],
  ['_revinclude', 'Provenance:target'],
] as const;

export type Contender = 'facade' | 'best' | 'obvious' | 'keeping' | 'statement';

/** Microseconds of CPU. */
export interface Measured {
  readonly page: Readonly<Record<Contender, number>>;
  readonly read: Readonly<Record<Contender, number>>;
  readonly forms: Readonly<Record<'json' | 'xml' | 'includes', number>>;
}

async function measured(file: string): Promise<Measured> {
  const opened = await openDemo(file);
  const { facade, database } = opened;
  const [best, obvious, keeping] = [
    bestProgram(file),
    obviousProgram(file, offsetsAsked),
    obviousProgram(file, offsets),
  ];
  const pages = await laboratoryPages(opened);
  const reads = await laboratoryReads(opened, pages);
  for (const program of [best, obvious, keeping]) {
    for (const page of pages) mustEqual(unsealed(program.page(page)), unsealed(page.json));
    for (const read of reads) mustEqual(program.read(read), read.json);
  }
  const search = (parameters: SearchRequest['parameters']): Promise<Written> =>
    facade.search({ type: 'Observation', parameters }, CONTEXT);

  const page = await sideBySide({
    facade: inTurn(pages, ({ parameters }) => search(parameters)),
    best: inTurn(pages, best.page),
    obvious: inTurn(pages, obvious.page),
    keeping: inTurn(pages, keeping.page),
    statement: inTurn(pages, best.rows),
  });
  // Measured separately: their garbage would be collected while others run, and count against those.
  const forms = await sideBySide({
    json: inTurn(pages, ({ parameters }) => search(parameters)),
    xml: inTurn(pages, async ({ parameters }) => toXml((await search(parameters)).json)),
    // A page's link belongs to its search, so this is always the first page.
    includes: inTurn(pages.slice(0, 1), ({ parameters }) => search([...parameters, ...INCLUDES])),
  });
  const read = await sideBySide({
    facade: inTurn(reads, ({ id }) => facade.read('Observation', id, [], CONTEXT)),
    best: inTurn(reads, best.read),
    obvious: inTurn(reads, obvious.read),
    keeping: inTurn(reads, keeping.read),
    statement: inTurn(reads, best.rows),
  });
  await database.close();
  return { page, read, forms };
}

interface Written {
  readonly json: string;
}

/** Runs the action on the next item each time, and encodes texts into the bytes that are sent. */
function inTurn<T>(items: readonly T[], action: (item: T) => unknown): Work {
  let at = 0;
  return async () => {
    const item = items[at++ % items.length];
    const made = item === undefined ? '' : await action(item);
    const text = isWritten(made) ? made.json : made;
    return typeof text === 'string' ? Buffer.from(text, 'utf8') : text;
  };
}

function isWritten(made: unknown): made is Written {
  return typeof made === 'object' && made !== null && 'json' in made;
}

function mustEqual(own: string, facades: string): void {
  if (own === facades) return;
  let at = 0;
  while (own[at] === facades[at]) at++;
  throw new Error(`the bytes differ: ${own.slice(at - 60, at + 40)} and ${facades.slice(at - 60, at + 40)}`);
}

process.send?.(await measured(process.argv[2] ?? ''));
