/**
 * Hooks for the data of the view *Codes*: the code maps of the unsaved texts, and the values of the columns, which are
 * counted once when a map is opened and again on request.
 */
import type { WireCodeMaps, WireCodeRows, WireHeld, WireUnmapped } from '../../wire/codes.ts';
import { type Answer, useAnswer } from '../answer.ts';
import type { Bench } from '../bench.ts';

/** Returns the code maps of the pack. */
export function useCodeMaps({ unsaved, takes }: Bench): Answer<WireCodeMaps> {
  return useAnswer('codes', { unsaved }, [takes, JSON.stringify(unsaved)]);
}

/** Returns totals by map. Asks again with each new `times`, and when a file is saved or changed by another program. */
export function useUnmapped({ unsaved, saves, takes }: Bench, times: number): Answer<WireUnmapped> {
  return useAnswer('codes/unmapped', { unsaved }, [times, saves, takes]);
}

export function useRows({ unsaved, takes }: Bench, map: string): Answer<WireCodeRows> {
  return useAnswer('codes/rows', { unsaved, map }, [map, takes, JSON.stringify(unsaved)], { same: 1 });
}

export function useHeld({ unsaved }: Bench, map: string, times: number): Answer<WireHeld> {
  return useAnswer('codes/held', { unsaved, map }, [map, times], { same: 2 });
}
