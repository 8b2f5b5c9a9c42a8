/**
 * Completes a FHIR search while it is typed, on the page and in files that hold searches. In: the text up to the
 * cursor, and what can be searched. Out: the start of the part that is completed, and the options.
 * https://hl7.org/fhir/R4/search.html
 */
import type { WireParameter } from './search.ts';

export interface Choice {
  readonly label: string;
  /** Inserted text, if it differs from the label. */
  readonly apply?: string;
  /** Shown beside the label. */
  readonly detail?: string;
}

interface Completion {
  /** Offset in the text. */
  readonly from: number;
  readonly choices: readonly Choice[];
}

/** The types and parameters that are loaded so far. */
export interface Searched {
  readonly types: readonly string[];
  /** Returns the parameters of a type; none if they are not loaded yet. */
  parameters(type: string): readonly WireParameter[];
}

/** Meanings of prefixes, for numbers, quantities and dates. */
const PREFIXES: Readonly<Record<string, string>> = {
  eq: 'equals',
  ne: 'is another',
  gt: 'is greater, or later',
  ge: 'is greater or equal, or later',
  lt: 'is less, or earlier',
  le: 'is less or equal, or earlier',
  sa: 'starts after',
  eb: 'ends before',
  ap: 'is about',
};
const PREFIXED: ReadonlySet<string> = new Set(['date', 'number', 'quantity']);

/** Meanings of modifiers. */
export const MODIFIER_MEANINGS: Readonly<Record<string, string>> = {
  missing: 'there is none (true) or one (false)',
  not: 'none of the codes',
  exact: 'the whole text, with case and accents',
  contains: 'the text anywhere in it',
  text: 'words of the display or text',
  in: 'codes of a value set',
  'not-in': 'codes outside of a value set',
  below: 'the code or one below it',
  above: 'the code or one above it',
  'of-type': 'system|code|value of an identifier of that type',
  identifier: 'the identifier of the target',
};

/** Parameters that control the answer, with their values. */
const OF_ANSWER: Readonly<Record<string, { readonly detail: string; readonly values: readonly string[] }>> = {
  _count: { detail: 'matches on a page', values: ['10', '50', '0'] },
  _elements: { detail: 'only these elements, with commas', values: [] },
  _include: { detail: 'also their referenced resources', values: [] },
  _revinclude: { detail: 'also resources that refer to them', values: [] },
  _sort: { detail: 'in this order; - before it: descending', values: [] },
  _summary: { detail: 'a part of each resource', values: ['true', 'text', 'data', 'count', 'false'] },
  _total: { detail: 'how many there are', values: ['accurate', 'estimate', 'none'] },
};

/** Completes a search. `text`: up to the cursor. */
export function complete(text: string, offers: Searched): Completion | undefined {
  const mark = text.indexOf('?');
  if (mark < 0) {
    const from = text.lastIndexOf('/') + 1;
    return { from, choices: offers.types.map(label => ({ label, apply: `${label}?` })) };
  }
  const type = text.slice(text.lastIndexOf('/', mark) + 1, mark);
  const start = Math.max(mark, text.lastIndexOf('&')) + 1;
  const part = text.slice(start);
  const equals = part.indexOf('=');
  if (equals >= 0) return values(type, part.slice(0, equals), part.slice(equals + 1), start + equals + 1, offers);
  if (part.startsWith('_has:')) return has(type, part, start, offers);
  return names(type, part, start, offers);
}

function find(type: string, code: string, offers: Searched): WireParameter | undefined {
  return offers.parameters(type).find(one => one.code === code);
}

/** Completes the name of a parameter: its code, modifiers, and chained parameters after dots. */
function names(type: string, part: string, start: number, offers: Searched): Completion | undefined {
  const point = part.indexOf('.');
  if (point >= 0) return chained(type, part, point, start, offers);
  const colon = part.indexOf(':');
  if (colon >= 0) {
    const parameter = find(type, part.slice(0, colon), offers);
    if (!parameter) return undefined;
    return {
      from: start + colon + 1,
      choices: [
        ...parameter.targets.map(target => ({ label: target, apply: `${target}.`, detail: 'it refers to one' })),
        ...parameter.modifiers.map(label => ({ label, apply: `${label}=`, detail: MODIFIER_MEANINGS[label] ?? '' })),
      ],
    };
  }
  return {
    from: start,
    choices: [
      ...offers.parameters(type).flatMap(choicesOf),
      ...Object.entries(OF_ANSWER).map(([label, { detail }]) => ({ label, apply: `${label}=`, detail })),
      { label: '_has', apply: '_has:', detail: 'something refers to it, that …' },
    ],
  };
}

