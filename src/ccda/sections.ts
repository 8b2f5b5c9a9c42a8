/**
 * The sections of C-CDA R2.1 that documents are made of: codes, templates, columns of their table, and how each entry is
 * added. ../shared/spec/interfaces.md section 4.4
 */
import { addProblem, PROBLEM_COLUMNS } from './entries/problem.ts';
import type { SectionDefinition } from './section.ts';

export const PROBLEMS: SectionDefinition = {
  key: 'problems',
  title: 'Problems',
  code: '11450-4',
  codeName: 'Problem list - Reported',
  templates: ['2.5', '2.5:2015-08-01', '2.5.1', '2.5.1:2015-08-01'],
  columns: PROBLEM_COLUMNS,
  async build(content, chart) {
    for (const condition of await chart.list('problems')) addProblem(condition, content);
  },
};
