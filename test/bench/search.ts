/**
 * Measures a page of 50 Observations and one read, beside the hand-written programs, all in one process, repeated in
 * further processes. In: a SQLite file of the demo's schema. Out: a table of microseconds of CPU and ratios.
 */
import { compared, inProcesses, type Runs, shown } from './runs.ts';
import type { Contender, Measured } from './search-process.ts';
import { printTable } from './table.ts';

const PROGRAM = new URL('search-process.ts', import.meta.url);

export async function benchSearch(file: string): Promise<void> {
  const runs = await inProcesses<Measured>(PROGRAM, file);
  printTable(
    ['in process', 'facade', 'by hand', ...OBVIOUS, 'SQL alone', 'to by hand', ...OBVIOUS.map(one => `to ${one}`)],
    [
      rowOf(
        'page of 50 Observations',
        runs.map(({ page }) => page),
      ),
      rowOf(
        'read of one',
        runs.map(({ read }) => read),
      ),
    ],
  );
  const forms = runs.map(run => run.forms);
  console.log(
    `with _include and _revinclude ${shown(forms, 'includes')}, as XML ${shown(forms, 'xml')}: ${compared(forms, 'xml', 'json')} of the JSON page`,
  );
}

const OBVIOUS = ['obvious', 'obvious, offsets kept'];

function rowOf(title: string, runs: Runs<Contender>): readonly string[] {
  const contenders = ['facade', 'best', 'obvious', 'keeping', 'statement'] as const;
  const others = ['best', 'obvious', 'keeping'] as const;
  return [title, ...contenders.map(name => shown(runs, name)), ...others.map(other => compared(runs, 'facade', other))];
}
