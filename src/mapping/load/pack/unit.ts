/**
 * Makes contexts in which the mappings of one document are checked as a unit. In: the rest of the pack. Out: a context
 * that records what the unit asked of the rest of the pack (`isUnchanged` asks again), and the code maps, tables and
 * columns that it uses. With both, the result of an earlier check can be reused safely.
 */

import type { Codec } from '../../codecs/codec.ts';
import type { Position } from '../../model.ts';
import type { LoadedCodeMap } from '../codes/codes.ts';
import type { Systems } from '../codes/system.ts';
import { isSameList } from '../read/tree.ts';
import type { DateColumns, Dates } from '../rows/absent-values.ts';
import type { NamedRows } from '../rows/columns.ts';
import type { PackContext, Targets } from './context.ts';

/** What a unit may ask of the rest of the pack. */
export interface Rest {
  readonly systems: Systems;
  readonly codeMaps: CodeMaps;
  readonly brokenCodeMaps: Names;
  readonly targets: Targets;
  readonly broken: Names;
  readonly unserved: Names;
}

export interface Names {
  has(name: string): boolean;
}

export interface CodeMaps extends Names {
  get(name: string): LoadedCodeMap | undefined;
  keys(): Iterable<string>;
}

/** What a unit reports about the pack. */
export interface Uses {
  readonly usedCodeMaps: Set<string>;
  readonly usedLists: Set<string>;
  /**
   * Lookups written in mappings, once per row of a macro. `required` lookups are left out, because they remove rows.
   */
  readonly lookups: { readonly rows: NamedRows; readonly at: Position }[];
  /** Rows that a column was read from. */
  readonly usedRows: Set<NamedRows>;
  /** Tables that mappings name and the catalog contains, in lower case. */
  readonly tablesThere: Set<string>;
  /** Tables that it lacks and has no suggestion for, as written, each with the positions that name it. */
  readonly tablesMissing: Map<string, Position[]>;
}

export interface Unit {
  readonly rest: Rest;
  readonly uses: Uses;
  readonly dates: UnitDates;
  /** True if the rest of the pack answers as it did when the unit was checked. */
  isUnchanged(now: Rest): boolean;
}

export function noUses(): Uses {
  return {
    usedCodeMaps: new Set(),
    usedLists: new Set(),
    lookups: [],
    usedRows: new Set(),
    tablesThere: new Set(),
    tablesMissing: new Map(),
  };
}

/** Begins a unit. `on`: the unit whose result this one builds on. */
export function unitIn(rest: Rest, dates: DateColumns, on?: Unit): Unit {
  const asked = new Map<string, (now: Rest) => boolean>();
  const note = <T>(question: string, ask: (of: Rest) => T, same: (a: T, b: T) => boolean = Object.is): T => {
    const answer = ask(rest);
    if (!asked.has(question)) asked.set(question, now => same(ask(now), answer));
    return answer;
  };
  const names = (which: 'brokenCodeMaps' | 'broken' | 'unserved'): Names => ({
    has: name => note(`${which} ${name}`, of => of[which].has(name)),
  });
  return {
    rest: {
      systems: {
        get: alias => note(`system ${alias}`, of => of.systems.get(alias)),
        names: () => note('systems', of => of.systems.names(), isSameList),
      },
      codeMaps: {
        get: name => note(`map ${name}`, of => of.codeMaps.get(name)),
        has: name => note(`map? ${name}`, of => of.codeMaps.has(name)),
        keys: () => note('maps', of => [...of.codeMaps.keys()], isSameList),
      },
      targets: {
        named: name => note(`target ${name}`, of => of.targets.named(name), isSameList),
        names: () => note('targets', of => of.targets.names(), isSameList),
      },
      brokenCodeMaps: names('brokenCodeMaps'),
      broken: names('broken'),
      unserved: names('unserved'),
    },
    uses: noUses(),
    dates: new UnitDates(dates, on?.dates),
    isUnchanged: now => (on?.isUnchanged(now) ?? true) && [...asked.values()].every(isSame => isSame(now)),
  };
}

/** Adds the uses of a unit to those of the pack. */
export function addUses(pack: Uses, { uses }: Unit): void {
  for (const one of uses.usedCodeMaps) pack.usedCodeMaps.add(one);
  for (const one of uses.usedLists) pack.usedLists.add(one);
  for (const one of uses.usedRows) pack.usedRows.add(one);
  for (const one of uses.tablesThere) pack.tablesThere.add(one);
  for (const [name, places] of uses.tablesMissing) {
    pack.tablesMissing.set(name, [...(pack.tablesMissing.get(name) ?? []), ...places]);
  }
  pack.lookups.push(...uses.lookups);
}

/** Returns the context of a unit within that of the pack. */
export function partOf<C extends PackContext>(pack: C, { rest, uses, dates }: Unit): C & Rest & Uses {
  return { ...pack, ...rest, ...uses, dates };
}

/** Records the date columns that one unit learns and waits for: columns that hold dates only by their codecs. */
export class UnitDates implements Dates {
  #dates: DateColumns;
  readonly #learnt: (readonly [key: string, codec: Codec])[] = [];
  readonly #watched: Set<string>;
  #heard: string | undefined;

  constructor(dates: DateColumns, on?: UnitDates) {
    this.#dates = dates;
    this.#watched = new Set(on === undefined ? [] : on.#watched);
  }

  learn(key: string, codec: Codec): void {
    this.#learnt.push([key, codec]);
    this.#dates.learn(key, codec);
  }

  watch(key: string, listener: (codec: Codec) => void): void {
    this.#watched.add(key);
    this.#dates.watch(key, listener);
  }

  /** Switches to the dates of another check and adds what this unit knows. */
  joins(dates: DateColumns): void {
    if (this.#dates === dates) return;
    this.#dates = dates;
    for (const [key, codec] of this.#learnt) dates.learn(key, codec);
  }

  /** True if the unit was told of the same codecs as at the end of this check. Remembers them for the next call. */
  settles(): boolean {
    const heard = JSON.stringify([...this.#watched].map(key => this.#dates.labels(key)));
    const isSame = this.#heard === undefined || this.#heard === heard;
    if (isSame) this.#heard = heard;
    return isSame;
  }
}
