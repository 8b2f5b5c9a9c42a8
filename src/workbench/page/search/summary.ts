/**
 * Summarizes a resource in a few words, so that a person recognizes it. In: a resource of any type. Out: some of its
 * elements, in its own order: preferably dates and values, then codes and names, then others.
 */

/** Maximum number of elements, and of dates and values among them. */
const MOST_SHOWN = 5;
const SAYING = 3;
/** Maximum number of characters per element. */
const LONGEST = 60;
const NOT_SHOWN: ReadonlySet<string> = new Set(['resourceType', 'id', 'meta', 'text', 'contained']);
/** Parts of an object, most informative first. */
const INFORMATIVE = ['text', 'display', 'reference', 'value', 'family', 'start', 'coding', 'code'];

interface Shown {
  readonly text: string;
  readonly rank: number;
}

export function summaryOf(resource: Readonly<Record<string, unknown>>): string {
  const all = Object.entries(resource).flatMap(([name, value]): readonly Shown[] => {
    const text = NOT_SHOWN.has(name) ? undefined : textOf(value);
    return text === undefined ? [] : [{ text: `${name} ${text.slice(0, LONGEST)}`, rank: rankOf(name, value) }];
  });
  const saying = all.filter(({ rank }) => rank === 0).slice(0, SAYING);
  const others = all.filter(one => !saying.includes(one)).toSorted((a, b) => a.rank - b.rank);
  const chosen = new Set([...saying, ...others].slice(0, MOST_SHOWN));
  return all.flatMap(one => (chosen.has(one) ? [one.text] : [])).join(' · ');
}

/**
 * Ranks an element by FHIR's types: 0 for dates, periods and value[x]; 1 for concepts, codings and names; 2 for all
 * others.
 */
function rankOf(name: string, value: unknown): number {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  if (/^value[A-Z]/.test(name)) return 0;
  if (typeof first === 'string') return /^\d{4}(?:-\d\d){1,2}(?:T|$)/.test(first) ? 0 : 2;
  if (typeof first !== 'object' || first === null) return 2;
  if ('start' in first) return 0;
  return !('reference' in first) && ['coding', 'text', 'display', 'family'].some(part => part in first) ? 1 : 2;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return textOf(value[0]);
  if (typeof value !== 'object' || value === null) return undefined;
  const parts = value as Readonly<Record<string, unknown>>;
  for (const name of INFORMATIVE) {
    const text = textOf(parts[name]);
    if (text !== undefined) return typeof parts['unit'] === 'string' ? `${text} ${parts['unit']}` : text;
  }
  return undefined;
}
