/**
 * Turns `profile:` and `changed:` into meta.profile and meta.lastUpdated. In: a mapping's map. Out: its elements, with
 * these merged into its own `meta`.
 * https://hl7.org/fhir/R4/resource.html#Meta
 */
import { profileOf } from '../../../r4/profiles.ts';
import type { PackContext } from '../pack/context.ts';
import { child, type Entry, entriesOf, itemsOf, list, type MapTree, map, scalar, type Tree } from '../read/tree.ts';
import { LATEST } from '../rows/latest.ts';

/** Returns the elements of a mapping, `meta` included. */
export function withMeta(mapping: MapTree, resource: string, context: PackContext): Tree | undefined {
  const elements = child(mapping, 'elements');
  const profile = child(mapping, 'profile');
  const changed = child(child(mapping, 'source'), 'changed');
  const own = child(elements, 'meta');
  if (elements?.kind !== 'map' || (!profile && !changed)) return elements;
  const at = (profile ?? changed ?? elements).at;
  const profiles = [...itemsOf(profile).flatMap(profileItems), ...itemsOf(child(own, 'profile'))];
  for (const item of profiles) checkProfile(item, resource, context);
  const added = map(
    {
      lastUpdated: changed && stampOf(changed),
      profile: profiles.length > 0 ? list(profiles, at) : undefined,
    },
    at,
  );
  const kept = entriesOf(own).filter(e => e.key !== 'profile' && !added.entries.some(a => a.key === e.key));
  const meta: Entry = { key: 'meta', value: { ...added, entries: [...added.entries, ...kept] }, at };
  return { ...elements, entries: [meta, ...elements.entries.filter(e => e.key !== 'meta')] };
}

/** Makes the node of `changed`: one column, several columns whose latest value counts, or a binding. */
function stampOf(changed: Tree): Tree {
  if (changed.kind === 'map') return changed;
  const isSeveral = changed.kind === 'list' && changed.items.length > 1;
  return map(isSeveral ? { [LATEST]: changed } : { from: changed }, changed.at);
}

/** Reads an item of `profile`: a name, or names under conditions as in `{us-core-x: {STS: A}}`. */
function profileItems(item: Tree): readonly Tree[] {
  if (item.kind !== 'map') return [item];
  return item.entries.map(({ key, value, at }) => map({ const: scalar(key, at), if: value }, at));
}

function checkProfile(item: Tree, resource: string, context: PackContext): void {
  const name = item.kind === 'map' ? child(item, 'const') : item;
  const profile = name?.kind === 'scalar' ? profileOf(name.text) : undefined;
  if (!name || !profile || profile.type === resource) return;
  context.report.error('unknown-profile', name.at, `profile of another type than ${resource}`, {
    found: name.kind === 'scalar' ? `${name.text}, a profile of ${profile.type}` : profile.type,
  });
}
