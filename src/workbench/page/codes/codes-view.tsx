/**
 * The view of code maps: which raw values rows hold and no map knows, the codes that they may mean, and the rows as a
 * table. What a person accepts or types goes into the text of the map's file, unsaved, as if it were typed there.
 */
import './codes.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { WireCodeMap, WireCodeTexts, WireCsv, WireHeld, WireNewMap, WireSuggestion } from '../../wire/codes.ts';
import { ask } from '../ask.ts';
import type { Bench } from '../bench.ts';
import { isUnsaved } from '../files.ts';
import { useSaveKey } from '../save-key.ts';
import { type Line, linesOf, rowsWithout } from './lines.ts';
import { useCodeMaps, useHeld, useRows, useUnmapped } from './maps.ts';

interface Edit {
  readonly raw: string;
  readonly rename?: string;
  readonly to: { readonly code: string; readonly display: string; readonly system?: string } | null;
}

export function CodesView({ bench }: { readonly bench: Bench }) {
  const [name, setName] = useState<string>();
  const [times, setTimes] = useState(0);
  const { is: found, failed } = useCodeMaps(bench);
  const { is: unmapped, failed: uncounted } = useUnmapped(bench, times);
  const counts = new Map((unmapped?.maps ?? []).map(one => [one.name, one]));
  // Whoever is at the list already does not have it move away under the hand.
  const touched = useRef(false);
  const byRows = useRef<boolean>(undefined);
  if (unmapped) byRows.current ??= !touched.current;
  const rowsOf = (map: WireCodeMap): number => (byRows.current ? (counts.get(map.name)?.rows ?? 0) : 0);
  const touch = (): void => {
    touched.current = true;
  };
  const maps = (found?.maps ?? []).toSorted((a, b) => rowsOf(b) - rowsOf(a) || (a.name < b.name ? -1 : 1));
  const map = maps.find(one => one.name === name) ?? maps[0];
  if (found && !found.maps) {
    return <main class="alone">A file of code maps, or pack.yaml, cannot be read: the view Mapping shows where.</main>;
  }
  if (failed !== undefined) {
    return (
      <main class="alone">
        <p role="alert">{failed}</p>
      </main>
    );
  }
  const begin = <NewMap bench={bench} begun={setName} />;
  if (found && maps.length === 0) {
    return (
      <main class="alone">
        <p>
          The pack has no code map. Write one in the view Mapping, in a file codes.yaml: a name, and below it the system
          of its codes. Or begin one from a list:
        </p>
        {begin}
      </main>
    );
  }
  return (
    <main class="codes">
      <nav class="files" aria-label="Code maps" onPointerEnter={touch} onFocusIn={touch}>
        <p class="quiet">
          {uncounted !== undefined
            ? 'Values are not counted'
            : unmapped === undefined
              ? 'Counting values…'
              : byRows.current
                ? 'Most unmapped rows first'
                : 'By name'}
          {(unmapped?.late.length ?? 0) > 0 && `; ${unmapped?.late.length} not counted, as the time budget ended`}
        </p>
        <ul>
          {maps.map(one => (
            <li key={one.name}>
              <button
                type="button"
                aria-current={one.name === map?.name ? 'true' : undefined}
                onClick={() => setName(one.name)}
              >
                <span>{one.name}</span>
                {(counts.get(one.name)?.values ?? 0) > 0 && (
                  <span class="count" title="values without a row">
                    {counts.get(one.name)?.values}
                    <span class="unseen"> values without a row</span>
                  </span>
                )}
              </button>
            </li>
          ))}
        </ul>
        {begin}
      </nav>
      {map && (
        <MapPane
          key={map.name}
          map={map}
          bench={bench}
          systems={found?.systems ?? []}
          times={times}
          again={() => setTimes(count => count + 1)}
          used={() => setName(map.name)}
        />
      )}
    </main>
  );
}

/** Begins a code map from a list; its name is that of the file. */
function NewMap({ bench, begun }: { readonly bench: Bench; readonly begun: (name: string) => void }) {
  const begin = async (file: File): Promise<void> => {
    try {
      const base64 = await base64Of(file);
      const { map, problems } = await ask<WireNewMap>('codes/new', { unsaved: bench.unsaved, file: file.name, base64 });
      if (!map) {
        bench.tell(`No map was begun: ${problems.slice(0, 3).join('; ')}`);
        return;
      }
      bench.begin(map.path, map.text);
      begun(map.name);
      bench.tell(`Code map ${map.name} has ${map.rows} rows of ${file.name}, not saved yet`);
    } catch (error) {
      bench.tell(error instanceof Error ? error.message : 'No map was begun');
    }
  };
  return (
    <label class="button new">
      New map from CSV…
      <input
        type="file"
        accept=".csv,.txt,.tsv,text/csv"
        class="unseen"
        onChange={event => {
          const [file] = event.currentTarget.files ?? [];
          if (file) void begin(file);
          event.currentTarget.value = '';
        }}
      />
    </label>
  );
}

