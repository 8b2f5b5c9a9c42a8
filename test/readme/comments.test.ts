/** Comments are read as prose: no line of one is longer than 120 characters. */
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const WIDTH = 120;

test('no line of a comment is longer than 120 characters', () => {
  const files = globSync('{src,test,fixtures,tools,bin}/**/*.{ts,tsx,mjs}');
  expect(files.length).toBeGreaterThan(1000);
  const long = files.flatMap(file =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        /^\s*(\/\*\*|\*|\/\/) /.test(line) && [...line].length > WIDTH ? [`${file}:${index + 1}`] : [],
      ),
  );
  expect(long, `comments longer than ${WIDTH} characters: wrap them`).toEqual([]);
});
