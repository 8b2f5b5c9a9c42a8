/**
 * Values that may be promises. A database that answers on the calling thread has its rows at once, and a read of one
 * resource is so fast that the promises between its steps would be a measurable part of it.
 */
export type Awaitable<T> = T | Promise<T>;

/** `go` with the value, at once where it is there. */
export function andThen<T, U>(value: Awaitable<T>, go: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(go) : go(value);
}

/** `work`, and `end` once it is over, however it is; `end` is given what it threw. */
export function andEnd<T>(work: () => Awaitable<T>, end: (error?: unknown) => void): Awaitable<T> {
  let made: Awaitable<T>;
  try {
    made = work();
  } catch (error) {
    end(error);
    throw error;
  }
  if (!(made instanceof Promise)) {
    end();
    return made;
  }
  return made.then(
    value => {
      end();
      return value;
    },
    error => {
      end(error);
      throw error;
    },
  );
}
