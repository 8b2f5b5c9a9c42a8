import { expect, test } from 'vitest';
import { type JobRecord, NEW_PART, type Part } from '../../src/export/job.ts';
import { type PartView, progressText, shareOf } from '../../src/export/manifest.ts';

const JOB = { status: 'running' } as JobRecord;

function part(number: number, type: string, content: Part['content'], done: boolean): PartView {
  return {
    part: { number, type, scope: 'all', content, write: true, collect: [] },
    state: { ...NEW_PART, done },
    share: 0,
    running: number === 1,
    waiting: false,
  };
}

test('one part has the progress of its share', () => {
  const only = { ...part(1, 'Patient', 'resources', false), share: 0.25 };
  expect(shareOf([only])).toBe(0.25);
  expect(shareOf([{ ...only, state: { ...NEW_PART, total: 0 } }])).toBe(0);
  expect(shareOf([])).toBe(1);
});

test('progress counts types, not parts, and names the current one', () => {
  const parts = [
    part(0, 'Observation', 'resources', true),
    part(1, 'Observation', 'deletions', false),
    part(2, 'Patient', 'resources', true),
    part(3, 'Patient', 'deletions', true),
  ];
  expect(progressText({ job: JOB, parts, errors: [], left: undefined })).toBe(
    '75%, 0 resources, 1 of 2 types done, Observation',
  );
});
