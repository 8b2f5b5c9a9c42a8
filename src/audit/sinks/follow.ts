/**
 * Sends the stored audit events to one sink, in order and at least once. In: the events, a sink, and the position where
 * it stopped last. What may not have arrived is sent again, after pauses that grow. Only the store holds what waits.
 */
import { BEGINNING, type Events, type Position } from './events.ts';
import { type Sink, type SinkError, sinkError } from './sink.ts';

export interface SinkLoad {
  readonly kind: Sink['kind'];
  /** Events that were sent, those sent again included. */
  readonly sent: number;
  /** Records that are not yet known to have arrived. */
  readonly behind: number;
  /** Records that the store removed, by their age, before they were sent. */
  readonly gone: number;
  readonly failing: boolean;
}

export interface FollowOptions {
  readonly events: Events;
  readonly sink: Sink;
  /** Undefined: from the beginning. */
  readonly from: Position | undefined;
  /** Told where the sink has arrived, for the next start. */
  readonly arrived: (position: Position) => void;
  /** Told once when it begins to fail and once when it goes on. */
  readonly tell: (failure: SinkError | undefined) => void;
  /** Milliseconds between two looks for more. */
  readonly pause?: number;
}

export interface Follower {
  load(): SinkLoad;
  /** Sends nothing more; what was sent and is not known to have arrived is sent again by the next start. */
  close(): Promise<void>;
}

/** Events in one list. */
const LIST = 50;
const PAUSE = 1000;
/** The longest pause of a sink that fails, as a multiple of `PAUSE`. */
const LONGEST = 60;

export function follow({ events, sink, from, arrived, tell, pause = PAUSE }: FollowOptions): Follower {
  let position = events.known(from ?? BEGINNING);
  let reached = position;
  let flying: { readonly position: Position; readonly at: number }[] = [];
  let [sent, gone, failures] = [0, 0, 0];
  let closing = false;
  let wake: () => void = () => {};

  const rest = (milliseconds: number): Promise<void> =>
    new Promise(resolve => {
      const timer = setTimeout(resolve, milliseconds);
      // A process with nothing left to do ends.
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

  /** Whether there may be more. */
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

  const run = async (): Promise<void> => {
    while (!closing) {
      try {
        const more = await step();
        if (failures > 0) tell(undefined);
        failures = 0;
        if (!more) await rest(pause);
      } catch (error) {
        if (failures === 0) tell(sinkError(error));
        failures++;
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
