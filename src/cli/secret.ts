/**
 * Reads a secret: typed without echo on a terminal, else the first line of standard input.
 */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** Resolves to the line without its line break; empty at the end of the input. */
export async function readSecret(prompt: string): Promise<string> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY) {
    for await (const line of createInterface({ input: stdin })) return line;
    return '';
  }
  stderr.write(prompt);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: silent, terminal: true });
  try {
    return await lines.question('');
  } finally {
    lines.close();
    stderr.write('\n');
  }
}
