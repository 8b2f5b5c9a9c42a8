/**
 * Checks tables of words (`words` of pack.yaml): a search misses a row whose word is not listed. In: the pack's tables
 * of words. Out: errors with numbers of rows, never a word. It compares the words of the first and last rows by key,
 * and checks that each row has some word. docs/decisions/0316-an-index-of-words.md
 */
import { plural } from '../../common/plural.ts';
import { UNICODE } from '../../sql/column-type.ts';
import { among, and, call, equals, exists, filled, isNull, not, or, value } from '../../sql/construct.ts';
import { engineNamed } from '../../sql/engines.ts';
import type { ColumnExpression, Predicate, Relation, SqlValue } from '../../sql/expression.ts';
import { identifier } from '../../sql/identifier.ts';
import type { Row } from '../../sql/plan.ts';
import { wordsIn } from '../../sql/shared-functions.ts';
import type { WordIndex } from '../model.ts';
import { type Asking, ask, type Checking } from './questions.ts';

/** Rows at each end of the key. */
const ROWS = 200;
/** Most listed words that are read. */
const WORDS = 50_000;
/** Most characters of a word that a search compares. */
const WORD_LENGTH = 50;

export async function checkWords(indexes: readonly WordIndex[], asking: Checking): Promise<void> {
  const { report } = asking;
  for (const index of indexes) {
    const [absent, lacking] = [await absentRows(index, asking), await lackingRows(index, asking)];
    if (absent === 0 && lacking === 0) continue;
    const what =
      absent > 0
        ? `has no word of ${plural(absent, 'row')} of ${index.of.name} that have some`
        : `lacks words of ${plural(lacking, 'row')} among the checked rows of ${index.of.name}`;
    report.error('word-table', index.at, `${index.table.name} ${what}: searches by words miss them`, {
      expected:
        'all words of each row, or `*`; `lintel words` prints triggers that keep them, and the statement that fills the table',
    });
  }
}

/** The alias of the rows here. */
const OURS = identifier('t');

function oursOf({ on }: WordIndex): readonly ColumnExpression[] {
  return on.map(({ ours }) => ({ ...ours, alias: OURS }));
}

function textsOf({ columns }: WordIndex): readonly ColumnExpression[] {
  return [...columns].map(column => ({ kind: 'column', alias: OURS, column: identifier(column), type: UNICODE }));
}

/** Counts rows with a letter or digit in one of the texts and no listed word. */
async function absentRows(index: WordIndex, asking: Asking): Promise<number> {
  const listed: Relation = {
    table: index.table,
    alias: index.word.alias,
    joins: [],
    where: and(...index.on.map(({ theirs, ours }) => equals(theirs, { ...ours, alias: OURS }))),
  };
  const worded = textsOf(index).map(
    (text): Predicate => ({
      kind: 'glob',
      of: call('trim', [text], UNICODE),
      pattern: '*[A-Za-z0-9]*',
      not: false,
    }),
  );
  const where = and(...oursOf(index).map(ours => not(isNull(ours))), or(...worded), not(exists(listed)));
  const from: Relation = { table: index.of, alias: OURS, joins: [], where };
  const [row] = await ask(asking, { from, columns: [], orderBy: [], limit: 1, shape: 'count' });
  return Number(row?.[0] ?? 0);
}

async function lackingRows(index: WordIndex, asking: Asking): Promise<number> {
  const keys = oursOf(index);
  const texts = textsOf(index);
  const where = and(...keys.map(key => not(isNull(key))), or(...texts.map(filled)));
  const ends = await Promise.all(
    [false, true].map(descending =>
      ask(asking, {
        from: { table: index.of, alias: OURS, joins: [], where },
        columns: [...keys, ...texts],
        orderBy: keys.map(by => ({ by, descending })),
        limit: ROWS,
        shape: 'rows',
      }),
    ),
  );
  const rows = new Map(ends.flat().map(row => [keyOf(row, keys.length), row]));
  const listed = await listedWords(index, [...rows.values()], asking);
  const lacks = (row: Row): boolean => {
    const known = listed.get(keyOf(row, keys.length)) ?? [];
    const words = row.slice(keys.length).flatMap(text => (typeof text === 'string' ? wordsIn(text) : []));
    if (known.includes('*')) return false;
    return words.some(word => !known.some(one => one.startsWith([...word].slice(0, WORD_LENGTH).join(''))));
  };
  return [...rows.values()].filter(lacks).length;
}

/** Returns the listed words by key. */
async function listedWords(
  { table, word, on }: WordIndex,
  rows: readonly Row[],
  asking: Asking,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const [only, ...more] = on;
  const cell = (raw: SqlValue | undefined, { theirs }: (typeof on)[number]) => value(raw ?? null, theirs.type);
  const where =
    only && more.length === 0
      ? among(
          only.theirs,
          rows.map(([raw]) => cell(raw, only)),
        )
      : or(...rows.map(row => and(...on.map((pair, i) => equals(pair.theirs, cell(row[i], pair))))));
  if (rows.length === 0) return new Map();
  const found = await ask(asking, {
    from: { table, alias: word.alias, joins: [], where },
    columns: [...on.map(({ theirs }) => theirs), word],
    orderBy: [],
    limit: WORDS,
    shape: 'rows',
  });
  const byKey = Map.groupBy(found, row => keyOf(row, on.length));
  return new Map([...byKey].map(([key, some]) => [key, some.flatMap(row => listedWord(row.at(-1), asking))]));
}

/** Returns a word as the engine compares it. */
function listedWord(raw: SqlValue | undefined, { database }: Asking): readonly string[] {
  if (typeof raw !== 'string') return [];
  const text = raw.trimEnd();
  return text === '*' || !engineNamed(database.engine).foldsWords ? [text] : wordsIn(text);
}

function keyOf(row: Row, length: number): string {
  return JSON.stringify(row.slice(0, length).map(cell => (cell instanceof Uint8Array ? [...cell] : cell)));
}
