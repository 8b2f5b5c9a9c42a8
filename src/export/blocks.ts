/**
 * Writes resources patient by patient (`organizeOutputBy`). In: slices of one member. Out: per patient a header, the
 * resources of the patient's compartment, and the resources outside of it that they refer to.
 * https://build.fhir.org/ig/HL7/bulk-data/async-output-file-organization.html
 */
import { OPEN_ACCESS } from '../auth/access.ts';
import { writtenId } from '../pipeline/emitted.ts';
import type { Session } from '../pipeline/session.ts';
import { COMPARTMENT_TYPE } from '../r4/search-parameters.ts';
import { isBound } from './compartment.ts';
import { type ContentMaker, writeContext } from './content.ts';
import { isTimed, type TypeQuery, typeQuery, unstampedQuery } from './filters.ts';
import { GROUP_TYPE } from './job.ts';
import { referenceCollector } from './references.ts';
import { countSlice, planSlice, readBatches, type SliceRequest } from './rows.ts';
import type { Slice } from './slices.ts';

export const blocks: ContentMaker = (task, source) => {
  const { request, base } = task.job;
  const { registry } = source;
  const context = writeContext(task, source);
  const queries = new Map<string, TypeQuery>(
    request.types.map(type => [type, typeQuery(type, request, source.parse, { access: OPEN_ACCESS, base })]),
  );
  const timeless = new Map<string, TypeQuery>(
    isTimed(request)
      ? request.types.map(type => [type, unstampedQuery(type, request, source.parse, { access: OPEN_ACCESS, base })])
      : [],
  );
  // Groups are left out, because a group names other patients too.
  const bound = request.types.filter(type => isBound(type, registry) && type !== GROUP_TYPE);
  const inOrder = [
    ...bound.filter(type => type === COMPARTMENT_TYPE),
    ...bound.filter(type => type !== COMPARTMENT_TYPE),
  ];
  const outside = registry.types.filter(type => !isBound(type, registry));

  const read = async (type: string, slice: Slice, count: number, session: Session): Promise<readonly string[]> => {
    const query = queries.get(type);
    if (!query) return [];
    const asked: SliceRequest = { type, query, slice };
    const texts: string[] = [];
    const branches = await planSlice(asked, session);
    for await (const { lists } of readBatches(branches, asked, { cursor: undefined, count }, context, session))
      for (const list of lists) texts.push(...list.filter(text => text !== ''));
    return texts;
  };

  /** Counts the compartment only: several patients may refer to the same resource outside of it. */
  const countTimeless = async (slice: Slice, session: Session): Promise<Readonly<Record<string, number>>> => {
    const counts: Record<string, number> = {};
    for (const type of bound) {
      const query = timeless.get(type);
      if (query) counts[type] = await countSlice(await planSlice({ type, query, slice }, session), session);
    }
    return counts;
  };

  /** Follows references in rounds until there are no new ones. */
  const readReferred = async (own: readonly string[], count: number, session: Session): Promise<readonly string[]> => {
    const collect = referenceCollector(outside);
    const seen = new Set<string>();
    const found: string[] = [];
    for (let fresh = collect(own); fresh.length > 0; ) {
      const wanted = fresh.filter(reference => !seen.has(reference));
      for (const reference of wanted) seen.add(reference);
      const byType = Map.groupBy(wanted, reference => reference.slice(0, reference.indexOf('/')));
      const round: string[] = [];
      for (const [type, references] of byType) {
        const ids = references.map(reference => reference.slice(type.length + 1));
        round.push(...(await read(type, { kind: 'ids', ids }, count, session)));
      }
      found.push(...round);
      fresh = collect(round);
    }
    return found;
  };

  return {
    async open(slice, session) {
      return {
        total: async () => undefined,
        ...(timeless.size > 0 && { unstamped: () => countTimeless(slice, session) }),
        async *batches({ count }) {
          const own: string[] = [];
          for (const type of inOrder) own.push(...(await read(type, slice, count, session)));
          const referred = await readReferred(own, count, session);
          const texts = own.length === 0 ? [] : [header(memberOf(slice)), ...own, ...referred];
          yield { lists: [texts], last: undefined };
        },
      };
    },
    lines: texts => texts,
    headers: 1,
    idsIn: line => [writtenId(line, COMPARTMENT_TYPE)],
  };
};

function memberOf(slice: Slice): string {
  const members = slice.kind === 'members' ? slice.members : 'every';
  if (members === 'every' || members.ids.length !== 1) throw new RangeError('a block is about one member');
  return members.ids.join();
}

function header(id: string): string {
  const reference = `${COMPARTMENT_TYPE}/${id}`;
  return JSON.stringify({ resourceType: 'Parameters', parameter: [{ name: 'header', valueReference: { reference } }] });
}
