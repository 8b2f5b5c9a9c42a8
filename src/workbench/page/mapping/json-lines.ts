/** Splits JSON into lines, each primitive with its path. In: a parsed value. Out: lines that show it indented. */
export interface JsonLine {
  readonly depth: number;
  /** `"family": ` */
  readonly before: string;
  /** A primitive as JSON, or a bracket. */
  readonly value: string;
  readonly after: string;
  /** `name[0].family` */
  readonly path: string;
}

export function linesOf(value: unknown): readonly JsonLine[] {
  return value === undefined ? [] : linesUnder(value, { depth: 0, before: '', after: '', path: '' });
}

function linesUnder(value: unknown, at: Omit<JsonLine, 'value'>): readonly JsonLine[] {
  if (typeof value !== 'object' || value === null) return [{ ...at, value: JSON.stringify(value) }];
  const isList = Array.isArray(value);
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  const members = Object.entries(value);
  const inner = members.flatMap(([name, member], i) =>
    linesUnder(member, {
      depth: at.depth + 1,
      before: isList ? '' : `${JSON.stringify(name)}: `,
      after: i < members.length - 1 ? ',' : '',
      path: isList ? `${at.path}[${name}]` : at.path === '' ? name : `${at.path}.${name}`,
    }),
  );
  return [{ ...at, value: open, after: '' }, ...inner, { ...at, before: '', value: close }];
}