interface Pane {
  readonly map: WireCodeMap;
  readonly bench: Bench;
  readonly systems: readonly string[];
  readonly times: number;
  readonly again: () => void;
  /** Somebody works in it: it stays, whatever the counts say. */
  readonly used: () => void;
}

/** A change of a file: its text before and after. */
interface Step {
  readonly path: string;
  readonly before: string | undefined;
  readonly text: string;
}

function MapPane({ map, bench, systems, times, again, used }: Pane) {
  const { is: rows, failed: unread } = useRows(bench, map.name);
  const { is: held, failed: uncounted } = useHeld(bench, map.name, times);
  const [steps, setSteps] = useState<readonly Step[]>([]);
  /** Those that were taken back. */
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
  const take = ({ texts, problems: told }: WireCodeTexts): void => {
    setProblems(told);
    if (texts.length === 0) return;
    const made = texts.map(one => ({ ...one, before: fileOf(one.path)?.text }));
    for (const { path, text } of texts) {
      bench.rewrite(path, text);
      changed.add(path);
    }
    setSteps(all => [...all, ...made]);
    setBacks([]);
  };
  const change = async (edit: Edit, next?: string): Promise<void> => {
    try {
      const body = { unsaved: bench.unsaved, map: map.name, edits: [edit] };
      take(await ask<WireCodeTexts>('codes/edit', body));
      goal.current = next;
      bench.tell(
        edit.to ? `${edit.rename ?? edit.raw} is ${edit.to.code} now, not saved yet` : `${edit.raw} has no row now`,
      );
    } catch (error) {
      bench.tell(error instanceof Error ? error.message : 'The row is not changed');
    }
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
    bench.tell('The last change is undone');
  };
  const next = backs.at(-1);
  const canRedo = next !== undefined && fileOf(next.path)?.text === next.before;
  const redo = (): void => {
    if (!next || !canRedo) return;
    bench.redo(next.path);
    setBacks(all => all.slice(0, -1));
    setSteps(all => [...all, next]);
    bench.tell('The change is redone');
  };
  const save = (): void => {
    for (const path of changed) void bench.save(path);
  };
  useSaveKey(async () => {
    // A line counts when it is left.
    const { activeElement: field } = document;
    if (field instanceof HTMLInputElement && table.current?.contains(field)) field.blur();
    await changing.current;
    save();
  }, true);
  const csvOut = async (of: 'rows' | 'unmapped'): Promise<void> => {
    try {
      const { name, text } = await ask<WireCsv>('codes/csv', { unsaved: bench.unsaved, map: map.name, of });
      download(name, text);
      bench.tell(`${name} is in the downloads`);
    } catch (error) {
      bench.tell(error instanceof Error ? error.message : 'No list was made');
    }
  };
  const csvIn = async (file: File): Promise<void> => {
    try {
      const base64 = await base64Of(file);
      const taken = await ask<WireCodeTexts>('codes/import', {
        ...{ unsaved: bench.unsaved, map: map.name, file: file.name, base64 },
      });
      take(taken);
      bench.tell(
        taken.problems.length > 0 ? 'Nothing was imported' : `${taken.changed} rows of ${file.name}, not saved yet`,
      );
    } catch (error) {
      bench.tell(error instanceof Error ? error.message : 'Nothing was imported');
    }
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
        <button type="button" disabled={unmapped.length === 0} onClick={() => void csvOut('unmapped')}>
          Unmapped as CSV
        </button>
        <button type="button" disabled={map.kind === 'table'} onClick={() => void csvOut('rows')}>
          Rows as CSV
        </button>
        <label class={shut ? 'button shut' : 'button'}>
          Rows from CSV…
          <input
            type="file"
            accept=".csv,.txt,.tsv,text/csv"
            class="unseen"
            disabled={shut}
            onChange={event => {
              const [file] = event.currentTarget.files ?? [];
              if (file) void csvIn(file);
              event.currentTarget.value = '';
            }}
          />
        </label>
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
  /** Why the columns are not counted. */
  readonly uncounted: string | undefined;
  /** Rows of the database that hold a value without a row. */
  readonly unmapped: number;
  readonly bench: Bench;
  readonly total: number;
  readonly shown: number;
}

/** Where the map stands, what reads it, and what of it is not shown. */
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
        <button type="button" class="place" onClick={() => bench.goTo(place)}>
          {place.file}:{place.line}
        </button>
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
          <button type="button" class="place" onClick={() => bench.goTo(at)}>
            {at.file}:{at.line}
          </button>
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

interface LineProps {
  readonly line: Line;
  readonly shut: boolean;
  readonly own: string;
  readonly change: (edit: Edit, next?: string) => void;
  /** The value whose turn it is once this one has its code. */
  readonly next: string | undefined;
  readonly show: () => void;
}

function CodeLine({ line, shut, own, change, next, show }: LineProps) {
  const { raw, count, row, suggestions } = line;
  const cells = useRef<Partial<Record<'raw' | 'code' | 'display' | 'system', HTMLInputElement | null>>>({});
  const written = (name: keyof typeof cells.current): string => cells.current[name]?.value.trim() ?? '';
  const commit = (then: string | undefined): void => {
    const to = { code: written('code'), display: written('display'), system: written('system') };
    const rename = cells.current.raw?.value.trimEnd() || raw;
    const isSame = to.code === row?.code && to.display === row.display && to.system === row.system && rename === raw;
    // A line is written once it has a code.
    if (shut || to.code === '' || isSame) return;
    const system = to.system === '' ? {} : { system: to.system };
    change({ raw, to: { code: to.code, display: to.display, ...system }, ...(rename === raw ? {} : { rename }) }, then);
  };
  const accept = ({ code, display, system }: WireSuggestion): void => {
    change({ raw, to: { code, display, ...(system === '' ? {} : { system }) } }, next ?? raw);
  };
  const field = (name: 'code' | 'display' | 'system', value: string) => (
    <td>
      {shut ? (
        <span class={name}>{value}</span>
      ) : (
        <input
          key={value}
          ref={input => {
            cells.current[name] = input;
          }}
          aria-label={`${name} of ${raw}`}
          class={name}
          defaultValue={value}
          list={name === 'system' ? 'systems' : undefined}
          placeholder={name === 'system' ? own : undefined}
        />
      )}
    </td>
  );
  return (
    <tr
      class={row ? undefined : 'unmapped'}
      data-raw={raw}
      onFocusOut={event => {
        const to = event.relatedTarget;
        if (!(to instanceof Node && event.currentTarget.contains(to))) commit(undefined);
      }}
      onKeyDown={event => {
        if (event.key === 'Enter' && event.target instanceof HTMLInputElement) commit(next ?? raw);
      }}
    >
      <td class="number">{count === undefined ? '' : count.toLocaleString('en-US')}</td>
      {row && !shut ? (
        <td>
          <input
            key={raw}
            ref={input => {
              cells.current.raw = input;
            }}
            aria-label={`raw value ${raw}`}
            class="raw"
            defaultValue={raw}
          />
        </td>
      ) : (
        <th scope="row" class="raw">
          {raw}
          {!row && <span class="unseen"> has no row</span>}
        </th>
      )}
      {field('code', row?.code ?? '')}
      {field('display', row?.display ?? '')}
      {field('system', row?.system ?? '')}
      <td class="acts">
        {!row &&
          !shut &&
          suggestions.map(one => (
            <button
              key={`${one.system}#${one.code}`}
              type="button"
              class="accept"
              title={`${Math.round(one.score * 100)} of 100: ${one.reason}`}
              onClick={() => accept(one)}
            >
              <span class="unseen">Accept for {raw}: </span>
              {one.code}
              {one.display !== '' && <span class="quiet"> {one.display}</span>}{' '}
              <span class="score">
                {Math.round(one.score * 100)}
                <span class="unseen"> of 100: {one.reason}</span>
              </span>
            </button>
          ))}
        {row && (
          <button type="button" class="place" onClick={show}>
            line {row.place.line}
            <span class="unseen"> of {raw}</span>
          </button>
        )}
        {row && !shut && (
          <button type="button" class="remove" title="Remove the row" onClick={() => change({ raw, to: null })}>
            <span aria-hidden="true">×</span>
            <span class="unseen">Remove {raw}</span>
          </button>
        )}
      </td>
    </tr>
  );
}

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(new Error(`${file.name} cannot be read`));
    reader.readAsDataURL(file);
  });
}
