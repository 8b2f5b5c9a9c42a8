import { expect, test } from 'vitest';
import { createLog } from '../../src/log.ts';
import { rememberProblems } from '../../src/observe/problems.ts';
import { logProblem } from '../../src/reload/problems.ts';

const QUIET = createLog({ level: 'silent', format: 'text' });

test('mapping problems are kept with place and text, other log lines without fields', () => {
  const { log, problems } = rememberProblems(QUIET);
  const position = { file: 'm.yaml', line: 6, column: 12 };
  logProblem({ severity: 'warning', kind: 'unknown-column', position, message: 'unknown column of PT' }, log);
  logProblem({ severity: 'notice', kind: 'limited-interface', position, message: 'left out by choice' }, log);
  log.error('statement failed', { error: 'Okonkwo' });
  expect(problems().map(({ message }) => message)).toEqual([
    'statement failed',
    expect.stringMatching(/^mapping problem: m\.yaml:6:12: warning: unknown column of PT \[LNT-\d+\]$/),
  ]);
});
