/**
 * Indents JSON text without reading it: parsing would lose the digits of decimals (`1.50`), which are data in FHIR.
 * In: valid JSON text without blanks between its tokens, or with. Out: the same, two blanks a level. Used for `_pretty`.
 * https://hl7.org/fhir/R4/http.html#pretty
 */

/** Strings, then structure, then runs of anything else that is not a blank. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

export function indentJson(json: string): string {
  let depth = 0;
  let before = '';
  const out: string[] = [];
  const line = () => `\n${'  '.repeat(depth)}`;
  for (const [token] of json.matchAll(TOKEN)) {
    const opened = before === '{' || before === '[';
    if (token === '}' || token === ']') {
      depth -= 1;
      out.push(opened ? token : line() + token);
    } else {
      if (opened) out.push(line());
      out.push(token === ',' ? `,${line()}` : token === ':' ? ': ' : token);
      if (token === '{' || token === '[') depth += 1;
    }
    before = token;
  }
  return out.join('');
}
