/**
 * Formats XML for people, one element per line. In: XML without layout, as documents have it. Out: the same, indented;
 * an element that contains only text stays on its line.
 */
export function indentXml(xml: string): string {
  const lines: string[] = [];
  let depth = 0;
  /** True while the last line is an opened element with nothing but text in it. */
  let isOpen = false;
  const add = (text: string): void => {
    lines.push('  '.repeat(depth) + text);
  };
  for (const [piece] of xml.matchAll(/<[^>]+>|[^<]+/g)) {
    if (piece.startsWith('</')) {
      depth -= 1;
      if (isOpen) lines.push(`${lines.pop() ?? ''}${piece}`);
      else add(piece);
      isOpen = false;
    } else if (piece.startsWith('<')) {
      add(piece);
      isOpen = !piece.endsWith('/>');
      if (isOpen) depth += 1;
    } else if (piece.trim() !== '') {
      if (isOpen) lines.push(`${lines.pop() ?? ''}${piece.trim()}`);
      else add(piece.trim());
    }
  }
  return lines.join('\n');
}
