/**
 * Questions of the view in which mappings are written: the problems of the texts, a row beside its resource, saving a file.
 */
import { z } from 'zod';
import { complete } from '../../completion/complete.ts';
import { PreviewError, previewRow } from '../../preview.ts';
import type { WireCheck, WireCompletion } from '../../wire/mapping.ts';
import { PackFileError, saveFile } from '../pack-folder.ts';
import { mappingOf, previewOf, problemOf } from '../tell.ts';
import { type Question, question, Refusal, unsaved } from './question.ts';

export const MAPPING_QUESTIONS: readonly Question[] = [
  question('check', { unsaved }, async (asked, { desk }) => {
    const { pack } = await desk.check(asked.unsaved);
    return {
      problems: pack.problems.map(problemOf),
      mappings: pack.registry?.mappings.map(mappingOf),
    } satisfies WireCheck;
  }),
  question(
    'complete',
    { unsaved, path: z.string(), text: z.string(), offset: z.number().int().min(0) },
    async ({ unsaved: texts, path, text, offset }, { desk }) =>
      (complete(path, text, offset, await desk.names(texts)) ?? {
        ...{ from: offset, options: [], isCut: false },
      }) satisfies WireCompletion,
  ),
  question(
    'preview',
    { unsaved, mapping: z.string(), key: z.array(z.string()).max(20) },
    async (asked, { desk, signal }) => {
      const served = await desk.served(asked.unsaved);
      const mapping = served?.registry.mappings.find(({ name }) => name === asked.mapping);
      if (!served || !mapping) throw new Refusal(409, 'The mapping has errors, or is not there');
      const { registry, facade, stale } = served;
      try {
        const parts = { registry, facade, signal, database: desk.database, now: Date.now() };
        return previewOf(await previewRow(mapping, asked.key, parts), stale);
      } catch (error) {
        if (error instanceof PreviewError) throw new Refusal(404, error.message);
        throw error;
      }
    },
  ),
  question(
    'file',
    { path: z.string(), text: z.string(), before: z.string().optional() },
    ({ path, text, before }, { desk }) => {
      try {
        return saveFile(desk.folder, path, text, before);
      } catch (error) {
        if (error instanceof PackFileError) throw new Refusal(error.reason === 'changed' ? 409 : 403, error.message);
        throw error;
      }
    },
    'PUT',
  ),
];
