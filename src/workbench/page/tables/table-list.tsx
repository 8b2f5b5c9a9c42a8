/** The list of tables: search, sorting, navigation with the arrow keys. */
import { useEffect, useState } from 'preact/hooks';
import { grouped } from '../../wire/numbers.ts';
import type { Listed, SortBy, Wanted } from './matching.ts';
import { rowsText, rowsWords } from './words.ts';

/** Rows shown at first; a button shows as many more. */
const AT_ONCE = 400;
/** Maximum number of matching columns named below a table. */
const HITS = 4;

interface Parts {
  readonly listed: readonly Listed[];
  /** Undefined until known. */
  readonly all: number | undefined;
  readonly wanted: Wanted;
  readonly setWanted: (wanted: Wanted) => void;
  readonly chosen: string | undefined;
  readonly choose: (id: string) => void;
  /** Reads the schema again. */
  readonly again: () => void;
}

const HEADS: readonly { readonly by: SortBy; readonly title: string; readonly number: boolean }[] = [
  { by: 'name', title: 'Table', number: false },
  { by: 'rows', title: 'Rows', number: true },
  { by: 'columns', title: 'Columns', number: true },
  { by: 'mapped', title: 'Mapped', number: true },
];

export function TableList({ listed, all, wanted, setWanted, chosen, choose, again }: Parts) {
  const [most, setMost] = useState(AT_ONCE);
  useEffect(() => setMost(AT_ONCE), [wanted]);
  const shown = listed.slice(0, most);
  /** The row that Tab reaches. */
  const reached = shown.some(({ table }) => table.id === chosen) ? chosen : shown[0]?.table.id;
  return (
    <>
      <form class="bar" onSubmit={event => event.preventDefault()}>
        <label class="wide">
          Search tables and columns{' '}
          <input
            type="search"
            value={wanted.text}
            onInput={event => setWanted({ ...wanted, text: event.currentTarget.value })}
          />
        </label>
        <label>
          Show{' '}
          <select
            value={wanted.show}
            onChange={event => setWanted({ ...wanted, show: event.currentTarget.value as Wanted['show'] })}
          >
            <option value="all">all</option>
            <option value="unmapped">not mapped</option>
            <option value="mapped">mapped</option>
          </select>
        </label>
        <button type="button" onClick={again} title="After a change of the database's schema">
          Read schema again
        </button>
      </form>
      <p class="quiet counted" aria-live="polite">
        {all === undefined
          ? 'Reading the schema…'
          : listed.length === all
            ? `${grouped(all)} tables`
            : `${grouped(listed.length)} of ${grouped(all)} tables`}
      </p>
      <div class="scrolled">
        <table aria-label="Tables">
          <thead>
            <tr>
              {HEADS.map(head => (
                <Head key={head.by} {...head} wanted={wanted} setWanted={setWanted} />
              ))}
            </tr>
          </thead>
          <tbody onKeyDown={walk}>
            {shown.map(one => (
              <Row
                key={one.table.id}
                listed={one}
                isChosen={one.table.id === chosen}
                isReached={one.table.id === reached}
                choose={choose}
              />
            ))}
          </tbody>
        </table>
        {listed.length > most && (
          <p>
            <button type="button" onClick={() => setMost(most + AT_ONCE)}>
              Show more ({grouped(listed.length - most)} are left)
            </button>
          </p>
        )}
      </div>
    </>
  );
}

function Head({
  by,
  title,
  number,
  wanted,
  setWanted,
}: { readonly wanted: Wanted; readonly setWanted: Parts['setWanted'] } & (typeof HEADS)[number]) {
  const isIt = wanted.by === by;
  const sort = isIt ? (wanted.descending ? 'descending' : 'ascending') : 'none';
  return (
    <th scope="col" aria-sort={sort} class={number ? 'number' : ''}>
      <button
        type="button"
        onClick={() => setWanted({ ...wanted, by, descending: isIt ? !wanted.descending : number })}
      >
        {title}
        <span aria-hidden="true">{isIt ? (wanted.descending ? ' ▾' : ' ▴') : ''}</span>
      </button>
    </th>
  );
}

interface RowParts {
  readonly listed: Listed;
  readonly isChosen: boolean;
  readonly isReached: boolean;
  readonly choose: (id: string) => void;
}

function Row({ listed: { table, rows, hits }, isChosen, isReached, choose }: RowParts) {
  const { id, name, columns, mapped } = table;
  return (
    <tr class={isChosen ? 'chosen' : ''} onClick={() => choose(id)}>
      <th scope="row">
        <button type="button" tabIndex={isReached ? 0 : -1} aria-current={isChosen ? 'true' : undefined}>
          {name}
        </button>
        {hits.length > 0 && (
          <span class="hits">
            {hits.slice(0, HITS).join(', ')}
            {hits.length > HITS && `, ${hits.length - HITS} more`}
          </span>
        )}
      </th>
      <td class="number" title={rows && rowsWords(rows)}>
        {rowsText(rows)}
      </td>
      <td class="number">{columns.length}</td>
      <td class={`number ${mapped.length === 0 ? 'quiet' : ''}`}>{mapped.length === 0 ? '–' : mapped.length}</td>
    </tr>
  );
}

/** Moves from table to table with the arrow keys. Enter activates the button and so chooses. */
function walk(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const buttons = [...event.currentTarget.querySelectorAll('button')];
  const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
  if (to === undefined || at < 0) return;
  event.preventDefault();
  buttons[Math.min(Math.max(to, 0), buttons.length - 1)]?.focus();
}
