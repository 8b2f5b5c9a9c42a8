/**
 * The view of code maps: raw values in rows that no map has, their likely codes, and the rows of the map as a table.
 * Accepted suggestions and edits change the text of the map's file, unsaved, as if they were typed there.
 */
import './codes.css';
import { useRef, useState } from 'preact/hooks';
import type { WireCodeMap, WireNewMap } from '../../wire/codes.ts';
import { ask } from '../ask.ts';
import type { Bench } from '../bench.ts';
import { CsvButton } from './csv.tsx';
import { MapPane } from './map-pane.tsx';
import { useCodeMaps, useUnmapped } from './maps.ts';

export function CodesView({ bench }: { readonly bench: Bench }) {
  const [name, setName] = useState<string>();
  const [times, setTimes] = useState(0);
  const { is: found, failed } = useCodeMaps(bench);
  const { is: unmapped, failed: uncounted } = useUnmapped(bench, times);
  const counts = new Map((unmapped?.maps ?? []).map(one => [one.name, one]));
  // If the user is already working in the list, it must not be reordered.
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

/** Makes a code map from a list, named after the file. */
function NewMap({ bench, begun }: { readonly bench: Bench; readonly begun: (name: string) => void }) {
  const begin = async (file: string, base64: string): Promise<void> => {
    const { map, problems } = await ask<WireNewMap>('codes/new', { unsaved: bench.unsaved, file, base64 });
    if (!map) {
      bench.announce(`No map was begun: ${problems.slice(0, 3).join('; ')}`);
      return;
    }
    bench.begin(map.path, map.text);
    begun(map.name);
    bench.announce(`Code map ${map.name} has ${map.rows} rows of ${file}, not saved yet`);
  };
  return <CsvButton label="New map from CSV…" take={begin} failed={({ message }) => bench.announce(message)} />;
}
