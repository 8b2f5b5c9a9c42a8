/**
 * The sections of C-CDA R2.1 that documents are made of: codes, templates, columns of their table, and how each entry is
 * added. ../shared/spec/interfaces.md section 4.4
 */
import { ALLERGY_COLUMNS, addAllergy } from './entries/allergy.ts';
import { addCareTeam, CARE_TEAM_COLUMNS } from './entries/care-team.ts';
import { addCoverage, COVERAGE_COLUMNS } from './entries/coverage.ts';
import { addEncounter, ENCOUNTER_COLUMNS } from './entries/encounter.ts';
import { addGoal, GOAL_COLUMNS } from './entries/goal.ts';
import { addHealthConcern } from './entries/health-concern.ts';
import { addImmunization, IMMUNIZATION_COLUMNS } from './entries/immunization.ts';
import { addMedication, MEDICATION_COLUMNS } from './entries/medication.ts';
import {
  ASSESSMENT_COLUMNS,
  addAssessment,
  addCarePlan,
  addOrder,
  addPlannedEncounter,
  PLAN_COLUMNS,
} from './entries/plan.ts';
import { addProblem, PROBLEM_COLUMNS } from './entries/problem.ts';
import { addDevice, addProcedure, DEVICE_COLUMNS, PROCEDURE_COLUMNS } from './entries/procedure.ts';
import { addResults, RESULT_COLUMNS } from './entries/result.ts';
import {
  addAssessmentScales,
  addBirthSex,
  addPersonalRows,
  addSocialHistory,
  SOCIAL_COLUMNS,
} from './entries/social-history.ts';
import { addVitalSigns, VITAL_SIGN_COLUMNS } from './entries/vital-sign.ts';
import { overlaps } from './range.ts';
import type { SectionDefinition } from './section.ts';

export const ALLERGIES: SectionDefinition = {
  key: 'allergies',
  title: 'Allergies and Intolerances',
  code: '48765-2',
  codeName: 'Allergies and adverse reactions Document',
  templates: ['2.6', '2.6:2015-08-01', '2.6.1', '2.6.1:2015-08-01'],
  columns: ALLERGY_COLUMNS,
  async build(content, chart) {
    for (const allergy of await chart.list('allergies')) addAllergy(allergy, content);
  },
};

export const MEDICATIONS: SectionDefinition = {
  key: 'medications',
  title: 'Medications',
  code: '10160-0',
  codeName: 'History of Medication use Narrative',
  templates: ['2.1', '2.1:2014-06-09', '2.1.1', '2.1.1:2014-06-09'],
  columns: MEDICATION_COLUMNS,
  async build(content, chart) {
    for (const request of await chart.list('medications')) addMedication(request, content);
  },
};

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

const RESULTS = {
  key: 'results',
  title: 'Results',
  code: '30954-2',
  codeName: 'Relevant diagnostic tests/laboratory data Narrative',
  templates: ['2.3', '2.3:2015-08-01', '2.3.1', '2.3.1:2015-08-01'],
  columns: RESULT_COLUMNS,
} as const;

/** Of the laboratory. */
export const LABORATORY_RESULTS: SectionDefinition = {
  ...RESULTS,
  title: 'Laboratory Results',
  async build(content, chart) {
    addResults(await chart.list('laboratory-reports'), await chart.list('laboratory-results'), content);
  },
};

/** Of the laboratory and of other departments. */
export const ALL_RESULTS: SectionDefinition = {
  ...RESULTS,
  async build(content, chart) {
    addResults(await chart.list('laboratory-reports'), await chart.list('laboratory-results'), content);
    addResults(await chart.list('other-reports'), await chart.list('other-results'), content);
  },
};

export const VITAL_SIGNS: SectionDefinition = {
  key: 'vital-signs',
  title: 'Vital Signs',
  code: '8716-3',
  codeName: 'Vital signs',
  templates: ['2.4', '2.4:2015-08-01', '2.4.1', '2.4.1:2015-08-01'],
  columns: VITAL_SIGN_COLUMNS,
  async build(content, chart) {
    addVitalSigns(await chart.list('vital-signs'), content);
  },
};

const SOCIAL = {
  key: 'social-history',
  title: 'Social History',
  code: '29762-2',
  codeName: 'Social history Narrative',
  templates: ['2.17', '2.17:2015-08-01'],
  columns: SOCIAL_COLUMNS,
} as const;

export const SMOKING_STATUS: SectionDefinition = {
  ...SOCIAL,
  title: 'Smoking Status',
  async build(content, chart) {
    for (const observation of await chart.list('smoking-status')) addSocialHistory(observation, content);
  },
};

/** What the record says of the person. */
export const PERSON: SectionDefinition = {
  ...SOCIAL,
  title: 'Personal Information',
  async build(content) {
    addBirthSex(content.patient, content);
    addPersonalRows(content.patient, content);
  },
};

export const SOCIAL_HISTORY: SectionDefinition = {
  ...SOCIAL,
  async build(content, chart) {
    const smoking = await chart.list('smoking-status');
    const known = new Set(smoking.map(({ id }) => id));
    for (const observation of smoking) addSocialHistory(observation, content);
    for (const observation of await chart.list('social-history')) {
      if (!known.has(observation.id)) addSocialHistory(observation, content);
    }
    addAssessmentScales(await chart.list('assessments'), content);
    addBirthSex(content.patient, content);
  },
};

export const PROCEDURES: SectionDefinition = {
  key: 'procedures',
  title: 'Procedures',
  code: '47519-4',
  codeName: 'History of Procedures Document',
  templates: ['2.7', '2.7:2014-06-09', '2.7.1', '2.7.1:2014-06-09'],
  columns: PROCEDURE_COLUMNS,
  async build(content, chart) {
    for (const procedure of await chart.list('procedures')) addProcedure(procedure, content);
  },
};

