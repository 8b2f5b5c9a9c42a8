/**
 * Narrows a search by words with a table of words (`words` in pack.yaml). In: the condition on some rows. Out: the same
 * condition, limited to the rows that the table lists. Their keys are fetched first, by the table's index. The
 * statement still compares the words of the rows themselves, so a table that lists too many rows costs time and changes
 * no answer.
 * docs/decisions/0316-an-index-of-words.md
 */
import type { WordIndex } from '../mapping/model.ts';
import { and, FALSE, isNull, or } from '../sql/construct.ts';
import type { ColumnExpression, Expression, FunctionName, Predicate, Relation } from '../sql/expression.ts';
import { type Identifier, type TableName, tableKey } from '../sql/identifier.ts';
import { wordsIn } from '../sql/shared-functions.ts';
import { asksExactly, boundOf, isOf } from './bounds.ts';
import type { Environment } from './environment.ts';
import { addPlaceholders, keysFirst, oursAmong } from './key.ts';

/** Stands for any word, in rows of a table whose writer cannot fold the words of a text. */
const ANY_WORD = '*';

/** Limit of words of one condition that the table is searched for; with more, the words are compared row by row. */
const WORDS_AT_MOST = 20;
/** Limit of characters of a word that are searched: a table of words may cut longer ones. */
const WORD_LENGTH = 50;

/** The context in which one condition is planned. */
export interface PlanningContext {
  /** The mapping that the rows belong to. */
  readonly mapping: string;
  readonly env: Environment;
  /** Placeholders of keys that are in the condition so far; new ones are added. */
  readonly known: Set<number>;
}

/** Adds the bounds. Returns the same object if no table of words serves. */
export function wordsFirst({ table, alias, joins, where }: Relation, asking: PlanningContext): Predicate {
  const { words = [] } = asking.env.registry.pack;
  if (words.length === 0) return where;
  const tables = new Map([[alias, table], ...joins.map((join): [Identifier, TableName] => [join.alias, join.table])]);
  const context: WordsContext = { ...asking, alias, tables, words, sought: new Set() };
  const bound = boundOf(where, part => boundOfPart(part, context));
  return bound && context.sought.size > 0 ? and(bound, where) : where;
}

/** The context, with the tables of its aliases. */
interface WordsContext extends PlanningContext {
  readonly alias: Identifier;
  readonly tables: ReadonlyMap<Identifier, TableName>;
  readonly words: readonly WordIndex[];
  /** The tables of words that serve. */
  readonly sought: Set<WordIndex>;
}

/** Returns the condition on the rows' own columns that a part implies. */
function boundOfPart(of: Predicate, context: WordsContext): Predicate | undefined {
  if (of.kind === 'contains') return of.not ? undefined : boundOfWords(of, context);
  return asksExactly(of) && isOf(of, context.alias) ? of : undefined;
}

function boundOfWords(
  { of, where, texts }: Predicate & { readonly kind: 'contains' },
  context: WordsContext,
): Predicate | undefined {
  if (of.kind !== 'function' || of.name !== 'words' || texts.length > WORDS_AT_MOST) return undefined;
  if (where !== 'anywhere' && where !== 'words') return undefined;
  const [first] = of.args;
  const columns = typeof first === 'object' ? columnsWithWordsOf(first) : undefined;
  const found = columns && indexOf(columns, context);
  if (!found) return undefined;
  // Searches the longest word of each conjunction, which few rows have.
  const sought = texts.map(text => longest(wordsIn(text)));
  return sought.some(word => word === '') ? undefined : amongRows(found, sought, context);
}

function longest(words: readonly string[]): string {
  return words.reduce((most, word) => (word.length > most.length ? word : most), '');
}

/** Functions whose result contains only words of their argument. */
const KEEPS_WORDS: ReadonlySet<FunctionName> = new Set(['rtrim', 'trim', 'upper', 'text']);

/** Returns the columns that all words of a text come from; undefined: it may have other words. */
function columnsWithWordsOf(text: Expression): readonly ColumnExpression[] | undefined {
  switch (text.kind) {
    case 'column':
      return [text];
    case 'value':
      return typeof text.value === 'string' && text.value.trim() === '' ? [] : undefined;
    case 'choice':
      return ofAll([...text.of.map(({ give }) => give), ...(text.otherwise ? [text.otherwise] : [])]);
    case 'function': {
      const args = text.args.filter(argument => typeof argument === 'object');
      if (KEEPS_WORDS.has(text.name)) return ofAll(args);
      // Texts joined without a blank would become one word.
      return text.name === 'concat' && args.every((one, i) => i % 2 === 0 || isBlank(one)) ? ofAll(args) : undefined;
    }
    default:
      return undefined;
  }
}

function isBlank(of: Expression): boolean {
  return of.kind === 'value' && of.value === ' ';
}

function ofAll(texts: readonly Expression[]): readonly ColumnExpression[] | undefined {
  const columns = texts.map(columnsWithWordsOf);
  return columns.every(some => some !== undefined) ? columns.flat() : undefined;
}

/** A table of words, with the alias of the rows that it is for. */
interface Found {
  readonly index: WordIndex;
  readonly alias: Identifier;
}

/** Returns the table of words that has all these columns, which must be of one row. */
function indexOf(columns: readonly ColumnExpression[], { tables, words }: WordsContext): Found | undefined {
  const [first] = columns;
  const table = first && tables.get(first.alias);
  if (!first || !table || columns.some(({ alias }) => alias !== first.alias)) return undefined;
  const index = words.find(
    one => tableKey(one.of) === tableKey(table) && columns.every(({ column }) => one.columns.has(column.toLowerCase())),
  );
  return index && { index, alias: first.alias };
}

/**
 * Returns the rows with words that begin with one of these; undefined if they are so many that the list does not help.
 */
function amongRows(
  { index, alias }: Found,
  words: readonly string[],
  { mapping, env, known, sought }: WordsContext,
): Predicate | undefined {
  const { table, word, on } = index;
  const texts = [...new Set(words.map(text => [...text].slice(0, WORD_LENGTH).join('')))].toSorted();
  const where: Predicate = { kind: 'contains', of: word, where: 'seek', texts: [...texts, ANY_WORD], not: false };
  const from: Relation = { table, alias: word.alias, joins: [], where };
  const columns = on.map(({ theirs }) => theirs);
  const named = columns.map(({ column }) => column).join();
  const name = `words ${table.schema ?? ''} ${table.name} ${named} ${JSON.stringify(texts)}`;
  const keys = keysFirst(name, { mapping, from: () => from, columns }, env);
  if (keys === 'many') return undefined;
  sought.add(index);
  if (keys === undefined) return FALSE;
  const pairs = on.map(({ theirs, ours }) => ({ theirs, ours: { ...ours, alias } }));
  // A row without a key is in no table of words.
  const without = pairs.map(({ ours }) => isNull(ours));
  const found = oursAmong(pairs, keys, env.keyPlaceholders?.get(name));
  addPlaceholders(found, known);
  return or(found, ...without);
}
