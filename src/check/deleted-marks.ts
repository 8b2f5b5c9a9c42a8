/**
 * Finds rows that are served although a column marks them as deleted. In: a scope, and the columns of its table that
 * its mapping reads. Out: conditions to count, and a warning if a column with such a name (`DEL_FL`, `voided`,
 * `deleted_at`) has a value in some of the rows and no part of the mapping reads it.
 */
import { plural } from '../common/plural.ts';
import type { Report } from '../mapping/load/problem.ts';
import type { Position, Scope } from '../mapping/model.ts';
import { type Catalog, type ColumnInfo, findTable } from '../sql/catalog.ts';
import { among, and, call, constant, equals, hasValue, not, TRUE } from '../sql/construct.ts';
import type { ColumnExpression, Predicate } from '../sql/expression.ts';
import { identifier, isIdentifier } from '../sql/identifier.ts';
import type { Counted } from './suspicions.ts';

/** Words in the name of such a column, and words that may accompany them. */
const MARKS: ReadonlySet<string> = new Set(['del', 'delete', 'deleted', 'void', 'voided', 'removed', 'erased']);
const BESIDE: ReadonlySet<string> = new Set([
  ...['is', 'fl', 'flag', 'flg', 'ind', 'indicator', 'yn', 'sw', 'rec', 'record', 'row', 'status', 'sts'],
  ...['on', 'at', 'date', 'dt', 'dtm', 'time', 'ts'],
]);
/** Values of such a flag that mean "not deleted". */
const NOT = ['0', 'N', 'NO', 'F', 'FALSE', 'A', 'ACTIVE'];

/** The reader of the rows: a mapping. */
export interface Reader {
  /** Name and position of the mapping that reads them. */
  readonly name: string;
  readonly at: Position;
  /** Lower-case names of the columns that it reads. */
  readonly used: ReadonlySet<string>;
  /** Marks that were reported before. */
  readonly reported: Set<string>;
}

/** Returns conditions to count over the rows that are served. */
export function unreadMarks(
  { table, alias }: Pick<Scope, 'table' | 'alias'>,
  { used, name, at, reported }: Reader,
  catalog: Catalog,
  report: Report,
): readonly Counted[] {
  const info = findTable(catalog, table);
  return [...(info?.columns.values() ?? [])].flatMap((column): readonly Counted[] => {
    if (!isMark(column) || used.has(column.name.toLowerCase())) return [];
    const marked = markedBy(column, alias);
    if (!marked) return [];
    let all = 0;
    const warn = (rows: number): void => {
      const mark = `${table.name}.${column.name}`.toLowerCase();
      if (rows === 0 || rows === all || reported.has(mark)) return;
      reported.add(mark);
      const reads = `${column.name} of ${table.name} reads as a mark of deleted rows`;
      report.warning(
        'deleted-rows',
        at,
        `${reads}, no part of ${name} asks it, and ${plural(rows, 'row')} of ${all} that are served have a value in it`,
        { expected: '`deleted` or `where` with the value that means so' },
      );
    };
    return [
      {
        when: TRUE,
        take: rows => {
          all = rows;
        },
      },
      { when: marked, take: warn },
    ];
  });
}

function isMark({ name, denied }: ColumnInfo): boolean {
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(word => word !== '');
  return (
    !denied &&
    isIdentifier(name) &&
    words.some(word => MARKS.has(word)) &&
    words.every(word => MARKS.has(word) || BESIDE.has(word))
  );
}

/** Returns the condition "marked as deleted"; undefined if the type cannot hold such a mark. */
function markedBy({ name, type }: ColumnInfo, alias: ColumnExpression['alias']): Predicate | undefined {
  if (!type) return undefined;
  const column: ColumnExpression = { kind: 'column', alias, column: identifier(name), type };
  switch (type.kind) {
    case 'integer':
    case 'bit':
      return and(hasValue(column), not(equals(column, constant(0, type))));
    case 'text':
      return and(
        hasValue(column),
        not(
          among(
            call('upper', [column], type),
            NOT.map(text => constant(text, type)),
          ),
        ),
      );
    case 'date':
    case 'datetime':
    case 'instant':
      return hasValue(column);
    default:
      return undefined;
  }
}
