/**
 * A Bundle for a person to read: a line for each resource, which opens to its JSON and leads to its row in the preview.
 */
import type { WireRow } from '../../wire/search.ts';
import { ask } from '../ask.ts';
import type { Bench } from '../bench.ts';
import { linesOf } from '../mapping/json-lines.ts';

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

/** Elements of a resource that its line tells. */
const TOLD = 5;
/** Characters of one. */
const LONGEST = 60;
const NOT_TOLD: ReadonlySet<string> = new Set(['resourceType', 'id', 'meta', 'text', 'contained']);
/** Of an object the first of these that it has says most. */
const TELLING = ['text', 'display', 'reference', 'value', 'family', 'start', 'coding', 'code'];

interface Parts {
  readonly bundle: unknown;
  readonly milliseconds: number;
  /** The search, as it was typed. */
  readonly query: string;
  readonly bench: Bench;
}

export function BundleList({ bundle, milliseconds, query, bench }: Parts) {
  const { unsaved } = bench;
  const preview = ({ resourceType: type, id }: Resource): void => {
    ask<WireRow>('search/row', { unsaved, type, id }).then(
      row => bench.look({ ...row, from: query }),
      (error: Error) => bench.tell(error.message),
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

/** Its first elements that say something in a few words, whatever the type. */
function summaryOf(resource: Resource): string {
  const texts = Object.entries(resource).flatMap(([name, value]) => {
    const text = NOT_TOLD.has(name) ? undefined : textOf(value);
    return text === undefined ? [] : [`${name} ${text.slice(0, LONGEST)}`];
  });
  return texts.slice(0, TOLD).join(' · ');
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return textOf(value[0]);
  if (typeof value !== 'object' || value === null) return undefined;
  const parts = value as Readonly<Record<string, unknown>>;
  for (const name of TELLING) {
    const text = textOf(parts[name]);
    if (text !== undefined) return typeof parts['unit'] === 'string' ? `${text} ${parts['unit']}` : text;
  }
  return undefined;
}