export const IMMUNIZATIONS: SectionDefinition = {
  key: 'immunizations',
  title: 'Immunizations',
  code: '11369-6',
  codeName: 'History of Immunization Narrative',
  templates: ['2.2', '2.2:2015-08-01', '2.2.1', '2.2.1:2015-08-01'],
  columns: IMMUNIZATION_COLUMNS,
  async build(content, chart) {
    for (const shot of await chart.list('immunizations')) addImmunization(shot, content);
  },
};

export const MEDICAL_EQUIPMENT: SectionDefinition = {
  key: 'devices',
  title: 'Medical Equipment',
  code: '46264-8',
  codeName: 'History of medical device use',
  templates: ['2.23', '2.23:2014-06-09'],
  columns: DEVICE_COLUMNS,
  async build(content, chart) {
    const procedures = await chart.everything('procedures');
    for (const device of await chart.list('devices')) {
      const implantation = procedures.find(({ focalDevice }) =>
        focalDevice?.some(({ manipulated }) => manipulated?.reference === `Device/${device.id}`),
      );
      // In from the day of the procedure on; without one it has no date.
      const { performedDateTime, performedPeriod } = implantation ?? {};
      const start = performedPeriod?.start ?? performedDateTime;
      if (overlaps({ start }, chart.range, chart.zone)) addDevice(device, implantation, content);
    }
  },
};

export const ENCOUNTERS: SectionDefinition = {
  key: 'encounters',
  title: 'Encounters',
  code: '46240-8',
  codeName: 'History of Hospitalizations+Outpatient visits Narrative',
  templates: ['2.22', '2.22:2015-08-01', '2.22.1', '2.22.1:2015-08-01'],
  columns: ENCOUNTER_COLUMNS,
  async build(content, chart) {
    const diagnoses = Map.groupBy(await chart.everything('encounter-diagnoses'), one => one.encounter?.reference ?? '');
    for (const encounter of await chart.list('encounters')) {
      addEncounter(encounter, diagnoses.get(`Encounter/${encounter.id}`) ?? [], content);
    }
  },
};

export const ASSESSMENTS: SectionDefinition = {
  key: 'assessments',
  title: 'Assessments',
  code: '51848-0',
  codeName: 'Evaluation note',
  templates: ['2.8'],
  columns: ASSESSMENT_COLUMNS,
  narrativeOnly: true,
  async build(content, chart) {
    for (const plan of await chart.list('care-plans')) addAssessment(plan, content);
  },
};

const PLAN = {
  key: 'plan',
  title: 'Plan of Treatment',
  code: '18776-5',
  codeName: 'Plan of care note',
  templates: ['2.10', '2.10:2014-06-09'],
  columns: PLAN_COLUMNS,
} as const;

/** Tests that were ordered and are not done. */
export const LABORATORY_TESTS: SectionDefinition = {
  ...PLAN,
  title: 'Laboratory Tests',
  async build(content, chart) {
    for (const order of await chart.list('laboratory-orders')) addOrder(order, 'observation', content);
  },
};

/** All that is planned. */
export const PLAN_OF_TREATMENT: SectionDefinition = {
  ...PLAN,
  async build(content, chart) {
    for (const plan of await chart.list('care-plans')) addCarePlan(plan, content);
    for (const order of await chart.list('laboratory-orders')) addOrder(order, 'observation', content);
    for (const order of await chart.list('other-orders')) addOrder(order, 'act', content);
    for (const encounter of await chart.list('planned-encounters')) addPlannedEncounter(encounter, content);
  },
};

export const GOALS: SectionDefinition = {
  key: 'goals',
  title: 'Goals',
  code: '61146-7',
  codeName: 'Goals Narrative',
  templates: ['2.60'],
  columns: GOAL_COLUMNS,
  async build(content, chart) {
    for (const goal of await chart.list('goals')) addGoal(goal, content);
  },
};

export const HEALTH_CONCERNS: SectionDefinition = {
  key: 'health-concerns',
  title: 'Health Concerns',
  code: '75310-3',
  codeName: 'Health concerns Document',
  templates: ['2.58:2015-08-01'],
  columns: PROBLEM_COLUMNS,
  async build(content, chart) {
    for (const condition of await chart.list('health-concerns')) addHealthConcern(condition, content);
  },
};

export const CARE_TEAMS: SectionDefinition = {
  key: 'care-teams',
  title: 'Care Teams',
  code: '85847-2',
  codeName: 'Patient Care team information',
  templates: ['2.500:2022-06-01'],
  columns: CARE_TEAM_COLUMNS,
  async build(content, chart) {
    for (const team of await chart.list('care-teams')) addCareTeam(team, content);
  },
};

export const PAST_HISTORY: SectionDefinition = {
  key: 'past-history',
  title: 'Past Medical History',
  code: '11348-0',
  codeName: 'History of Past illness Narrative',
  templates: ['2.20', '2.20:2015-08-01'],
  columns: PROBLEM_COLUMNS,
  async build(content, chart) {
    for (const condition of await chart.list('past-history')) addProblem(condition, content);
  },
};

export const PAYERS: SectionDefinition = {
  key: 'payers',
  title: 'Insurance',
  code: '48768-6',
  codeName: 'Payment sources Document',
  templates: ['2.18', '2.18:2015-08-01'],
  columns: COVERAGE_COLUMNS,
  async build(content, chart) {
    for (const coverage of await chart.list('coverages')) addCoverage(coverage, content);
  },
};
