/**
 * Lists of parameters come in few lengths, so that a statement serves the next list, too. In: values. Out: the same, the
 * last one repeated up to one of these lengths.
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
