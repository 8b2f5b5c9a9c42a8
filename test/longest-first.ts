/**
 * Orders the files of a run: the longest first, so that no worker waits for another at the end. Vitest knows durations
 * only from earlier runs; without them it begins with the largest files.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take about ten seconds or more, the longest first. */
const LONG = [
  'test/law/sort.test.ts',
  'test/sql/mssql/fault-matrix.test.ts',
  'test/access/enforcement.test.ts',
  'test/law/fixture.test.ts',
  'test/law/spoiled.test.ts',
  'test/plan/remembered-filters.test.ts',
  'test/conformance/us-core-searches.test.ts',
  'test/cli/export.test.ts',
  'test/check/rules.test.ts',
  'test/workbench/large-pack.test.ts',
  'test/ccda/documents.test.ts',
  'test/export/kill.test.ts',
  'test/plan/cases.test.ts',
  'test/conformance/xml.test.ts',
  'test/conformance/resources.test.ts',
  'test/workbench/record.test.ts',
  'test/mapping/load/memory.test.ts',
  'test/export/export.test.ts',
  'test/export/kick-off.test.ts',
  'test/export/cut-connection.test.ts',
];

export class LongestFirst extends BaseSequencer {
  /** Returns the files of each project in their order. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const at = LONG.findIndex(file => moduleId.endsWith(`/${file}`));
      return at < 0 ? LONG.length : at;
    };
    const byProject = Map.groupBy(await super.sort(files), ({ project }) => project.name);
    return [...byProject.values()].flatMap(ofProject => ofProject.toSorted((a, b) => place(a) - place(b)));
  }
}
