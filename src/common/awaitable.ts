/**
 * A value that may be a promise. A database that answers on the calling thread returns rows synchronously, and reading
 * one resource is so fast that promises between the steps would take a measurable share of the time.
 */
export type Awaitable<T> = T | Promise<T>;

/** Calls `go` with the value: synchronously if it is no promise. */
export function andThen<T, U>(value: Awaitable<T>, go: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(go) : go(value);
}

/** Runs `work`, then calls `end`, with the error if `work` failed. */
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
