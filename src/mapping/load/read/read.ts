/**
 * Reads YAML. In: the text of a file. Out: one Tree per document with lines and columns. Every scalar stays text, so
 * that `Y`, `NO`, `01` and `null` mean themselves. Syntax errors, duplicate keys and anchors are reported.
 * https://yaml.org/spec/1.2.2/
 */
import { Composer, CST, type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, Parser } from 'yaml';
import type { Position } from '../../model.ts';
import type { Report } from '../problem.ts';
import { noBlank, syntaxWords } from './syntax-words.ts';
import { type Entry, scalar, type Tree } from './tree.ts';

/** Limits. A pack is written by hand, so deeper or larger files are no packs. */
const MAX_DEPTH = 40;
const MAX_CHARACTERS = 4_000_000;
const NULL = /^(?:null|~)$/i;

/** Reports a file that is too long to be read. */
export function isTooLong(file: string, text: string, report: Report): boolean {
  if (text.length <= MAX_CHARACTERS) return false;
  report.error('unreadable-file', { file, line: 1, column: 1 }, `file of more than ${MAX_CHARACTERS} characters`);
  return true;
}

/**
 * Reads all documents of a file. Leaves out a document with a syntax error and reports the first one, because others
 * mostly follow from it.
 */
export function readYaml(file: string, text: string, report: Report): readonly Tree[] {
  if (isTooLong(file, text, report)) return [];
  const lines = new LineCounter();
  const position = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const trees: Tree[] = [];
  const parsed = parseYaml(text, lines);
  if ('tooDeepAt' in parsed) {
    report.error('unreadable-file', position(parsed.tooDeepAt), `nested more than ${MAX_DEPTH} deep`);
    return [];
  }
  for (const document of parsed.documents) {
    const [error] = document.errors;
    if (error) {
      const { message, expected, offset } = syntaxWords(error, text, document.contents);
      report.error('unreadable-file', position(offset), message, expected === undefined ? {} : { expected });
    }
    if (document.errors.length > 0 || !document.contents) continue;
    const tree = convert(document.contents, position, report);
    if (tree) trees.push(tree);
  }
  return trees;
}

/**
 * Parses all documents of a text. Out: the documents, or the offset of the first node that is nested too deep. The
 * depth is counted before the documents are composed, because the composer is recursive: how deep it comes depends on
 * the stack that its caller left.
 */
export function parseYaml(
  text: string,
  lineCounter?: LineCounter,
): { readonly documents: readonly Document.Parsed[] } | { readonly tooDeepAt: number } {
  const tokens = [...new Parser(lineCounter?.addNewLine).parse(text)];
  const tooDeep = firstTooDeep(tokens);
  if (tooDeep) return { tooDeepAt: tooDeep.offset };
  // The parser's own check for duplicate keys is quadratic: 20,000 codes take ten seconds. So are its long messages, if
  // one line has many errors.
  const composer = new Composer({ schema: 'failsafe', uniqueKeys: false, prettyErrors: false });
  return { documents: [...composer.compose(tokens)] };
}

function firstTooDeep(tokens: readonly CST.Token[]): CST.Token | undefined {
  let level = tokens.flatMap(token => (token.type === 'document' && token.value ? [token.value] : []));
  for (let depth = 0; depth <= MAX_DEPTH; depth++) level = level.flatMap(nodesIn);
  return level[0];
}

function nodesIn(token: CST.Token): CST.Token[] {
  if (!CST.isCollection(token)) return [];
  return token.items.flatMap(({ key, value }) => [key, value].filter(node => node !== undefined && node !== null));
}

function convert(node: Node, position: (offset: number) => Position, report: Report): Tree | undefined {
  const at = position(node.range?.[0] ?? 0);
  if (isAlias(node) || ('anchor' in node && node.anchor !== undefined)) {
    report.error('unreadable-file', at, 'anchors and aliases are not part of the mapping language', {
      expected: '`insert:` of a fragment',
    });
    return undefined;
  }
  if (isScalar(node))
    return scalar(String(node.value ?? ''), at, node.type === 'PLAIN' && NULL.test(String(node.value)));
  if (isSeq<Node | null>(node)) {
    const items = node.items.map(item => (item ? convert(item, position, report) : scalar('', at)));
    return { kind: 'list', items: items.filter(item => item !== undefined), at };
  }
  if (!isMap<Node, Node | null>(node)) return undefined;
  const entries = new Map<string, Entry>();
  for (const { key, value } of node.items) {
    const keyAt = position(key.range?.[0] ?? 0);
    if (!isScalar(key)) report.error('unreadable-file', keyAt, 'key that is no text');
    else {
      const name = String(key.value);
      const before = entries.get(name);
      if (before) report.error('written-twice', keyAt, 'key written twice');
      // Keeps the first of two values that is not empty, because a missing value would cause more reports.
      if (before && !isEmpty(before.value)) continue;
      const glued = key.type === 'PLAIN' ? gluedIn(name, value) : undefined;
      if (glued) {
        report.error('unreadable-file', keyAt, noBlank(glued.key), { expected: `\`${glued.key}: …\`` });
        if (glued.value !== undefined)
          entries.set(glued.key, { key: glued.key, value: scalar(glued.value, keyAt), at: keyAt });
        continue;
      }
      const tree = value ? convert(value, position, report) : scalar('', keyAt);
      if (tree) entries.set(name, { key: name, value: tree, at: keyAt });
    }
  }
  return { kind: 'map', entries: [...entries.values()], at };
}

/**
 * Splits `from:COL` and `name:{ family`, which YAML reads as keys. `value` is undefined if it begins with a bracket.
 */
function gluedIn(name: string, value: Node | null): { readonly key: string; readonly value?: string } | undefined {
  const [, key, rest = ''] = /^([\w$-]+):(\S.*)$/s.exec(name) ?? [];
  if (key === undefined) return undefined;
  if (/^[{["']/.test(rest)) return { key };
  const isBare = value === null || (isScalar(value) && value.value === '');
  return isBare && !rest.includes(' ') ? { key, value: rest } : undefined;
}

function isEmpty(tree: Tree): boolean {
  return tree.kind === 'scalar' && tree.text === '';
}
