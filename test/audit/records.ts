/** Makes audit records and files for tests, and reads what a file holds. */
import { DatabaseSync } from 'node:sqlite';
import type { AuditRecord } from '../../src/audit/record.ts';

export function record(more: Partial<AuditRecord> = {}): AuditRecord {
  return {
    at: Date.now(),
    request: '00000000-0000-4000-8000-000000000001',
    who: { client: 'app' },
    address: '192.0.2.1',
    server: 'ehr.example.org',
    interaction: 'read',
    route: 'GET /fhir/Observation/:id',
    status: 200,
    query: 'GET /fhir/Observation/1',
    resource: 'Observation/1',
    patients: [],
    ...more,
  };
}

export function rowsOf(file: string, sql: string): readonly Record<string, unknown>[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}
