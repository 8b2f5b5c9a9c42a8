/** Checks tables and links of the README and of docs/ against their subjects. */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { LISTS } from '../../src/ccda/lists.ts';
import { ENCOUNTER_TOPIC, TOPICS } from '../../src/ccda/topics.ts';
import { CODECS, TEXT_STEPS } from '../../src/mapping/codecs/table.ts';
import { MODIFIERS } from '../../src/search/query.ts';
import { MODIFIER_MEANINGS } from '../../src/workbench/wire/search-text.ts';
import { lintel } from '../cli/lintel.ts';
import { codecTable, kindTable } from './codec-table.ts';

const README = readFileSync('README.md', 'utf8');

test('the README fits on two screens', () => {
  expect(Buffer.byteLength(README)).toBeLessThan(10_000);
});

test('the page of dependencies lists exactly the dependencies', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    dependencies: Record<string, string>;
    devDependencies: Record<string, string>;
  };
  const told = readFileSync('docs/dependencies.md', 'utf8')
    .split('\n')
    .filter(line => line.startsWith('| `'))
    .flatMap(line => {
      const [, cell = ''] = line.split('|');
      return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => `${name}${cell.includes('(dev)') ? ' dev' : ''}`);
    });
  const expected = [...Object.keys(dependencies), ...Object.keys(devDependencies).map(name => `${name} dev`)];
  expect(told.toSorted()).toEqual(expected.toSorted());
});

test.each(['mssql', 'sqlite'] as const)('the table of codecs in the reference agrees with the code for %s', engine => {
  const page = readFileSync('docs/mapping-language.md', 'utf8');
  const table = codecTable(engine);
  const lines = page.split('\n');
  const lacking = table.split('\n').filter(line => !lines.includes(line));
  expect(lacking, 'rows that docs/mapping-language.md lacks; `npm run codecs` prints the tables').toEqual([]);
  expect(page.includes(table), 'the rows stand together, in the order that `npm run codecs` prints').toBe(true);
});

test('the reference lists the declared types of each engine by kind', () => {
  expect(readFileSync('docs/mapping-language.md', 'utf8')).toContain(kindTable());
});

test.each([...Object.entries(CODECS), ...Object.entries(TEXT_STEPS)])(
  'the reference describes %s and each of its options',
  (name, { options }) => {
    const [, section = ''] = readFileSync('docs/mapping-language.md', 'utf8').split('\n| codec | meaning |\n');
    const [table = ''] = section.split('\n\n');
    // `name`, `name.facet`, or {name: options}.
    const rows = table.split('\n').filter(line => new RegExp(`[\`{ ]${name}[\`.:]`).test(line));
    expect(rows.length, `rows of \`${name}\` below "| codec | meaning |" in docs/mapping-language.md`).toBeGreaterThan(
      0,
    );
    for (const word of wordsOf(z.toJSONSchema(options, { unrepresentable: 'any', io: 'input' })))
      expect(rows.join('\n'), `option \`${word}\` of \`${name}\` below "| codec | meaning |"`).toContain(word);
  },
);

/** Names and values of options, from their JSON Schema. */
function wordsOf(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]: [string, unknown]) => {
    if (key === 'enum' && Array.isArray(value)) return value.map(String);
    if (key === 'properties' && typeof value === 'object' && value !== null)
      return [...Object.keys(value), ...Object.values(value).flatMap(wordsOf)];
    return wordsOf(value);
  });
}

test('the page of interfaces, and the completion of the workbench, have each modifier', () => {
  const [, list = ''] = /modifiers ([^|]*) \|/.exec(readFileSync('docs/interfaces.md', 'utf8')) ?? [];
  const told = [...list.matchAll(/`:([a-z-]+)`/g)].map(([, name]) => name);
  expect(told.toSorted(), '`modifiers …` of docs/interfaces.md').toEqual([...MODIFIERS, 'missing'].toSorted());
  expect(Object.keys(MODIFIER_MEANINGS).toSorted(), 'src/workbench/wire/search-text.ts').toEqual(told.toSorted());
});

