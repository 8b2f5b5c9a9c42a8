/** Shows a Bundle for people: a line per resource, which opens to its JSON and links to its row in the preview. */
import type { WireRow } from '../../wire/search.ts';
import { ask } from '../ask.ts';
import type { Bench } from '../bench.ts';
import { linesOf } from '../mapping/json-lines.ts';
import { summaryOf } from './summary.ts';

interface Resource {
  readonly resourceType?: string;
  readonly id?: string;
  readonly [name: string]: unknown;
}

interface Bundle {
  readonly total?: number;
  readonly link?: readonly { readonly relation: string; readonly url: string }[];
  readonly entry?: readonly { readonly resource?: Resource; readonly search?: { readonly mode?: string } }[];
}

interface Parts {
  readonly bundle: unknown;
  readonly milliseconds: number;
  /** The search as typed. */
  readonly query: string;
  readonly bench: Bench;
}

export function BundleList({ bundle, milliseconds, query, bench }: Parts) {
  const { unsaved } = bench;
  const preview = ({ resourceType: type, id }: Resource): void => {
    ask<WireRow>('search/row', { unsaved, type, id }).then(
      row => bench.preview({ ...row, from: query }),
      (error: Error) => bench.announce(error.message),
    );
  };
  const { total, entry = [], link = [] } = bundle as Bundle;
  const matches = entry.filter(({ search }) => search?.mode === 'match').length;
  const others = entry.length - matches;
  const next = link.some(({ relation }) => relation === 'next');
  return (
    <section class="bundle" aria-label="Answer">
      <h2>
        <output>
          {matches === 0 ? 'No match' : `${matches} ${matches === 1 ? 'match' : 'matches'}`} on this page
          {others > 0 && `, ${others} included`}
          {total !== undefined && `, ${total} in all`}
          {next && ', further pages follow'}, {milliseconds} ms
        </output>
      </h2>
      {entry.map(({ resource = {}, search }) => (
        <div class="hit" key={`${resource.resourceType}/${resource.id}`}>
          <details open={entry.length === 1}>
            <summary>
              <code>
                {resource.resourceType}/{resource.id}
              </code>{' '}
              {search?.mode !== 'match' && <i>{search?.mode}</i>} <span class="quiet">{summaryOf(resource)}</span>
            </summary>
            <pre>
              {linesOf(resource)
                .map(({ depth, before, value, after }) => `${'  '.repeat(depth)}${before}${value}${after}`)
                .join('\n')}
            </pre>
          </details>
          {search?.mode !== 'outcome' && (
            <button
              type="button"
              aria-label={`Preview of ${resource.resourceType}/${resource.id}`}
              onClick={() => preview(resource)}
            >
              Preview
            </button>
          )}
        </div>
      ))}
    </section>
  );
}
