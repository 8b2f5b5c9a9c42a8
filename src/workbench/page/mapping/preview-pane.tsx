/**
 * Shows a row beside its resource. In: a mapping and a key. Pointing at an element, or focusing it by the keyboard,
 * shows the lineage of its value and marks its columns; pointing at a column marks its elements.
 */

import { useEffect, useRef, useState } from 'preact/hooks';
import type { WireElement, WireMapping, WirePreview } from '../../wire/mapping.ts';
import { ask } from '../ask.ts';
import type { Bench, PreviewedRow } from '../bench.ts';
import { PlaceButton } from '../place-button.tsx';
import { CcdaSide } from './ccda-side.tsx';
import { type ChangedLine, changedLines } from './changed-lines.ts';
import { type JsonLine, linesOf } from './json-lines.ts';
import { RecordedTest } from './recorded-test.tsx';
import { RowFinder } from './row-finder.tsx';

export function PreviewPane({ bench }: { readonly bench: Bench }) {
  const { check, file, unsaved, viewState } = bench;
  const mappings = inOrder(check?.mappings ?? [], file?.path);
  const [name, setName] = useState(viewState.previewed?.mapping);
  /** The typed key, which is valid only for its mapping. */
  const [typed, setTyped] = useState<PreviewedRow | undefined>(viewState.previewed);
  const [asked, setAsked] = useState(viewState.previewed);
  const [shown, setShown] = useState<{ readonly previewed: PreviewedRow; readonly preview: WirePreview }>();
  const [failed, setFailed] = useState<string>();
  const known = useRef<readonly WireMapping[]>([]);
  if (mappings.length > 0) known.current = mappings;
  const mapping = known.current.find(one => one.name === name) ?? known.current[0];
  const key = typed !== undefined && typed.mapping === mapping?.name ? typed.key : [];
  useEffect(() => {
    // Selects the first mapping of the opened file, unless a row is shown.
    if (asked === undefined) setName(known.current[0]?.name);
  }, [file?.path, check?.mappings === undefined]);
  useEffect(() => {
    viewState.previewed = asked;
    if (!asked) return;
    const abort = new AbortController();
    const { mapping: of, key: keyOf } = asked;
    ask<WirePreview>('preview', { unsaved, mapping: of, key: keyOf }, abort.signal).then(
      found => {
        setShown({ previewed: asked, preview: found });
        setFailed(undefined);
      },
      (error: Error) => {
        if (!abort.signal.aborted) setFailed(error.message);
      },
    );
    return () => abort.abort();
  }, [asked, check]);
  const choose = (chosen: string): void => {
    setName(chosen);
    setAsked(undefined);
    setShown(undefined);
    setFailed(undefined);
  };
  return (
    <section class="preview" aria-label="Preview">
      <form
        class="bar"
        onSubmit={event => {
          event.preventDefault();
          if (mapping) setAsked({ mapping: mapping.name, key: mapping.key.map((_, i) => key[i] ?? '') });
        }}
      >
        <label>
          Mapping{' '}
          <select value={mapping?.name} onChange={event => choose(event.currentTarget.value)}>
            {known.current.map(one => (
              <option key={one.name} value={one.name}>
                {one.name} ({one.type})
              </option>
            ))}
          </select>
        </label>
        {mapping?.key.map((column, i) => (
          <label key={column}>
            {column}{' '}
            <input
              class="key"
              value={key[i] ?? ''}
              onInput={event => {
                const { value } = event.currentTarget;
                setTyped({ mapping: mapping.name, key: mapping.key.map((_, j) => (j === i ? value : (key[j] ?? ''))) });
              }}
            />
          </label>
        ))}
        <button type="submit" disabled={!mapping}>
          Preview
        </button>
      </form>
      {mapping && (
        <RowFinder
          mapping={mapping}
          bench={bench}
          choose={chosen => {
            const previewed = { mapping: mapping.name, key: chosen };
            setTyped(previewed);
            setAsked(previewed);
          }}
        />
      )}
      {failed !== undefined && <p role="alert">{failed}</p>}
      {shown && failed === undefined && shown.preview.reason === undefined && (
        <RecordedTest
          key={nameOf(shown.previewed)}
          previewed={shown.previewed}
          bench={bench}
          stale={shown.preview.stale}
        />
      )}
      {shown && failed === undefined && <Shown shown={shown.preview} previewed={shown.previewed} bench={bench} />}
      {!shown && !failed && <p class="quiet">Enter the key of a row to see it with its resource.</p>}
    </section>
  );
}

function nameOf({ mapping, key }: PreviewedRow): string {
  return [mapping, ...key].join(' ');
}

/** Puts the mappings of the opened file first. */
function inOrder(mappings: readonly WireMapping[], path: string | undefined): readonly WireMapping[] {
  const isHere = ({ place }: WireMapping): boolean => place.file === path;
  return [...mappings.filter(isHere), ...mappings.filter(one => !isHere(one))];
}

interface ShownParts {
  readonly shown: WirePreview;
  /** The row that is shown. */
  readonly previewed: PreviewedRow;
  readonly bench: Bench;
}

/** The selected side; kept when another row is shown. */
let lastSide: 'resource' | 'ccda' = 'resource';

