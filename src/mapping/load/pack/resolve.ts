/**
 * Resolves drafts to mappings. In: all drafts of a pack. Out: the mappings and all their problems; with `degraded` only
 * the mappings without errors that refer to no faulty one. Problems of the pack as a whole go to a separate report.
 */
import { isResourceType, resourceTypes } from '../../../r4/definitions.ts';
import { printTable } from '../../../sql/identifier.ts';
import { type IdPart, idCodec } from '../../id-rule.ts';
import type { Mapping, Node, Position } from '../../model.ts';
import type { Draft } from '../macros/macros.ts';
import { columnsOf } from '../nodes/id.ts';
import { commonId, isUnique } from '../nodes/id-shape.ts';
import { readNode } from '../nodes/node.ts';
import { createReport, type Problem, type Report } from '../problem.ts';
import { mappingFileSchema, mappingSchema } from '../read/schema.ts';
import { checkShape } from '../read/shape.ts';
import { child, textOf } from '../read/tree.ts';
import { DateColumns } from '../rows/absent-values.ts';
import { readCondition } from '../rows/condition.ts';
import { areAlike, areExclusive, isKey } from '../rows/exclusive.ts';
import { readScope } from '../rows/scope.ts';
import { type OpenDraft, openDrafts } from '../rows/source.ts';
import { checkCircles } from './circles.ts';
import { Aliases, type Context, type PackContext, type Target, type Targets } from './context.ts';
import { resolveMapping } from './mapping.ts';
import { type OpenedGroup, type PackMemory, type ResolvedGroup, withOwnReport } from './memory.ts';
import { addUses, partOf, type Rest, type Unit, unitIn } from './unit.ts';

export interface ResolvedDrafts {
  /** Undefined if there are errors. */
  readonly mappings: readonly Mapping[] | undefined;
  readonly unserved: readonly string[];
  readonly problems: readonly Problem[];
}

/** Resolves drafts. `hidden`: names of mappings that could not be read at all. */
export function resolveDrafts(
  drafts: readonly Draft[],
  hidden: readonly string[],
  pack: PackContext,
  { degraded, memory }: { readonly degraded: boolean; readonly memory: PackMemory },
): ResolvedDrafts {
  const ownReport = createReport();
  const sound = drafts.filter(draft => isSound(draft, pack.report, memory));
  const unserved = new Set<string>();
  for (;;) {
    const served = sound.filter(({ name }) => !unserved.has(name));
    const left = sound.filter(({ name }) => unserved.has(name)).flatMap(({ name, group }) => [name, group]);
    const around = { hidden: [...hidden, ...lostOf(drafts, sound)], left };
    const pass = new Pass(ownReport, pack, memory);
    const mappings = pass.resolve(served, around);
    const done = { unserved: [...unserved], problems: ownReport.problems() };
    if (pass.failed.size === 0) return { mappings, ...done };
    if (!degraded || pass.failed.size === served.length) return { mappings: undefined, ...done };
    for (const name of pass.failed) unserved.add(name);
  }
}

/** Makes the context for parts that are read outside of mappings. */
export function contextOf(pack: PackContext): Context {
  return {
    ...pack,
    ...{ aliases: new Aliases(), lost: new Set(), now: { used: false }, certain: new WeakSet<Node>() },
    ...{ targets: targetsOf([]), broken: new Set(), unserved: new Set(), ...READERS },
  };
}

const READERS = { readCondition, readScope, readNode };

/** Indexes targets by name and by group. */
function targetsOf(targets: readonly Target[]): Targets {
  const by = new Map<string, Target[]>();
  const add = (name: string, target: Target): void => {
    const known = by.get(name) ?? [];
    if (!known.includes(target)) by.set(name, [...known, target]);
  };
  for (const target of targets) for (const name of [target.name, target.group]) add(name, target);
  const names = [...targets.map(({ name }) => name), ...targets.map(({ group }) => group)];
  return { named: name => by.get(name) ?? [], names: () => names };
}

/** Returns the names of drafts that became no mapping, and of their groups. */
function lostOf(drafts: readonly Draft[], left: readonly { readonly name: string }[]): readonly string[] {
  const names = new Set(left.map(({ name }) => name));
  return drafts.filter(({ name }) => !names.has(name)).flatMap(({ name, group }) => [name, group]);
}

function isSound({ name, tree }: Draft, report: Report, memory: PackMemory): boolean {
  return memory.cached(memory.shapes, `mapping ${name}`, [tree], report, own => {
    checkShape(tree, mappingSchema, own, mappingFileSchema);
    const resource = child(tree, 'resource');
    const known = isResourceType(textOf(resource) ?? '');
    if (resource?.kind === 'scalar' && !known) {
      own.error('unknown-element', resource.at, 'unknown resource type', {
        found: resource.text,
        among: resourceTypes(),
      });
    }
    return known;
  });
}

