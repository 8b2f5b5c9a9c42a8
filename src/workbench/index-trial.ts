/**
 * Tries indexes on searches that they serve. In: an index that a pack would use, and the pack. Out: the search on which
 * it was tried, and the changes that the engine's planner predicts. The values are invented; no value of a row is read.
 */
import { explainSearch } from '../explain/search.ts';
import type { Facade } from '../facade.ts';
import type { IdPart } from '../mapping/id-rule.ts';
import type { Node, Registry } from '../mapping/model.ts';
import { FhirError } from '../outcome.ts';
import { environment } from '../plan/environment.ts';
import { leavesOf } from '../plan/offers.ts';
import { FULL_VISIBILITY } from '../plan/visibility.ts';
import { searchParameterOf } from '../r4/search-parameters.ts';
import type { ColumnType } from '../sql/column-type.ts';
import type { Database } from '../sql/database.ts';
import { adviceFor, effectsOf, type IndexEffect, TRIED } from './index-advice.ts';
import type { WantedIndex } from './indexes.ts';

export interface TriedIndex {
  /** Such as `Patient?birthdate`. */
  readonly search: string;
  /** Empty if the engine would not use the index there. */
  readonly effects: readonly IndexEffect[];
}

interface Trial {
  readonly facade: Facade;
  readonly database: Database;
  readonly now: number;
}

/** At most so many uses of an index are tried, because its uses are alike. */
const SERVED = 3;
/** At most so many values of a parameter are tried; a row may be impossible for some codes or keys. */
const VALUES = 4;

type Effects = ReadonlyMap<WantedIndex, readonly IndexEffect[]>;

/**
 * Returns a function that tries one of the wanted indexes; it gives undefined if the engine tells nothing about its
 * searches. Each search is explained once, with the indexes that the view *Search* would try for it.
 */
export function indexTrial(
  wanted: readonly WantedIndex[],
  { facade, database, now }: Trial,
): (index: WantedIndex) => Promise<TriedIndex | undefined> {
  const known = new Map<string, Effects>();
  const effectsFor = async (query: Query): Promise<Effects> => {
    const key = JSON.stringify(query);
    const before = known.get(key);
    if (before) return before;
    const effects = await explainedEffects(query);
    known.set(key, effects);
    return effects;
  };
  const explainedEffects = async (query: Query): Promise<Effects> => {
    const tried: WantedIndex[] = [];
    const read = facade.registry.ofType(query.type);
    try {
      const explained = await explainSearch(facade, database, query, {
        ...{ now, handling: 'strict' },
        indexes: typed => {
          tried.push(...adviceFor(wanted, typed, read).slice(0, TRIED));
          return tried;
        },
      });
      const texts = explained.statements.flatMap(({ rendered }) => rendered.map(({ text }) => text.toLowerCase()));
      const isRead = ({ table }: WantedIndex): boolean => texts.some(text => text.includes(table.toLowerCase()));
      return new Map(
        tried.flatMap(({ name }, i) => {
          const index = wanted.find(one => one.name === name);
          const effects = index && isRead(index) ? effectsOf(tried[i] ?? index, explained) : undefined;
          return index && effects ? [[index, effects]] : [];
        }),
      );
    } catch (error) {
      // An invented value may be invalid for the parameter.
      if (error instanceof FhirError) return new Map();
      throw error;
    }
  };
  return async index => {
    let unused: TriedIndex | undefined;
    for (const serves of index.serves.slice(0, SERVED)) {
      for (const query of queriesFor(serves, facade.registry)) {
        const effects = (await effectsFor(query)).get(index);
        if (effects === undefined) continue;
        const search = serves.includes('?') ? serves : query.type;
        if (effects.length > 0) return { search, effects };
        unused ??= { search, effects };
      }
    }
    return unused;
  };
}

interface Query {
  readonly type: string;
  readonly parameters: readonly (readonly [string, string])[];
}

/** Returns searches that represent a use of an index (`WantedIndex.serves`). */
function queriesFor(serves: string, registry: Registry): readonly Query[] {
  const [, of] = /^(?:child rows|lookup \S+|references|pages) of (\S+)/.exec(serves) ?? [];
  if (of !== undefined) return [{ type: registry.mapping(of).resource, parameters: [] }];
  const [, type = '', code = ''] = /^(\w+)\?(.+)$/.exec(serves) ?? [];
  const [name = '', by] = code.split('=');
  if (by !== undefined) return [{ type, parameters: [[name, by]] }];
  return [...new Set(valuesFor(type, code, registry))]
    .slice(0, VALUES)
    .map(value => ({ type, parameters: [[code, value]] }));
}

const DAY = '2024-01-31';
const UUID = '6fa459ea-ee8a-3ca4-894e-db77e160355e';

/** Returns example values for a parameter. */
function valuesFor(type: string, code: string, registry: Registry): readonly string[] {
  const parameter = searchParameterOf(type, code);
  const env = environment(registry, 0, FULL_VISIBILITY);
  const leaves = (): readonly Node[] =>
    parameter ? registry.ofType(type).flatMap(mapping => leavesOf(mapping, parameter, env)) : [];
  switch (parameter?.type) {
    case 'date':
      return [DAY];
    case 'number':
    case 'quantity':
      return ['1'];
    case 'string':
      return ['a'];
    case 'uri':
      return ['urn:a'];
    case 'reference':
      return leaves().flatMap(node => (node.kind === 'ref' ? idsOf(node.target, registry) : []));
    case 'token':
      return [...leaves().flatMap(node => codesOf(node, registry)), '1', 'a', 'true', UUID];
    default:
      return [];
  }
}

/** Returns one code of the code map that reads a value. */
function codesOf(node: Node, { codeMaps }: Registry): readonly string[] {
  if (node.kind !== 'value') return [];
  const { label } = node.codec;
  const map = codeMaps.find(({ name }) => label.startsWith(`code map ${name}.`) || label === `code map ${name}`);
  return [...(map?.rows.values() ?? [])].flatMap(coded => (coded ? [coded.code] : [])).slice(0, 1);
}

/** Returns an id that a row of a mapping may have. */
function idsOf(name: string, registry: Registry): readonly string[] {
  const { resource, id } = registry.mapping(name);
  return id.alternatives.map(parts => `${resource}/${parts.map(partOf).join('')}`);
}

function partOf(part: IdPart): string {
  if (part.kind === 'literal') return part.text;
  if (part.codec.isUuid || part.codec.name === 'uuid') return UUID;
  const kind: ColumnType['kind'] = part.column.type.kind;
  return kind === 'date' ? DAY : '1';
}
