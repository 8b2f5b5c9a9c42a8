/** The view of the pack's tests: by file and test, the expected and the actual values, each with a link to its line. */
import { PlaceButton } from '../place-button.tsx';
import './tests.css';
import { useEffect } from 'preact/hooks';
import type { WireFailure, WireTestCase } from '../../wire/tests.ts';
import type { Bench } from '../bench.ts';
import { tally } from './runs.ts';

export function TestsView({ bench }: { readonly bench: Bench }) {
  const { tests, unsaved } = bench;
  const { last, running } = tests;
  useEffect(() => {
    if (!last && !running) tests.run();
  }, []);
  const isOld = last !== undefined && JSON.stringify(last.of) !== JSON.stringify(unsaved);
  const byFile = Map.groupBy(last?.cases ?? [], ({ place }) => place.file);
  return (
    <main class="tests" aria-busy={running}>
      <div class="bar">
        <h2>Tests</h2>
        <button type="button" disabled={running} onClick={() => tests.run()}>
          Run all
        </button>
        <p role="status">
          {running ? 'Running…' : last?.cases && tally(last.cases.length, last.failed)}
          {isOld && !running && <span class="quiet"> The texts have changed since.</span>}
        </p>
      </div>
      {last?.refused !== undefined && <p role="alert">{last.refused}</p>}
      {last && last.refused === undefined && last.cases === undefined && (
        <p class="note">The pack has errors, so no test ran. The view Mapping lists them.</p>
      )}
      {last?.cases?.length === 0 && (
        <p class="lead">
          The pack has no tests. A test is a file such as <code>patient.test.yaml</code>: <code>mapping</code> names
          what is tested, <code>rows</code> are rows of the tables, <code>resource</code> is what they must become, and{' '}
          <code>matches</code> and <code>misses</code> are searches that must and must not find it.
        </p>
      )}
      {[...byFile].map(([file, cases]) => (
        <section key={file} aria-label={file}>
          <h3>{file}</h3>
          <ul>
            {cases.map(one => (
              <TestCase key={one.place.line} test={one} bench={bench} />
            ))}
          </ul>
        </section>
      ))}
    </main>
  );
}

function TestCase({ test, bench }: { readonly test: WireTestCase; readonly bench: Bench }) {
  const { mapping, place, failures } = test;
  const failed = failures.length > 0;
  return (
    <li class={failed ? 'failed' : 'true'}>
      <p>
        <span class="verdict">
          <span aria-hidden="true">{failed ? '✗' : '✓'}</span> {failed ? 'failed' : 'true'}
        </span>
        <PlaceButton place={place} bench={bench}>
          {mapping} · line {place.line}
        </PlaceButton>
        <span>{remarkAbove(bench, test)}</span>
      </p>
      {failed && (
        <ul class="failures">
          {failures.map(one => (
            <Failure key={JSON.stringify(one)} failure={one} bench={bench} />
          ))}
        </ul>
      )}
    </li>
  );
}

function Failure({ failure, bench }: { readonly failure: WireFailure; readonly bench: Bench }) {
  const { place, message, expected, found } = failure;
  return (
    <li>
      <PlaceButton place={place} bench={bench} />
      <span>
        {message}
        {expected === undefined && found === undefined ? (
          lineText(bench, failure)
        ) : (
          <dl>
            {expected !== undefined && (
              <>
                <dt>expected</dt>
                <dd class="expected">{expected}</dd>
              </>
            )}
            {found !== undefined && (
              <>
                <dt>found</dt>
                <dd class="found">{found}</dd>
              </>
            )}
          </dl>
        )}
      </span>
    </li>
  );
}

/** Returns the comment directly above a test, which describes it. */
function remarkAbove(bench: Bench, { place }: WireTestCase): string {
  const lines = linesOf(bench, place.file).slice(0, place.line - 1);
  const last = lines.findLastIndex(line => !line.startsWith('#'));
  return lines
    .slice(last + 1)
    .map(line => line.replace(/^#\s*/, ''))
    .join(' ');
}

/** Shows the text of the line, which for a failed search is the search itself. */
function lineText(bench: Bench, { place }: WireFailure) {
  const line = linesOf(bench, place.file)[place.line - 1];
  return line === undefined ? null : <code> {line.trim()}</code>;
}

function linesOf({ files }: Bench, path: string): readonly string[] {
  return files.find(file => file.path === path)?.text.split('\n') ?? [];
}
