/** Finds rows for the preview: unusual ones, or those of a search. In: the mapping. Out: keys to choose from. */
import { useEffect, useState } from 'preact/hooks';
import type { WireMapping, WireRows, WireWish } from '../../wire/mapping.ts';
import { ask } from '../ask.ts';
import type { Bench } from '../bench.ts';

const WISHES: readonly (readonly [WireWish, string])[] = [
  ['any', 'some at random'],
  ['empty', 'most NULLs'],
  ['long', 'longest'],
  ['strange', 'strangest'],
];

interface FinderParts {
  readonly mapping: WireMapping;
  readonly bench: Bench;
  readonly choose: (key: readonly string[]) => void;
}

export function RowFinder({ mapping, bench, choose }: FinderParts) {
  const [wish, setWish] = useState<WireWish>('any');
  const [search, setSearch] = useState('');
  const [found, setFound] = useState<WireRows['rows']>();
  const [failed, setFailed] = useState<string>();
  useEffect(() => setFound(undefined), [mapping.name]);
  const find = (path: string, body: object): void => {
    setFailed(undefined);
    ask<WireRows>(path, { unsaved: bench.unsaved, mapping: mapping.name, ...body }).then(
      ({ rows }) => setFound(rows),
      (error: Error) => setFailed(error.message),
    );
  };
  return (
    <div class="finder">
      <form
        class="bar"
        onSubmit={event => {
          event.preventDefault();
          find('rows', { wish });
        }}
      >
        <label>
          Rows{' '}
          <select value={wish} onChange={event => setWish(event.currentTarget.value as WireWish)}>
            {WISHES.map(([name, title]) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <button type="submit">Find</button>
      </form>
      <form
        class="bar"
        onSubmit={event => {
          event.preventDefault();
          find('rows-found', { search });
        }}
      >
        <label class="seek">
          {mapping.type}?{' '}
          <input
            value={search}
            aria-label={`Search of ${mapping.type}`}
            placeholder="name=value"
            onInput={event => setSearch(event.currentTarget.value)}
          />
        </label>
        <button type="submit" disabled={search.trim() === ''}>
          Search
        </button>
      </form>
      {failed !== undefined && <p role="alert">{failed}</p>}
      {found?.length === 0 && <p class="quiet">No such row.</p>}
      {found !== undefined && found.length > 0 && (
        <ul class="found" aria-label="Rows that were found">
          {found.map(({ key, note }) => (
            <li key={key.join(' ')}>
              <button type="button" title={note} onClick={() => choose(key)}>
                {key.join(' ')}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
