/**
 * Reads AuditEvents from the store in the order in which they were written. In: the file, and the facade that makes
 * them. Out: those after a position, a few at a time. Ids of records count upward and are never reused.
 */
import { DatabaseSync } from 'node:sqlite';
import { OPEN_ACCESS } from '../../auth/access.ts';
import type { Facade } from '../../facade.ts';
import type { EventText } from './sink.ts';

/** The last event: its record, and its number among the record's events. */
export interface Position {
  readonly seq: number;
  readonly no: number;
  /** Time of the record in milliseconds since the epoch; it shows whether the file is still the same. */
  readonly at: number;
}

export const BEGINNING: Position = { seq: 0, no: -1, at: 0 };

export interface Events {
  /** Returns at most so many events, and the position of the last; an empty list if there are none. */
  after(position: Position, most: number): Promise<Following>;
  /** Returns the number of records after a position. */
  behind(position: Position): number;
  /** Returns the same position, or the beginning if the position belongs to another file. */
  known(position: Position): Position;
  close(): void;
}

export interface Following {
  readonly events: readonly EventText[];
  readonly last: Position;
  /** Records that the store has removed between both positions. Their events are not counted, because they are gone. */
  readonly gone: number;
}

const TYPE = 'AuditEvent';

/** Opens the store for reading. Throws SQLite's error if there is no such file. `base`: of the FHIR interface. */
export function eventsIn(file: string, facade: Pick<Facade, 'read' | 'search'>, base: string): Events {
  const database = new DatabaseSync(file, { readOnly: true });
  const next = database.prepare(
    'SELECT SEQ, NO, RECORDED FROM EVENT WHERE (SEQ, NO) > (?, ?) ORDER BY SEQ, NO LIMIT ?',
  );
  const newest = database.prepare('SELECT MAX(SEQ) AS SEQ FROM RECORD');
  const recorded = database.prepare('SELECT RECORDED FROM RECORD WHERE SEQ = ?');
  const oldest = database.prepare('SELECT MIN(SEQ) AS SEQ FROM RECORD');
  const context = { access: OPEN_ACCESS, base, handling: 'strict' } as const;
  const numberOf = (value: unknown): number => Number(value ?? 0);

  const textsOf = async (ids: readonly string[]): Promise<ReadonlyMap<string, string>> => {
    const parameters = [['_id', ids.join()] as const, ['_count', String(ids.length)] as const];
    const { json } = await facade.search({ type: TYPE, parameters }, context);
    const { entry = [] } = JSON.parse(json) as { entry?: readonly { readonly resource: { readonly id: string } }[] };
    const texts = new Map(entry.map(({ resource }) => [resource.id, JSON.stringify(resource)]));
    // A page may have fewer entries than the list.
    for (const id of ids.filter(one => !texts.has(one))) {
      const found = await facade.read(TYPE, id, [], context);
      if (found !== undefined) texts.set(id, found.json);
    }
    return texts;
  };

  return {
    async after(position, most) {
      const rows = next.all(position.seq, position.no, most);
      const places = rows.map(row => ({
        ...{ seq: numberOf(row['SEQ']), no: numberOf(row['NO']), at: numberOf(row['RECORDED']) },
      }));
      const last = places.at(-1);
      const [first] = places;
      if (first === undefined || last === undefined) return { events: [], last: position, gone: 0 };
      const ids = places.map(({ seq, no }) => `${seq}-${no}`);
      const texts = await textsOf(ids);
      const events = ids.flatMap(id => {
        const json = texts.get(id);
        return json === undefined ? [] : [{ id, json }];
      });
      return { events, last, gone: Math.max(0, first.seq - position.seq - 1) + ids.length - events.length };
    },
    behind: ({ seq }) => Math.max(0, numberOf(newest.get()?.['SEQ']) - seq),
    known(position) {
      if (position.seq === 0) return BEGINNING;
      if (numberOf(newest.get()?.['SEQ']) < position.seq) return BEGINNING;
      const row = recorded.get(position.seq);
      // A removed record must be older than all that remain.
      const same = row === undefined ? position.seq < numberOf(oldest.get()?.['SEQ']) : row['RECORDED'] === position.at;
      return same ? position : BEGINNING;
    },
    close: () => database.close(),
  };
}
