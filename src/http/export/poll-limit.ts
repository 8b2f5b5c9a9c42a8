/**
 * Limits polls of an export. In: the name of what is polled. Out: true if the poll is refused. A few polls may come at
 * once, then one per second, by the monotonic clock.
 */
const AT_ONCE = 10;
const PER_MILLISECOND = 1 / 1000;
/** Names that are remembered; the oldest are forgotten first. */
const REMEMBERED = 10_000;

export function pollLimit(now: () => number = () => performance.now()): (name: string) => boolean {
  const buckets = new Map<string, { left: number; at: number }>();
  return name => {
    const time = now();
    const known = buckets.get(name) ?? { left: AT_ONCE, at: time };
    const left = Math.min(AT_ONCE, known.left + (time - known.at) * PER_MILLISECOND);
    buckets.delete(name);
    buckets.set(name, { left: left < 1 ? left : left - 1, at: time });
    for (const oldest of buckets.keys()) {
      if (buckets.size <= REMEMBERED) break;
      buckets.delete(oldest);
    }
    return left < 1;
  };
}
