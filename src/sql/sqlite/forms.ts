/**
 * Tracks the form in which the rows of an open SQLite file are written. In: queries to the file, proofs of earlier
 * starts, and fetched rows. Out: catalogs with forms, and whether a form is disproved by another program's write or by
 * a fetched row. One row disproves a form; its column then has the form `any`.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Awaitable } from '../../common/awaitable.ts';
import type { Catalog } from '../catalog.ts';
import type { ProofOptions } from '../engine.ts';
import { type Found, measure } from './measure.ts';
import { openProofs, type Proof, stampOf } from './proofs.ts';
import { columnKey, createWitness, type Witness } from './witness.ts';

/** Milliseconds that reading all rows for their forms may take. */
const LONGEST_MEASURE = 60_000;
/** After so many disproofs a column keeps the form `any` in this process. */
const OFTEN = 3;

type IsAsked = (table: string, column: string) => boolean;

export interface FormsOptions {
  readonly path: string;
  /** Undefined: nothing is kept between starts. */
  readonly proofs?: ProofOptions | undefined;
  /** Runs one statement on the open database. */
  readonly use: <T>(ask: (database: DatabaseSync) => T) => Awaitable<T>;
  /** Returns a text that changes with each commit of another connection. */
  readonly version: () => Awaitable<string>;
  readonly hasRowids: (table: string) => boolean;
}

export interface Forms {
  /** Returns the catalog with the forms of the columns that are asked for. Throws DatabaseError. */
  find(catalog: Catalog, isAsked: IsAsked): Promise<Catalog>;
  /** True if columns now have another form than `find` last found. Throws DatabaseError. */
  changed(): Promise<boolean>;
  /** Returns the check for fetched rows. */
  witness(): Witness;
  /** True if a form was disproved and the rows have not been read again. */
  isInDoubt(): boolean;
  /** Calls back at each column that a row disproves. */
  onDoubt(heard: () => void): void;
}

interface Seen {
  readonly catalog: Catalog;
  readonly isAsked: IsAsked;
  /** The state of the file. */
  readonly state: string;
  /** The catalog with forms. */
  readonly found: Catalog;
}

export function createForms({ path, proofs: keeping, use, version, hasRowids }: FormsOptions): Forms {
  const proofs = keeping && openProofs(path, keeping);
  const disproved = new Set<string>();
  const times = new Map<string, number>();
  let seen: Seen | undefined;
  /** The forms that `find` last returned. */
  let returnedForms: string | undefined;
  let heard: () => void = () => {};

  const disprove = (column: string): void => {
    if (disproved.has(column)) return;
    disproved.add(column);
    times.set(column, (times.get(column) ?? 0) + 1);
    heard();
  };
  let witness = createWitness(undefined, disprove);

  const now = async (): Promise<{ readonly state: string; readonly stamp: ReturnType<typeof stampOf> }> => {
    const stamp = stampOf(path, keeping?.now?.());
    return { state: `${stamp?.text}|${await version()}`, stamp };
  };

  /** Reads the rows of all columns that are asked for, except those whose form is known. */
  const look = async (
    catalog: Catalog,
    isAsked: IsAsked,
    known: (table: string, column: string, declared: string) => Found | 'doubtful' | undefined,
  ): Promise<Catalog> => {
    const isHopeless = (key: string): boolean => (times.get(key) ?? 0) >= OFTEN;
    return measure(use, hasRowids, catalog, {
      isAsked,
      longest: LONGEST_MEASURE,
      known: (table, column, declared) =>
        isHopeless(columnKey(table, column)) ? 'doubtful' : known(table, column, declared),
    });
  };

  /** Stores proofs, if the file has not changed in the meantime. */
  const keep = (found: Catalog, isAsked: IsAsked, begun: ReturnType<typeof stampOf>): void => {
    if (!proofs || !begun?.isSettled || stampOf(path)?.text !== begun.text) return;
    const columns = new Map(proofs.read(begun.text));
    const before = columns.size;
    for (const [key, proof] of provenIn(found, isAsked)) columns.set(key, proof);
    if (columns.size > before) proofs.write(begun.text, columns);
  };

  const take = (next: Seen, doubted: ReadonlySet<string>): Catalog => {
    seen = next;
    returnedForms = formsIn(next.found);
    // Other columns may have been disproved in the meantime.
    for (const column of doubted) disproved.delete(column);
    witness = createWitness(next.found, disprove);
    return next.found;
  };

  return {
    async find(catalog, isAsked) {
      const { state, stamp } = await now();
      const before = seen;
      // A disproof does not show that other columns have changed: the next `changed` finds that out.
      const doubted = new Set(disproved);
      const isRecent = before !== undefined && (before.state === state || doubted.size > 0);
      const own = isRecent ? new Map(foundIn(before.found, before.isAsked)) : undefined;
      const kept = isRecent || stamp === undefined ? undefined : proofs?.read(stamp.text);
      const found = await look(catalog, isAsked, (table, column, declared) => {
        const key = columnKey(table, column);
        if (doubted.has(key)) return 'doubtful';
        const proof = own?.get(key) ?? kept?.get(key);
        if (proof?.declared !== declared) return undefined;
        const { declared: _, ...form } = proof;
        return form;
      });
      if (doubted.size === 0) keep(found, isAsked, stamp);
      return take({ catalog, isAsked, state: isRecent ? before.state : state, found }, doubted);
    },
    async changed() {
      if (seen === undefined) return false;
      if (disproved.size > 0) return true;
      const { state, stamp } = await now();
      if (seen.state !== state) {
        const { catalog, isAsked } = seen;
        const found = await look(catalog, isAsked, () => undefined);
        keep(found, isAsked, stamp);
        seen = { catalog, isAsked, state, found };
      }
      return disproved.size > 0 || formsIn(seen.found) !== returnedForms;
    },
    witness: () => witness,
    isInDoubt: () => disproved.size > 0,
    onDoubt(hear) {
      heard = hear;
    },
  };
}

/** Returns the forms of columns that were asked for, by `columnKey`. */
function* foundIn(found: Catalog, isAsked: IsAsked): Iterable<readonly [string, Proof]> {
  for (const [table, { columns }] of found.tables) {
    for (const [column, { form, written, declared }] of columns) {
      if (form !== undefined && isAsked(table, column))
        yield [columnKey(table, column), { declared, form, ...(written && { written }) }];
    }
  }
}

/** Returns the columns of which all rows were read. */
function provenIn(found: Catalog, isAsked: IsAsked): readonly (readonly [string, Proof])[] {
  return [...foundIn(found, isAsked)].filter(([, { written }]) => written !== undefined);
}

function formsIn({ tables }: Catalog): string {
  const forms = [...tables.values()].map(({ columns }) => [...columns.values()].map(({ form }) => form ?? null));
  return JSON.stringify(forms);
}
