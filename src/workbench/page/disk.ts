/**
 * Looks for what other programs change in the folder of the pack. While the page is visible, the server is asked every
 * few seconds for the hashes of the files, and for their texts only where a hash is another.
 */
import { useEffect, useRef } from 'preact/hooks';
import type { WireHashes, WirePack } from '../wire/mapping.ts';
import { ask, Refused } from './ask.ts';
import { differs, type OpenFile } from './files.ts';

/** Milliseconds from an answer to the next question. */
const PAUSE = 3000;

interface Parts {
  /** As they are at this moment. */
  readonly files: () => readonly OpenFile[];
  /** A number that is another as soon as the page has begun or ended to write a file. */
  readonly writes: () => number;
  readonly found: (files: WirePack['files']) => void;
  /** Why there is no answer; once, until there is one again. */
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
        // Files that are being changed are asked for again.
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
  // What the page itself wrote meanwhile is newer than the answer.
  if (writes() === before) found(there);
}
