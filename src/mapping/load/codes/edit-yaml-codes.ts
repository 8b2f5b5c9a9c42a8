/**
 * Edits rows of a code map in a YAML text. In: the text, the name of the map, its new rows. Out: the new text. Only the
 * text of these rows is replaced: comments, order and form of everything else stay. The new text is parsed again before
 * it is returned.
 */
import { isMap, isScalar, type Pair, parseAllDocuments, type Scalar, type YAMLMap } from 'yaml';
import { createReport } from '../problem.ts';
import { readYaml } from '../read/read.ts';
import { child, entriesOf, type Tree, textOf } from '../read/tree.ts';
import { type CodeEdit, CodeEditError, type CodeText } from './code-edit.ts';

/** Most characters of a line of flow rows before it is wrapped. */
const WIDTH = 120;

interface Splice {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
}

/** Returns the text with these rows. Throws CodeEditError. */
export function editYaml(text: string, name: string, edits: readonly CodeEdit[]): string {
  const before = rowsIn(text, name);
  const gone = edits.filter(({ raw, to }) => to === null && before.has(raw)).map(({ raw }) => raw);
  const kept = edits.filter(({ to }) => to !== null);
  const without = gone.reduce((rest, raw) => removed(rest, name, raw), text);
  const after = kept.length === 0 ? without : written(without, name, kept);
  if (!isAsWanted(text, after, name, wantedRows(before, edits))) {
    throw new CodeEditError(`The rows of code map ${name} are written in a form that only the editor can change`);
  }
  return after;
}

function wantedRows(before: ReadonlyMap<string, string>, edits: readonly CodeEdit[]): ReadonlyMap<string, string> {
  const wanted = new Map(before);
  for (const { raw, rename = raw, to } of edits) {
    wanted.delete(raw);
    if (to) wanted.set(rename, coded(to));
  }
  return wanted;
}

/** True if only the rows have changed, and they are as wanted. */
function isAsWanted(before: string, after: string, name: string, wanted: ReadonlyMap<string, string>): boolean {
  const report = createReport();
  const others = (text: string): string =>
    JSON.stringify(readYaml('', text, report).map(document => plainTree(withoutRows(document, name))));
  const found = rowsIn(after, name);
  const isSame = found.size === wanted.size && [...wanted].every(([raw, code]) => found.get(raw) === code);
  return isSame && others(before) === others(after) && report.problems().length === 0;
}

function withoutRows(document: Tree, name: string): Tree {
  if (document.kind !== 'map') return document;
  const entries = document.entries.map(entry =>
    entry.key !== name || entry.value.kind !== 'map'
      ? entry
      : { ...entry, value: { ...entry.value, entries: entry.value.entries.filter(({ key }) => key !== 'rows') } },
  );
  return { ...document, entries };
}

/** Returns a tree without its positions. */
function plainTree(tree: Tree): unknown {
  if (tree.kind === 'scalar') return tree.text;
  if (tree.kind === 'list') return tree.items.map(plainTree);
  return tree.entries.map(({ key, value }) => [key, plainTree(value)]);
}

/** Returns the rows of a map as written in YAML, by raw value. */
export function rowsIn(text: string, name: string): ReadonlyMap<string, string> {
  const documents = readYaml('', text, createReport());
  const rows = documents.flatMap(document => entriesOf(child(child(document, name), 'rows')));
  return new Map(rows.map(({ key, value }) => [key.replace(/ +$/, ''), textOf(value) ?? '']));
}

type Node = Scalar | YAMLMap;
type Place = { readonly entry: YAMLMap<Scalar, Node>; readonly rows: Pair<Scalar, Node> | undefined };

function placeIn(text: string, name: string): Place {
  for (const document of parseAllDocuments(text, { schema: 'failsafe', uniqueKeys: false })) {
    if (!('contents' in document) || !isMap<Scalar, Node>(document.contents)) continue;
    const entry = document.contents.items.find(({ key }) => isScalar(key) && key.value === name)?.value;
    if (!isMap<Scalar, Node>(entry)) continue;
    return { entry, rows: entry.items.find(({ key }) => isScalar(key) && key.value === 'rows') };
  }
  throw new CodeEditError(`Code map ${name} was moved or removed`);
}

function itemsIn({ rows }: Place): readonly Pair<Scalar, Node>[] {
  return isMap<Scalar, Node>(rows?.value) ? rows.value.items : [];
}

function itemOf(place: Place, raw: string): number {
  return itemsIn(place).findIndex(({ key }) => String(key.value).replace(/ +$/, '') === raw);
}

/** Returns the range of a node's text, without the comment after it. */
function rangeOf(node: Node | null | undefined): readonly [from: number, to: number] {
  const [from, to] = node?.range ?? [0, 0];
  return [from, to];
}

/** Returns the range of a pair. A key without a value is a pair too. */
function pairRange({ key, value }: Pair<Scalar, Node>): readonly [from: number, to: number] {
  const [from, end] = rangeOf(key);
  return [from, Math.max(end, rangeOf(value)[1])];
}

