/**
 * Tests the law on a small pack: searches find what the resources show. In: a schema with rows, a pack, a type and a
 * parameter of tokens or strings. Out: a failed expectation if a search finds another set than the resources show.
 */
import { expect } from 'vitest';
import { openSmall } from './small-pack.ts';

type Files = Readonly<Record<string, string>>;

/**
 * Searches for every code and text that resources show, with and without its system, and for one that none shows; also
 * `:missing`.
 */
export async function expectLaw(schema: string, files: Files, type: string, parameter: string): Promise<void> {
  const search = await openSmall(schema, files);
  const { resources } = await search(`${type}?_count=50`);
  const shown = new Map(resources.map(resource => [resource.id, facesOf(resource[parameter])]));
  const found = async (query: string): Promise<readonly string[]> =>
    (await search(`${type}?_count=50&${query}`)).ids.toSorted();
  const having = (test: (faces: ReadonlySet<string>) => boolean): readonly string[] =>
    [...shown].flatMap(([id, faces]) => (test(faces) ? [id] : [])).toSorted();
  const values = new Set([...shown.values()].flatMap(faces => [...faces]));
  const isCoded = [...values].some(value => value.includes('|'));
  for (const value of [...values, 'nowhere', 'ADM', 'adm']) {
    if (value.startsWith('text ')) continue;
    if (isCoded || value.includes('|')) {
      expect([value, await found(`${parameter}=${encodeURIComponent(value)}`)]).toEqual([
        value,
        having(faces => faces.has(value)),
      ]);
      expect([value, await found(`${parameter}:not=${encodeURIComponent(value)}`)]).toEqual([
        value,
        having(faces => !faces.has(value)),
      ]);
    } else {
      expect([value, await found(`${parameter}:exact=${encodeURIComponent(value)}`)]).toEqual([
        value,
        having(faces => faces.has(value)),
      ]);
    }
  }
  expect(await found(`${parameter}:missing=true`)).toEqual(having(faces => faces.size === 0));
  expect(await found(`${parameter}:missing=false`)).toEqual(having(faces => faces.size > 0));
}

/**
 * `system|code`, `code`, `|code` without a system, strings unchanged; a text alone as `text …`, so that it counts as
 * present.
 */
function facesOf(value: unknown): ReadonlySet<string> {
  const items = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return new Set(items.flatMap(faces));
}

function faces(item: unknown): readonly string[] {
  if (typeof item === 'string') return [item];
  const { coding = [], text } = item as { coding?: { system?: string; code?: string }[]; text?: string };
  const codes = coding.flatMap(({ system, code = '' }) =>
    system === undefined ? [code, `|${code}`] : [code, `${system}|${code}`, `${system}|`],
  );
  return text === undefined ? codes : [...codes, `text ${text}`];
}
