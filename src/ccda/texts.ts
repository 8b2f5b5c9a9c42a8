/**
 * Keeps the texts of a document until it is sent. In: text by text. Out: the same texts in order; they can be read
 * repeatedly. Full blocks are compressed in memory, because the XML is many times larger than its content.
 */
import { createHash } from 'node:crypto';
import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';

/** Characters per block. Most sections are smaller and are never compressed. */
const BLOCK = 256 * 1024;

export interface Texts extends Iterable<string> {
  readonly count: number;
  add(text: string): void;
  /** Returns a hash of all texts so far. */
  digest(): string;
}

export function keepTexts(): Texts {
  const blocks: Buffer[] = [];
  const hash = createHash('sha256');
  let open: string[] = [];
  let size = 0;
  let count = 0;
  return {
    get count() {
      return count;
    },
    add(text) {
      count++;
      hash.update(text).update('\n');
      open.push(text);
      size += text.length;
      if (size < BLOCK) return;
      blocks.push(deflateRawSync(open.join(''), { level: constants.Z_BEST_SPEED }));
      open = [];
      size = 0;
    },
    digest: () => hash.copy().digest('hex'),
    *[Symbol.iterator]() {
      for (const block of blocks) yield inflateRawSync(block).toString('utf8');
      yield* open;
    },
  };
}

/** Yields texts as UTF-8, in buffers of at least `bytes`; a longer text is a buffer by itself. */
export function* inBuffers(texts: Iterable<string>, bytes: number): Generator<Buffer<ArrayBuffer>> {
  let open: string[] = [];
  let size = 0;
  for (const text of texts) {
    open.push(text);
    size += text.length;
    if (size < bytes) continue;
    yield Buffer.from(open.join(''), 'utf8');
    open = [];
    size = 0;
  }
  if (open.length > 0) yield Buffer.from(open.join(''), 'utf8');
}
