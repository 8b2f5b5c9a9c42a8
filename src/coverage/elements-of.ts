/**
 * Reports the must-support elements of a profile: whether a mapping makes them, and the share of resources that have
 * them. In: a group of guide.ts, the mappings that claim its profile, sampled resources. Out: one line of the report
 * per element.
 */
import type { Mapping, Position, Registry } from '../mapping/model.ts';
import { type Facts, profileFacts } from '../validation/facts.ts';
import { itemsAt } from './elements.ts';
import { type ElementPath, type Group, profileAddress, type Version } from './guide.ts';
import { type Maker, makersAt } from './makers.ts';

export interface ElementCoverage {
  /** In the guide's notation: `name.family`, `category:VSCat`, `component:systolic.code`. */
  readonly element: string;
  /**
   * `filled`: some resource has it. `empty`: mapped, and no resource has it. `other`: another element of the same
   * choice is there instead.
   */
  readonly state: 'filled' | 'empty' | 'mapped' | 'other' | 'unmapped';
  /** Number of resources that have it; undefined without rows. */
  readonly resources: number | undefined;
  /** Position of the node that makes it. */
  readonly at: Position | undefined;
  /** Required target profiles that no mapping refers to. */
  readonly lacksTargets: readonly string[];
}

/** Reports the elements of a profile. `resources` is undefined if there are no rows. */
export function elementsOf(
  group: Group,
  version: Version,
  claiming: readonly Mapping[],
  resources: readonly unknown[] | undefined,
  registry: Registry,
): readonly ElementCoverage[] {
  const known = profileFacts(version, group.profile)?.facts;
  const facts: readonly Facts[] = known === undefined ? [] : [known];
  const own = group.mustSupport.map((path): ElementCoverage => {
    const makers = claiming.flatMap(mapping => makersAt(mapping, path.steps, facts));
    const filled = resources?.filter(resource => itemsAt(resource, path.steps, facts).length > 0).length;
    const state =
      filled !== undefined && filled > 0
        ? 'filled'
        : makers.length === 0
          ? 'unmapped'
          : filled === undefined
            ? 'mapped'
            : 'empty';
    return {
      element: path.text,
      state,
      resources: filled,
      at: makers[0]?.node.at,
      lacksTargets: makers.length === 0 ? [] : lacking(path, makers, group, registry),
    };
  });
  return own.map(one => (isReplaced(one, own, group) ? { ...one, state: 'other' } : one));
}

/** True if an element is missing and another element of the same choice is there: one is enough. */
function isReplaced({ element, state }: ElementCoverage, all: readonly ElementCoverage[], group: Group): boolean {
  if (state === 'filled' || state === 'mapped') return false;
  const choice = group.choices.find(alternatives => alternatives.includes(plain(element)));
  const others = choice?.filter(other => other !== plain(element)) ?? [];
  const better = state === 'empty' ? ['filled'] : ['filled', 'empty', 'mapped'];
  return all.some(other => others.includes(plain(other.element)) && better.includes(other.state));
}

function plain(text: string): string {
  return text.replace(/=.*/, '');
}

/** Returns the required target profiles that the references at a path do not reach; of a choice one is enough. */
function lacking(path: ElementPath, makers: readonly Maker[], group: Group, registry: Registry): readonly string[] {
  const targets = path.steps.at(-1)?.targets ?? [];
  const reached = new Set(
    makers.flatMap(({ node }) => (node.kind === 'ref' ? claimsOf(registry.mapping(node.target)) : [])),
  );
  const isMet = (name: string): boolean => reached.has(profileAddress(name));
  return targets
    .map(name => `us-core-${name}`)
    .filter(name => {
      const alternatives = group.choices.find(list => list.includes(name));
      return !isMet(name) && !alternatives?.some(isMet);
    });
}

/** Returns the profiles that a mapping claims, conditionally or not. */
export function claimsOf(mapping: Mapping): readonly string[] {
  const step = { slice: '', equals: '', targets: undefined };
  const makers = makersAt(
    mapping,
    [
      { name: 'meta', ...step },
      { name: 'profile', ...step },
    ],
    [],
  );
  return makers.flatMap(maker => (maker.kind === 'constant' ? `${maker.item.value}`.replace(/\|.*$/, '') : []));
}
