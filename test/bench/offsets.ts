/** Computes offsets of a zone by hand. In: `yyyy-mm-dd hh`, local time. Out: `-05:00`. */

/** One look-up per distinct hour. */
export function offsets(timeZone: string): (hour: string) => string {
  const known = new Map<string, string>();
  const nameAt = formatter(timeZone);
  return hour => {
    const found = known.get(hour);
    if (found !== undefined) return found;
    const text = isoOf(hour);
    // Correct except in the hours around a clock change. That suffices here, because the bytes are compared.
    const offset = nameAt(Date.parse(text + nameAt(Date.parse(`${text}Z`))));
    if (known.size < 20_000) known.set(hour, offset);
    return offset;
  };
}

/** Asks Intl each time, and takes the hour as UTC: wrong in some hours around a clock change. */
export function offsetsAsked(timeZone: string): (hour: string) => string {
  const nameAt = formatter(timeZone);
  return hour => nameAt(Date.parse(`${isoOf(hour)}Z`));
}

function isoOf(hour: string): string {
  return `${hour.slice(0, 10)}T${hour.slice(11) || '12'}:00:00`;
}

function formatter(timeZone: string): (instant: number) => string {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  return instant =>
    format
      .formatToParts(instant)
      .find(({ type }) => type === 'timeZoneName')
      ?.value.slice(3) || '+00:00';
}
