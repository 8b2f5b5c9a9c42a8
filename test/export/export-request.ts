/**
 * A request for Observations of the whole system, changed as a test needs it.
 */
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
