/**
 * One code map: its readers, the values of their columns without a row, and its rows as an editable table. Each change
 * modifies the text of a file, and can be undone and redone.
 */

import { useEffect, useRef, useState } from 'preact/hooks';
import type { WireCodeMap, WireCodeTexts, WireCsv, WireHeld } from '../../wire/codes.ts';
import { ask } from '../ask.ts';
import type { Bench } from '../bench.ts';
import { isUnsaved } from '../files.ts';
import { PlaceButton } from '../place-button.tsx';
import { useSaveKey } from '../save-key.ts';
import { CodeLine, type Edit } from './code-line.tsx';
import { CsvButton, download } from './csv.tsx';
import { linesOf, rowsWithout } from './lines.ts';
import { useHeld, useRows } from './maps.ts';

interface Pane {
  readonly map: WireCodeMap;
  readonly bench: Bench;
  readonly systems: readonly string[];
  readonly times: number;
  readonly again: () => void;
  /** Called when the user works in the map: it then stays selected, whatever the counts say. */
  readonly used: () => void;
}

/** A change of a file: its text before and after. */
interface Step {
  readonly path: string;
  readonly before: string | undefined;
  readonly text: string;
}

/** Counts the columns again whenever `times` changes. */
export function MapPane({ map, bench, systems, times, again, used }: Pane) {
  const { is: rows, failed: unread } = useRows(bench, map.name);
  const { is: held, failed: uncounted } = useHeld(bench, map.name, times);
  const [steps, setSteps] = useState<readonly Step[]>([]);
  /** Undone steps. */
  const [backs, setBacks] = useState<readonly Step[]>([]);
  const [problems, setProblems] = useState<readonly string[]>([]);
  const table = useRef<HTMLTableElement>(null);
  const goal = useRef<string>(undefined);
  const changing = useRef<Promise<void>>(undefined);
  /** Files that were changed here. */
  const changed = useRef(new Set([map.place.file])).current;
  const lines = rows ? linesOf(map, rows.rows, held) : [];
  const unmapped = lines.filter(({ row }) => row === undefined);
  const shut = map.kind === 'table' || map.fixed;
  useEffect(() => {
    if (goal.current === undefined) return;
    const to = [...(table.current?.querySelectorAll<HTMLElement>('tr[data-raw]') ?? [])].find(
      line => line.dataset['raw'] === goal.current,
    );
    (to?.querySelector<HTMLElement>('.accept') ?? to?.querySelector('input'))?.focus();
    goal.current = undefined;
  }, [rows]);
  const fileOf = (path: string | undefined) => bench.files.find(file => file.path === path);
  const failed = (error: Error): void => bench.announce(error.message);
  const take = ({ texts, problems: found }: WireCodeTexts): void => {
    setProblems(found);
    if (texts.length === 0) return;
    const made = texts.map(one => ({ ...one, before: fileOf(one.path)?.text }));
    for (const { path, text } of texts) {
      bench.rewrite(path, text);
      changed.add(path);
    }
    setSteps(all => [...all, ...made]);
    setBacks([]);
  };
  const change = (edit: Edit, next?: string): Promise<void> => {
    const body = { unsaved: bench.unsaved, map: map.name, edits: [edit] };
    return ask<WireCodeTexts>('codes/edit', body).then(texts => {
      take(texts);
      goal.current = next;
      bench.announce(
        edit.to ? `${edit.rename ?? edit.raw} is ${edit.to.code} now, not saved yet` : `${edit.raw} has no row now`,
      );
    }, failed);
  };
  const last = steps.at(-1);
  const canUndo = last !== undefined && fileOf(last.path)?.text === last.text;
  const dirty = [...changed].filter(path => {
    const file = fileOf(path);
    return file && isUnsaved(file);
  });
  const undo = (): void => {
    if (!last || !canUndo) return;
    bench.undo(last.path);
    setSteps(all => all.slice(0, -1));
    setBacks(all => [...all, last]);
    bench.announce('The last change is undone');
  };
  const next = backs.at(-1);
  const canRedo = next !== undefined && fileOf(next.path)?.text === next.before;
  const redo = (): void => {
    if (!next || !canRedo) return;
    bench.redo(next.path);
    setBacks(all => all.slice(0, -1));
    setSteps(all => [...all, next]);
    bench.announce('The change is redone');
  };
  const save = (): void => {
    for (const path of changed) void bench.save(path);
  };
  useSaveKey(async () => {
    // A line is applied when it loses the focus.
    const { activeElement: field } = document;
    if (field instanceof HTMLInputElement && table.current?.contains(field)) field.blur();
    await changing.current;
    save();
  }, true);
  const csvOut = (of: 'rows' | 'unmapped'): void => {
    ask<WireCsv>('codes/csv', { unsaved: bench.unsaved, map: map.name, of }).then(({ name, text }) => {
      download(name, text);
      bench.announce(`${name} is in the downloads`);
    }, failed);
  };
  const csvIn = async (file: string, base64: string): Promise<void> => {
    const body = { unsaved: bench.unsaved, map: map.name, file, base64 };
    const taken = await ask<WireCodeTexts>('codes/import', body);
    take(taken);
    bench.announce(
      taken.problems.length > 0 ? 'Nothing was imported' : `${taken.changed} rows of ${file}, not saved yet`,
    );
  };
  return (
    <section
      class="map"
      aria-label={`Code map ${map.name}`}
      onFocusIn={used}
      onKeyDown={event => {
        if (!(event.ctrlKey || event.metaKey)) return;
        const inField = event.target instanceof HTMLInputElement;
        if ((event.key === 'y' || (event.key === 'Z' && event.shiftKey)) && !inField) redo();
        else if (event.key === 'z' && !inField) undo();
        else return;
        event.preventDefault();
      }}
    >
      <div class="bar">
        <h2>{map.name}</h2>
        <button type="button" disabled={!canUndo} onClick={undo}>
          Undo
        </button>
        <button type="button" disabled={!canRedo} onClick={redo}>
          Redo
        </button>
        <button type="button" disabled={dirty.length === 0} onClick={save}>
          Save
        </button>
        <button type="button" onClick={again}>
          Count again
        </button>
        <button type="button" disabled={unmapped.length === 0} onClick={() => csvOut('unmapped')}>
          Unmapped as CSV
        </button>
        <button type="button" disabled={map.kind === 'table'} onClick={() => csvOut('rows')}>
          Rows as CSV
        </button>
        <CsvButton label="Rows from CSV…" disabled={shut} take={csvIn} failed={failed} />
      </div>
      {unread !== undefined && <p role="alert">{unread}</p>}
      <About
        map={map}
        held={held}
        uncounted={uncounted}
        unmapped={held ? rowsWithout(lines, held) : 0}
        bench={bench}
        total={rows?.total ?? 0}
        shown={rows?.rows.length ?? 0}
      />
      {problems.length > 0 && (
        <ul role="alert">
          {problems.slice(0, 20).map(text => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      <div class="scroll">
        <table ref={table} aria-busy={held === undefined && uncounted === undefined}>
          <caption class="unseen">Raw values of {map.name}: those without a row first</caption>
          <thead>
            <tr>
              <th scope="col" class="number">
                Rows
              </th>
              <th scope="col">Raw value</th>
              <th scope="col">Code</th>
              <th scope="col">Display</th>
              <th scope="col">System</th>
              <th scope="col">{unmapped.some(({ suggestions }) => suggestions.length > 0) ? 'Suggestions' : ''}</th>
            </tr>
          </thead>
          <tbody>
            {lines.map((line, i) => (
              <CodeLine
                key={`${line.row === undefined} ${line.raw}`}
                line={line}
                shut={shut}
                own={map.system}
                change={(edit, then) => {
                  changing.current = change(edit, then);
                }}
                next={line.row === undefined ? unmapped[i + 1]?.raw : undefined}
                show={() => line.row && bench.goTo(line.row.place)}
              />
            ))}
          </tbody>
        </table>
        {held && lines.length === 0 && <p>No column holds a value for this map, and it has no rows.</p>}
      </div>
      <datalist id="systems">
        {systems.map(one => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </section>
  );
}

interface AboutMap {
  readonly map: WireCodeMap;
  readonly held: WireHeld | undefined;
  /** The reason if the columns could not be counted. */
  readonly uncounted: string | undefined;
  /** Number of database rows whose value has no row. */
  readonly unmapped: number;
  readonly bench: Bench;
  readonly total: number;
  readonly shown: number;
}

/** Shows the map's place, its readers, and how much of it is not shown. */
function About({ map, held, uncounted, unmapped, bench, total, shown }: AboutMap) {
  const { place, readers, system, fixed, kind } = map;
  const own = held?.columns.find(({ ownElse }) => ownElse !== undefined)?.ownElse;
  const lacking = (held?.columns ?? []).filter(({ total: { rows } }) => rows > 0);
  const isElse = lacking.length > 0 && lacking.every(({ hasElse }) => hasElse);
  const cut = (held?.columns ?? []).filter(column => column.unknown.length < column.total.values);
  const stepped = (held?.columns ?? []).filter(({ isCode, total: { values } }) => !isCode && values > 0);
  return (
    <div class="about">
      <p>
        <PlaceButton place={place} bench={bench}>{`${place.file}:${place.line}`}</PlaceButton>
        {system !== '' && <> · codes of {system}</>} ·{' '}
        {readers.length === 0 ? 'read by no column' : `read by ${readers.join(', ')}`}
      </p>
      <p role="status">
        {held === undefined
          ? (uncounted ?? 'Counting the values of the columns…')
          : held.late
            ? 'The time budget of 20 s ended before all values were counted.'
            : unmapped === 0
              ? 'The map has every value.'
              : `${unmapped.toLocaleString('en-US')} ${unmapped === 1 ? 'row holds' : 'rows hold'} a value without a row in the map${isElse ? '; a fallback such as `else` applies' : own === undefined ? '' : `; the else of the map makes it ${own}`}.`}
        {cut.length > 0 && ' The most frequent 1,000 values are listed.'}
        {shown < total && ` Of ${total.toLocaleString('en-US')} rows of the map the first ${shown} are listed.`}
      </p>
      {stepped.map(({ table, column, total: { values }, place: at }) => (
        <p key={`${table}.${column}`}>
          {table}.{column} is cut or changed before it is looked up; {values} of its values have no row.{' '}
          <PlaceButton place={at} bench={bench}>{`${at.file}:${at.line}`}</PlaceButton>
        </p>
      ))}
      {fixed && (
        <p class="note">
          The map belongs to a base pack and is read-only. A map of the same name in this pack overrides it.
        </p>
      )}
      {kind === 'table' && <p class="note">Its rows are in a table of the database, which is read-only.</p>}
    </div>
  );
}
