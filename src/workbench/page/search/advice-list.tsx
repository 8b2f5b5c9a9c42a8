/**
 * Lists the indexes that a search lacks, as statements for the database administrator, with the changes that the engine
 * predicts.
 */
import type { WireSearch } from '../../wire/search.ts';
import type { Bench } from '../bench.ts';

interface Parts {
  readonly found: Pick<WireSearch, 'advice' | 'words' | 'computed' | 'engine' | 'isAdvised' | 'scans'>;
  readonly bench: Bench;
}

export function AdviceList({ found, bench }: Parts) {
  const { advice, words, computed, engine } = found;
  const copy = async (statement: string): Promise<void> => {
    try {
      await navigator.clipboard.writeText(statement);
      bench.announce('The statement is in the clipboard');
    } catch {
      bench.announce('The browser denied access to the clipboard; select the statement instead');
    }
  };
  return (
    <>
      <h2>Indexes for the DBA</h2>
      {advice.length + words.length + computed.length === 0 && <p class="quiet">{withoutAdvice(found)}</p>}
      {computed.length > 0 && (
        <p>No plain index would help {computed.join(', ')}: the values are worked out before they are compared.</p>
      )}
      {advice.map(({ name, statement, serves, instead, effects }) => (
        <div key={name} class="advice">
          <pre>{statement}</pre>
          <button type="button" onClick={() => void copy(statement)}>
            Copy<span class="unseen"> the statement of {name}</span>
          </button>
          <p>For {serves.join(', ')}.</p>
          {instead !== undefined && <p>{instead}.</p>}
          {effects === undefined && <p class="quiet">{engine} tells no estimate of what it would change.</p>}
          {effects?.length === 0 && <p class="quiet">{engine} would not use it for this search, by its own plan.</p>}
          {effects?.map(({ purpose, before, after }) => (
            <dl key={purpose}>
              <dt>now</dt>
              <dd>{before.join('; ') || 'the same'}</dd>
              <dt>with it</dt>
              <dd>{after.join('; ')}</dd>
              <dt>in</dt>
              <dd>{purpose}</dd>
            </dl>
          ))}
        </div>
      ))}
      {words.map(line => (
        <p key={line}>{line.replace(/^n/, 'N')}.</p>
      ))}
    </>
  );
}

function withoutAdvice({ isAdvised, scans }: Parts['found']): string {
  if (!isAdvised) return 'Missing indexes are not determined for a pack of this size.';
  if (scans.length === 0) return 'No index is missing for this search.';
  return `No known index would help this search: its plan scans all rows (${scans.join('; ')}).`;
}
