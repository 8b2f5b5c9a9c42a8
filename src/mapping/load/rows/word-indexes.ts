/**
 * Reads `words` of pack.yaml: tables with the words of columns of other tables. In: its entries and the catalog. Out:
 * per entry the columns that a search by words uses. Reports problems. docs/decisions/0316-an-index-of-words.md
 */
import { unfitIn } from '../../../sql/catalog.ts';
import { printTable } from '../../../sql/identifier.ts';
import type { JoinColumn, WordIndex } from '../../model.ts';
import type { Context } from '../pack/context.ts';
import { child, type Entry, type ScalarTree, scalarsOf, type Tree } from '../read/tree.ts';
import { type NamedRows, resolveColumn, type Visible } from './columns.ts';
import { readOn } from './join.ts';
import { findTableNamed, readTable } from './scope.ts';

type Rows = { readonly own: NamedRows; readonly visible: Visible };

export function readWordIndexes(entries: readonly Entry[], context: Context): readonly WordIndex[] {
  return entries.flatMap(entry => readWordIndex(entry, context) ?? []);
}

function readWordIndex({ key, value, at }: Entry, context: Context): WordIndex | undefined {
  const of = findTableNamed({ kind: 'scalar', text: key, at }, context);
  const words = readRows(value, { key: 'w', at }, context);
  if (!of || !words) return undefined;
  const own: NamedRows = { kind: 'rows', name: 't', alias: context.aliases.mint('t'), certain: true, ...of };
  const ours: Rows = { own, visible: visibleOf(own) };
  const written = child(value, 'word');
  const word = written?.kind === 'scalar' ? resolveColumn(written.text, written.at, words.visible, context) : undefined;
  const on = readOn(child(value, 'on'), words.visible, ours.visible, context);
  const columns = scalarsOf(child(value, 'columns')).flatMap(column => textColumn(column, ours.visible, context));
  if (!word || !written) return undefined;
  const { column } = word;
  if (column.type.kind !== 'text') {
    context.report.error('wrong-codec', written.at, '`word` is a column of texts', {
      found: word.info?.declared ?? column.type.kind,
    });
    return undefined;
  }
  if (on.some(isCast)) {
    context.report.error('wrong-codec', child(value, 'on')?.at ?? at, '`on` of `words` joins columns of one type', {
      expected: `key columns of ${printTable(words.own.table)} declared as those of ${printTable(of.table)} are`,
    });
    return undefined;
  }
  if (!isIndexed(words.own, column.column, written, context)) return undefined;
  return { of: of.table, columns: new Set(columns), table: words.own.table, word: column, on, at };
}

function readRows(tree: Tree, name: Pick<Entry, 'key' | 'at'>, context: Context): Rows | undefined {
  const own = readTable(tree, name, true, context);
  return own && { own, visible: visibleOf(own) };
}

function visibleOf(own: NamedRows): Visible {
  return { own, named: new Map([[own.name, own]]), outer: undefined, lookups: [] };
}

function textColumn({ text, at }: ScalarTree, ours: Visible, context: Context): readonly string[] {
  const found = resolveColumn(text, at, ours, context);
  if (!found) return [];
  if (found.column.type.kind === 'text') return [found.column.column.toLowerCase()];
  context.report.error('wrong-codec', at, 'only texts have words', {
    found: `${text}, which is ${found.info?.declared ?? 'no text'}`,
  });
  return [];
}

/** True if the types differ: the key is cast then, and no index finds it. */
function isCast({ theirs, ours }: JoinColumn): boolean {
  return theirs.type.kind !== ours.type.kind;
}

/** True if an index begins with the word. Without it a search would read all words, which are more than the rows. */
function isIndexed({ info, table }: NamedRows, word: string, { at }: Tree, { report }: Context): boolean {
  const begins = info.indexes.filter(({ columns: [first] }) => first?.toLowerCase() === word.toLowerCase());
  if (begins.some(index => unfitIn(index, word) === undefined)) return true;
  const needed = begins.flatMap(({ unfit = [] }) => unfit)[0]?.needed;
  report.warning('word-table', at, `no index of ${printTable(table)} begins with ${word}: searches do not use it`, {
    expected: `an index on it${needed === undefined ? '' : `, and the column to be COLLATE ${needed}`}; \`lintel words\` prints both`,
  });
  return false;
}