function Shown({ shown, previewed, bench }: ShownParts) {
  const [side, setSide] = useState(lastSide);
  lastSide = side;
  /** Paths of the elements under the pointer. */
  const [paths, setPaths] = useState<readonly string[]>([]);
  const byPath = new Map(shown.elements.map(element => [element.path, element]));
  const pointed = paths.flatMap(path => byPath.get(path) ?? []);
  const isSource = (table: string, column: string): boolean =>
    pointed.some(({ sources }) => sources.some(one => one.table === table && one.column === column));
  return (
    <>
      {shown.stale && <p class="note">The pack has errors: this uses the last valid text.</p>}
      {shown.reason !== undefined && (
        <p role="alert">
          The row is no {shown.type}: {shown.reason}
        </p>
      )}
      <div class="beside" data-of={nameOf(previewed)}>
        <table>
          <caption>Row</caption>
          <thead>
            <tr>
              <th scope="col">column</th>
              <th scope="col">holds, and makes</th>
            </tr>
          </thead>
          <tbody>
            {shown.columns.map(({ table, column, declared, stored, elements }) => (
              <tr key={column} class={isSource(table, column) ? 'pointed' : ''} onMouseEnter={() => setPaths(elements)}>
                <th scope="row" title={declared}>
                  <button type="button" onFocus={() => setPaths(elements)}>
                    {column}
                  </button>
                </th>
                <td class="stored">
                  {stored === null || stored === undefined ? (
                    <i>{stored === null ? 'NULL' : 'computed by the database'}</i>
                  ) : (
                    stored
                  )}
                  {elements.length > 0 && <span class="makes">{`→\u00a0${elements.join(', ')}`}</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        <div class="side">
          <nav class="sides" aria-label="Beside the row">
            <button
              type="button"
              aria-current={side === 'resource' ? 'true' : undefined}
              onClick={() => setSide('resource')}
            >
              {shown.type}
            </button>
            <button type="button" aria-current={side === 'ccda' ? 'true' : undefined} onClick={() => setSide('ccda')}>
              C-CDA
            </button>
            <SearchButton previewed={previewed} resource={shown.resource} bench={bench} />
          </nav>
          {side === 'ccda' && <CcdaSide previewed={previewed} bench={bench} />}
          {side === 'resource' && (
            <section class="resource" aria-label="Resource">
              {linesIn(shown).map(({ line, change }, i) => (
                <Line
                  key={i}
                  line={line}
                  change={change}
                  isKnown={change !== 'removed' && byPath.has(line.path)}
                  isPointed={paths.includes(line.path)}
                  point={setPaths}
                  go={() => go(byPath.get(line.path), bench)}
                />
              ))}
            </section>
          )}
        </div>
      </div>
      <Ways elements={pointed} bench={bench} />
      {shown.issues.length > 0 && (
        <section class="problems" aria-label="Validation">
          <h2>Validation</h2>
          <ul>
            {shown.issues.map(({ severity, message, place }) => (
              <li key={`${message}${JSON.stringify(place)}`} class={severity}>
                <PlaceButton place={place} bench={bench} />
                <span>
                  <b>{severity}</b> {message}
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

/** Goes back to the search from which the user came, or to one that finds the resource. */
function SearchButton({
  previewed,
  resource,
  bench,
}: Pick<ShownParts, 'previewed' | 'bench'> & { readonly resource: unknown }) {
  const { resourceType, id } = (resource ?? {}) as { readonly resourceType?: string; readonly id?: string };
  const { from } = previewed;
  if (from === undefined && id === undefined) return null;
  return (
    <button
      type="button"
      class="to-search"
      title={from}
      onClick={() => (from === undefined ? bench.search(`${resourceType}?_id=${id}`) : bench.show('search'))}
    >
      {from === undefined ? 'Search for it' : `← ${from}`}
    </button>
  );
}

/** Returns the lines of the resource; with unsaved texts, compared with the saved version. */
function linesIn({ resource, before }: WirePreview): readonly ChangedLine[] {
  const now = linesOf(resource);
  if (before === undefined || before === null) return now.map(line => ({ line, change: 'same' }));
  return changedLines(linesOf(before), now);
}

function go(element: WireElement | undefined, bench: Bench): void {
  if (element) bench.goTo(element.place);
}

interface LineParts {
  readonly line: JsonLine;
  readonly change: ChangedLine['change'];
  readonly isKnown: boolean;
  readonly isPointed: boolean;
  readonly point: (paths: readonly string[]) => void;
  readonly go: () => void;
}

const MARKS: Readonly<Record<ChangedLine['change'], string>> = { same: '', added: '+', removed: '−' };

function Line({ line, change, isKnown, isPointed, point, go }: LineParts) {
  const { depth, before, value, after, path } = line;
  return (
    <div class={`${isPointed ? 'pointed ' : ''}${change}`} style={{ paddingLeft: `${depth * 1.1}em` }}>
      {change !== 'same' && (
        <span class="change" role="img" aria-label={change}>
          {MARKS[change]}
        </span>
      )}
      <span class="name">{before}</span>
      {isKnown ? (
        <button
          type="button"
          class="value"
          onMouseEnter={() => point([path])}
          onFocus={() => point([path])}
          onClick={go}
        >
          {value}
          {after}
        </button>
      ) : (
        <span class="value">
          {value}
          {after}
        </span>
      )}
    </div>
  );
}

/** Shows the lineage of the elements under the pointer. */
function Ways({ elements, bench }: { readonly elements: readonly WireElement[]; readonly bench: Bench }) {
  return (
    <dl class="ways" aria-live="polite">
      {elements.length === 0 && <dt class="quiet">Point at a value to see where it comes from.</dt>}
      {elements.slice(0, 6).map(({ path, lineage, place, codeRow }) => (
        <div key={path}>
          <dt>{path}</dt>
          <dd>
            {lineage} <PlaceButton place={place} bench={bench} />
            {codeRow && (
              <>
                {' '}
                code map row <PlaceButton place={codeRow} bench={bench} />
              </>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
