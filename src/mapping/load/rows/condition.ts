/**
 * Reads conditions of `where` and `if`. In: a map of columns to tests. Out: a Condition with resolved columns and with
 * literals typed by their columns.
 */

import { getOrInsert } from '../../../common/caches.ts';
import { type ColumnType, nameOfType } from '../../../sql/column-type.ts';
import type { ColumnExpression } from '../../../sql/expression.ts';
import type { Codec } from '../../codecs/codec.ts';
import { isTimed } from '../../codecs/stored-time.ts';
import { defaultCodec } from '../../codecs/table.ts';
import { trimEnd } from '../../codecs/text.ts';
import type { Condition } from '../../model.ts';
import { readCodec } from '../nodes/via.ts';
import type { Context } from '../pack/context.ts';
import { visible } from '../problem.ts';
import { child, type Entry, entriesOf, itemsOf, plain, type ScalarTree, scalarsOf, type Tree } from '../read/tree.ts';
import { isRuledOut, onlyPresent } from './absent-values.ts';
import { comparable, type Resolved, readsAsColumn, resolveColumn, type Visible } from './columns.ts';
import { readOn } from './join.ts';
import { literalForm, readLiteral } from './literal.ts';
import { globOf, globProblem } from './pattern.ts';

/** Keys of a condition that are no columns. */
const CONDITION_KEYS = ['any', 'all', 'none', 'present', 'absent', 'exists', 'missing'] as const;

export const ALWAYS: Condition = { kind: 'always' };

/** Reads all tests of the map; an empty map is always true. */
export function readCondition(tree: Tree | undefined, visible: Visible, context: Context): Condition {
  return all(entriesOf(tree).flatMap(entry => readEntry(entry, visible, context)));
}

function all(of: readonly Condition[]): Condition {
  const [only] = of;
  if (!only) return ALWAYS;
  return of.length === 1 ? only : { kind: 'all', of };
}

function any(of: readonly Condition[]): Condition {
  const [only] = of;
  return of.length === 1 && only ? only : { kind: 'any', of };
}

function none(of: Condition): Condition {
  return { kind: 'none', of };
}

function readEntry(entry: Entry, visible: Visible, context: Context): readonly Condition[] {
  const { key, value, at } = entry;
  const nested = (): readonly Condition[] => itemsOf(value).map(item => context.readCondition(item, visible, context));
  const columns = (): readonly Condition[] =>
    scalarsOf(value).flatMap(({ text, at: place }) => {
      const resolved = resolveColumn(text, place, visible, context);
      return resolved ? [all(onlyPresent([{ kind: 'present', column: resolved.column }], resolved, context))] : [];
    });
  switch (key) {
    case 'any':
      return [any(nested())];
    case 'all':
      return [all(nested())];
    case 'none':
      return [none(any(nested()))];
    case 'present':
      return columns();
    case 'absent':
      return columns().map(none);
    case 'exists':
    case 'missing':
      return itemsOf(value).flatMap(item => {
        const inner = context.readScope(item, undefined, visible, context);
        if (!inner) return [];
        const on = readOn(child(item, 'on'), inner.visible, visible, context);
        const found: Condition = { kind: 'exists', scope: inner.scope, on };
        return [key === 'exists' ? found : none(found)];
      });
    default: {
      const resolved = resolveColumn(key, at, visible, context, { also: CONDITION_KEYS });
      return resolved ? [readTest(value, resolved, visible, context)] : [];
    }
  }
}

function readTest(tree: Tree, resolved: Resolved, visible: Visible, context: Context): Condition {
  if (tree.kind !== 'map') {
    const literals = scalarsOf(tree);
    for (const one of literals) noColumn(one, resolved, visible, context, `\`{ same-as: ${one.text} }\``);
    return isOneOf(literals, resolved, context);
  }
  const read = tree.entries.flatMap(entry => readOperator(entry, tree, resolved, visible, context));
  const codec = read
    .map(test => (test.kind === 'now' || test.kind === 'ordered' ? test.codec : undefined))
    .find(Boolean);
  const named = read.filter(isNamed);
  const tests = read.filter(test => !isNamed(test));
  if (tests.length === 0) return all(named);
  return all([...named, ...onlyPresent(tests, resolved, context, codec)]);
}

/** True for tests that name their values explicitly, so that the `absent` rules do not apply. */
function isNamed({ kind }: Condition): boolean {
  return kind === 'is' || kind === 'none' || kind === 'all';
}

