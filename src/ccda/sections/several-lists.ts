/**
 * Defines the sections of C-CDA R2.1 that show several lists, or one list in a special way: codes, templates, columns,
 * and the function that adds the entries. docs/ccds-documents.md
 */
import { addEncounter, ENCOUNTER_COLUMNS } from '../entries/encounter.ts';
import { addNote, NOTE_COLUMNS } from '../entries/note.ts';
import { addCarePlan, addOrder, addPlannedEncounter, PLAN_COLUMNS } from '../entries/plan.ts';
import { addDevice, DEVICE_COLUMNS } from '../entries/procedure.ts';
import { addResults, RESULT_COLUMNS } from '../entries/result.ts';
import {
  addAssessmentScales,
  addBirthSex,
  addPersonalRows,
  addSocialHistory,
  SOCIAL_COLUMNS,
} from '../entries/social-history.ts';
import { addVitalSigns, VITAL_SIGN_COLUMNS } from '../entries/vital-sign.ts';
import { overlaps } from '../range.ts';
import type { SectionDefinition } from '../section.ts';
import { eachOf } from './one-list.ts';

/** Signed notes; texts of reports are among the results. */
export const NOTES: SectionDefinition = {
  key: 'notes',
  title: 'Notes',
  code: '34109-9',
  codeName: 'Note',
  templates: ['2.65:2016-11-01'],
  columns: NOTE_COLUMNS,
  optional: true,
  async build(content, chart) {
    const reports = [...(await chart.list('laboratory-reports')), ...(await chart.list('other-reports'))];
    const presented = new Set(reports.flatMap(({ presentedForm = [] }) => presentedForm.map(({ url }) => url)));
    for (const note of await chart.list('notes')) {
      if (note.content?.every(({ attachment }) => attachment?.url === undefined || !presented.has(attachment.url)))
        addNote(note, content);
      const due = chart.pause();
      if (due) await due;
    }
  },
};

const RESULTS = {
  key: 'results',
  title: 'Results',
  code: '30954-2',
  codeName: 'Relevant diagnostic tests/laboratory data Narrative',
  templates: ['2.3.1', '2.3.1:2015-08-01', '2.3', '2.3:2015-08-01'],
  columns: RESULT_COLUMNS,
  entriesRequired: true,
} as const;

/** Results of the laboratory only. */
export const LABORATORY_RESULTS: SectionDefinition = {
  ...RESULTS,
  title: 'Laboratory Results',
  async build(content, chart) {
    await addResults(
      await chart.list('laboratory-reports'),
      await chart.list('laboratory-results'),
      content,
      chart.pause,
    );
  },
};

/** Results of the laboratory and of other departments. */
export const ALL_RESULTS: SectionDefinition = {
  ...RESULTS,
  async build(content, chart) {
    for (const [reports, results] of [
      ['laboratory-reports', 'laboratory-results'],
      ['other-reports', 'other-results'],
    ] as const)
      await addResults(await chart.list(reports), await chart.list(results), content, chart.pause);
  },
};

export const VITAL_SIGNS: SectionDefinition = {
  key: 'vital-signs',
  title: 'Vital Signs',
  code: '8716-3',
  codeName: 'Vital signs',
  templates: ['2.4.1', '2.4.1:2015-08-01', '2.4', '2.4:2015-08-01'],
  columns: VITAL_SIGN_COLUMNS,
  entriesRequired: true,
  async build(content, chart) {
    await addVitalSigns(await chart.list('vital-signs'), content, chart.pause);
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
  build: eachOf('smoking-status', addSocialHistory),
};

/** Social history with the patient's personal details. */
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
    const written = new Set<string>();
    for (const observation of [...smoking, ...(await chart.list('social-history'))]) {
      if (!written.has(observation.id)) addSocialHistory(observation, content);
      written.add(observation.id);
    }
    const assessments = await chart.list('assessments');
    addAssessmentScales(
      assessments.filter(({ id }) => !written.has(id)),
      content,
    );
    addBirthSex(content.patient, content);
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
      // A device counts from the day of its procedure; without a procedure it has no date.
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
  templates: ['2.22.1', '2.22.1:2015-08-01', '2.22', '2.22:2015-08-01'],
  columns: ENCOUNTER_COLUMNS,
  entriesRequired: true,
  async build(content, chart) {
    const diagnoses = Map.groupBy(await chart.everything('encounter-diagnoses'), one => one.encounter?.reference ?? '');
    for (const encounter of await chart.list('encounters')) {
      addEncounter(encounter, diagnoses.get(`Encounter/${encounter.id}`) ?? [], content);
    }
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

/** Laboratory orders, pending ones as entries. */
export const LABORATORY_TESTS: SectionDefinition = {
  ...PLAN,
  title: 'Laboratory Tests',
  build: eachOf('laboratory-orders', (order, content) => addOrder(order, 'observation', content)),
};

/** All orders, plans and planned visits. */
export const PLAN_OF_TREATMENT: SectionDefinition = {
  ...PLAN,
  async build(content, chart) {
    for (const plan of await chart.list('care-plans')) addCarePlan(plan, content);
    for (const order of await chart.list('laboratory-orders')) addOrder(order, 'observation', content);
    for (const order of await chart.list('other-orders')) addOrder(order, 'act', content);
    for (const encounter of await chart.list('planned-encounters')) addPlannedEncounter(encounter, content);
  },
};
