/**
 * Makes the plan of a search over the demo pack, in the form of cases.json. In: a request. Out: its statements with SQL
 * wrapped into lines, and their parameters, adjacent ones of one type on one line.
 */
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import { type ExplainedStatement, explainSearch } from '../../src/explain/search.ts';
import { parameterLines, sqlLines } from '../../src/explain/sql-text.ts';
import type { SearchRequest } from '../../src/facade.ts';
import { MSSQL } from '../../src/sql/mssql/dialect.ts';
import type { Statement } from '../../src/sql/plan.ts';
import { SQLITE } from '../../src/sql/sqlite/dialect.ts';
import { renderedBy } from '../../src/sql/statement.ts';
import { type Demo, openDemo } from '../law/demo.ts';
import { NOW } from '../law/law.ts';
import type { Asked } from './requests.ts';

export interface Case {
  readonly title: string;
  readonly request: string;
  readonly page?: 2;
  readonly ran?: true;
  readonly statements: readonly CaseStatement[];
}

export interface CaseStatement {
  readonly purpose: string;
  readonly sqlite: readonly string[];
  readonly mssql: readonly string[];
  /** Name or range of names, type in SQL Server's spelling, values; the values are the same for both engines. */
  readonly parameters: readonly string[];
}

export interface Planned extends Case {
  /** The T-SQL texts as they would be sent. */
  readonly mssqlTexts: readonly string[];
}

export interface PlannedDemo extends Demo {
  /** The statements sent since the last call. */
  sent(): readonly Explained[];
}

const CONTEXT = { access: OPEN_ACCESS, base: 'http://localhost/fhir', handling: 'strict' } as const;

export async function openPlannedDemo(): Promise<PlannedDemo> {
  const sent: Explained[] = [];
  const [sqlite, mssql] = [renderedBy(SQLITE), renderedBy(MSSQL)];
  const demo = await openDemo({
    patients: 4,
    onQuery: (plan, placeholders, now) =>
      sent.push({
        purpose: `${plan.shape} of ${plan.from.table.name}`,
        sqlite: sqlite(plan, placeholders, now),
        mssql: mssql(plan, placeholders, now),
      }),
  });
  return { ...demo, sent: () => sent.splice(0) };
}

export async function planOf(asked: Asked, demo: PlannedDemo): Promise<Planned> {
  const statements = await (asked.ran ? statementsSent(asked, demo) : statementsExplained(asked, demo));
  return {
    ...asked,
    statements: statements.map(({ purpose, sqlite, mssql }) => ({
      purpose,
      sqlite: sqlLines(sqlite),
      mssql: sqlLines(mssql),
      parameters: parameterLines('mssql', mssql.parameters, true),
    })),
    mssqlTexts: statements.map(({ mssql }) => mssql.text),
  };
}

interface Explained {
  readonly purpose: string;
  readonly sqlite: Statement;
  readonly mssql: Statement;
}

function inEach({ purpose, rendered }: ExplainedStatement): Explained {
  const of = (name: string): Statement => {
    const found = rendered.find(({ engine }) => engine === name);
    if (!found) throw new Error(`no statement of ${name}`);
    return found;
  };
  return { purpose, sqlite: of('sqlite'), mssql: of('mssql') };
}

async function statementsExplained(asked: Asked, { facade, database }: Demo): Promise<readonly Explained[]> {
  const request = requestOf(asked);
  if (asked.page === undefined)
    return (await explainSearch(facade, database, request, { now: NOW, handling: 'strict' })).statements.map(inEach);
  const { json } = await facade.search(request, CONTEXT);
  const { link }: { readonly link: readonly { readonly relation: string; readonly url: string }[] } = JSON.parse(json);
  const next = link.find(({ relation }) => relation === 'next');
  if (!next) throw new Error(`${asked.title}: there is no second page`);
  const parameters = [...new URL(next.url).searchParams];
  const explained = await explainSearch(facade, database, { ...request, parameters }, { now: NOW, handling: 'strict' });
  return explained.statements.map(inEach);
}

async function statementsSent(asked: Asked, { facade, sent }: PlannedDemo): Promise<readonly Explained[]> {
  sent();
  await facade.search(requestOf(asked), CONTEXT);
  return sent();
}

function requestOf({ request }: Asked): SearchRequest {
  const [type = '', query = ''] = request.split('?');
  return { type, parameters: [...new URLSearchParams(query)] };
}