function readOperator(
  entry: Entry,
  around: Tree,
  resolved: Resolved,
  visible: Visible,
  context: Context,
): readonly Condition[] {
  const { key, value } = entry;
  const { column } = resolved;
  if (key === 'not') return [none(readTest(value, resolved, visible, context))];
  if (key === 'via' || value.kind !== 'scalar') return [];
  switch (key) {
    case 'gt':
    case 'ge':
    case 'lt':
    case 'le':
    case 'before':
    case 'after': {
      const via = child(around, 'via');
      if (isColumnName(value.text, via, column))
        return orderedColumns(resolved, OPS[key], value, via, visible, context);
      if (value.text !== 'now' || (key !== 'before' && key !== 'after')) {
        noColumn(value, resolved, visible, context, ORDERED);
        return ordered(column, OPS[key], value, context);
      }
      const codec = dateCodec(via, resolved, value, context);
      if (!codec) return [];
      context.now.used = true;
      return [{ kind: 'now', column, op: key, codec }];
    }
    case 'in-list': {
      const list = context.settings.lists.get(value.text);
      if (!list) {
        context.report.error('unknown-name', value.at, 'unknown list', {
          found: value.text,
          among: context.settings.lists.keys(),
        });
        return [];
      }
      context.usedLists.add(value.text);
      return [isOneOf(scalarsOf(list.value), resolved, context)];
    }
    case 'matches':
      return matches(value, column, context);
    case 'same-as': {
      const other = resolveColumn(value.text, value.at, visible, context);
      if (!other) return [];
      const [left, right] = comparable(column, other.column, context);
      const same: Condition = { kind: 'same', column: left, other: right };
      return [same, ...onlyPresent([], other, context)];
    }
    default:
      return [];
  }
}

function isOneOf(literals: readonly ScalarTree[], resolved: Resolved, context: Context): Condition {
  const { column } = resolved;
  const values = literals.flatMap(tree => {
    if (!isEverEqual(tree, column, context)) return [];
    const [value] = literal(tree, column, context);
    if (value === undefined) return [];
    if (!isRuledOut(value, resolved, context)) return [value];
    const name = column.column;
    context.report.error(
      'wrong-condition',
      tree.at,
      `by \`absent\` of pack.yaml ${visible(tree.text)} is no value of column ${name}`,
      {
        expected: `\`absent: [${name}]\` or \`present: [${name}]\``,
        found: tree.text,
      },
    );
    return [];
  });
  const [first] = literals;
  return { kind: 'is', column, values, ...(first ? { at: first.at } : {}) };
}

/** Reports a literal for a column of texts that names a column: it would be compared with that name. */
function noColumn(
  { text, at }: ScalarTree,
  { column }: Resolved,
  visible: Visible,
  { report }: Context,
  expected: string,
): void {
  if (column.type.kind !== 'text' || !readsAsColumn(text, visible)) return;
  const message = `a literal is compared with the text column ${column.column}, and names a column`;
  report.error('wrong-condition', at, message, { expected, found: text });
}

const ORDERED =
  'columns of numbers or of dates, since texts have no other order; `via:` beside the test reads texts as dates, `{ ge: COL, via: ymd8 }`';
const OPS = { gt: '>', ge: '>=', lt: '<', le: '<=', before: '<', after: '>' } as const;

/**
 * True if the text names a column. Literals of numbers and dates never begin with a letter. A text column has any
 * literal, unless a codec reads dates from it.
 */
function isColumnName(text: string, via: Tree | undefined, { type }: ColumnExpression): boolean {
  if (text === 'now' || (type.kind === 'text' && !via)) return false;
  return /^[\p{L}_]/u.test(text);
}

/** Compares two columns of numbers or of times, or two that the same date codec reads. */
function orderedColumns(
  resolved: Resolved,
  op: '<' | '<=' | '>' | '>=',
  tree: ScalarTree,
  via: Tree | undefined,
  visible: Visible,
  context: Context,
): readonly Condition[] {
  const other = resolveColumn(tree.text, tree.at, visible, context, {
    expected: `a column, or ${literalForm(resolved.column.type)}`,
  });
  if (!other) return [];
  const { column } = resolved;
  const codec = via && dateCodec(via, resolved, tree, context);
  if (via && !codec) return [];
  const kinds = [orderOf(column.type), orderOf(other.column.type)];
  if (codec ? column.type.kind !== other.column.type.kind : kinds[0] === undefined || kinds[0] !== kinds[1]) {
    context.report.error(
      'wrong-condition',
      tree.at,
      `column ${column.column} cannot be compared with column ${other.column.column}`,
      {
        expected: codec ? 'two columns of one type' : 'two columns of numbers or two of dates',
        found: `${nameOfType(column.type)} and ${nameOfType(other.column.type)}`,
      },
    );
    return [];
  }
  const [left, right] = comparable(column, other.column, context);
  const test: Condition = {
    kind: 'ordered',
    column: left,
    op,
    other: right,
    ...(codec && !isTimed(column.type) ? { codec } : {}),
  };
  return [test, ...onlyPresent([], other, context, codec)];
}

