/**
 * Lists the kinds of documents (CCDS topics): path, title, code, sections. docs/ccds-documents.md
 */
import type { TeamDetail } from './care-team-header.ts';
import type { SectionDefinition } from './section.ts';
import {
  ALLERGIES,
  ASSESSMENTS,
  CARE_TEAMS,
  GOALS,
  HEALTH_CONCERNS,
  IMMUNIZATIONS,
  MEDICATIONS,
  PAST_HISTORY,
  PAYERS,
  PROBLEMS,
  PROCEDURES,
} from './sections/one-list.ts';
import {
  ALL_RESULTS,
  ENCOUNTERS,
  LABORATORY_RESULTS,
  LABORATORY_TESTS,
  MEDICAL_EQUIPMENT,
  NOTES,
  PERSON,
  PLAN_OF_TREATMENT,
  SMOKING_STATUS,
  SOCIAL_HISTORY,
  VITAL_SIGNS,
} from './sections/several-lists.ts';

export interface Topic {
  /** Last segment of the path. */
  readonly name: string;
  readonly title: string;
  /** LOINC. */
  readonly code: string;
  readonly codeName: string;
  readonly templates: readonly string[];
  readonly sections: readonly SectionDefinition[];
  readonly team: TeamDetail;
  /** False if the topic has no dates: demographics, the care team. */
  readonly dated: boolean;
}

const HEADER = ['1.1', '1.1:2015-08-01'];
const CCD = {
  code: '34133-9',
  codeName: 'Summarization of Episode Note',
  templates: [...HEADER, '1.2', '1.2:2015-08-01'],
  sections: [
    ALLERGIES,
    MEDICATIONS,
    PROBLEMS,
    ALL_RESULTS,
    VITAL_SIGNS,
    SOCIAL_HISTORY,
    PROCEDURES,
    IMMUNIZATIONS,
    MEDICAL_EQUIPMENT,
    ENCOUNTERS,
    ASSESSMENTS,
    PLAN_OF_TREATMENT,
    GOALS,
    HEALTH_CONCERNS,
    CARE_TEAMS,
    PAST_HISTORY,
    PAYERS,
    NOTES,
  ],
  team: 'performers',
  dated: true,
} as const;

/** Defines a topic with a bare US Realm Header and one main section, whose code becomes the document's code. */
function single(name: string, title: string, ...sections: readonly [...SectionDefinition[], SectionDefinition]): Topic {
  const { code, codeName } = sections.at(-1) ?? PROBLEMS;
  return { name, title, code, codeName, templates: HEADER, sections, team: 'none', dated: true };
}

export const TOPICS: readonly Topic[] = [
  { ...CCD, name: 'all-patient-data', title: 'All Patient Data' },
  {
    ...single('patient-info', 'Patient Information', PERSON),
    code: '45970-1',
    codeName: 'Demographic section',
    dated: false,
  },
  single('smoking-status', 'Smoking Status', SMOKING_STATUS),
  single('problems', 'Problems', PROBLEMS),
  single('medications', 'Medications', MEDICATIONS),
  single('medication-allergies', 'Medication Allergies', ALLERGIES),
  single('laboratory-tests', 'Laboratory Tests', LABORATORY_TESTS),
  single('laboratory-results', 'Laboratory Results', LABORATORY_RESULTS),
  single('vital-signs', 'Vital Signs', VITAL_SIGNS),
  single('procedures', 'Procedures', PROCEDURES),
  { ...single('care-team-members', 'Care Team Members', CARE_TEAMS), team: 'all', dated: false },
  single('immunizations', 'Immunizations', IMMUNIZATIONS),
  single('udi-for-implantable-device', 'Unique Device Identifiers of Implantable Devices', MEDICAL_EQUIPMENT),
  single('assessment-and-plan-of-treatment', 'Assessment and Plan of Treatment', ASSESSMENTS, PLAN_OF_TREATMENT),
  single('goals', 'Goals', GOALS),
  single('health-concerns', 'Health Concerns', HEALTH_CONCERNS),
];

/** A CCD of one encounter. */
export const ENCOUNTER_TOPIC: Topic = { ...CCD, name: 'encounter-ccds', title: 'Encounter Summary' };
