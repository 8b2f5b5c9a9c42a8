/**
 * Lists the operations of this server. Out: an OperationDefinition for each, and its entry in the CapabilityStatement.
 * A new operation needs an entry here and a route.
 * https://hl7.org/fhir/R4/operationdefinition.html
 */
import type { Json } from '../mapping/model.ts';
import type { OwnResource } from './constant-mapping.ts';

export interface OperationParameter {
  readonly name: string;
  readonly use: 'in' | 'out';
  readonly type: string;
  /** `*`: any number. */
  readonly max: '1' | '*';
  readonly documentation: string;
  readonly required?: boolean;
}

export interface Operation {
  /** Id of the OperationDefinition. */
  readonly id: string;
  /** Without the dollar sign. */
  readonly code: string;
  readonly title: string;
  readonly description: string;
  /** URL of the specification's definition; without one, the server's own definition counts. */
  readonly definition?: string;
  /** Types on which it is called; none: on the whole system. */
  readonly types: readonly string[];
  readonly level: 'system' | 'type' | 'instance' | 'type and instance';
  readonly parameters: readonly OperationParameter[];
}

const BULK = 'http://hl7.org/fhir/uv/bulkdata/OperationDefinition/';

/** Returns an input parameter. */
export const input = (name: string, type: string, documentation: string, max: '1' | '*' = '1'): OperationParameter => ({
  name,
  use: 'in',
  type,
  max,
  documentation,
});

const OUTPUT: OperationParameter = {
  name: 'return',
  use: 'out',
  type: 'Resource',
  max: '1',
  documentation: 'The answer of the operation.',
};

/** Output of operations that answer in pages. */
export const PAGE: OperationParameter = {
  ...OUTPUT,
  type: 'Bundle',
  documentation: 'A searchset; its link `next` is the following page.',
};

const EXPORT = [
  input('_outputFormat', 'string', 'application/fhir+ndjson, application/ndjson or ndjson.'),
  input('_since', 'instant', 'Only resources that were changed at or after this instant.'),
  input('_until', 'instant', 'Only resources that were changed at or before this instant.'),
  input('_type', 'string', 'Resource types, with commas between; without it all that are mapped.', '*'),
  input('_elements', 'string', 'Elements, with or without their type.', '*'),
  input('_typeFilter', 'string', 'Searches like Observation?category=laboratory; of one type, alternatives.', '*'),
  input('includeAssociatedData', 'code', 'LatestProvenanceResources or RelevantProvenanceResources.', '*'),
] as const;
const PATIENT = input('patient', 'Reference', 'Narrows the export to these patients.', '*');
const JOB: OperationParameter = {
  ...input('_jobId', 'string', 'The job, as Content-Location named it.'),
  required: true,
};

/** Operations of https://hl7.org/fhir/uv/bulkdata/STU2/export.html, and others that people expect with them. */
export const EXPORT_OPERATIONS: readonly Operation[] = [
  {
    id: 'export',
    code: 'export',
    title: 'Export of everything',
    description: 'Starts a job that writes all resources into NDJSON files.',
    definition: `${BULK}export`,
    types: [],
    level: 'system',
    parameters: [...EXPORT, OUTPUT],
  },
  {
    id: 'patient-export',
    code: 'export',
    title: 'Export of all patients',
    description: "Starts a job that writes the patients' compartments, and what they refer to, into NDJSON files.",
    definition: `${BULK}patient-export`,
    types: ['Patient'],
    level: 'type',
    parameters: [...EXPORT, PATIENT, OUTPUT],
  },
  {
    id: 'group-export',
    code: 'export',
    title: 'Export of the patients of a group, or of all groups',
    description: "Starts a job that writes the members' compartments, and what they refer to, into NDJSON files.",
    definition: `${BULK}group-export`,
    types: ['Group'],
    level: 'type and instance',
    parameters: [...EXPORT, PATIENT, OUTPUT],
  },
  ...(
    [
      ['export-poll-status', 'State of an export', 'Progress (202) or manifest (200). DELETE on it cancels the job.'],
      ['pause-job', 'Pause an export', 'Stops a job at its next batch; it stays paused over a restart.'],
      ['resume-job', 'Resume an export', 'Lets a paused job go on behind its last batch.'],
      ['cancel-job', 'Cancel an export', 'Ends a job and removes its files, as DELETE on its poll address does.'],
    ] as const
  ).map(([code, title, description]) => ({
    id: code,
    code,
    title,
    description,
    types: [],
    level: 'system' as const,
    parameters: [JOB, OUTPUT],
  })),
  {
    id: 'list-jobs',
    code: 'list-jobs',
    title: "The caller's exports",
    description: 'Lists the jobs of this caller with their states.',
    types: [],
    level: 'system',
    parameters: [{ ...OUTPUT, type: 'Parameters' }],
  },
  {
    id: 'download-resource',
    code: 'download-resource',
    title: 'A file of an export',
    description: 'NDJSON, compressed as the client accepts, or a range of it.',
    types: [],
    level: 'system',
    parameters: [
      { ...input('_jobResourceId', 'string', 'The file, as the manifest named it.'), required: true },
      { ...OUTPUT, type: 'Binary' },
    ],
  },
];

/** Returns the OperationDefinition of an operation. */
export function operationDefinition(operation: Operation): OwnResource {
  const { id, code, title, description, definition, types, level, parameters } = operation;
  const content: { [element: string]: Json } = {
    name: id.replace(/(?:^|-)([a-z])/g, (_all, letter: string) => letter.toUpperCase()),
    title,
    status: 'active',
    kind: 'operation',
    description,
    affectsState: false,
    code,
    ...(definition === undefined ? {} : { base: definition }),
    ...(types.length === 0 ? {} : { resource: [...types] }),
    system: level === 'system',
    type: level.startsWith('type'),
    instance: level.endsWith('instance'),
    parameter: parameters.map(one => ({
      name: one.name,
      use: one.use,
      min: one.required === true ? 1 : 0,
      max: one.max,
      documentation: one.documentation,
      type: one.type,
    })),
  };
  return { type: 'OperationDefinition', id, content };
}

/** Returns the entry of an operation in the CapabilityStatement. */
export function operationEntry(
  { id, code, definition, types }: Operation,
  base: string,
): { readonly name: string; readonly definition: string; readonly types: readonly string[] } {
  return { name: code, definition: definition ?? `${base}/OperationDefinition/${id}`, types };
}
