/**
 * Names the columns of a facade's statement, as programs that read rows as objects need them. In: the statement, and
 * the names in the order of its columns. Out: the statement. Throws an Error if the numbers of columns differ.
 */
export function withNames(sql: string, names: readonly string[]): string {
  const items: string[] = [];
  let [depth, begun] = [0, 'SELECT '.length];
  const end = sql.indexOf('\nFROM ');
  for (let at = begun; at <= end; at++) {
    const char = sql[at];
    if (char === '(') depth++;
    else if (char === ')') depth--;
    else if (at === end || (char === ',' && depth === 0)) {
      items.push(`${sql.slice(begun, at).trim()} AS [${names[items.length]}]`);
      begun = at + 1;
    }
  }
  if (items.length !== names.length) throw new Error('the statement has other columns now');
  return `SELECT ${items.join(', ')}${sql.slice(end)}`;
}
