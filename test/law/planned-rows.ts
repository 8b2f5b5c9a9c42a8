/**
 * Interprets rows that a plan has fetched. In: a mapping, the shape of its rows, a row and its children. Out: the
 * resource as the reference implementation makes it; undefined for a row without an id.
 */
import { Interpreter, type RowReader } from '../../src/law/interpret.ts';
import type { Thing } from '../../src/law/thing.ts';
import type { EachNode, Mapping } from '../../src/mapping/model.ts';
import { rowsOfLookups } from '../../src/mapping/piece-lookups.ts';
import type { WriteContext } from '../../src/resource/compile.ts';
import { rowsOfPiece } from '../../src/resource/each.ts';
import { castTo } from '../../src/resource/raw.ts';
import type { ChildRow, Children } from '../../src/resource/rows.ts';
import type { LevelShape, RowShape } from '../../src/resource/shape.ts';
import { UNICODE } from '../../src/sql/column-type.ts';
import type { ColumnExpression } from '../../src/sql/expression.ts';
import { expressionKey, fetchKey } from '../../src/sql/expression-key.ts';
import type { Row } from '../../src/sql/plan.ts';

/** Returns the resource of the planner's rows; `shape` says where each value is. */
export function interpret(
  mapping: Mapping,
  shape: RowShape,
  row: Row,
  children: Children,
  context: WriteContext,
): Thing | undefined {
  return new Interpreter(context, PLANNED).resource(mapping, { level: shape, row, children });
}

/** A row as a plan fetches it. */
interface PlannedRow {
  readonly level: LevelShape;
  readonly row: Row;
  readonly children: Children;
  readonly around?: PlannedRow;
}

/** A row of NULLs in place of missing child rows. */
function absentRow(node: EachNode, row: PlannedRow): PlannedRow {
  for (let at: PlannedRow | undefined = row; at; at = at.around) {
    const level = at.level.children.find(child => child.nodes.includes(node));
    if (level) return { level, row: level.columns.map(() => null), children: [], around: row };
  }
  throw new TypeError('child rows not fetched');
}

const PLANNED: RowReader<PlannedRow> = {
  raw(expression, row) {
    for (let at: PlannedRow | undefined = row; at; at = at.around) {
      const position = at.level.positions.get(fetchKey(expression));
      if (position !== undefined) return at.row[position] ?? null;
    }
    throw new TypeError(`not fetched: ${expressionKey(expression)}`);
  },
  within(row, pieces, parts, interpreter) {
    const { alias } = pieces;
    const columns = [...parts.keys()].map(
      (column): ColumnExpression => ({ kind: 'column', alias, column, type: UNICODE }),
    );
    const level: LevelShape = {
      ...{ columns, children: [], refs: [], targets: new Map(), flags: new Map(), aliases: new Set([alias]) },
      positions: new Map(columns.map((column, i) => [fetchKey(column), i])),
    };
    let inner: PlannedRow = { level, row: [...parts.values()], children: [], around: row };
    for (const { node, required } of rowsOfLookups(pieces)) {
      const [first] = PLANNED.children(node, inner, interpreter);
      if (!first && required) return undefined;
      inner = first ?? absentRow(node, inner);
    }
    return inner;
  },
  children(node, row) {
    for (let at: PlannedRow | undefined = row; at; at = at.around) {
      const index = at.level.children.findIndex(child => child.nodes.includes(node));
      const level = at.level.children[index];
      if (!level) continue;
      const all: readonly ChildRow[] = at.children[index] ?? [];
      const { of, on } = level.each.from;
      const own = of
        ? rowsOfPiece(level)(
            all,
            on.map(({ ours }) => PLANNED.raw(ours, row)),
          )
        : all;
      return own.map(child => ({ level, row: child.row, children: child.children, around: row }));
    }
    throw new TypeError('child rows not fetched');
  },
  target(node, rows, interpreter) {
    let found: LevelShape['refs'][number] | undefined;
    let row: Row = [];
    for (let at: PlannedRow | undefined = rows; at && !found; at = at.around) {
      found = at.level.refs.find(ref => ref.node === node);
      row = at.row;
    }
    if (!found) return undefined;
    const { target, id, flag, never } = found;
    if (never || (flag !== undefined && row[flag] !== 1)) return undefined;
    const printed = interpreter.id(target.id, column => {
      const source = id.get(expressionKey(column));
      const raw = source ? (row[source.position] ?? null) : null;
      return source?.cast ? castTo(source.cast.to, source.cast.from)(raw) : raw;
    });
    return printed === undefined ? undefined : `${target.resource}/${printed}`;
  },
  exists(condition, row) {
    for (let at: PlannedRow | undefined = row; at; at = at.around) {
      const flag = at.level.flags.get(condition);
      if (flag !== undefined) return typeof flag === 'boolean' ? flag : at.row[flag] === 1;
    }
    throw new TypeError('flag not fetched');
  },
};
