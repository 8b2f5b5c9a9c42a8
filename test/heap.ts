/** Measures memory that is retained. Out: bytes of V8's heap after a garbage collection, at each call. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export function heapAfterCollection(): () => number {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  return () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
}
