/**
 * `zoned`: local times of which a second column says where the clocks stand: `create_timestamp` beside a number or a
 * text for the zone. In: a DATETIME, and the raw values of the second column with their zones; any other value, and
 * none, means the zone of the pack. Out: a dateTime or an instant with the offset of those clocks. The inverse has a
 * range of the first column for each zone, which its index serves; the sort computes what clocks in the pack's zone
 * showed.
 */
import type { ColumnType } from '../../sql/column-type.ts';
import { UNICODE } from '../../sql/column-type.ts';
import { among, and, call, constant, isNull, not, or } from '../../sql/construct.ts';
import type { Expression, Predicate, SqlValue } from '../../sql/expression.ts';
import type { Zone } from '../../time/zone.ts';
import { type Codec, column } from './codec.ts';
import { datetimeCodec } from './datetime.ts';
import { type DatetimeType, isComputed } from './stored-time.ts';
import { trimEnd } from './text.ts';

export interface ZonedOptions {
  /** That of the pack. */
  readonly zone: Zone;
  /** Zones by raw value of the second column. */
  readonly zones: ReadonlyMap<string, Zone>;
  readonly columnType: DatetimeType;
  readonly namedBy: Extract<ColumnType, { kind: 'integer' | 'text' }>;
  readonly fhirType: 'dateTime' | 'instant';
}

/** Rows whose clocks stand in one zone. */
interface Group {
  readonly zone: Zone;
  readonly codec: Codec;
  readonly type: DatetimeType;
  readonly holds: (name: Expression) => Predicate;
}

export function zonedCodec({ zone, zones, columnType, namedBy, fhirType }: ZonedOptions): Codec {
  const literals = (names: readonly string[]): readonly Expression[] =>
    names.map(name => constant(namedBy.kind === 'integer' ? Number(name) : name, namedBy));
  const groupOf = (of: Zone, holds: Group['holds']): Group => {
    const type = onClocksOf(of, columnType);
    const codec = datetimeCodec({ zone: of, columnType: type, fhirType, midnight: 'time' });
    return { zone: of, codec, type, holds };
  };
  const others = [...zones].filter(([, of]) => of !== zone);
  const named = [...new Set(others.map(([, of]) => of))].map(of => {
    const values = literals(others.flatMap(([name, its]) => (its === of ? [name] : [])));
    return groupOf(of, name => among(name, values));
  });
  const elsewhere = literals(others.map(([name]) => name));
  const own = groupOf(zone, name => not(among(name, elsewhere)));
  const groups = [own, ...named];
  const ofName = new Map(others.map(([name, of]) => [name, named.find(group => group.zone === of)]));
  const groupNamed = (raw: SqlValue): Group =>
    ofName.get(typeof raw === 'string' ? trimEnd(raw) : String(raw ?? '')) ?? own;
  const each = (columns: readonly Expression[], of: (group: Group) => Predicate | undefined): Predicate | undefined => {
    const parts = groups.map(group => ({ group, found: of(group) }));
    if (parts.some(({ found }) => found === undefined)) return undefined;
    return or(...parts.flatMap(({ group, found }) => (found ? [and(group.holds(column(columns, 1)), found)] : [])));
  };
  const choice = (
    columns: readonly Expression[],
    give: (group: Group) => Expression,
    type: ColumnType,
  ): Expression => ({
    kind: 'choice',
    of: named.map(group => ({ when: group.holds(column(columns, 1)), give: give(group) })),
    otherwise: give(own),
    type,
  });
  return {
    label: 'zoned',
    yields: [fhirType],
    options: { zones: Object.fromEntries(others.map(([name, of]) => [name, of.name])) },
    columns: 2,
    plain: true,
    inverse: isComputed(columnType) ? 'computed' : 'indexed',
    // Rows may state an instant, whose canonical text is that of the clocks of its row.
    ...(isComputed(columnType) && {
      reads: ([of, name]) =>
        of && name ? [choice([of, name], group => ({ ...of, type: group.type }), own.type), name] : [],
    }),
    decode: (time, name = null) => groupNamed(name).codec.decode(time),
    present: columns => not(isNull(column(columns, 0))),
    match: (columns, criterion, clock) =>
      each(columns, ({ codec }) => codec.match([column(columns, 0)], criterion, clock)),
    order: {
      by: columns => [choice(columns, group => keyOf(column(columns, 0), group.zone, zone), UNICODE)],
      toKey: ([raw]) => (typeof raw === 'string' ? raw : undefined),
      fromKey: key => [String(key)],
    },
  };
}

function keyOf(time: Expression, from: Zone, to: Zone): Expression {
  return call('clock-key', [time, constant(from.name, UNICODE), constant(to.name, UNICODE)], UNICODE);
}

/** Makes the canonical text of a column of any form that of clocks in the zone. */
function onClocksOf(zone: Zone, type: DatetimeType): DatetimeType {
  return type.form?.kind === 'any' ? { ...type, form: { kind: 'any', zone: zone.name } } : type;
}
