/** Must-support elements: each occurs in some resource that claims the profile, as the certification tests require. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { itemsAt } from '../../src/coverage/elements.ts';
import {
  type ElementPath,
  type Group,
  groupsOf,
  profileAddress,
  type Step,
  VERSIONS,
  type Version,
} from '../../src/coverage/guide.ts';
import { profileFacts } from '../../src/validation/facts.ts';
import { type Item, isObject } from '../../src/validation/item.ts';
import { type Resource, type ServedDemo, serveDemo } from './demo-resources.ts';

let demo: ServedDemo;
const byReference = new Map<string, Resource>();
beforeAll(async () => {
  demo = await serveDemo();
  for (const resource of [...demo.resources.values()].flat())
    byReference.set(`${resource.resourceType}/${resource.id}`, resource);
});
afterAll(async () => {
  byReference.clear();
  await demo.close();
});

describe.each(VERSIONS)('US Core %s', version => {
  test.each(groupsOf(version).map(group => [group.name, group] as const))('%s', (_, group) => {
    const claiming = (demo.resources.get(group.type) ?? []).filter(({ meta }) =>
      meta?.profile?.includes(group.profile),
    );
    expect(claiming).not.toEqual([]);
    const unmet = group.mustSupport.flatMap(path => unmetBy(path, claiming, group, version));
    expect([...new Set(unmet)]).toEqual([]);
  });
});

/** The text of the path if no resource has it, and each target profile without a reference to it. */
function unmetBy(path: ElementPath, resources: readonly Resource[], group: Group, version: Version): readonly string[] {
  const facts = profileFacts(version, group.profile)?.facts;
  const found = (steps: readonly Step[]): readonly Item[] =>
    resources.flatMap(resource => itemsAt(resource, steps, facts === undefined ? [] : [facts]));
  const choice = group.choices.find(alternatives => alternatives.includes(plain(path.text)));
  const items = found(path.steps);
  if (items.length === 0) {
    const others = choice?.filter(other => other !== plain(path.text)) ?? [];
    const one = group.mustSupport.some(other => others.includes(plain(other.text)) && found(other.steps).length > 0);
    return one ? [] : [path.text];
  }
  const targets = path.steps.at(-1)?.targets;
  if (targets === undefined) return [];
  const reached = new Set(items.flatMap(item => profilesReached(item.value)));
  if (targets.length === 0) return reached.size > 0 ? [] : [`${path.text}→`];
  const isMet = (name: string): boolean => reached.has(profileAddress(`us-core-${name}`));
  return targets
    .filter(name => {
      const alternatives = group.choices.find(list => list.includes(`us-core-${name}`));
      return !isMet(name) && !alternatives?.some(other => isMet(other.replace('us-core-', '')));
    })
    .map(name => `${path.text}→${name}`);
}

function plain(text: string): string {
  return text.replace(/=.*/, '');
}

/** Canonical URLs of the profiles of the resource that a Reference names, and its type if it claims none. */
function profilesReached(reference: unknown): readonly string[] {
  const literal = isObject(reference) ? reference['reference'] : undefined;
  const resource = typeof literal === 'string' ? byReference.get(literal) : undefined;
  return resource === undefined ? [] : (resource.meta?.profile ?? [resource.resourceType]);
}