function orderOf({ kind }: ColumnType): 'number' | 'time' | 'instant' | undefined {
  if (kind === 'instant') return kind;
  if (kind === 'date' || kind === 'datetime') return 'time';
  return kind === 'integer' || kind === 'decimal' || kind === 'float' ? 'number' : undefined;
}

function ordered(
  column: ColumnExpression,
  op: '<' | '<=' | '>' | '>=',
  tree: ScalarTree,
  context: Context,
): readonly Condition[] {
  return literal(tree, column, context).map(value => ({ kind: 'order', column, op, value }));
}

/** False, with a report, for a literal that no row can equal: the condition would never hold, and its `not` always. */
function isEverEqual(tree: ScalarTree, { column, type }: ColumnExpression, { report }: Context): boolean {
  if (tree.isNull) {
    report.error('wrong-condition', tree.at, 'nothing is equal to NULL', {
      expected: `\`absent: [${column}]\`, \`present: [${column}]\`, or the text in quotes`,
      found: tree.text,
    });
    return false;
  }
  if (type.kind !== 'text') return true;
  const text = trimEnd(tree.text);
  if (text === '') {
    report.error('wrong-condition', tree.at, 'a blank means no value, so that nothing equals it', {
      expected: `\`absent: [${column}]\` or \`present: [${column}]\``,
      found: 'a blank',
    });
  } else if (type.length !== 'max' && text.length > type.length) {
    const most = type.length === 1 ? '1 character' : `${type.length} characters`;
    report.error('wrong-condition', tree.at, `literal longer than column ${column}`, {
      expected: `at most ${most}`,
      found: tree.text,
    });
  } else return true;
  return false;
}

function literal(tree: ScalarTree, column: ColumnExpression, context: Context): readonly (string | number)[] {
  const value = readLiteral(tree.text, column.type, context.catalog.engine);
  if (value === undefined) {
    context.report.error('wrong-condition', tree.at, `literal not of the type of column ${column.column}`, {
      expected: literalForm(column.type),
      found: tree.text || 'nothing',
    });
    return [];
  }
  return [value];
}

function matches(tree: ScalarTree, column: ColumnExpression, context: Context): readonly Condition[] {
  const problem = column.type.kind === 'text' ? globProblem(tree.text) : `column ${column.column} is no text`;
  if (problem !== undefined) {
    context.report.error('wrong-condition', tree.at, `pattern that cannot be used: ${problem}`, {
      expected: 'text with * ? [0-9] [^…]',
      found: tree.text,
    });
    return [];
  }
  return [{ kind: 'matches', column, pattern: globOf(tree.text) }];
}

/**
 * Returns one codec for all conditions with the same `via` and column type, so that their plans share a placeholder.
 */
function shared(codec: Codec, via: Tree | undefined, { type }: ColumnExpression, { dateCodecs }: Context): Codec {
  const key = JSON.stringify([via && plain(via), type]);
  return getOrInsert(dateCodecs, key, () => codec);
}

/** Returns the codec that a column is compared with now by: `via`, or the default of its type. */
function dateCodec(via: Tree | undefined, resolved: Resolved, at: ScalarTree, context: Context): Codec | undefined {
  const codec = via
    ? readCodec(via, [resolved.column.type], ['dateTime', 'date', 'instant'], via.at, context)
    : defaultCodec(resolved.column.type, 'dateTime', { zone: context.settings.zone });
  const isDate = codec?.yields.some(type => ['date', 'dateTime', 'instant'].includes(type)) ?? false;
  if (codec && isDate && codec.inverse !== 'none' && !codec.reads) return shared(codec, via, resolved.column, context);
  context.report.error(
    'wrong-condition',
    via?.at ?? at.at,
    `column ${resolved.column.column} cannot be compared with now`,
    {
      expected: '`via:` a date codec',
    },
  );
  return undefined;
}
