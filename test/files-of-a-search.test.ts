/** Limits the number of files that a reader has to open to follow a search through the code. */
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { writeFixture } from './fixtures/built.ts';
import { temporaryFolder } from './temporary-folder.ts';

const MOST = 110;

test(`the first search of a server executes at most ${MOST} files of src`, async () => {
  const database = `${temporaryFolder()}/fixture.sqlite`;
  writeFixture(20, database);
  // In a process of its own, without other work. It shares the compile cache of `npm start`, which halves the loading.
  const { stdout } = await promisify(execFile)(process.execPath, ['test/bench/main.ts', 'files', database], {
    env: { ...process.env, NODE_COMPILE_CACHE: resolve('node_modules/.cache/lintel') },
  });
  const [, found = ''] = /^(\d+) files, /m.exec(stdout) ?? [];
  const cure = `\`npm run bench -- files\` lists them; join a file that is one idea with another, or keep it off the way`;
  expect(Number(found), `${found} files, at most ${MOST}. ${cure}`).toBeLessThanOrEqual(MOST);
  expect(Number(found), 'a count that is too small to be right').toBeGreaterThan(50);
});
