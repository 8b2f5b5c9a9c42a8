/** The view for searching the pack as a client would: query, Bundle, SQL with the engine's plan, indexes. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { WireParameter, WireParameters, WireSearch, WireSearchStatement, WireTypes } from '../../wire/search.ts';
import { useAnswer } from '../answer.ts';
import { ask } from '../ask.ts';
import type { Bench } from '../bench.ts';
import { AdviceList } from './advice-list.tsx';
import { BundleList } from './bundle-list.tsx';
import { QueryBox } from './query-box.tsx';
import './search.css';

export function SearchView({ bench }: { readonly bench: Bench }) {
  const [text, setText] = useState(bench.viewState.search.text);
  const [asked, setAsked] = useState(bench.viewState.search.asked);
  const [found, setFound] = useState<WireSearch>();
  const [failed, setFailed] = useState<string>();
  const [busy, setBusy] = useState(false);
  const current = useRef<AbortController>(null);
  const { check, unsaved } = bench;
  bench.viewState.search = { text, asked };

  /** Parameters by type, for the current texts. */
  const parameters = useMemo(() => new Map<string, Promise<readonly WireParameter[]>>(), [check]);
  const load = (type: string): Promise<readonly WireParameter[]> => {
    const before = parameters.get(type);
    if (before) return before;
    const asking = ask<WireParameters>('search/parameters', { unsaved, type }).then(answer => answer.parameters);
    parameters.set(type, asking);
    asking.catch(() => parameters.delete(type));
    return asking;
  };
  const { is: types, failed: unread } = useAnswer<WireTypes>('search/types', { unsaved }, [check]);
  useEffect(() => {
    if (asked === undefined) return;
    const abort = new AbortController();
    current.current = abort;
    setBusy(true);
    ask<WireSearch>('search', { unsaved, ...asked }, abort.signal).then(
      answer => {
        setFound(answer);
        setFailed(undefined);
        setBusy(false);
      },
      (error: Error) => {
        if (current.current === abort) setBusy(false);
        if (!abort.signal.aborted) setFailed(error.message);
      },
    );
    return () => abort.abort();
  }, [asked]);

  return (
    <main class="search">
      <div class="bar">
        <QueryBox
          text={text}
          types={types?.types ?? []}
          load={load}
          changed={setText}
          run={query => setAsked({ query })}
        />
        <button type="button" disabled={text === ''} onClick={() => setAsked({ query: text })}>
          Search
        </button>
        <button type="button" disabled={!busy} onClick={() => current.current?.abort()}>
          Stop
        </button>
      </div>
      <output aria-live="polite" class="quiet state">
        {busy && 'Searching…'}
        {!busy && (found ?? types)?.stale && 'The pack has errors: this uses the last valid texts.'}
      </output>
      {(failed ?? unread) !== undefined && <p role="alert">{failed ?? unread}</p>}
      {found && failed === undefined && <Found found={found} query={asked?.query ?? ''} bench={bench} />}
      {!found && failed === undefined && (
        <p class="quiet">
          Type a search as a client would send it, such as <code>Patient?name=smith</code>. Enter runs it on the texts
          as they are typed; Ctrl+Space completes.
        </p>
      )}
    </main>
  );
}

interface FoundParts {
  readonly found: WireSearch;
  /** The query as typed. */
  readonly query: string;
  readonly bench: Bench;
}

function Found({ found, query: typed, bench }: FoundParts) {
  const { issues, bundle, milliseconds, failed, query, mappings, engine, statements } = found;
  const isRefused = issues.some(({ severity }) => severity === 'error');
  return (
    <div class="results">
      <div>
        <ul class="issues">
          {issues.map(({ severity, text }) => (
            <li key={text} class={severity}>
              <b>{severity}</b> <span role={severity === 'error' ? 'alert' : undefined}>{text}</span>
            </li>
          ))}
        </ul>
        {failed !== undefined && (
          <p role="alert">
            {failed} ({milliseconds} ms). Beside it stands how it is served.
          </p>
        )}
        {bundle !== undefined && <BundleList bundle={bundle} milliseconds={milliseconds} query={typed} bench={bench} />}
      </div>
      {!isRefused && (
        <section class="way" aria-label="How it is served">
          <h2>Understood as</h2>
          <ul class="plain">
            {query.map(line => (
              <li key={line}>{line}</li>
            ))}
            <li class="quiet">{mappings.length === 0 ? 'no mapping can match' : `rows of ${mappings.join(', ')}`}</li>
          </ul>
          <AdviceList found={found} bench={bench} />
          <h2>
            {statements.length} {statements.length === 1 ? 'statement' : 'statements'} to {engine}
          </h2>
          {statements.map((statement, i) => (
            <Statement key={i} statement={statement} isOpen={i === 0} />
          ))}
        </section>
      )}
    </div>
  );
}

function Statement({ statement, isOpen }: { readonly statement: WireSearchStatement; readonly isOpen: boolean }) {
  const { purpose, sql, parameters, served } = statement;
  return (
    <details open={isOpen}>
      <summary>{purpose}</summary>
      <h3>Plan</h3>
      <pre>{served.join('\n')}</pre>
      <h3>SQL</h3>
      <pre>{sql.join('\n')}</pre>
      {parameters.length > 0 && (
        <>
          <h3>Parameters</h3>
          <pre>{parameters.join('\n')}</pre>
        </>
      )}
    </details>
  );
}
