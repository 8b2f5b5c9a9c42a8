/**
 * What the view *Codes* knows: the code maps of the texts as they are typed, and what the columns hold, counted once
 * when a map is opened and again when a person asks.
 */
import type { WireCodeMaps, WireCodeRows, WireHeld, WireUnmapped } from '../../wire/codes.ts';
import { type Answer, useAnswer } from '../answer.ts';
import type { Bench } from '../bench.ts';

/** Code maps of the pack. */
export function useCodeMaps({ unsaved, takes }: Bench): Answer<WireCodeMaps> {
  return useAnswer('codes', { unsaved }, [takes, JSON.stringify(unsaved)]);
}

/** Totals by map, `times` over, and again when a file is saved or another program has changed one. */
export function useUnmapped({ unsaved, saves, takes }: Bench, times: number): Answer<WireUnmapped> {
  return useAnswer('codes/unmapped', { unsaved }, [times, saves, takes]);
}

export function useRows({ unsaved, takes }: Bench, map: string): Answer<WireCodeRows> {
  return useAnswer('codes/rows', { unsaved, map }, [map, takes, JSON.stringify(unsaved)], { same: 1 });
}

export function useHeld({ unsaved }: Bench, map: string, times: number): Answer<WireHeld> {
  return useAnswer('codes/held', { unsaved, map }, [map, times], { same: 2 });
}
