/** Damages a file of state in various ways. In: its path. */
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';

export const DAMAGES: Readonly<Record<string, (file: string) => void>> = {
  empty: file => writeFileSync(file, ''),
  'cut off': file => writeFileSync(file, readFileSync(file).subarray(0, statSync(file).size / 2)),
  null: file => writeFileSync(file, 'null'),
  'of another version': file => writeFileSync(file, '{"version":99}'),
  'no text': file => writeFileSync(file, Buffer.from([0, 255, 254, 0, 200, 10, 0])),
  'a folder': file => {
    rmSync(file);
    mkdirSync(file);
  },
};
