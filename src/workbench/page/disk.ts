/**
 * Hook that watches for changes by other programs in the folder of the pack. While the page is visible, it polls the
 * hashes of the files every few seconds, and reads the texts only if a hash has changed.
 */
import { useEffect, useRef } from 'preact/hooks';
import type { WireHashes, WirePack } from '../wire/mapping.ts';
import { ask, Refused } from './ask.ts';
import { differs, type OpenFile } from './files.ts';

/** Milliseconds between an answer and the next request. */
const PAUSE = 3000;

interface Parts {
  /** Returns the current files. */
  readonly files: () => readonly OpenFile[];
  /** A number that changes when the page starts or finishes writing a file. */
  readonly writes: () => number;
  readonly found: (files: WirePack['files']) => void;
  /** Called with the reason when requests start to fail; not again until one succeeds. */
  readonly failed: (message: string) => void;
}

export function useDisk(parts: Parts): void {
  const latest = useRef(parts);
  latest.current = parts;
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isAsking = false;
    let isSilent = false;
    const look = async (): Promise<void> => {
      if (document.hidden || isAsking) return;
      clearTimeout(timer);
      isAsking = true;
      try {
        await lookOnce(latest.current, abort.signal);
        isSilent = false;
      } catch (error) {
        // Status 409: files are changing right now; the next request will read them.
        const isPassing = abort.signal.aborted || (error instanceof Refused && error.status === 409);
        if (!isPassing && !isSilent) latest.current.failed(error instanceof Error ? error.message : String(error));
        isSilent ||= !isPassing;
      } finally {
        isAsking = false;
        if (!abort.signal.aborted) timer = setTimeout(() => void look(), PAUSE);
      }
    };
    const looked = (): void => void look();
    document.addEventListener('visibilitychange', looked);
    timer = setTimeout(looked, PAUSE);
    return () => {
      document.removeEventListener('visibilitychange', looked);
      clearTimeout(timer);
      abort.abort();
    };
  }, []);
}

async function lookOnce({ files, writes, found }: Parts, signal: AbortSignal): Promise<void> {
  const before = writes();
  const { hashes } = await ask<WireHashes>('hashes', {}, signal);
  if (writes() !== before || !differs(files(), hashes)) return;
  const { files: there } = await ask<WirePack>('pack', undefined, signal);
  // If the page has written meanwhile, the answer is outdated.
  if (writes() === before) found(there);
}
