/**
 * Chooses the content of a part by the kind of its task. In: a task and a source. Out: the content.
 */
import { OPEN_ACCESS } from '../auth/access.ts';
import { writtenId } from '../pipeline/emitted.ts';
import { blocks } from './blocks.ts';
import { type ContentMaker, type PartContent, writeContext } from './content.ts';
import { deletedIds, deletionLine } from './deletions.ts';
import { deletionQuery, isTimed, typeQuery, unstampedQuery } from './filters.ts';
import type { ExportRequest, Part } from './job.ts';
import type { PartSource, PartTask } from './part-task.ts';
import { countSlice, planSlice, readBatches, readDeletions, type SliceRequest } from './rows.ts';

const CONTENTS: Readonly<Record<Part['content'], ContentMaker>> = { resources, deletions, blocks };

export function contentOf(task: PartTask, source: PartSource): PartContent {
  return CONTENTS[task.part.content](task, source);
}

function resources(task: PartTask, source: PartSource): PartContent {
  const { type, write } = task.part;
  const { request, base } = task.job;
  const context = { access: OPEN_ACCESS, base };
  const query = typeQuery(type, write ? request : unnarrowed(request), source.parse, context);
  const without = write && isTimed(request) ? unstampedQuery(type, request, source.parse, context) : undefined;
  return {
    async open(slice, session) {
      const asked: SliceRequest = { type, query, slice };
      const branches = await planSlice(asked, session);
      return {
        total: () => countSlice(branches, session),
        ...(without && {
          unstamped: async () => ({
            [type]: await countSlice(await planSlice({ type, query: without, slice }, session), session),
          }),
        }),
        batches: place => readBatches(branches, asked, place, writeContext(task, source), session),
      };
    },
    lines: texts => texts,
    idsIn: line => [writtenId(line, type)],
  };
}

function deletions(task: PartTask, source: PartSource): PartContent {
  const { type } = task.part;
  const { request, base } = task.job;
  const query = deletionQuery(type, request, source.parse, { access: OPEN_ACCESS, base });
  return {
    async open(slice, session) {
      const asked: SliceRequest = { type, query, slice, deleted: true };
      const branches = await planSlice(asked, session);
      return {
        total: async () => undefined,
        batches: place => readDeletions(branches, asked, place, writeContext(task, source), session),
      };
    },
    lines(texts) {
      const ids = texts.map(text => writtenId(text, type));
      return ids.length === 0 ? [] : [deletionLine(type, ids)];
    },
    idsIn: deletedIds,
  };
}

/** Drops the narrowing for resources that are read only for their references. */
function unnarrowed(request: ExportRequest): ExportRequest {
  return { ...request, since: undefined, until: undefined, elements: [] };
}
