/**
 * The CCDS topics: path, title, code, sections. ../shared/spec/interfaces.md section 4.4
 */
import type { TeamDetail } from './care-team-header.ts';
import type { SectionDefinition } from './section.ts';
import * as sections from './sections.ts';

export interface Topic {
  /** Last step of the path. */
  readonly name: string;
  readonly title: string;
  /** LOINC. */
  readonly code: string;
  readonly codeName: string;
  readonly templates: readonly string[];
  readonly sections: readonly SectionDefinition[];
  readonly team: TeamDetail;
}

const HEADER = ['1.1', '1.1:2015-08-01'];

/** A bare US Realm Header over one section, whose code says what the document is. */
function single(
  name: string,
  title: string,
  ...[first, ...more]: readonly [SectionDefinition, ...SectionDefinition[]]
): Topic {
  const { code, codeName } = first;
  return { name, title, code, codeName, templates: HEADER, sections: [first, ...more], team: 'none' };
}

export const TOPICS: readonly Topic[] = [single('problems', 'Problems', sections.PROBLEMS)];

/** A CCD of one encounter. */
export const ENCOUNTER_TOPIC: Topic = {
  name: 'encounter-ccds',
  title: 'Encounter',
  code: '34133-9',
  codeName: 'Summarization of Episode Note',
  templates: [...HEADER, '1.2', '1.2:2015-08-01'],
  sections: [sections.PROBLEMS],
  team: 'performers',
};
