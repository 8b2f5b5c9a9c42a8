/**
 * Raw values that a code map does not know, counted where they are read. In: the values and lookups of the mappings. Out:
 * warnings with the commonest of them: what a code map reads is a code of the system's own, not a patient's.
 */
import { counted } from '../../counted.ts';
import { and, filled, isNull } from '../../sql/construct.ts';
import type { ColumnExpression, Predicate } from '../../sql/expression.ts';
import { codeMapOf, tableCodeMapOf } from '../load/origin.ts';
import type { Report } from '../load/problem.ts';
import type { Lookup, Position, ValueNode } from '../model.ts';
import type { ScopedLookup, ScopedValue } from './parts.ts';
import { type Asking, type Group, isOwn, valuesOf } from './questions.ts';

const SHOWN = 10;

/** C2: asked once per scope, column and map, however many facets are bound. */
export async function checkCodes(values: readonly ScopedValue[], asking: Asking, report: Report): Promise<void> {
  const asked = new Set<string>();
  for (const { scope, node } of values) {
    const origin = codeMapOf(node.codec);
    const [column] = node.from;
    if (!origin || column?.kind !== 'column' || !isOwn(column, scope)) continue;
    const key = `${origin.name}|${scope.table.name}|${scope.alias}|${column.alias}.${column.column}`;
    if (asked.has(key)) continue;
    asked.add(key);
    const found = await valuesOf(asking, scope, column, filled(column));
    const unknown = found.filter(
      ({ values: [raw] }) => raw !== undefined && !isAbsent(raw, node) && !origin.knows(raw),
    );
    reportUnknown(origin.name, column, unknown, origin.isWhole, node.at, report);
  }
}

/** C3: the raw values for which none of the lookups of a map finds a row. */
export async function checkTableCodes(lookups: readonly ScopedLookup[], asking: Asking, report: Report): Promise<void> {
  const named = lookups.flatMap(({ scope, lookup }) => {
    const name = tableCodeMapOf(lookup);
    const ours = lookup.on[0]?.ours;
    return name === undefined || !ours || !isOwn(ours, scope) ? [] : [{ name, scope, lookup, ours }];
  });
  const groups = Map.groupBy(
    named,
    ({ name, scope, ours }) => `${name}|${scope.alias}|${scope.table.name}|${ours.alias}.${ours.column}`,
  );
  for (const group of groups.values()) {
    const [first] = group;
    if (!first) continue;
    const where = and(filled(first.ours), ...group.flatMap(({ lookup }) => missed(lookup)));
    const unknown = await valuesOf(asking, first.scope, first.ours, where);
    reportUnknown(first.name, first.ours, unknown, true, first.lookup.at, report);
  }
}

function missed({ on }: Lookup): readonly Predicate[] {
  return on.slice(0, 1).map(({ theirs }) => isNull(theirs));
}

function isAbsent(raw: string | number, { absent }: ValueNode): boolean {
  const text = String(raw).trimEnd();
  return absent.some(value => String(value).trimEnd() === text);
}

function reportUnknown(
  name: string,
  column: ColumnExpression,
  unknown: readonly Group[],
  isCode: boolean,
  at: Position,
  report: Report,
): void {
  if (unknown.length === 0) return;
  const rows = unknown.reduce((sum, group) => sum + group.rows, 0);
  const shown = unknown.slice(0, SHOWN).map(group => `${String(group.values[0]).trimEnd()} (${group.rows})`);
  const more = unknown.length > SHOWN ? ', …' : '';
  report.warning(
    at,
    `code map ${name} has no row for ${counted(unknown.length, 'value')} of ${column.column} in ${counted(rows, 'row')}`,
    // A text that a code is cut out of may hold anything besides.
    isCode ? { found: shown.join(', ') + more } : {},
  );
}
