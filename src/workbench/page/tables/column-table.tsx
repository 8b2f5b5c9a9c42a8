/**
 * The columns of a table: type, where the pack reads them, and the profile of their rows. The values of a column are
 * shown only on request.
 */

import { useEffect, useRef, useState } from 'preact/hooks';
import { grouped, listText, share } from '../../wire/numbers.ts';
import type { WireColumnProfile, WireProfile, WireTableColumn, WireUse } from '../../wire/tables.ts';
import { ask } from '../ask.ts';
import type { Bench } from '../bench.ts';
import { PlaceButton } from '../place-button.tsx';

/** Maximum number of places shown per column. */
const PLACES = 3;
/** The server reads at most so many characters of a text. */
const READ = 200;

interface Parts {
  readonly table: string;
  readonly columns: readonly WireTableColumn[];
  readonly profile: WireProfile | undefined;
  readonly bench: Bench;
}

export function ColumnTable({ table, columns, profile, bench }: Parts) {
  const profiles = new Map((profile?.columns ?? []).map(one => [one.name, one]));
  return (
    <table class="columns" aria-busy={profile === undefined}>
      <caption class="unseen">Columns</caption>
      <thead>
        <tr>
          <th scope="col">Column</th>
          <th scope="col">Mapped at</th>
          <th scope="col" class="number">
            NULL
          </th>
          <th scope="col" class="number">
            blank
          </th>
          <th scope="col" class="number" title="Values that likely mean that there is none, such as 9999-12-31 or N/A">
            none?
          </th>
          <th scope="col" class="number">
            different
          </th>
          <th scope="col" class="number">
            length
          </th>
          <th scope="col">Values in the rows</th>
        </tr>
      </thead>
      <tbody>
        {columns.map(column => {
          const { profile: of, why } = profiles.get(column.name) ?? {};
          return (
            <tr key={column.name}>
              <th scope="row">
                {column.name}
                <span class="declared">
                  {column.declared}
                  {!column.nullable && ' NOT NULL'}
                </span>
              </th>
              <td>
                <Uses uses={column.uses} bench={bench} />
              </td>
              {of ? <Numbers of={of} /> : <td colSpan={5} class="quiet" />}
              <td>
                {why !== undefined && <span class="quiet">not read: {why}</span>}
                {of && <Held of={of} />}
                {of && of.distinct.count > 0 && <Values table={table} column={column.name} bench={bench} />}
              </td>
            </tr>
          );
        })}
        {columns.length === 0 && (
          <tr>
            <td colSpan={8} class="quiet">
              All columns are mapped.
            </td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

function Uses({ uses, bench }: { readonly uses: readonly WireUse[]; readonly bench: Bench }) {
  const [whole, setWhole] = useState(false);
  if (uses.length === 0) return <span class="quiet">not mapped</span>;
  const shown = whole ? uses : uses.slice(0, PLACES);
  return (
    <>
      {shown.map(({ mapping, element, place }) => (
        <span key={`${mapping} ${JSON.stringify(place)}`} class="use">
          {mapping}
          {element === undefined ? '' : ` ${element}`}{' '}
          <PlaceButton place={place} bench={bench}>{`${place.file}:${place.line}`}</PlaceButton>
        </span>
      ))}
      {shown.length < uses.length && (
        <button type="button" onClick={() => setWhole(true)}>
          {uses.length - shown.length} more
        </button>
      )}
    </>
  );
}

function Numbers({ of }: { readonly of: WireColumnProfile }) {
  const { values, nulls, blanks, sentinels, distinct, length } = of;
  const none = sentinels.reduce((sum, { rows }) => sum + rows, 0);
  return (
    <>
      <td class="number">{share(nulls, values)}</td>
      <td class="number">{share(blanks, values)}</td>
      <td class="number">{share(none, values)}</td>
      <td class="number">
        {distinct.atLeast && '> '}
        {values > 0 && grouped(distinct.count)}
      </td>
      <td class="number">{length && span(lengthText(length.least), lengthText(length.most))}</td>
    </>
  );
}

function lengthText(characters: number): string {
  return characters >= READ ? `${READ}+` : String(characters);
}

function span(least: string, most: string): string {
  return least === most ? least : `${least}–${most}`;
}

/** Shows a line for each kind of finding. */
function Held({ of }: { readonly of: WireColumnProfile }) {
  const { values, forms, range, frequent, sentinels, impossible, padded, damaged } = of;
  const lines: readonly (readonly [title: string, text: string | undefined, isOdd?: boolean])[] = [
    ['form', forms.length > 0 ? listText(forms, values, 4) : undefined],
    ['range', range && span(range.least, range.most)],
    ['codes', frequent && frequent.length > 0 ? listText(frequent, values, 8) : undefined],
    ['none?', sentinels.length > 0 ? listText(sentinels, values, 4) : undefined, true],
    ['impossible date', impossible.length > 0 ? listText(impossible, values, 4) : undefined, true],
    ['trailing blanks', padded > 0 ? share(padded, values) : undefined],
    ...damaged.map(({ what, rows }) => [what, share(rows, values), true] as const),
  ];
  return (
    <dl class="held">
      {lines.map(([title, text, isOdd]) =>
        text === undefined ? null : (
          <div key={title} class={isOdd ? 'odd' : ''}>
            <dt>{title}</dt>
            <dd>{text}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

/** Shows the most frequent values, on request. */
function Values({ table, column, bench }: { readonly table: string; readonly column: string; readonly bench: Bench }) {
  const [shown, setShown] = useState<WireColumnProfile>();
  const [busy, setBusy] = useState(false);
  const left = useRef(new AbortController());
  useEffect(() => () => left.current.abort(), []);
  const show = async (): Promise<void> => {
    const { signal } = left.current;
    setBusy(true);
    try {
      const body = { unsaved: bench.unsaved, table, column };
      const { columns } = await ask<WireProfile>('tables/profile', body, signal);
      setShown(columns[0]?.profile);
    } catch (error) {
      if (!signal.aborted) bench.announce(error instanceof Error ? error.message : 'The values cannot be shown');
    } finally {
      setBusy(false);
    }
  };
  if (!shown) {
    return (
      <button type="button" class="show" disabled={busy} onClick={() => void show()}>
        Values<span class="unseen"> of {column}</span>
      </button>
    );
  }
  return (
    <ul class="values" aria-label={`Most frequent values of ${column}`}>
      {(shown.frequent ?? []).slice(0, 20).map(({ what, rows }) => (
        <li key={what}>
          <code>{what}</code> {share(rows, shown.values)}
        </li>
      ))}
    </ul>
  );
}
