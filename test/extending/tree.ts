/**
 * Copies the code, so that a test can add something as docs/extending.md describes. Out: the commands of the copy, and
 * the files that differ from the original, which stays unchanged.
 */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Outcome } from '../cli/lintel.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const COPIED = ['bin', 'src', 'tools', 'package.json'];

export interface Tree {
  readonly folder: string;
  /** Adds a file. Throws if it exists. */
  add(file: string, text: string): void;
  /** Replaces a text that occurs once in the file. */
  replace(file: string, old: string, text: string): void;
  /** Inserts a text before one that occurs once in the file. */
  insert(file: string, before: string, text: string): void;
  /** Runs a command of the copy in a separate process. */
  lintel(environment: Readonly<Record<string, string>>, ...argv: string[]): Promise<Outcome>;
  /** Runs a script of the copy, likewise. */
  run(environment: Readonly<Record<string, string>>, ...argv: string[]): Promise<Outcome>;
  /** Files that the original lacks, or that differ. */
  touched(): readonly string[];
}

/** Removed at the end of the test. */
export function copiedTree(): Tree {
  const folder = temporaryFolder();
  for (const name of COPIED) cpSync(name, join(folder, name), { recursive: true });
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  const run: Tree['run'] = (environment, ...argv) =>
    new Promise(done => {
      const env = { PATH: process.env['PATH'], ...environment };
      execFile(process.execPath, argv, { cwd: folder, env }, (error, out, notes) => {
        done({ code: error === null ? 0 : Number(error.code), out, notes });
      });
    });
  const replace: Tree['replace'] = (file, old, text) => {
    const path = join(folder, file);
    const parts = readFileSync(path, 'utf8').split(old);
    if (parts.length !== 2) throw new Error(`${file} has ${JSON.stringify(old)} ${parts.length - 1} times`);
    writeFileSync(path, parts.join(text));
  };
  return {
    folder,
    replace,
    insert: (file, before, text) => replace(file, before, text + before),
    add(file, text) {
      const path = join(folder, file);
      if (existsSync(path)) throw new Error(`${file} is there already`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    },
    run,
    lintel: (environment, ...argv) => run(environment, 'bin/lintel.mjs', ...argv),
    touched() {
      const files = globSync(['{bin,src,tools}/**/*.*', 'package.json'], { cwd: folder });
      return files.filter(file => !existsSync(file) || !isSame(file, join(folder, file))).toSorted();
    },
  };
}

function isSame(one: string, other: string): boolean {
  return readFileSync(one).equals(readFileSync(other));
}

/** The files listed below a heading of docs/extending.md; `<name>` and `*` stand for a part of a path. */
export function isListed(heading: string): (file: string) => boolean {
  const page = readFileSync('docs/extending.md', 'utf8');
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const rows = (section.split('\n## ')[0] ?? '').split('\n').filter(line => line.startsWith('| '));
  const names = rows.flatMap(row => [...(row.split(' | ')[0] ?? '').matchAll(/[\w<>*./-]+\/[\w<>*.-]+/g)].map(String));
  if (names.length === 0) throw new Error(`docs/extending.md lists no files below "${heading}"`);
  const forms = names.map(name => new RegExp(`^${name.replaceAll('.', '\\.').replaceAll(/<\w+>|\*/g, '[\\w-]+')}$`));
  return file => forms.some(form => form.test(file));
}
