/**
 * Drafts → mappings. In: all drafts of a pack. Out: the mappings, and every problem of theirs; with `degraded` the mappings
 * that are left once those with errors, and those that refer to them, are taken out. What is wrong with the pack as a whole
 * goes to its own report.
 */
import { isResourceType, resourceTypes } from '../../../r4/definitions.ts';
import type { IdPart } from '../../id-rule.ts';
import type { Mapping, Node } from '../../model.ts';
import type { Draft } from '../macros/macros.ts';
import { columnsOf } from '../nodes/id.ts';
import { commonId, isUnique } from '../nodes/id-shape.ts';
import { readNode } from '../nodes/node.ts';
import { createReport, type Problem, type Report } from '../problem.ts';
import { mappingFileSchema, mappingSchema } from '../read/schema.ts';
import { checkShape } from '../read/shape.ts';
import { child, textOf } from '../read/tree.ts';
import { readCondition } from '../rows/condition.ts';
import { readScope } from '../rows/scope.ts';
import { type OpenDraft, openDrafts } from '../rows/source.ts';
import { checkCircles } from './circles.ts';
import { Aliases, type Context, type PackContext } from './context.ts';
import { resolveMapping } from './mapping.ts';

export interface ResolvedDrafts {
  /** Undefined: there are errors. */
  readonly mappings: readonly Mapping[] | undefined;
  readonly unserved: readonly string[];
  readonly problems: readonly Problem[];
}

/** `hidden`: names of mappings that could not be read at all. */
export function resolveDrafts(
  drafts: readonly Draft[],
  hidden: readonly string[],
  pack: PackContext,
  degraded: boolean,
): ResolvedDrafts {
  const told = createReport();
  const sound = drafts.filter(draft => isSound(draft, pack.report));
  const unserved = new Set<string>();
  for (;;) {
    const served = sound.filter(({ name }) => !unserved.has(name));
    const left = sound.filter(({ name }) => unserved.has(name)).flatMap(({ name, group }) => [name, group]);
    const pass = new Pass(told);
    const mappings = pass.resolve(served, { hidden: [...hidden, ...lostOf(drafts, sound)], left }, pack);
    const done = { unserved: [...unserved], problems: told.problems() };
    if (pass.failed.size === 0) return { mappings, ...done };
    if (!degraded || pass.failed.size === served.length) return { mappings: undefined, ...done };
    for (const name of pass.failed) unserved.add(name);
  }
}

/** What is read outside of mappings is read in it. */
export function contextOf(pack: PackContext): Context {
  return { ...bareContext(pack), aliases: new Aliases(), lost: new Set(), now: { used: false } };
}

function bareContext(pack: PackContext): Omit<Context, 'aliases' | 'lost' | 'now'> {
  return {
    ...pack,
    targets: [],
    broken: new Set(),
    unserved: new Set(),
    certain: new WeakSet<Node>(),
    readCondition,
    readScope,
    readNode,
  };
}

/** Names of drafts that are no mapping, and of their groups. */
function lostOf(drafts: readonly Draft[], left: readonly { readonly name: string }[]): readonly string[] {
  const names = new Set(left.map(({ name }) => name));
  return drafts.filter(({ name }) => !names.has(name)).flatMap(({ name, group }) => [name, group]);
}

function isSound(draft: Draft, report: Report): boolean {
  checkShape(draft.tree, mappingSchema, report, mappingFileSchema);
  const resource = child(draft.tree, 'resource');
  const known = isResourceType(textOf(resource) ?? '');
  if (resource?.kind === 'scalar' && !known) {
    report.error('unknown-element', resource.at, 'unknown resource type', {
      found: resource.text,
      among: resourceTypes(),
    });
  }
  return known;
}

/** One way through the drafts, which learns whose errors are whose. */
class Pass {
  readonly failed = new Set<string>();
  readonly #told: Report;

  constructor(told: Report) {
    this.#told = told;
  }

  resolve(
    drafts: readonly Draft[],
    { hidden, left }: { readonly hidden: readonly string[]; readonly left: readonly string[] },
    pack: PackContext,
  ): readonly Mapping[] {
    const base = { ...bareContext(pack), unserved: new Set(left) };
    // Rows and ids of all drafts first: references look at the rows of other mappings.
    const groups = [...Map.groupBy(drafts, draft => draft.group).values()];
    const open = groups.flatMap(group => this.#watched(group, report => openDrafts(group, { ...base, report })));
    const targets = open.map(({ target }) => target);
    const broken = new Set([
      ...hidden,
      ...lostOf(
        drafts,
        open.map(({ draft }) => draft),
      ),
    ]);
    const mappings = open.map((opened, ordinal) =>
      this.#watched([opened.draft], report =>
        resolveMapping(opened, ordinal, { ...opened.context, targets, broken, report }),
      ),
    );
    checkIds(open, pack.report);
    checkCircles(mappings, pack.report);
    return mappings;
  }

  #watched<T>(drafts: readonly Draft[], action: (report: Report) => T): T {
    const report = createReport();
    const result = action(report);
    const problems = report.problems();
    this.#told.take(problems);
    if (problems.some(({ severity }) => severity === 'error')) for (const { name } of drafts) this.failed.add(name);
    return result;
  }
}

/** R8: an id belongs to one mapping, and to one alternative of its rule. */
function checkIds(open: readonly OpenDraft[], report: Report): void {
  const rules = open.flatMap(({ draft, target, id, idAt }) =>
    id.alternatives.map(parts => ({ draft, resource: target.resource, parts, at: idAt })),
  );
  for (const [i, rule] of rules.entries()) {
    for (const other of rules.slice(0, i)) {
      if (other.resource !== rule.resource) continue;
      const common = commonId(other.parts, rule.parts);
      if (common === undefined) continue;
      const isOne = other.draft === rule.draft;
      const whose = isOne ? 'two alternatives' : `mappings ${other.draft.name} and ${rule.draft.name}`;
      const areOther = other.draft.group !== rule.draft.group || !sameColumns(other.parts, rule.parts);
      if (areOther && isUnique(other.parts) && isUnique(rule.parts)) {
        report.warning('shared-id', rule.at, `ids of ${whose} are UUIDs: nothing but the rows keeps them apart`, {
          expected: '`lintel check` on the database, which counts ids that both have',
          provenBy: 'rows',
        });
        continue;
      }
      report.error('shared-id', rule.at, `ids of ${whose} can be equal, such as ${common}`, {
        expected: 'a literal that sets them apart',
      });
    }
  }
}

function sameColumns(a: readonly IdPart[], b: readonly IdPart[]): boolean {
  const [left, right] = [columnsOf(a), columnsOf(b)];
  return left.size === right.size && [...left].every(column => right.has(column));
}
