/**
 * Finds an object with the same name twice in a JSON text. JSON.parse keeps the last value and other readers the
 * first, so that such a body means different things to different readers. In: a text that JSON.parse accepts.
 * https://hl7.org/fhir/R4/json.html, RFC 8259 section 4
 */

/** A string, or what opens, closes or follows one. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/g;

export function hasRepeatedName(json: string): boolean {
  const names: (Set<string> | undefined)[] = [];
  let last = '';
  for (const [token] of json.matchAll(TOKEN)) {
    switch (token) {
      case '{':
        names.push(new Set());
        break;
      case '[':
        names.push(undefined);
        break;
      case '}':
      case ']':
        names.pop();
        break;
      case ':': {
        const seen = names.at(-1);
        // `\u0061` is the same name as `a`.
        const name = String(JSON.parse(last));
        if (seen?.has(name)) return true;
        seen?.add(name);
        break;
      }
      default:
        last = token;
    }
  }
  return false;
}