/** Completes parameters of the types that a reference leads to; the part before the dot determines these. */
function chained(type: string, part: string, point: number, start: number, offers: Searched): Completion | undefined {
  const [code = '', target] = part.slice(0, point).split(':');
  const targets = find(type, code, offers)?.targets.filter(one => target === undefined || one === target) ?? [];
  const rest = part.slice(point + 1);
  const inner = targets.flatMap(one => names(one, rest, start + point + 1, offers) ?? []);
  const [first] = inner;
  if (first === undefined) return undefined;
  const choices = new Map(inner.flatMap(one => one.choices.map(choice => [choice.label, choice] as const)));
  return {
    from: first.from,
    choices: [...choices.values()].filter(({ label }) => !Object.hasOwn(OF_ANSWER, label) && label !== '_has'),
  };
}

/** Returns a parameter; if it is a reference, also the start of a chain. */
function choicesOf({ code, type, targets }: WireParameter): readonly Choice[] {
  const own = {
    label: code,
    apply: `${code}=`,
    detail: targets.length > 0 ? `${type} to ${targets.join(', ')}` : type,
  };
  return targets.length > 0 ? [own, { label: `${code}.`, detail: 'of what it refers to' }] : [own];
}

/** Completes `_has:Observation:patient:code`. */
function has(type: string, part: string, start: number, offers: Searched): Completion | undefined {
  const [, source, reference, ...more] = part.split(':');
  const from = start + part.lastIndexOf(':') + 1;
  const referring = (of: string): readonly WireParameter[] =>
    offers.parameters(of).filter(({ targets }) => targets.includes(type));
  if (reference === undefined) {
    const sources = offers.types.filter(one => referring(one).length > 0);
    return { from, choices: sources.map(label => ({ label, apply: `${label}:` })) };
  }
  if (source === undefined || more.length > 1) return undefined;
  return {
    from,
    choices:
      more.length === 0
        ? referring(source).map(({ code }) => ({ label: code, apply: `${code}:` }))
        : offers.parameters(source).map(({ code, type: of }) => ({ label: code, apply: `${code}=`, detail: of })),
  };
}

function values(type: string, name: string, text: string, start: number, offers: Searched): Completion | undefined {
  const from = start + text.lastIndexOf(',') + 1;
  const last = text.slice(text.lastIndexOf(',') + 1);
  if (name === '_sort') {
    const sortable = offers.parameters(type).filter(one => one.sortable);
    return {
      from,
      choices: sortable.flatMap(({ code, type: of }) => [
        { label: code, detail: of },
        { label: `-${code}`, detail: 'descending' },
      ]),
    };
  }
  if (name === '_include' || name === '_revinclude') {
    const isOurs = name === '_include';
    const sources = isOurs ? [type] : offers.types;
    return {
      from: start,
      choices: sources.flatMap(source =>
        offers
          .parameters(source)
          .filter(({ targets }) => (isOurs ? targets.length > 0 : targets.includes(type)))
          .map(({ code, targets }) => ({ label: `${source}:${code}`, detail: targets.join(', ') })),
      ),
    };
  }
  const ofAnswer = OF_ANSWER[name];
  if (ofAnswer) return { from: start, choices: ofAnswer.values.map(label => ({ label })) };
  if (name.endsWith(':missing')) return { from: start, choices: [{ label: 'true' }, { label: 'false' }] };
  const parameter = asked(type, name, offers);
  if (parameter === undefined || !PREFIXED.has(parameter.type) || !/^[a-z]*$/.test(last)) return undefined;
  return { from, choices: Object.entries(PREFIXES).map(([label, detail]) => ({ label, detail })) };
}

/** Returns the parameter at the end of a chain. */
function asked(type: string, name: string, offers: Searched): WireParameter | undefined {
  const [own = '', ...rest] = name.split('.');
  const [code = '', target] = own.split(':');
  const parameter = find(type, code, offers);
  if (rest.length === 0) return parameter;
  const next = target ?? parameter?.targets[0];
  return next === undefined ? undefined : asked(next, rest.join('.'), offers);
}

/** Completes after loading all parameters that it needs. `load` loads those of a type. */
export async function completed(
  text: string,
  types: readonly string[],
  load: (type: string) => Promise<readonly WireParameter[]>,
): Promise<Completion | undefined> {
  const known = new Map<string, readonly WireParameter[]>();
  for (;;) {
    const missing = new Set<string>();
    const parameters = (type: string): readonly WireParameter[] => {
      if (types.includes(type) && !known.has(type)) missing.add(type);
      return known.get(type) ?? [];
    };
    const found = complete(text, { types, parameters });
    if (missing.size === 0) return found;
    for (const type of missing) known.set(type, await load(type));
  }
}
