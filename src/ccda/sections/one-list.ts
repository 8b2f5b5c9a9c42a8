/**
 * Defines the sections of C-CDA R2.1 that show one list of the record: codes, templates, columns, and the function
 * that adds an entry. docs/ccds-documents.md
 */
import { ALLERGY_COLUMNS, addAllergy } from '../entries/allergy.ts';
import { addCareTeam, CARE_TEAM_COLUMNS } from '../entries/care-team.ts';
import { addCoverage, COVERAGE_COLUMNS } from '../entries/coverage.ts';
import { addGoal, GOAL_COLUMNS } from '../entries/goal.ts';
import { addHealthConcern } from '../entries/health-concern.ts';
import { addImmunization, IMMUNIZATION_COLUMNS } from '../entries/immunization.ts';
import { addMedication, MEDICATION_COLUMNS } from '../entries/medication.ts';
import { ASSESSMENT_COLUMNS, addAssessment } from '../entries/plan.ts';
import { addPastProblem, addProblem, PROBLEM_COLUMNS } from '../entries/problem.ts';
import { addProcedure, PROCEDURE_COLUMNS } from '../entries/procedure.ts';
import type { ListName, ListTypes } from '../lists.ts';
import type { SectionDefinition, SectionWriter } from '../section.ts';

/** Returns a `build` function that adds each resource of a list. */
export function eachOf<N extends ListName>(
  name: N,
  add: (resource: ListTypes[N], content: SectionWriter) => void,
): SectionDefinition['build'] {
  return async (content, chart) => {
    for (const resource of await chart.list(name)) {
      add(resource, content);
      const due = chart.pause();
      if (due) await due;
    }
  };
}

export const ALLERGIES: SectionDefinition = {
  key: 'allergies',
  title: 'Allergies and Intolerances',
  code: '48765-2',
  codeName: 'Allergies and adverse reactions Document',
  templates: ['2.6.1', '2.6.1:2015-08-01', '2.6', '2.6:2015-08-01'],
  columns: ALLERGY_COLUMNS,
  entriesRequired: true,
  build: eachOf('allergies', addAllergy),
};

export const MEDICATIONS: SectionDefinition = {
  key: 'medications',
  title: 'Medications',
  code: '10160-0',
  codeName: 'History of Medication use Narrative',
  templates: ['2.1.1', '2.1.1:2014-06-09', '2.1', '2.1:2014-06-09'],
  columns: MEDICATION_COLUMNS,
  entriesRequired: true,
  build: eachOf('medications', addMedication),
};

export const PROBLEMS: SectionDefinition = {
  key: 'problems',
  title: 'Problems',
  code: '11450-4',
  codeName: 'Problem list - Reported',
  templates: ['2.5.1', '2.5.1:2015-08-01', '2.5', '2.5:2015-08-01'],
  columns: PROBLEM_COLUMNS,
  entriesRequired: true,
  build: eachOf('problems', addProblem),
};

export const PROCEDURES: SectionDefinition = {
  key: 'procedures',
  title: 'Procedures',
  code: '47519-4',
  codeName: 'History of Procedures Document',
  templates: ['2.7.1', '2.7.1:2014-06-09', '2.7', '2.7:2014-06-09'],
  columns: PROCEDURE_COLUMNS,
  entriesRequired: true,
  build: eachOf('procedures', addProcedure),
};

export const IMMUNIZATIONS: SectionDefinition = {
  key: 'immunizations',
  title: 'Immunizations',
  code: '11369-6',
  codeName: 'History of Immunization Narrative',
  templates: ['2.2.1', '2.2.1:2015-08-01', '2.2', '2.2:2015-08-01'],
  columns: IMMUNIZATION_COLUMNS,
  entriesRequired: true,
  build: eachOf('immunizations', addImmunization),
};

export const ASSESSMENTS: SectionDefinition = {
  key: 'assessments',
  title: 'Assessments',
  code: '51848-0',
  codeName: 'Evaluation note',
  templates: ['2.8'],
  columns: ASSESSMENT_COLUMNS,
  narrativeOnly: true,
  build: eachOf('care-plans', addAssessment),
};

export const GOALS: SectionDefinition = {
  key: 'goals',
  title: 'Goals',
  code: '61146-7',
  codeName: 'Goals Narrative',
  templates: ['2.60'],
  columns: GOAL_COLUMNS,
  entriesRequired: true,
  build: eachOf('goals', addGoal),
};

export const HEALTH_CONCERNS: SectionDefinition = {
  key: 'health-concerns',
  title: 'Health Concerns',
  code: '75310-3',
  codeName: 'Health concerns Document',
  templates: ['2.58:2015-08-01'],
  columns: PROBLEM_COLUMNS,
  entriesRequired: true,
  build: eachOf('health-concerns', addHealthConcern),
};

export const CARE_TEAMS: SectionDefinition = {
  key: 'care-teams',
  title: 'Care Teams',
  code: '85847-2',
  codeName: 'Patient Care team information',
  templates: ['2.500:2022-06-01'],
  columns: CARE_TEAM_COLUMNS,
  entriesRequired: true,
  build: eachOf('care-teams', addCareTeam),
};

export const PAST_HISTORY: SectionDefinition = {
  key: 'past-history',
  title: 'Past Medical History',
  code: '11348-0',
  codeName: 'History of Past illness Narrative',
  templates: ['2.20', '2.20:2015-08-01'],
  columns: PROBLEM_COLUMNS,
  build: eachOf('past-history', addPastProblem),
};

export const PAYERS: SectionDefinition = {
  key: 'payers',
  title: 'Insurance',
  code: '48768-6',
  codeName: 'Payment sources Document',
  templates: ['2.18', '2.18:2015-08-01'],
  columns: COVERAGE_COLUMNS,
  build: eachOf('coverages', addCoverage),
};
