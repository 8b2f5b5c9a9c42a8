/**
 * Indents JSON and XML for `_pretty` without parsing them, because that would lose the digits of decimals (`1.50`). In:
 * valid JSON text, or FHIR XML of src/resource/xml.ts. Out: the same with two spaces per level.
 * https://hl7.org/fhir/R4/http.html#pretty
 */

import { endOfString } from '../../resource/xml.ts';

/** The beginning of a string, a structural character, or a run of anything else that is not whitespace. */
const TOKEN = /["{}[\],:]|[^\s{}[\],:"]+/g;

/** Yields strings whole. A pattern for a string would overflow the stack of the engine at some megabytes. */
function* tokensOf(json: string): Generator<string> {
  const tokens = new RegExp(TOKEN);
  for (let found = tokens.exec(json); found !== null; found = tokens.exec(json)) {
    const [token] = found;
    const end = token === '"' ? endOfString(json, found.index) : -1;
    if (end >= 0) tokens.lastIndex = end;
    yield end >= 0 ? json.slice(found.index, end) : token;
  }
}

export function indentJson(json: string): string {
  let depth = 0;
  let before = '';
  const out: string[] = [];
  const line = () => `\n${'  '.repeat(depth)}`;
  for (const token of tokensOf(json)) {
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

/** Narratives stay as they are, because their whitespace is text. */
export function indentXml(xml: string): string {
  const lines: string[] = [];
  let depth = 0;
  let narrative = { divs: 0, start: 0 };
  const line = (text: string) => lines.push('  '.repeat(depth) + text);
  for (const { 0: tag, index } of xml.matchAll(/<[^>]*>/g)) {
    const closing = tag.startsWith('</');
    const opening = !closing && !tag.endsWith('/>') && !tag.startsWith('<?');
    if (/^<\/?div\b/.test(tag)) {
      if (opening) narrative = { divs: narrative.divs + 1, start: narrative.divs === 0 ? index : narrative.start };
      if (closing) narrative = { ...narrative, divs: narrative.divs - 1 };
      if (narrative.divs === 0) line(xml.slice(opening || closing ? narrative.start : index, index + tag.length));
    } else if (narrative.divs === 0) {
      if (closing) depth -= 1;
      line(tag);
      if (opening) depth += 1;
    }
  }
  return lines.join('\n');
}