interface Group {
  readonly group: string;
  readonly drafts: readonly Draft[];
}

interface Opened extends Group {
  readonly rows: OpenedGroup;
  /** True if nothing was resolved from these rows yet. */
  readonly isFresh: boolean;
}

/** `hidden`: mappings that could not be read. `left`: mappings that are left out. */
interface Around {
  readonly hidden: readonly string[];
  readonly left: readonly string[];
}

/** One pass over the drafts, which finds the mappings with errors. */
class Pass {
  readonly failed = new Set<string>();
  readonly #report: Report;
  readonly #pack: PackContext;
  readonly #memory: PackMemory;

  constructor(report: Report, pack: PackContext, memory: PackMemory) {
    this.#report = report;
    this.#pack = pack;
    this.#memory = memory;
  }

  resolve(drafts: readonly Draft[], around: Around): readonly Mapping[] {
    const groups = [...Map.groupBy(drafts, draft => draft.group)].map(([group, of]) => ({ group, drafts: of }));
    for (;;) {
      const dates = new DateColumns();
      const opened = groups.map(one => this.#open(one, around, dates));
      const resolved = this.#resolve(opened, drafts, around, dates);
      // A reused part may have been told of other dates than there are now.
      const unsettled = [
        ...opened.flatMap(one => (one.rows.unit.dates.settles() ? [] : [() => this.#memory.opened.drop(one.group)])),
        ...resolved.flatMap((one, i) =>
          one.unit.dates.settles() ? [] : [() => this.#memory.resolved.drop(opened[i]?.group ?? '')],
        ),
      ];
      if (unsettled.length === 0) return this.#taken(opened, resolved);
      for (const drop of unsettled) drop();
    }
  }

  /** Opens rows and ids of all drafts first, because references use the rows of other mappings. */
  #open({ group, drafts }: Group, { left }: Around, dates: DateColumns): Opened {
    const { settings, systems, catalog, locked, codeMaps, brokenCodeMaps } = this.#pack;
    const [first] = drafts;
    const written = first && child(first.tree, 'source');
    const own = drafts.flatMap(({ name, tree, at }) => [
      ...[name, JSON.stringify(at), child(tree, 'id'), textOf(child(tree, 'resource'))],
    ]);
    const rest: Rest = {
      systems,
      codeMaps,
      brokenCodeMaps,
      targets: targetsOf([]),
      broken: new Set(),
      unserved: new Set(left),
    };
    let isFresh = false;
    const rows = this.#memory.opened.get(
      group,
      [settings, catalog, locked, written, ...own],
      () => {
        isFresh = true;
        const unit = unitIn(rest, dates);
        return { unit, ...withOwnReport(report => openDrafts(drafts, this.#contextIn(unit, report))) };
      },
      ({ unit }) => unit.isUnchanged(rest),
    );
    rows.unit.dates.joins(dates);
    return { group, drafts, rows, isFresh };
  }

  #resolve(
    opened: readonly Opened[],
    drafts: readonly Draft[],
    { hidden, left }: Around,
    dates: DateColumns,
  ): readonly ResolvedGroup[] {
    const { settings, systems, catalog, locked, codeMaps, brokenCodeMaps } = this.#pack;
    const all = opened.flatMap(({ rows }) => rows.made);
    const rest: Rest = {
      ...{ systems, codeMaps, brokenCodeMaps, unserved: new Set(left) },
      targets: targetsOf(all.map(({ target }) => target)),
      broken: new Set([
        ...hidden,
        ...lostOf(
          drafts,
          all.map(({ draft }) => draft),
        ),
      ]),
    };
    let ordinal = 0;
    return opened.map(({ group, drafts: own, rows, isFresh }) => {
      const first = ordinal;
      ordinal += rows.made.length;
      const resolved = this.#memory.resolved.get(
        group,
        [settings, catalog, locked, first, ...own.flatMap(({ name, tree }) => [name, tree])],
        () => {
          const unit = unitIn(rest, dates, isFresh ? rows.unit : undefined);
          // Resolving adds lookups to rows, so rows that were resolved before are opened again.
          const opening = isFresh
            ? { made: rows.made, problems: [] }
            : withOwnReport(report => openDrafts(own, this.#contextIn(unit, report)));
          const results = opening.made.map((one, i) =>
            withOwnReport(report => resolveMapping(one, first + i, { ...partOf(one.context, unit), report })),
          );
          return {
            ...{ unit, opening: opening.problems, mappings: results.map(({ made }) => made) },
            problems: results.map(({ problems }) => problems),
          };
        },
        ({ unit }) => unit.isUnchanged(rest),
      );
      resolved.unit.dates.joins(dates);
      return resolved;
    });
  }

  #contextIn(unit: Unit, report: Report): Omit<Context, 'aliases' | 'lost' | 'now'> {
    return { ...partOf(this.#pack, unit), ...READERS, certain: new WeakSet<Node>(), report };
  }

  /** Reports everything about the mappings and returns them. */
  #taken(opened: readonly Opened[], resolved: readonly ResolvedGroup[]): readonly Mapping[] {
    for (const { drafts, rows } of opened) {
      addUses(this.#pack, rows.unit);
      this.#take(rows.problems, drafts);
    }
    for (const [i, { unit, opening, mappings, problems }] of resolved.entries()) {
      addUses(this.#pack, unit);
      this.#take(opening, opened[i]?.drafts ?? []);
      for (const [j, ofMapping] of problems.entries()) this.#take(ofMapping, mappings.slice(j, j + 1));
    }
    const mappings = resolved.flatMap(one => one.mappings);
    const byType = Map.groupBy(
      opened.flatMap(({ rows }) => rows.made),
      ({ target }) => target.resource,
    );
    for (const [type, same] of byType) {
      this.#memory.cached(this.#memory.ids, type, same, this.#pack.report, own => checkIds(same, own));
    }
    checkCircles(mappings, this.#pack.report);
    return mappings;
  }

  #take(problems: readonly Problem[], drafts: readonly { readonly name: string }[]): void {
    this.#report.take(problems);
    if (problems.some(({ severity }) => severity === 'error')) for (const { name } of drafts) this.failed.add(name);
  }
}

/** Checks rule R8: an id belongs to one mapping of its type, and to one alternative of its rule. */
function checkIds(open: readonly OpenDraft[], report: Report): void {
  const rules = open.flatMap(({ draft, id, idAt, source, context }) =>
    id.alternatives.map(parts => ({ draft, parts, at: idAt, source, context })),
  );
  const unproven = (at: Position, whose: string, what: string): void =>
    report.warning('shared-id', at, `ids of ${whose} are ${what}: only the rows show whether they differ`, {
      expected: '`lintel check` on the database, which counts ids that both have',
      provenBy: 'rows',
    });
  for (const [i, rule] of rules.entries()) {
    // Collects the pairs, because a table that many mappings share would give a warning for each pair.
    const uuids = new Set<string>();
    const apart = new Set<string>();
    for (const other of rules.slice(0, i)) {
      const common = commonId(other.parts, rule.parts);
      if (common === undefined) continue;
      const isOne = other.draft === rule.draft;
      const whose = isOne ? 'two alternatives' : `mappings ${other.draft.name} and ${rule.draft.name}`;
      const areSame = sameColumns(other.parts, rule.parts);
      if (!isOne && areAlike(other, rule) && areExclusive(other.source, rule.source)) {
        if (!isKey(rule, rule.context.catalog)) apart.add(other.draft.name);
        continue;
      }
      const isOfOthers = other.draft.group !== rule.draft.group || !areSame;
      if (isOfOthers && isUnique(other.parts) && isUnique(rule.parts)) {
        if (isOne) unproven(rule.at, whose, 'UUIDs');
        else uuids.add(other.draft.name);
        continue;
      }
      const isOfOneTable = areSame && printTable(other.source.table) === printTable(rule.source.table);
      report.error('shared-id', rule.at, `ids of ${whose} can be equal, such as ${common}`, {
        expected: [
          'a literal that distinguishes them',
          ...(isOfOneTable ? ['a `where` in both by which no row is of both'] : []),
          ...(isOfOthers ? asUuids(other.parts, rule.parts) : []),
        ].join(', or '),
      });
    }
    for (const [names, what] of [
      [uuids, 'UUIDs'],
      [apart, 'of one key'],
    ] as const) {
      if (names.size > 0) unproven(rule.at, `mappings ${[...names].join(', ')} and ${rule.draft.name}`, what);
    }
  }
}

/** Returns how two ids of texts are said to be UUIDs, if their columns can hold some. */
function asUuids(...ids: readonly (readonly IdPart[])[]): readonly string[] {
  const texts = ids.flatMap(parts => {
    const text = parts.find(part => part.kind === 'column' && part.column.type.kind === 'text');
    return text?.kind === 'column' && idCodec('uuid', text.column.type) ? [text.column.column] : [];
  });
  return texts.length < ids.length ? [] : [`\`{${texts[0]}|uuid}\` in both if these texts are UUIDs`];
}

function sameColumns(a: readonly IdPart[], b: readonly IdPart[]): boolean {
  const [left, right] = [columnsOf(a), columnsOf(b)];
  return left.size === right.size && [...left].every(column => right.has(column));
}
