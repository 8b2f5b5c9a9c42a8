/**
 * Reads and writes CSV of code maps. In: the text of a file. Out: its records, each with its line; or a field as text.
 * https://www.rfc-editor.org/rfc/rfc4180
 */

export interface CsvRecord {
  /** Counted from 1. */
  readonly line: number;
  readonly fields: readonly string[];
}

/**
 * Parses the records of a text. Fields are separated by commas, or by another character, and may be quoted; `""` is a
 * quote. Empty lines are left out.
 */
export function readCsv(text: string, delimiter = ','): readonly CsvRecord[] {
  const records: CsvRecord[] = [];
  let fields: string[] = [];
  let field = '';
  let quoted = false;
  let line = 1;
  let start = 1;
  const end = (): void => {
    fields.push(field);
    if (fields.some(f => f !== '')) records.push({ line: start, fields });
    fields = [];
    field = '';
  };
  const content = text.replace(/^\uFEFF/, '');
  for (let i = 0; i < content.length; i++) {
    const c = content.charAt(i);
    if (c === '\n') line++;
    if (quoted) {
      if (c !== '"') field += c;
      else if (content[i + 1] === '"') {
        field += c;
        i++;
      } else quoted = false;
    } else if (c === '"' && field === '') quoted = true;
    else if (c === delimiter) {
      fields.push(field);
      field = '';
    } else if (c === '\n') {
      end();
      start = line;
    } else if (c !== '\r') field += c;
  }
  end();
  return records;
}

/**
 * Writes a field (RFC 4180). `+` and `-` are not escaped for spreadsheets, because they are laboratory results that a
 * code map must contain exactly.
 */
export function csvField(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
