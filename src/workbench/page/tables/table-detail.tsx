/**
 * One table: keys and where they lead, and its columns with a sample of their rows. The sample is cancelled when
 * another table is chosen or the view is left.
 */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { WireDetail, WireForeignKey, WireLikelyKey, WireLikelyKeys, WireProfile } from '../../wire/tables.ts';
import { type Answer, useAnswer } from '../answer.ts';
import type { Bench } from '../bench.ts';
import { ColumnTable } from './column-table.tsx';
import { profileText, rowsWords } from './words.ts';

interface Parts {
  readonly id: string;
  /** Names of tables by id. */
  readonly names: ReadonlyMap<string, string>;
  readonly choose: (id: string) => void;
  readonly bench: Bench;
}

export function TableDetail({ id, names, choose, bench }: Parts) {
  const { unsaved, check } = bench;
  const asked = { unsaved, table: id };
  const detail = useAnswer<WireDetail>('tables/one', asked, [id, check]);
  const profile = useAnswer<WireProfile>('tables/profile', asked, [id]);
  // Likely keys are requested only after the profile, so that leaving the table during a long profile cancels
  // everything.
  const isWanted = profile.is !== undefined || profile.failed !== undefined;
  const likely = useAnswer<WireLikelyKeys>('tables/likely', asked, [id, isWanted], { isWanted });
  const [unmappedOnly, setUnmappedOnly] = useState(false);
  const shown = detail.is;
  if (!shown) {
    return (
      <section class="table-detail" aria-label="Table" aria-busy={detail.failed === undefined}>
        {detail.failed !== undefined && <p role="alert">{detail.failed}</p>}
      </section>
    );
  }
  const mapped = shown.columns.filter(({ uses }) => uses.length > 0).length;
  const columns = unmappedOnly ? shown.columns.filter(({ uses }) => uses.length === 0) : shown.columns;
  return (
    <section class="table-detail" aria-label={`Table ${shown.name}`}>
      <div class="bar">
        <h2>{shown.name}</h2>
        <span class="quiet">
          {rowsWords(shown.rows)}, {shown.columns.length} columns, {mapped} mapped
          {shown.mapped === 'stale' && ' (by the last valid texts)'}
          {shown.mapped === 'unknown' && ' (unknown, as the pack has errors)'}
        </span>
        <label>
          <input
            type="checkbox"
            checked={unmappedOnly}
            onChange={event => setUnmappedOnly(event.currentTarget.checked)}
          />{' '}
          only columns that are not mapped
        </label>
      </div>
      {detail.failed !== undefined && <p role="alert">{detail.failed}</p>}
      <Keys detail={shown} likely={likely} names={names} choose={choose} />
      <p class="sampled">
        <output aria-live="polite">{profile.is ? profileText(profile.is) : (profile.failed ?? 'Reading rows…')}</output>
      </p>
      <ColumnTable table={id} columns={columns} profile={profile.is} bench={bench} />
    </section>
  );
}

interface KeyParts extends Pick<Parts, 'names' | 'choose'> {
  readonly detail: WireDetail;
  readonly likely: Answer<WireLikelyKeys>;
}

function Keys({ detail, likely, names, choose }: KeyParts) {
  const { key, indexes, foreignKeys, referencedBy } = detail;
  const linkOf = (id: string) =>
    names.has(id) ? (
      <button type="button" class="place" onClick={() => choose(id)}>
        {names.get(id)}
      </button>
    ) : (
      id
    );
  return (
    <dl class="keys">
      <Entry title="Key" items={key.length > 0 ? [key.join(', ')] : []} none="none is declared" />
      <Entry
        title="Indexes"
        items={indexes.map(({ name, columns, unique }) => (
          <span title={name}>
            ({columns.join(', ')}){unique && ' unique'}
          </span>
        ))}
        none="none"
      />
      <Entry
        title="Foreign keys"
        items={foreignKeys.map(({ columns, table, theirs }) => (
          <>
            {columns.join(', ')} → {linkOf(table)} ({theirs.join(', ')})
          </>
        ))}
        none="none is declared"
      />
      <Entry
        title="Likely foreign keys"
        items={(likely.is?.keys ?? []).map(one => (
          <>
            {one.column} → {linkOf(one.table)} ({one.theirs}) <span class="quiet">{reasonOf(one)}</span>
          </>
        ))}
        none={likely.is ? 'none found' : (likely.failed ?? 'looking…')}
        after={likely.is?.cut ? '; the time budget ended before all columns were read' : undefined}
      />
      <Entry
        title="Referenced by"
        items={referencedBy.map(({ table, columns }: WireForeignKey) => (
          <>
            {linkOf(table)} ({columns.join(', ')})
          </>
        ))}
        none="no declared key"
      />
    </dl>
  );
}

function reasonOf({ by, sampled, found }: WireLikelyKey): string {
  const why = by === 'name' ? 'by name' : 'by values alone';
  if (sampled === 0) return `${why}; it holds no values`;
  return `${why}; ${found === sampled ? `all ${sampled}` : `${found} of ${sampled}`} sampled values are there`;
}

/** Further entries are folded. */
const ENTRIES = 6;

interface EntryParts {
  readonly title: string;
  readonly items: readonly ComponentChildren[];
  readonly none: string;
  readonly after?: string | undefined;
}

function Entry({ title, items, none, after }: EntryParts) {
  const [whole, setWhole] = useState(false);
  const shown = whole ? items : items.slice(0, ENTRIES);
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        {items.length === 0 && <span class="quiet">{none}</span>}
        {shown.map((item, i) => (
          <span key={i} class="entry">
            {item}
          </span>
        ))}
        {shown.length < items.length && (
          <button type="button" onClick={() => setWhole(true)}>
            {items.length - shown.length} more
          </button>
        )}
        {after !== undefined && <span class="quiet">{after}</span>}
      </dd>
    </div>
  );
}