function removed(text: string, name: string, raw: string): string {
  const place = placeIn(text, name);
  const items = itemsIn(place);
  const i = itemOf(place, raw);
  const [item, before, after] = [items[i], items[i - 1], items[i + 1]];
  const rows = place.rows?.value;
  if (!item || !isMap(rows)) return text;
  const [from, to] = pairRange(item);
  if (items.length === 1) {
    const [start, end] = rangeOf(rows);
    // Writes `{}` on the line of `rows:`, in place of the block below it.
    const at = rows.flow === true ? start : rangeOf(place.rows?.key)[1] + 1;
    return spliced(text, [{ from: at, to: rows.flow === true ? end : to, insert: rows.flow === true ? '{}' : ' {}' }]);
  }
  if (rows.flow === true) {
    if (after) return spliced(text, [{ from, to: pairRange(after)[0], insert: '' }]);
    return spliced(text, [{ from: before ? pairRange(before)[1] : from, to, insert: '' }]);
  }
  const lineEnd = text.indexOf('\n', to);
  const start = text.lastIndexOf('\n', from - 1) + 1;
  return spliced(text, [{ from: start, to: lineEnd < 0 ? text.length : lineEnd + 1, insert: '' }]);
}

/** Changes rows in place and adds new ones after the last. */
function written(text: string, name: string, edits: readonly CodeEdit[]): string {
  const place = placeIn(text, name);
  const items = itemsIn(place);
  const splices: Splice[] = [];
  const added: string[] = [];
  for (const { raw, rename = raw, to } of edits) {
    if (!to) continue;
    const item = items[itemOf(place, raw)];
    if (!item) {
      added.push(`${scalarText(rename)}: ${scalarText(coded(to))}`);
      continue;
    }
    if (rename !== raw) splices.push(over(item.key, scalarText(rename)));
    const [, keyEnd] = rangeOf(item.key);
    const [from, end] = rangeOf(item.value);
    if (item.value && end > from) splices.push(over(item.value, scalarText(coded(to))));
    else splices.push({ from: keyEnd + 1, to: keyEnd + 1, insert: ` ${scalarText(coded(to))}` });
  }
  if (added.length > 0) splices.push(additionTo(text, place, added));
  return spliced(text, splices);
}

function over(node: Node, insert: string): Splice {
  const [from, to] = rangeOf(node);
  return { from, to, insert };
}

function additionTo(text: string, place: Place, added: readonly string[]): Splice {
  const { entry, rows } = place;
  const map = rows?.value;
  const last = itemsIn(place).at(-1);
  if (!rows) return newRows(text, entry, added);
  if (!isMap(map) || !last) {
    // `rows:` is empty or `{}`.
    const [, keyEnd] = rangeOf(rows.key);
    const [, end] = rangeOf(map);
    const indent = `${lineIndent(text, keyEnd)}  `;
    const isFlow = entry.flow === true;
    const insert = isFlow ? ` { ${added.join(', ')} }` : `\n${added.map(row => indent + row).join('\n')}`;
    return { from: keyEnd + 1, to: Math.max(end, keyEnd + 1), insert };
  }
  const [lastFrom, at] = pairRange(last);
  if (map.flow !== true) {
    const indent = ' '.repeat(lastFrom - text.lastIndexOf('\n', lastFrom - 1) - 1);
    const found = text.indexOf('\n', at);
    const lineEnd = text[at - 1] === '\n' ? at - 1 : found < 0 ? text.length : found;
    return { from: lineEnd, to: lineEnd, insert: added.map(row => `\n${indent}${row}`).join('') };
  }
  const isAlone = text.slice(text.lastIndexOf('\n', lastFrom - 1) + 1, lastFrom).trim() === '';
  const indent = isAlone ? lineIndent(text, lastFrom) : `${lineIndent(text, lastFrom)}  `;
  let column = at - text.lastIndexOf('\n', at - 1);
  let insert = '';
  for (const row of added) {
    const breaks = isAlone || column + row.length + 4 > WIDTH;
    insert += breaks ? `,\n${indent}${row}` : `, ${row}`;
    column = breaks ? indent.length + row.length : column + row.length + 2;
  }
  return { from: at, to: at, insert };
}

/** Adds `rows` to a map that has none. */
function newRows(text: string, entry: YAMLMap<Scalar, Node>, added: readonly string[]): Splice {
  const last = entry.items.at(-1);
  if (!last) throw new CodeEditError('The code map is empty: write its system in the editor first');
  const [from, at] = pairRange(last);
  if (entry.flow === true) return { from: at, to: at, insert: `, rows: { ${added.join(', ')} }` };
  const indent = lineIndent(text, from);
  const found = text.indexOf('\n', at);
  const lineEnd = found < 0 ? text.length : found;
  const insert = `\n${indent}rows:${added.map(row => `\n${indent}  ${row}`).join('')}`;
  return { from: lineEnd, to: lineEnd, insert };
}

function lineIndent(text: string, at: number): string {
  const start = text.lastIndexOf('\n', at - 1) + 1;
  return /^ */.exec(text.slice(start))?.[0] ?? '';
}

function spliced(text: string, splices: readonly Splice[]): string {
  return splices
    .toSorted((a, b) => b.from - a.from)
    .reduce((rest, { from, to, insert }) => rest.slice(0, from) + insert + rest.slice(to), text);
}

/** Writes `alias#code Display`. */
function coded({ code, display = '', system }: CodeText): string {
  const own = system === undefined || code === 'absent' ? '' : `${system}#`;
  return `${own}${code}${display.trim() === '' || code === 'absent' ? '' : ` ${display.trim()}`}`;
}

/** Quotes a text if YAML, or a YAML reader with numbers and booleans, would misread it. */
function scalarText(text: string): string {
  const isPlain = /^[A-Za-z0-9][\w./%()+-]*(?: [\w./%()+-]+)*$/.test(text);
  const isOther = /^(?:null|true|false|yes|no|on|off|y|n|[\d.e+-]+|0x[\da-f]+)$/i.test(text);
  const isLetter = /^[YN]$/.test(text);
  return isPlain && (!isOther || isLetter) ? text : JSON.stringify(text);
}
