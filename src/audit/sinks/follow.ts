/**
 * Sends the stored audit events to one sink, in order and at least once. In: the events, a sink, and the position where
 * it stopped last. Events that may not have arrived are sent again, after growing pauses. Only the store holds waiting
 * events.
 */
import { BEGINNING, type Events, type Position } from './events.ts';
import { type Sink, type SinkError, sinkError } from './sink.ts';

export interface SinkLoad {
  readonly kind: Sink['kind'];
  /** Number of events sent, including those sent again. */
  readonly sent: number;
  /** Number of records not yet known to have arrived. */
  readonly behind: number;
  /** Number of records that the store removed because of their age before they were sent. */
  readonly gone: number;
  readonly failing: boolean;
}

export interface FollowOptions {
  readonly events: Events;
  readonly sink: Sink;
  /** Undefined: from the beginning. */
  readonly from: Position | undefined;
  /** Called with the position up to which events have arrived, for the next start. */
  readonly arrived: (position: Position) => void;
  /** Called once when it begins to fail, and once when it works again. */
  readonly reportFailure: (failure: SinkError | undefined) => void;
  /** Milliseconds between two checks for new events. */
  readonly pause?: number;
}

export interface Follower {
  load(): SinkLoad;
  /** Stops sending; the next start sends again what is not known to have arrived. */
  close(): Promise<void>;
}

/** Maximum events per list. */
const LIST = 50;
const PAUSE = 1000;
/** The longest pause after failures, as a multiple of `pause`. */
const LONGEST = 60;

export function follow({ events, sink, from, arrived, reportFailure, pause = PAUSE }: FollowOptions): Follower {
  let position = events.known(from ?? BEGINNING);
  let reached = position;
  let flying: { readonly position: Position; readonly at: number }[] = [];
  let [sent, gone, failures] = [0, 0, 0];
  /** When it continued after the last failure; undefined: it has not yet. */
  let continued: number | undefined;
  let closing = false;
  let wake: () => void = () => {};

  const rest = (milliseconds: number): Promise<void> =>
    new Promise(resolve => {
      const timer = setTimeout(resolve, milliseconds);
      // Does not keep the process alive.
      timer.unref();
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const settle = (): void => {
    const settled = flying.filter(({ at }) => performance.now() - at >= sink.settles);
    const last = settled.at(-1);
    if (last === undefined) return;
    flying = flying.slice(settled.length);
    position = last.position;
    arrived(position);
  };

  /** Sends the next list. True if there may be more. */
  const step = async (): Promise<boolean> => {
    const following = await events.after(reached, LIST);
    await sink.send(following.events);
    sent += following.events.length;
    gone += following.gone;
    const moved = following.last !== reached;
    reached = following.last;
    if (moved) flying.push({ position: reached, at: performance.now() });
    settle();
    return moved;
  };

  /** Without an acknowledgement, a sink works again only once nothing has been lost for some time. */
  const recover = (): void => {
    if (failures === 0) return;
    continued ??= performance.now();
    if (performance.now() - continued < sink.settles) return;
    reportFailure(undefined);
    failures = 0;
  };

  const run = async (): Promise<void> => {
    while (!closing) {
      try {
        const more = await step();
        recover();
        if (!more) await rest(pause);
      } catch (error) {
        if (failures === 0) reportFailure(sinkError(error));
        failures++;
        continued = undefined;
        reached = position;
        flying = [];
        await rest(pause * Math.min(LONGEST, 2 ** Math.min(failures - 1, 10)));
      }
    }
  };
  const running = run();

  return {
    load: () => ({ kind: sink.kind, sent, behind: events.behind(position), gone, failing: failures > 0 }),
    async close() {
      closing = true;
      wake();
      await running;
      await sink.close();
    },
  };
}
