/**
 * Writes questions as text, for keys of caches. In: a question, or what a caller may see. Out: a text that is equal
 * for equal data only; search parameters are named by address and type.
 */
export function planText(of: unknown): string {
  return JSON.stringify(of, told);
}

function told(name: string, value: unknown): unknown {
  if (name === 'parameter' && typeof value === 'object' && value !== null && 'url' in value && 'expression' in value)
    return [value.url, value.expression];
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}
