/**
 * Pads lists of parameters to a few lengths, so that one statement serves lists of similar length. In: values. Out: the
 * same, with the last one repeated.
 */

/** SQL Server takes at most 2,100 parameters. */
const LENGTHS = [8, 16, 32, 64, 128, 256, 512, 1024];
/** Lists of up to this length are not padded. */
const SHORT = 4;

export function padded<T>(values: readonly T[]): readonly T[] {
  const last = values.at(-1);
  if (values.length <= SHORT || last === undefined) return values;
  const length = LENGTHS.find(l => l >= values.length) ?? values.length;
  return [...values, ...new Array<T>(length - values.length).fill(last)];
}
