/**
 * What the view *Codes* knows: the code maps of the texts as they are typed, and what the columns hold, counted once
 * when a map is opened and again when a person asks.
 */
import { useEffect, useState } from 'preact/hooks';
import type { WireCodeMaps, WireCodeRows, WireHeld, WireUnmapped } from '../../wire/codes.ts';
import { ask } from '../ask.ts';
import type { Bench } from '../bench.ts';

/** Neither is there while an answer is waited for. */
interface Answer<T> {
  readonly is: T | undefined;
  /** Why there is none. */
  readonly failed: string | undefined;
}

/**
 * The answer of a question that is asked anew when `key` changes; the one before stays until then, as long as `stays`
 * says so of its key.
 */
function useAnswer<T>(key: string, path: string, body: object, stays = (of: string) => of === key): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T> & { readonly of: string }>();
  useEffect(() => {
    const abort = new AbortController();
    ask<T>(path, body, abort.signal).then(
      is => setAnswer({ of: key, is, failed: undefined }),
      (error: Error) => {
        if (!abort.signal.aborted) setAnswer({ of: key, is: undefined, failed: error.message });
      },
    );
    return () => abort.abort();
  }, [key]);
  return answer && stays(answer.of) ? answer : { is: undefined, failed: undefined };
}

/** Code maps of the pack. */
export function useCodeMaps({ unsaved, takes }: Bench): Answer<WireCodeMaps> {
  return useAnswer(`${takes} ${JSON.stringify(unsaved)}`, 'codes', { unsaved }, () => true);
}

/** Totals by map, `times` over, and again when a file is saved or another program has changed one. */
export function useUnmapped({ unsaved, saves, takes }: Bench, times: number): Answer<WireUnmapped> {
  return useAnswer(`${times} ${saves} ${takes}`, 'codes/unmapped', { unsaved }, () => true);
}

export function useRows({ unsaved, takes }: Bench, map: string): Answer<WireCodeRows> {
  const key = `${map} ${takes} ${JSON.stringify(unsaved)}`;
  return useAnswer(key, 'codes/rows', { unsaved, map }, of => of.startsWith(`${map} `));
}

export function useHeld({ unsaved }: Bench, map: string, times: number): Answer<WireHeld> {
  return useAnswer(`${map} ${times}`, 'codes/held', { unsaved, map });
}
