/** Checks that no line of a comment or a page is longer than 120 characters. */
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

test('no line of prose in a page is longer than 120 characters', () => {
  const long = globSync('{*.md,docs/**/*.md}').flatMap(page => {
    let isCode = false;
    return readFileSync(page, 'utf8')
      .split('\n')
      .flatMap((line, index) => {
        if (line.startsWith('```')) isCode = !isCode;
        const isProse = !isCode && !/^(?:```|\||#|!\[)/.test(line) && line.includes(' ');
        return isProse && [...line].length > WIDTH ? [`${page}:${index + 1}`] : [];
      });
  });
  expect(long, `lines longer than ${WIDTH} characters: wrap them`).toEqual([]);
});