test('the reference names the lists of ccds.yaml with their types', () => {
  const told = [...readFileSync('docs/mapping-language.md', 'utf8').matchAll(/^- `([a-z-]+)`: (\w+)$/gm)];
  expect(Object.fromEntries(told.map(([, name = '', type]) => [name, type]))).toEqual(
    Object.fromEntries(Object.entries(LISTS).map(([name, { type }]) => [name, type])),
  );
});

test('the changelog has the groups of Keep a Changelog, once each in a version, and bullets of a few lines', () => {
  const [, ...versions] = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m);
  const groups = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];
  for (const version of versions) {
    const found = [...version.matchAll(/^### (.*)$/gm)].map(([, group = '']) => group);
    expect(found).toEqual(groups.filter(group => found.includes(group)));
    expect(version.split('\n').length, 'lines of a version, which are short bullets').toBeLessThan(300);
    const bullets = version.match(/^- .*(?:\n {2}.*)*/gm) ?? [];
    expect(bullets.filter(bullet => bullet.split('\n').length > 4)).toEqual([]);
  }
});

test('the page of documents has each topic', () => {
  const [, table = ''] = readFileSync('docs/ccds-documents.md', 'utf8').split('\n| topic | section | entries |\n');
  const told = [...(table.split('\n\n')[0] ?? '').matchAll(/^\| ([^|]*) \|/gm)].flatMap(([, cell = '']) => [
    ...cell.matchAll(/`([a-z-]+)`/g).map(([, name]) => name),
  ]);
  expect(told.toSorted(), 'topics of docs/ccds-documents.md').toEqual(
    [...TOPICS, ENCOUNTER_TOPIC].map(({ name }) => name).toSorted(),
  );
});

const PAGES = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', ...globSync('docs/**/*.md')];

/** Anchors of the headings of a page, as GitHub makes them. */
function anchorsOf(page: string): readonly string[] {
  const text = readFileSync(page, 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('the page of the architecture has each folder and file of src', () => {
  const page = readFileSync('docs/architecture.md', 'utf8');
  const parts = readdirSync('src', { withFileTypes: true }).map(one => (one.isDirectory() ? `${one.name}/` : one.name));
  const lacking = parts.filter(part => !page.includes(`\`${part}\``));
  expect(lacking, 'give them a row in the table of docs/architecture.md').toEqual([]);
});

test('links between pages lead to existing files and headings', () => {
  const broken = PAGES.flatMap(page =>
    [...readFileSync(page, 'utf8').matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?[^)]*\)/g)].flatMap(
      ([link, target = '', anchor]) => {
        const path = target === '' ? page : join(dirname(page), target);
        if (!existsSync(path)) return [`${page}: ${link}`];
        const leads = anchor === undefined || !path.endsWith('.md') || anchorsOf(path).includes(anchor);
        return leads ? [] : [`${page}: ${link}`];
      },
    ),
  );
  expect(broken).toEqual([]);
});

