/**
 * Chooses Retry-After. In: the least number of seconds. Out: a random whole number between it and three times as many,
 * so that clients that were refused together do not return together.
 * https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
 */
export function retryIn(least: number, random: () => number = Math.random): number {
  return least + Math.floor(random() * (2 * least + 1));
}
