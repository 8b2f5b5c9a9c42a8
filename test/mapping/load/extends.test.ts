import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type LoadedPack, loadPackFiles } from '../../../src/mapping/load/pack/pack.ts';
import { partNamed } from '../../../src/mapping/load/pack/part-named.ts';
import { formatProblem } from '../../../src/mapping/load/problem.ts';
import { readPackFiles } from '../../../src/mapping/load/read/files.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { catalog } from './catalog.ts';
import { outline } from './outline.ts';
import { ACTIVE, ALLERGIES, HEAD, PEOPLE } from './problems-of.ts';

type Files = Readonly<Record<string, string>>;

const BASE: Files = {
  'base/pack.yaml': `name: base
title: Base
zone: UTC
schema: "4.1"
systems: { a: http://example.org/a, b: http://example.org/b }
deny: ["*.SSN"]
absent: { text: [N/A], columns: { PT.PHONE: ["0"] } }
lists: { gone: [X] }
fragments: { tel: { system: phone, value: { from: PHONE } }, name: { family: { from: LST_NM } } }
`,
  'base/people.yaml': `${PEOPLE}  name: { insert: name }\n  telecom: { insert: tel }\n  gender: { from: SEX, via: sex }\n`,
  'base/allergies.yaml': `${ALLERGIES}  patient: { ref: people, on: { PT_NO: PT_NO } }\n  code: { text: { from: ALG_TXT } }\n`,
  'base/codes.yaml': `sex:\n  rows: { M: male, F: female }\nseverity:\n  rows: { H: severe }\n`,
};
const SITE: Files = { ...BASE, 'site/pack.yaml': 'extends: ../base\ntitle: Site\n' };

