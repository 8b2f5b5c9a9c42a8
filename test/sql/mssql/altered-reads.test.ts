/** Catalog facts about columns and rows that a login reads altered (masked or filtered), from a scripted catalog. */
import { describe, expect, it } from 'vitest';
import { type Catalog, findColumn, findTable } from '../../../src/sql/catalog.ts';
import { readCatalog } from '../../../src/sql/mssql/catalog.ts';
import type { Row, Statement } from '../../../src/sql/plan.ts';
import { namesIn } from '../../../src/workbench/init/propose.ts';
import { tsqlProblems } from '../grammar/tsql-grammar.ts';

/** Rows of each catalog view, by the first view that a statement reads, and by its database. */
interface Scripted {
  readonly objects: readonly Row[];
  readonly columns: readonly Row[];
  readonly synonyms?: readonly Row[];
  readonly bases?: readonly Row[];
  readonly disguised?: readonly Row[];
  readonly computed?: readonly Row[];
  readonly behind?: readonly Row[];
  readonly policies?: readonly Row[];
  /** VIEW DEFINITION and UNMASK on the database, and whether the server has security policies. */
  readonly rights?: Row;
}

async function read(scripted: Scripted, tables: readonly string[], texts: string[] = []): Promise<Catalog> {
  const run = async ({ text, parameters }: Statement): Promise<readonly Row[]> => {
    texts.push(text);
    expect(tsqlProblems(text)).toEqual([]);
    const ids = new Set(parameters.map(({ value }) => value));
    const among = (rows: readonly Row[] = []): readonly Row[] =>
      parameters.length === 0 ? rows : rows.filter(([id]) => ids.has(Number(id)));
    if (text.includes('dm_exec_describe_first_result_set')) return among(scripted.behind);
    if (text.includes('.security_predicates')) {
      if (scripted.rights?.[2] === 0) throw new Error('no such view');
      return scripted.policies ?? [];
    }
    if (text.includes('AS may_view')) return [scripted.rights ?? [1, 0, 1]];
    if (text.includes('.computed_columns')) return among(scripted.computed);
    if (text.includes("'UNMASK'")) return among(scripted.disguised);
    if (text.includes('.synonyms')) return scripted.synonyms ?? [];
    if (text.includes('.indexes')) return [];
    if (text.includes('.columns AS c')) return among(scripted.columns);
    return text.includes('AS place') ? scripted.objects : (scripted.bases ?? []);
  };
  return await readCatalog(run, { tables });
}

const column = (id: number, name: string, type: string, flags: readonly number[] = []): Row => [
  ...[id, name, type, 8, 0, 0, 1, null, null],
  ...[...flags, 0, 0, 0].slice(0, 3),
];
const [MASKED, ENCRYPTED, COMPUTED] = [[1], [0, 1], [0, 0, 1]];

const PATIENT: Row = [1, 'PATIENT', 1, 'dbo', 0, 0];
const PATIENT_COLUMNS = [
  column(1, 'NO', 'int'),
  column(1, 'BORN', 'date', MASKED),
  column(1, 'SSN', 'varchar', ENCRYPTED),
  column(1, 'AGE', 'int', COMPUTED),
  column(1, 'WARD', 'varchar', COMPUTED),
];
const BORN: Row = [1, 'BORN', 0, 0, 'dbo', 'PATIENT', 1];
const SSN: Row = [1, 'SSN', 1, 0, 'dbo', 'PATIENT', 0];
const FORMULAS: readonly Row[] = [
  [1, 'AGE', '(datediff(year,[born],getdate()))'],
  [1, 'WARD', "('W'+[NO])"],
];
const patients: Scripted = {
  objects: [PATIENT],
  columns: PATIENT_COLUMNS,
  disguised: [BORN, SSN],
  computed: FORMULAS,
};

/** The unreadable columns of a table, with reasons. */
function denied(catalog: Catalog, table: string): Readonly<Record<string, string>> {
  const columns = [...(findTable(catalog, table)?.columns.values() ?? [])];
  return Object.fromEntries(
    columns.flatMap(({ name, denied: why }) => (typeof why === 'object' ? [[name, why.why]] : [])),
  );
}

