/**
 * Writes reports for pipelines. In: problems, and the tests of a pack. Out: SARIF 2.1.0, which code hosts show at the
 * lines of the files, and JUnit XML, which build servers count. Neither contains a value of a row unless the user
 * asked for values.
 * https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
 */
import { relative } from 'node:path';
import { join } from 'node:path/posix';
import { escapeAttribute } from '../common/markup.ts';
import { PACK_ERRORS } from '../errors/pack-errors.ts';
import { formatProblem, type Problem, placeText, problemCode, problemLine } from '../mapping/load/problem.ts';
import type { Position } from '../mapping/model.ts';
import { SOFTWARE_VERSION } from '../start/version.ts';

/** One executed test of a pack. */
export interface TestCase {
  readonly name: string;
  readonly at: Position;
  readonly problems: readonly Problem[];
}

/** Returns the path of a file of the pack as the pipeline sees it: relative to the working directory. */
function uriOf(folder: string, file: string): string {
  const below = relative(process.cwd(), folder).replaceAll('\\', '/');
  return join(below, file).split('/').map(encodeURIComponent).join('/');
}

/** Writes SARIF. `folder`: the folder of the pack. */
export function sarifText(folder: string, problems: readonly Problem[]): string {
  const results = problems.map(problem => ({
    ruleId: problemCode(problem),
    level: problem.severity === 'notice' ? 'note' : problem.severity,
    message: { text: textOf(problem) },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(folder, problem.position.file) },
          region: { startLine: problem.position.line, startColumn: problem.position.column },
        },
      },
    ],
  }));
  const rules = [...new Set(problems.map(({ kind }) => kind))].map(ruleOf);
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'lintel', semanticVersion: SOFTWARE_VERSION, rules } },
        columnKind: 'utf16CodeUnits',
        results,
      },
    ],
  };
  return `${JSON.stringify(log, undefined, 2)}\n`;
}

/** Describes a rule: a code of docs/errors.md, with its cause and cure. */
function ruleOf(kind: Problem['kind']): object {
  const [id, cause, cure] = PACK_ERRORS[kind];
  return { id, name: kind, shortDescription: { text: cause }, help: { text: cure } };
}

/** Returns the message without its place and severity. */
function textOf(problem: Problem): string {
  return formatProblem(problem)
    .slice(`${placeText(problem.position)}: `.length)
    .replace(/^(warning|notice): /, '');
}

/**
 * Writes one suite for the problems of the pack and one for its tests. Only errors are failures. `problems` undefined:
 * the suite of tests only.
 */
export function junitText(problems: readonly Problem[] | undefined, tests: readonly TestCase[]): string {
  const suites = [
    ...(problems ? [packSuite(problems)] : []),
    ...(tests.length > 0 || !problems ? [testSuite(tests)] : []),
  ];
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('\n')}\n</testsuites>\n`;
}

function packSuite(problems: readonly Problem[]): string {
  const found = problems.map(problem => caseText(placeText(problem.position), 'lintel.check', [problem]));
  const sound = '    <testcase classname="lintel.check" name="the pack is sound"/>';
  return suiteText('lintel check', found.length > 0 ? found : [sound], errorsIn(problems));
}

function testSuite(tests: readonly TestCase[]): string {
  const ran = tests.map(({ name, at, problems }) => caseText(`${name} (${placeText(at)})`, 'lintel.test', problems));
  return suiteText('lintel test', ran, tests.filter(({ problems }) => errorsIn(problems) > 0).length);
}

function errorsIn(problems: readonly Problem[]): number {
  return problems.filter(({ severity }) => severity === 'error').length;
}

function suiteText(name: string, cases: readonly string[], failures: number): string {
  const head = `  <testsuite name="${name}" tests="${cases.length}" failures="${failures}" errors="0" skipped="0">`;
  return [head, ...cases, '  </testsuite>'].join('\n');
}

function caseText(name: string, group: string, problems: readonly Problem[]): string {
  const parts = problems.map(problem =>
    problem.severity === 'error'
      ? `<failure type="${problemCode(problem)}" message="${escapeAttribute(textOf(problem))}">${escapeAttribute(problemLine(problem))}</failure>`
      : `<system-out>${escapeAttribute(problemLine(problem))}</system-out>`,
  );
  const head = `    <testcase classname="${group}" name="${escapeAttribute(name)}"`;
  return parts.length === 0 ? `${head}/>` : `${head}>${parts.join('')}</testcase>`;
}
