/** Reads the table of warnings in docs/ccds-documents.md. In: its text. Out: ids of the rules that it explains. */

export function explainedWarnings(markdown: string): ReadonlySet<string> {
  const table = markdown.slice(markdown.indexOf('## Warnings'));
  const rows = table.split('\n').filter(line => line.startsWith('| `'));
  return new Set(
    rows.flatMap(row => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(match => match[1] ?? '')),
  );
}
