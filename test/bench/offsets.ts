/** Offsets of a zone by hand: one look-up per hour that occurs. In: `yyyy-mm-dd hh`. Out: `-05:00`. */
export function offsets(timeZone: string): (hour: string) => string {
  const known = new Map<string, string>();
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  const nameAt = (instant: number): string =>
    format
      .formatToParts(instant)
      .find(({ type }) => type === 'timeZoneName')
      ?.value.slice(3) || '+00:00';
  return hour => {
    const found = known.get(hour);
    if (found !== undefined) return found;
    const text = `${hour.slice(0, 10)}T${hour.slice(11) || '12'}:00:00`;
    // Right but for the hours around a change of the clocks, and no more is needed here: the bytes are compared.
    const offset = nameAt(Date.parse(text + nameAt(Date.parse(`${text}Z`))));
    if (known.size < 20_000) known.set(hour, offset);
    return offset;
  };
}
