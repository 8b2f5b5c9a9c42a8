/**
 * Measures whether code takes time in proportion to its input. In: synchronous work, and a bound far above its usual
 * time. Out: the CPU time of this thread in milliseconds, so that other programs and threads do not count: the first
 * measurement within the bound, or the least of three.
 */
export function cpuTime(work: () => unknown, bound: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 3 && least > bound; tries++) {
    const begun = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(begun);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}