test('every page can be reached by links from the README', () => {
  const reached = new Set(['README.md']);
  for (const page of reached) {
    for (const [, target = ''] of readFileSync(page, 'utf8').matchAll(/\]\((?!https?:)([^)#\s]+)/g)) {
      const path = join(dirname(page), target);
      if (path.endsWith('.md') && existsSync(path)) reached.add(path);
    }
  }
  expect(PAGES.filter(page => !reached.has(page))).toEqual([]);
});

test('files of src, test and tools in pages and comments exist', () => {
  const texts = [...PAGES, ...globSync('src/**/*.ts')];
  const named = texts.flatMap(file =>
    [...readFileSync(file, 'utf8').matchAll(/\b(?:src|test|tools)\/[\w./-]*\w\.(?:tsx?|json)\b/g)].map(([path]) => ({
      file,
      path,
    })),
  );
  expect(named.length).toBeGreaterThan(200);
  expect(named.filter(({ path }) => !existsSync(path))).toEqual([]);
});

test('file names without a folder in comments and pages exist', () => {
  const there = new Set(globSync('{src,test,tools,fixtures,bin}/**/*.{ts,tsx,mjs}').map(file => basename(file)));
  const prose = (file: string): string => {
    const text = readFileSync(file, 'utf8');
    return file.endsWith('.md') ? text : [...text.matchAll(/^\s*(?:\/\*\*|\*|\/\/) .*/gm)].join('\n');
  };
  const gone = [...PAGES, ...globSync('{src,test,tools}/**/*.{ts,tsx}')].flatMap(file =>
    [...prose(file).matchAll(/(?<![\w./-])[a-z][\w-]*\.(?:tsx?|mjs)\b/g)].flatMap(([name]) =>
      there.has(name) ? [] : [`${file}: ${name}`],
    ),
  );
  expect(gone).toEqual([]);
});

test('the index of decisions has each decision once, by its title', () => {
  const index = readFileSync('docs/decisions/README.md', 'utf8');
  const listed = [...index.matchAll(/^\| \[(\d+)\]\((\S+)\) \| (.*) \|$/gm)].map(
    ([, number, file, title]) => `${file}: # ${number}. ${title}`,
  );
  const written = globSync('docs/decisions/[0-9]*.md').map(file => {
    const [title] = readFileSync(file, 'utf8').split('\n');
    return `${basename(file)}: ${title}`;
  });
  expect(listed.toSorted()).toEqual(written.toSorted());
  const numbers = written.map(one => Number(/^\d{4}/.exec(one)?.[0]));
  expect(written.map(one => Number(/: # (\d+)\./.exec(one)?.[1]))).toEqual(numbers);
  expect(
    numbers.filter((number, i) => numbers.indexOf(number) !== i),
    'numbers of two decisions',
  ).toEqual([]);
});

test('every command of Lintel in a page exists', async () => {
  const text = PAGES.filter(page => !page.includes('decisions')).map(page => readFileSync(page, 'utf8'));
  const named = new Set(text.flatMap(page => [...page.matchAll(/npx lintel ([a-z]+)/g)].map(([, name = '']) => name)));
  expect(named.size).toBeGreaterThan(10);
  const { out } = await lintel({}, '--help');
  expect([...named].filter(name => !new RegExp(`^ +(lintel )?${name}\\b`, 'm').test(out))).toEqual([]);
});

test('the page of commands has every command of --help', async () => {
  const page = readFileSync('docs/command-line.md', 'utf8');
  const { out } = await lintel({}, '--help');
  const [, list = ''] = out.split('Commands:\n');
  const commands = [...list.matchAll(/^ {2}([a-z]+) /gm)].map(([, name = '']) => name);
  expect(commands.length).toBeGreaterThan(15);
  expect(commands.filter(name => !new RegExp(`^\\| \`npx lintel ${name}\\b`, 'm').test(page))).toEqual([]);
});

test('every npm command in a page exists', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const text = PAGES.filter(page => !page.includes('decisions')).map(page => readFileSync(page, 'utf8'));
  const named = text.flatMap(page => [...page.matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name));
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter(name => !Object.hasOwn(scripts, name))).toEqual([]);
});

test('metrics that pages name are those of the server', () => {
  const code = globSync('src/**/*.ts')
    .map(file => readFileSync(file, 'utf8'))
    .join('\n');
  const named = globSync('docs/*.md').flatMap(page =>
    [...readFileSync(page, 'utf8').matchAll(/\blintel_[a-z_]+[a-z]\b(?=[{[`" )])/g)].map(([name]) => name),
  );
  expect(named.length).toBeGreaterThan(10);
  const unknown = [...new Set(named)].filter(name => {
    const base = name.replace(/_(count|sum|bucket)$/, '');
    return name !== 'lintel_reader' && !code.includes(`'${base}'`);
  });
  expect(unknown).toEqual([]);
});
