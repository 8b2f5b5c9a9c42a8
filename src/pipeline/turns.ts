/** Work of which so much is under way at a time; the rest waits in the order in which it came. */
export function takeTurns(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  const leave = (): void => {
    const next = waiting.shift();
    // The turn goes from hand to hand, so that nobody who comes later can take it.
    if (next) next();
    else running--;
  };
  const passOn = <T>(result: T): T => {
    leave();
    return result;
  };
  const passOnError = (error: unknown): never => {
    leave();
    throw error;
  };
  return work => {
    if (running === most)
      return new Promise<void>(resolve => waiting.push(resolve)).then(work).then(passOn, passOnError);
    running++;
    try {
      return work().then(passOn, passOnError);
    } catch (error) {
      leave();
      return Promise.reject(error);
    }
  };
}
