/** Returns the result of `work`, or calls `late` if it takes longer than so many milliseconds. */
export async function inTime<T>(work: Promise<T>, milliseconds: number, late: () => T): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  try {
    return await Promise.race([work, promise.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
