/**
 * Saves the row of the preview as a test. In: a mapping and a key. Shows the test, with invented values, first; *Save*
 * adds it to the text of its file, which is saved and undone like any file.
 */
import { useState } from 'preact/hooks';
import type { WireRecorded } from '../../wire/tests.ts';
import { ask } from '../ask.ts';
import type { Bench } from '../bench.ts';

interface Parts {
  readonly previewed: { readonly mapping: string; readonly key: readonly string[] };
  readonly bench: Bench;
  /** True if the pack has errors, so that no test can be made. */
  readonly stale: boolean;
}

export function RecordedTest({ previewed, bench, stale }: Parts) {
  const [made, setMade] = useState<WireRecorded>();
  const record = (): void => {
    const { mapping, key } = previewed;
    ask<WireRecorded>('record', { unsaved: bench.unsaved, mapping, key }).then(setMade, (error: Error) =>
      bench.announce(error.message),
    );
  };
  const save = ({ path, test }: WireRecorded): void => {
    bench.append(path, test);
    bench.open(path);
    setMade(undefined);
    bench.announce(`The test stands in ${path}, which is not saved yet`);
  };
  if (!made) {
    if (stale) return null;
    return (
      <div class="bar">
        <button type="button" onClick={record}>
          Keep this row as a test
        </button>
      </div>
    );
  }
  return (
    <section class="recorded" aria-label="Test of this row">
      <p>
        For <b>{made.path}</b>: names, numbers, dates and texts are invented; codes stay. Look through it before it is
        kept.
      </p>
      {made.remarks.map(one => (
        <p key={one} class="note">
          {one}
        </p>
      ))}
      <pre>{made.test}</pre>
      <div class="bar">
        <button type="button" onClick={() => save(made)}>
          Save
        </button>
        {!stale && (
          <button type="button" onClick={record}>
            Other values
          </button>
        )}
        <button type="button" onClick={() => setMade(undefined)}>
          Cancel
        </button>
      </div>
    </section>
  );
}
