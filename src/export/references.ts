/**
 * Collects references to resources outside every compartment. In: JSON texts. Out: lines of `Type/id` next to the
 * output, and from them the ids of a type, sorted and unique, in a file that a restart finds again.
 */
import { existsSync } from 'node:fs';
import type { Part } from './job.ts';
import { collectedFile, readLines, replaceFile, wantedFile } from './store.ts';

/** Collected references that are remembered per part; beyond that, some are written twice, which does no harm. */
const REMEMBERED = 20_000;

/** Returns a function that finds references to some types that it has not returned before. */
export function referenceCollector(types: readonly string[]): (texts: readonly string[]) => readonly string[] {
  if (types.length === 0) return () => [];
  // In a JSON string, quotes are escaped, so no text of a record can match.
  const pattern = new RegExp(`"reference":"((?:${types.join('|')})/[A-Za-z0-9.-]{1,64})"`, 'g');
  const known = new Set<string>();
  return texts => {
    const fresh: string[] = [];
    for (const text of texts) {
      for (const [, reference = ''] of text.matchAll(pattern)) {
        if (known.has(reference)) continue;
        if (known.size >= REMEMBERED) known.clear();
        known.add(reference);
        fresh.push(reference);
      }
    }
    return fresh;
  };
}

/** Lists of ids in rounds: a later round holds ids that resources of the type itself referred to. */
export interface Wanted {
  /** Ids in reading order; a finished round never grows. */
  readonly rounds: readonly (readonly string[])[];
  /** Adds what was collected since; false if there is nothing new. */
  extend(): boolean;
}

export function wantedIds(folder: string, part: Part, parts: number): Wanted {
  const rounds: (readonly string[])[] = [];
  while (existsSync(wantedFile(folder, part.number, rounds.length))) {
    rounds.push(readLines(wantedFile(folder, part.number, rounds.length)));
  }
  return {
    rounds,
    extend() {
      const known = new Set(rounds.flat());
      const prefix = `${part.type}/`;
      const fresh = new Set<string>();
      for (let number = 0; number < parts; number++) {
        for (const line of readLines(collectedFile(folder, number))) {
          const id = line.startsWith(prefix) ? line.slice(prefix.length) : undefined;
          if (id !== undefined && !known.has(id)) fresh.add(id);
        }
      }
      if (fresh.size === 0) return false;
      const sorted = [...fresh].toSorted();
      replaceFile(wantedFile(folder, part.number, rounds.length), `${sorted.join('\n')}\n`);
      rounds.push(sorted);
      return true;
    },
  };
}
