/**
 * Pads lists of parameters to a few lengths, so that one statement serves lists of similar length. In: values. Out:
 * the same, with the last one repeated.
 */

/** SQL Server takes 2,100 parameters at most. */
const LENGTHS = [8, 16, 32, 64, 128, 256, 512, 1024];
/** Short ones stay as they are. */
const SHORT = 4;

export function padded<T>(values: readonly T[]): readonly T[] {
  const last = values.at(-1);
  if (values.length <= SHORT || last === undefined) return values;
  const length = LENGTHS.find(l => l >= values.length) ?? values.length;
  return [...values, ...new Array<T>(length - values.length).fill(last)];
}
