/** Makes a request for the Observations of the whole system, with changes. */
import type { ExportRequest } from '../../src/export/job.ts';

export function exportRequest(change: Partial<ExportRequest> = {}): ExportRequest {
  return {
    level: { kind: 'system' },
    types: ['Observation'],
    associated: [],
    since: undefined,
    until: undefined,
    typeFilters: [],
    elements: [],
    patients: undefined,
    ...change,
  };
}