const caveats = (catalog: Catalog, table: string): readonly string[] | undefined =>
  findTable(catalog, table)?.alteredReads?.map(({ why }) => why);

const IS_MASKED = 'is masked for the login (dynamic data masking)';
const IS_COMPUTED = 'is computed of a column that is masked for the login';
const IS_ENCRYPTED = 'is encrypted (Always Encrypted), and Lintel has no keys';

describe('a column', () => {
  it('with a mask, of one, or encrypted is not read', async () => {
    const catalog = await read(patients, ['PATIENT']);
    expect(denied(catalog, 'PATIENT')).toEqual({ BORN: IS_MASKED, AGE: IS_COMPUTED, SSN: IS_ENCRYPTED });
    expect(catalog.unseen).toBeUndefined();
  });

  it('with a mask is read if the login has UNMASK, and so are columns computed from it', async () => {
    const may = { ...patients, disguised: [[...BORN.slice(0, 3), 1, ...BORN.slice(4)], SSN] };
    expect(denied(await read(may, ['PATIENT']), 'PATIENT')).toEqual({ SSN: IS_ENCRYPTED });
  });

  it('is not read if the login cannot see what it is computed from', async () => {
    const hidden = { ...patients, computed: FORMULAS.map(([id, name]) => [id, name, null] as Row) };
    expect(Object.keys(denied(await read(hidden, ['PATIENT']), 'PATIENT'))).toEqual(['BORN', 'SSN', 'AGE', 'WARD']);
  });

  it('of a table without masks costs no statement of its own', async () => {
    const texts: string[] = [];
    await read({ objects: [PATIENT], columns: [column(1, 'NO', 'int')] }, ['PATIENT'], texts);
    expect(texts.filter(text => /UNMASK', c\.name|computed_columns|describe/.test(text))).toEqual([]);
  });
});

describe('a view', () => {
  const view: Row = [2, 'PERSON', 1, 'dbo', 1, 0];
  const persons: Scripted = {
    objects: [view],
    columns: [column(2, 'NO', 'int'), column(2, 'DOB', 'date'), column(2, 'NAM', 'varchar')],
    disguised: [BORN],
    behind: [
      [2, 'NO', 1, 'dbo', 'PATIENT', 'NO'],
      [2, 'DOB', 1, 'dbo', 'PATIENT', 'BORN'],
      [2, 'NAM', 0, null, null, null],
    ],
  };

  it('has the masks of the tables behind it, and names the columns for which they are unknown', async () => {
    const catalog = await read(persons, ['PERSON']);
    expect(denied(catalog, 'PERSON')).toEqual({ DOB: IS_MASKED });
    expect(catalog.unseen).toEqual([expect.stringContaining('What view dbo.PERSON reads for NAM is not known')]);
  });

  it('is reported if the server cannot describe its columns', async () => {
    const { unseen } = await read({ ...persons, behind: [] }, ['PERSON']);
    expect(unseen).toEqual([expect.stringContaining('What view dbo.PERSON reads for any column is not known')]);
  });

  it('is not looked into if nothing in the database is masked, encrypted or filtered', async () => {
    const texts: string[] = [];
    const { unseen } = await read({ ...persons, disguised: [] }, ['PERSON'], texts);
    expect(unseen).toBeUndefined();
    expect(texts.some(text => text.includes('describe'))).toBe(false);
  });

  it('has columns computed from masked ones of a table that no mapping names', async () => {
    const behind: readonly Row[] = [[2, 'NO', 1, 'dbo', 'PATIENT', 'AGE']];
    const catalog = await read({ ...persons, behind, computed: FORMULAS }, ['PERSON']);
    expect(denied(catalog, 'PERSON')).toEqual({ NO: IS_COMPUTED });
  });

  it('has period columns of temporal tables in UTC', async () => {
    const period = { disguised: [[1, 'SYS_FROM', 0, 0, 'dbo', 'PATIENT', 0]] as readonly Row[] };
    const columns = [column(2, 'UPD', 'datetime2'), column(2, 'SEEN', 'datetime2')];
    const behind: readonly Row[] = [
      [2, 'UPD', 1, 'dbo', 'PATIENT', 'SYS_FROM'],
      [2, 'SEEN', 0, null, null, null],
    ];
    const catalog = await read({ ...persons, ...period, columns, behind }, ['PERSON']);
    const table = findTable(catalog, 'PERSON');
    expect([...(table?.columns.values() ?? [])].map(({ declared }) => declared)).toEqual([
      'DATETIME2(0) UTC',
      'DATETIME2(0)',
    ]);
    expect(catalog.unseen).toBeUndefined();
  });

  it('has the policies of the tables behind it', async () => {
    const catalog = await read({ ...persons, disguised: [], policies: [[1, 'sec', 'Wards', 'dbo', 'PATIENT']] }, [
      'PERSON',
    ]);
    expect(caveats(catalog, 'PERSON')).toEqual([expect.stringContaining('security policy sec.Wards')]);
  });
});

describe('the rows of a table', () => {
  it('may be hidden by a security policy', async () => {
    const catalog = await read({ ...patients, policies: [[1, 'sec', 'Wards', 'dbo', 'PATIENT']] }, ['PATIENT']);
    expect(caveats(catalog, 'PATIENT')).toEqual([
      'has rows that security policy sec.Wards may hide from the login: searches and exports lack them',
    ]);
  });

  it('are former versions in the history of a temporal table', async () => {
    const objects: readonly Row[] = [[1, 'PATIENT', 1, 'dbo', 0, 1]];
    const catalog = await read({ ...patients, objects }, ['PATIENT']);
    expect(caveats(catalog, 'PATIENT')).toEqual(['is the history of a temporal table: its rows are former versions']);
    // `lintel init` proposes no mapping of this table.
    expect(namesIn(catalog, new Map()).tables).toEqual([]);
    expect(namesIn(await read(patients, ['PATIENT']), new Map()).tables).toHaveLength(1);
  });

  it('may be incomplete if the login lacks VIEW DEFINITION', async () => {
    const { unseen } = await read({ ...patients, rights: [0, 0, 1] }, ['PATIENT']);
    expect(unseen).toEqual([
      'Whether security policies hide rows from the login is not known: it lacks VIEW DEFINITION on the database.',
    ]);
  });

  it('are complete if the server has no security policies', async () => {
    const { unseen } = await read({ ...patients, rights: [0, 0, 0] }, ['PATIENT']);
    expect(unseen).toBeUndefined();
  });
});

it('a synonym has what its table in another database has', async () => {
  const texts: string[] = [];
  const catalog = await read(
    {
      objects: [],
      columns: PATIENT_COLUMNS,
      disguised: [BORN, SSN],
      computed: FORMULAS,
      synonyms: [['SYN', 1, 'dbo', null, "Lab]'s", 'dbo', 'PATIENT', 1]],
      bases: [[1, 'dbo', 'PATIENT', 0, 0]],
      policies: [[1, 'sec', 'Wards', 'dbo', 'PATIENT']],
    },
    ['SYN'],
    texts,
  );
  const table = findTable(catalog, 'SYN');
  expect(denied(catalog, 'SYN')).toEqual({ BORN: IS_MASKED, AGE: IS_COMPUTED, SSN: IS_ENCRYPTED });
  expect(table && findColumn(table, 'NO')?.denied).toBeUndefined();
  expect(caveats(catalog, 'SYN')).toHaveLength(1);
  const unmask = texts.find(text => text.includes("'UNMASK', c.name"));
  expect(unmask).toContain("HAS_PERMS_BY_NAME(N'[Lab]]''s].' + QUOTENAME(s.name) + '.' + QUOTENAME(o.name), 'OBJECT'");
  expect(unmask).toContain(
    "IN (HAS_PERMS_BY_NAME(N'Lab]''s', 'DATABASE', 'UNMASK'), HAS_PERMS_BY_NAME(QUOTENAME(N'Lab]''s'), 'DATABASE'",
  );
  expect(texts.some(text => text.includes("FROM [Lab]]'s].sys.security_predicates AS p"))).toBe(true);
});