/** Writes folders of packs side by side; removed when the test is over. */
function written(files: Files): string {
  const root = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

function load(files: Files, pack = 'site', schema?: string): LoadedPack {
  return loadPackFiles(readPackFiles(join(written(files), pack), schema), catalog);
}

const problemsOf = (files: Files, pack = 'site'): readonly string[] => load(files, pack).problems.map(formatProblem);

/** The root node of each mapping by name. */
function rootsOf(files: Files, pack = 'site', schema?: string): Readonly<Record<string, unknown>> {
  const { registry, problems } = load(files, pack, schema);
  expect(problems.map(formatProblem)).toEqual([]);
  return Object.fromEntries((registry?.mappings ?? []).map(({ name, root }) => [name, outline(root)]));
}

describe('a pack that extends another', () => {
  test('inherits everything, with a title of its own', () => {
    const { registry, problems } = load(SITE);
    expect(problems).toEqual([]);
    expect(registry?.pack).toMatchObject({ name: 'base', title: 'Site', zone: 'UTC' });
    expect(registry?.mappings.map(({ name }) => name).sort()).toEqual(['allergies', 'people']);
  });

  test('adds mappings, and overrides one of the same name', () => {
    const more = ACTIVE.replace('mapping: people', 'mapping: more').replace('{PT_NO}', 'm-{PT_NO}');
    expect(rootsOf({ ...SITE, 'site/people.yaml': ACTIVE, 'site/more.yaml': more })).toEqual({
      allergies: expect.anything(),
      people: { active: true },
      more: { active: true },
    });
  });

  test('changes a mapping by a patch, which needs no `only`', () => {
    const patch = 'mapping: people\npatch: { elements.gender: { const: other } }\n';
    expect(rootsOf({ ...SITE, 'site/patch.yaml': patch })['people']).toMatchObject({ gender: 'other' });
    expect(problemsOf({ ...SITE, 'site/p.yaml': patch, 'site/people.yaml': ACTIVE })[0]).toBe(
      'p.yaml:1:1: `patch` requires `only`; expected only: {schema: …}, or a mapping of the pack that `extends` names',
    );
  });

  test('a patch of the base pack is dropped with the mapping that it changes', () => {
    const patch = 'mapping: people\nonly: { schema: "4.1" }\npatch: { elements.gender: { const: other } }\n';
    const files = { ...SITE, 'base/patch.yaml': patch };
    expect(rootsOf(files)['people']).toMatchObject({ gender: 'other' });
    expect(rootsOf({ ...files, 'site/people.yaml': ACTIVE })['people']).toEqual({ active: true });
  });

  test('overrides fragments, systems and code maps of the same name', () => {
    const files = {
      ...SITE,
      'site/pack.yaml':
        'extends: ../base\nfragments: { name: { text: { from: LST_NM } } }\nsystems: { b: http://site.org/b }\n',
      'site/codes.yaml': 'sex:\n  rows: { M: male, X: other }\n',
    };
    const { registry, problems } = load(files);
    expect(problems).toEqual([]);
    expect(outline(registry?.mapping('people').root ?? raise())).toMatchObject({
      name: [{ text: 'p.LST_NM via text but N/A' }],
    });
    expect(registry?.pack.systems).toEqual({ a: 'http://example.org/a', b: 'http://site.org/b' });
    expect([...(registry?.codeMaps.find(({ name }) => name === 'sex')?.rows.keys() ?? [])]).toEqual(['M', 'X']);
  });

  test('adds to `deny` and to the rules for absent values', () => {
    const site = (text: string): Files => ({
      ...SITE,
      'site/pack.yaml': `extends: ../base\n${text}`,
      'site/m.yaml': ACTIVE.replace('people', 'more')
        .replace('"{PT_NO}"', '"m-{PT_NO}"')
        .replace('active: "true"', 'language: { from: SSN }'),
    });
    expect(problemsOf(site('deny: [PT.MRN]\n'))).toEqual([
      'm.yaml:6:21: column PT.SSN is denied by `*.SSN` and is never read',
    ]);
    const people = rootsOf({ ...SITE, 'site/pack.yaml': 'extends: ../base\nabsent: { text: [NONE] }\n' })['people'];
    expect(people).toMatchObject({ name: [{ family: 'p.LST_NM via text but N/A, NONE' }] });
  });

  test('keeps rows of a code map in a file of its own, or uses that of the base pack', () => {
    const csv = (rows: string): string => `raw,code\n${rows}\n`;
    const base = { ...SITE, 'base/codes.yaml': 'sex:\n  blank: unknown\n', 'base/sex.csv': csv('M,male') };
    const rows = (files: Files) => [...(load(files).registry?.codeMaps[0]?.rows.keys() ?? [])];
    expect(rows(base)).toEqual(['M']);
    expect(rows({ ...base, 'site/codes.yaml': 'sex:\n  blank: other\n' })).toEqual(['M']);
    expect(rows({ ...base, 'site/sex.csv': csv('F,female') })).toEqual(['F']);
    expect(rows({ ...base, 'site/codes.yaml': 'sex:\n  rows: { X: other }\n' })).toEqual(['X']);
    expect(rows({ ...SITE, 'site/sex.csv': csv('M,male') })).toEqual(['M']);
  });

  test('may be in a chain of several, in subfolders or sibling folders', () => {
    const files = {
      ...Object.fromEntries(
        Object.entries(BASE).map(([name, text]) => [name.replace('base/', 'site/core/base/'), text]),
      ),
      'site/core/pack.yaml': 'extends: base\ntitle: Core\n',
      'site/core/people.yaml': ACTIVE,
      'site/pack.yaml': 'extends: ./core\nschema: "4.2"\n',
      'site/patch.yaml': 'mapping: people\npatch: { elements.active: "false" }\n',
    };
    expect(rootsOf(files)).toEqual({ allergies: expect.anything(), people: { active: false } });
  });

  test('reports problems in their own file', () => {
    const files = { ...SITE, 'base/people.yaml': `${PEOPLE}  gendr: male\n` };
    expect(problemsOf(files)).toEqual([
      '../base/people.yaml:6:3: unknown element of Patient; found gendr; did you mean gender?',
    ]);
  });

  test('does not report unused parts of the base pack', () => {
    expect(problemsOf(SITE, 'base').map(one => one.replace(/^\S+ /, ''))).toEqual([
      'warning: code map severity is never used',
      'warning: list gone is never used',
    ]);
    expect(problemsOf(SITE)).toEqual([]);
  });

  test('changes its version with any file of the base pack', () => {
    const root = written(SITE);
    const versions = () => ['base', 'site'].map(pack => readPackFiles(join(root, pack)).version);
    const [base, site] = versions();
    writeFileSync(join(root, 'base/codes.yaml'), '# nothing\n');
    const after = versions();
    expect(after[0]).not.toBe(base);
    expect(after[1]).not.toBe(site);
  });

  test('has the tables of both', () => {
    const files = { ...SITE, 'site/m.yaml': ACTIVE.replace('dbo.PT', 'dbo.VIT') };
    expect(partNamed(readPackFiles(join(written(files), 'site'))).tables).toEqual(
      expect.arrayContaining(['pt', 'allrgy', 'vit']),
    );
  });
});

describe('an invalid `extends`', () => {
  const extending = (what: string): Files => ({ ...BASE, 'site/pack.yaml': `extends: ${what}\ntitle: Site\n` });

  test('to a missing pack is reported with the nearest name', () => {
    expect(problemsOf(extending('../bas'))).toEqual([
      'pack.yaml:1:10: no pack in the folder that `extends` names; expected a folder with a pack.yaml; found ../bas; did you mean ../base?',
    ]);
  });

  test.each(['../../base', '/base', '../base/../../x', '..', '', '.', '~/base', 'C:\\base'])(
    'that leaves the parent folder is reported: %s',
    what => {
      expect(problemsOf(extending(`'${what}'`))).toEqual([
        `pack.yaml:1:10: \`extends\` names no folder beside or below this one; expected \`../name\` or \`name\`; found ${what || 'nothing'}`,
      ]);
    },
  );

  test('that leaves the parent folder through a symbolic link is reported', () => {
    const away = written({ 'base/pack.yaml': 'name: away\n' });
    const root = written(extending('../link'));
    symlinkSync(join(away, 'base'), join(root, 'link'));
    const { registry, problems } = loadPackFiles(readPackFiles(join(root, 'site')), catalog);
    expect(registry).toBeUndefined();
    expect(problems.map(formatProblem)).toEqual([
      'pack.yaml:1:10: `extends` leaves the folder through a link; expected a folder that lies beside or below this one; found ../link',
    ]);
  });

  test('that forms a cycle is reported where the cycle closes', () => {
    expect(problemsOf(extending('../site'))).toEqual(['pack.yaml:1:10: a pack extends itself; found ../site']);
    expect(problemsOf({ ...SITE, 'base/pack.yaml': `extends: ../site\n${BASE['base/pack.yaml']}` })).toEqual([
      '../base/pack.yaml:1:10: a pack extends itself; found ../site',
    ]);
  });
});

describe('the version of the schema', () => {
  const document = (schema: string, gender: string): string =>
    `${HEAD}only: { schema: "${schema}" }\nelements: { gender: ${gender} }\n`;
  const files: Files = {
    'site/pack.yaml': 'name: site\ntitle: Site\nzone: UTC\nschema: "4.1"\n',
    'site/m.yaml': `${document('4.1', 'male')}---\n${document('4.2', 'female')}`,
  };

  test('is that of pack.yaml unless another is given', () => {
    expect(rootsOf(files)).toEqual({ people: { gender: 'male' } });
    expect(rootsOf(files, 'site', '4.2')).toEqual({ people: { gender: 'female' } });
    const root = join(written(files), 'site');
    expect(readPackFiles(root, '4.2').version).not.toBe(readPackFiles(root).version);
  });
});

function raise(): never {
  throw new Error('no such mapping');
}
