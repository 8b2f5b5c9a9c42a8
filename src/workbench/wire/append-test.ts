/** Appends a test to the text of a test file, as a document of its own. The existing text stays unchanged. */
export function withTest(before: string | undefined, test: string): string {
  if (before === undefined || before.trim() === '') return test;
  const whole = before.endsWith('\n') ? before : `${before}\n`;
  return `${whole}${/(?:^|\n)---\s*$/.test(whole) ? '' : '---\n'}${test}`;
}
