/**
 * Questions as text, for keys. In: data of questions and of what callers may see. Out: a text that is equal for equal
 * data only; definitions of search parameters are told by their address and type.
 */
export function planText(of: unknown): string {
  return JSON.stringify(of, told);
}

function told(name: string, value: unknown): unknown {
  if (name === 'parameter' && typeof value === 'object' && value !== null && 'url' in value && 'expression' in value)
    return [value.url, value.expression];
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}
