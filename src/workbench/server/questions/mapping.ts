/**
 * Answers the questions of the mapping view: the problems of the texts, a row beside its resource, the files of the
 * pack.
 */
import { z } from 'zod';
import { comparePositions } from '../../../mapping/load/problem.ts';
import type { Mapping } from '../../../mapping/model.ts';
import { beginningOf } from '../../begin-file.ts';
import { ccdaPartOf } from '../../ccda/part.ts';
import { complete } from '../../completion/complete.ts';
import { PreviewError, type Previewing, previewRow } from '../../preview.ts';
import { rowsFoundBy, rowsLike } from '../../rows-to-show.ts';
import { verdictsOf } from '../../verdicts.ts';
import type {
  Unsaved,
  WireBeginning,
  WireCcda,
  WireCheck,
  WireCompletion,
  WireHashes,
  WirePreview,
  WireRows,
  WireVerdicts,
} from '../../wire/mapping.ts';
import type { Desk, Served } from '../desk.ts';
import { hashesOf, jsonProblems, PackFileError, saveFile } from '../pack-folder.ts';
import { mappingOf, previewOf, problemOf } from '../to-wire.ts';
import { type Question, question, Refusal, unsaved } from './question.ts';
import { searchedIn } from './search.ts';

export const MAPPING_QUESTIONS: readonly Question[] = [
  question('check', { unsaved }, async (asked, { desk }) => {
    const { pack } = await desk.check(asked.unsaved);
    const problems = [...pack.problems, ...jsonProblems(desk.folder, asked.unsaved)];
    return {
      problems: problems.toSorted((a, b) => comparePositions(a.position, b.position)).map(problemOf),
      mappings: pack.registry?.mappings.map(mappingOf),
    } satisfies WireCheck;
  }),
  question('verdicts', { unsaved, path: z.string() }, async ({ unsaved: texts, path }, { desk, signal }) => {
    const { pack, catalog } = await desk.check(texts);
    const found = pack.registry && (await verdictsOf(path, pack.registry, catalog, signal));
    const verdicts = found?.map(({ place, ...one }) => ({ ...one, line: place.line }));
    return { verdicts: verdicts?.toSorted((a, b) => a.line - b.line) } satisfies WireVerdicts;
  }),
  question(
    'complete',
    { unsaved, path: z.string(), text: z.string(), offset: z.number().int().min(0) },
    async ({ unsaved: texts, path, text, offset }, { desk }) =>
      ((await complete(path, text, offset, await desk.names(texts), () => searchedIn(desk, texts, path))) ?? {
        ...{ from: offset, options: [], isCut: false },
      }) satisfies WireCompletion,
  ),
  question('begin', { unsaved, path: z.string() }, async ({ unsaved: texts, path }, { desk }) => {
    const { text, offset } = beginningOf(path, desk.folder, await desk.names(texts));
    const before = text.slice(0, offset).split('\n');
    return { text, line: before.length, column: (before.at(-1) ?? '').length + 1 } satisfies WireBeginning;
  }),
  question(
    'preview',
    { unsaved, mapping: z.string(), key: z.array(z.string()).max(20) },
    async ({ unsaved: texts, mapping: name, key }, { desk, signal }) => {
      const served = await desk.served(texts);
      const wire = await shownIn(served, name, desk, signal, async (mapping, parts, of) =>
        previewOf(await previewRow(mapping, key, parts), of),
      );
      if (Object.keys(texts).length === 0) return wire;
      return { ...wire, before: (await resourceBefore(name, key, texts, desk, signal)) ?? null } satisfies WirePreview;
    },
  ),
  question(
    'ccda',
    { unsaved, mapping: z.string(), key: z.array(z.string()).max(20) },
    async ({ unsaved: texts, mapping: name, key }, { desk, signal }) =>
      shownIn(await desk.served(texts), name, desk, signal, async (mapping, parts, { facade, content }) => {
        const { resource, reason } = await previewRow(mapping, key, parts);
        if (resource === undefined) {
          return { header: undefined, sections: [], notes: [`No document has the row: ${reason}.`] } satisfies WireCcda;
        }
        return (await ccdaPartOf({ resource, facade, content, signal })) satisfies WireCcda;
      }),
  ),
  question(
    'rows',
    { unsaved, mapping: z.string(), wish: z.enum(['any', 'empty', 'long', 'strange']) },
    async ({ unsaved: texts, mapping: name, wish }, { desk, signal }) => {
      const rows = await shownIn(await desk.served(texts), name, desk, signal, (mapping, parts) =>
        rowsLike(wish, mapping, { ...parts, random: Math.random }),
      );
      return { rows } satisfies WireRows;
    },
  ),
  question(
    'rows-found',
    { unsaved, mapping: z.string(), search: z.string().max(2000) },
    async ({ unsaved: texts, mapping: name, search }, { desk, signal }) => {
      const rows = await shownIn(await desk.served(texts), name, desk, signal, (mapping, parts) =>
        rowsFoundBy(search, mapping, parts),
      );
      return { rows } satisfies WireRows;
    },
  ),
  question(
    'file',
    { path: z.string(), text: z.string(), before: z.string().optional() },
    ({ path, text, before }, { desk }) => filed(() => saveFile(desk.folder, path, text, before)),
    'PUT',
  ),
  question('hashes', {}, (_, { desk }) => filed((): WireHashes => ({ hashes: hashesOf(desk.folder) }))),
];

/** Runs an operation on files of the pack. Throws Refusal. */
function filed<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof PackFileError) throw new Refusal(error.reason === 'changed' ? 409 : 403, error.message);
    throw error;
  }
}

/** Calls `ask` with a mapping of the pack. Throws Refusal. */
export async function shownIn<T>(
  served: Served | undefined,
  name: string,
  desk: Desk,
  signal: AbortSignal,
  ask: (mapping: Mapping, parts: Previewing, served: Served) => Promise<T>,
): Promise<T> {
  const mapping = served?.registry.mappings.find(one => one.name === name);
  if (!served || !mapping) throw new Refusal(409, 'The mapping has errors, or is not there');
  const { registry, facade } = served;
  try {
    return await ask(mapping, { registry, facade, signal, database: desk.database, now: Date.now() }, served);
  } catch (error) {
    if (error instanceof PreviewError) throw new Refusal(404, error.message);
    throw error;
  }
}

/**
 * Returns the resource of the row by the saved texts; undefined if these are not available or the row is no resource.
 */
async function resourceBefore(
  name: string,
  key: readonly string[],
  texts: Unsaved,
  desk: Desk,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    const saved = await desk.saved(texts);
    return (await shownIn(saved, name, desk, signal, (mapping, parts) => previewRow(mapping, key, parts))).resource;
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
