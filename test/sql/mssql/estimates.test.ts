/**
 * SQL Server's estimates for a statement and for missing indexes, from a plan in the published showplan schema.
 * https://schemas.microsoft.com/sqlserver/2004/07/showplan/
 */
import { expect, test } from 'vitest';
import { isCostLine, speaksOf } from '../../../src/sql/missing-index.ts';
import { estimatesIn } from '../../../src/sql/mssql/explain.ts';
import { openScripted, planOf } from './open.ts';

const column = (name: string, id: number): string => `<Column Name="[${name}]" ColumnId="${id}"/>`;
const PLAN = `<ShowPlanXML xmlns="http://schemas.microsoft.com/sqlserver/2004/07/showplan" Version="1.564" Build="16.0.4085.2">
 <BatchSequence><Batch><Statements>
  <StmtSimple StatementText="SELECT TOP (@p1) a.PID FROM dbo.PATIENT AS a WHERE a.LST_NM &lt;= @p0" StatementId="1" StatementType="SELECT"
    StatementSubTreeCost="3.21472" StatementEstRows="37.2" StatementOptmLevel="FULL">
   <QueryPlan CachedPlanSize="32" CompileTime="4" CompileCPU="4" CompileMemory="320">
    <MissingIndexes>
     <MissingIndexGroup Impact="41.2">
      <MissingIndex Database="[ehr]" Schema="[dbo]" Table="[VISIT]">
       <ColumnGroup Usage="EQUALITY">${column('PID', 2)}</ColumnGroup>
      </MissingIndex>
     </MissingIndexGroup>
     <MissingIndexGroup Impact="97.3056">
      <MissingIndex Database="[ehr]" Schema="[dbo]" Table="[PATIENT]">
       <ColumnGroup Usage="EQUALITY">${column('LST_NM', 3)}</ColumnGroup>
       <ColumnGroup Usage="INEQUALITY">${column('DOB', 5)}</ColumnGroup>
       <ColumnGroup Usage="INCLUDE">${column('FST_NM', 4)}${column('SEX', 6)}</ColumnGroup>
      </MissingIndex>
     </MissingIndexGroup>
    </MissingIndexes>
    <RelOp NodeId="0" PhysicalOp="Clustered Index Scan" LogicalOp="Clustered Index Scan" EstimatedTotalSubtreeCost="3.21472"/>
   </QueryPlan>
  </StmtSimple>
 </Statements></Batch></BatchSequence>
</ShowPlanXML>`;
const LINES = [
  'estimated cost 3.21472',
  'missing index on dbo.PATIENT (LST_NM, DOB) with FST_NM, SEX beside: would save 97.3056 % of the estimated cost',
  'missing index on dbo.VISIT (PID): would save 41.2 % of the estimated cost',
];

test('cost and missing indexes are reported, the most useful first', () => {
  expect(estimatesIn(PLAN)).toEqual(LINES);
  expect(estimatesIn('')).toEqual([]);
  expect(estimatesIn('<ShowPlanXML><a b="c"/></ShowPlanXML>')).toEqual([]);
  const deep = `${'<RelOp>'.repeat(500)}<MissingIndexGroup Impact="1">${'</MissingIndexGroup>'}${'</RelOp>'.repeat(500)}`;
  expect(estimatesIn(deep)).toEqual([]);
});

test('a line is assigned to its own index only', () => {
  const [cost = '', patient = ''] = LINES;
  expect([isCostLine(cost), isCostLine(patient)]).toEqual([true, false]);
  expect(speaksOf(patient, 'PATIENT', ['lst_nm', 'DOB'])).toBe(true);
  expect(speaksOf(patient, 'dbo.PATIENT', ['LST_NM'])).toBe(true);
  expect(speaksOf(patient, 'PATIENT', ['FST_NM'])).toBe(false);
  expect(speaksOf(patient, 'VISIT', ['LST_NM'])).toBe(false);
  expect(speaksOf(cost, 'PATIENT', ['LST_NM'])).toBe(false);
});

test('the server is asked for the text of the plan and then for its XML, and executes nothing', async () => {
  let setting = '';
  const batches: string[] = [];
  const { database } = await openScripted(({ kind, text }) => {
    if (kind !== 'batch' || !/SHOWPLAN|SELECT/.test(text)) return undefined;
    batches.push(text.replace(/^[\s\S]*SELECT[\s\S]*$/, 'statement'));
    if (/^SET/.test(text)) setting = text;
    if (/^SET/.test(text)) return undefined;
    if (/XML ON/.test(setting)) return { columns: [{ name: 'x', type: 'nvarchar' }], rows: [[PLAN]] };
    return undefined;
  });
  const lines = await database.explain(planOf());
  expect(batches).toEqual([
    ...['SET SHOWPLAN_TEXT ON', 'statement', 'SET SHOWPLAN_TEXT OFF', 'SET SHOWPLAN_XML ON', 'statement'],
  ]);
  expect(lines.slice(-3)).toEqual(LINES);
});
