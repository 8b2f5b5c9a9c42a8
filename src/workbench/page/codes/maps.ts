/**
 * What the view *Codes* knows: the code maps of the texts as they are typed, and what the columns hold, counted once
 * when a map is opened and again when a person asks.
 */
import { useEffect, useState } from 'preact/hooks';
import type { WireCodeMaps, WireCodeRows, WireHeld, WireUnmapped } from '../../wire/codes.ts';
import { ask } from '../ask.ts';
import type { Bench } from '../bench.ts';

/** The answer of a question that is asked anew when `key` changes; the one before stays until then. */
function useAnswer<T>(key: string | undefined, path: string, body: object, tell: (what: string) => void) {
  const [answer, setAnswer] = useState<{ readonly of: string; readonly is: T }>();
  useEffect(() => {
    if (key === undefined) return;
    const abort = new AbortController();
    ask<T>(path, body, abort.signal).then(
      is => setAnswer({ of: key, is }),
      (error: Error) => {
        if (!abort.signal.aborted) tell(error.message);
      },
    );
    return () => abort.abort();
  }, [key]);
  return answer;
}

/** Code maps of the pack. */
export function useCodeMaps({ unsaved, takes, tell }: Bench): WireCodeMaps | undefined {
  return useAnswer<WireCodeMaps>(`${takes} ${JSON.stringify(unsaved)}`, 'codes', { unsaved }, tell)?.is;
}

/** Totals by map, `times` over. */
export function useUnmapped({ unsaved, tell }: Bench, times: number): WireUnmapped | undefined {
  return useAnswer<WireUnmapped>(`${times}`, 'codes/unmapped', { unsaved }, tell)?.is;
}

export function useRows({ unsaved, takes, tell }: Bench, map: string): WireCodeRows | undefined {
  const key = `${map} ${takes} ${JSON.stringify(unsaved)}`;
  const found = useAnswer<WireCodeRows>(key, 'codes/rows', { unsaved, map }, tell);
  return found?.of.startsWith(`${map} `) ? found.is : undefined;
}

export function useHeld({ unsaved, tell }: Bench, map: string, times: number): WireHeld | undefined {
  const found = useAnswer<WireHeld>(`${map} ${times}`, 'codes/held', { unsaved, map }, tell);
  return found?.of === `${map} ${times}` ? found.is : undefined;
}
