/** The frame of the page: the pack and database, the views, and the last message. */
import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { WirePack } from '../wire/mapping.ts';
import { ask } from './ask.ts';
import { type Bench, useBench } from './bench.ts';
import { CodesView } from './codes/codes-view.tsx';
import { CoverageView } from './coverage/coverage-view.tsx';
import { MappingView } from './mapping/mapping-view.tsx';
import { useSaveKey } from './save-key.ts';
import { SearchView } from './search/search-view.tsx';
import { TablesView } from './tables/tables-view.tsx';
import { TestsView } from './tests/tests-view.tsx';

/** The views in the order of their buttons; the name is the fragment of the URL. */
const VIEWS: readonly {
  readonly name: string;
  readonly title: string;
  readonly view: FunctionComponent<{ readonly bench: Bench }>;
}[] = [
  { name: 'tables', title: 'Tables', view: TablesView },
  { name: 'mapping', title: 'Mapping', view: MappingView },
  { name: 'search', title: 'Search', view: SearchView },
  { name: 'codes', title: 'Codes', view: CodesView },
  { name: 'coverage', title: 'Coverage', view: CoverageView },
  { name: 'tests', title: 'Tests', view: TestsView },
];

export function App() {
  const [pack, setPack] = useState<WirePack>();
  const [failed, setFailed] = useState<string>();
  useEffect(() => {
    ask<WirePack>('pack').then(setPack, (error: Error) => setFailed(error.message));
  }, []);
  if (failed !== undefined) {
    return (
      <main class="alone">
        <p role="alert">{failed}</p>
      </main>
    );
  }
  return pack === undefined ? <main class="alone">Reading the pack…</main> : <Views pack={pack} />;
}

function Views({ pack }: { readonly pack: WirePack }) {
  const bench = useBench(pack);
  useSaveKey(() => bench.file && void bench.save(bench.file.path));
  return (
    <>
      <header>
        <h1>Lintel workbench</h1>
        <nav aria-label="Views">
          {VIEWS.map(({ name, title }) => (
            <button
              key={name}
              type="button"
              aria-current={name === bench.view ? 'page' : undefined}
              onClick={() => bench.show(name)}
            >
              {title}
              {name === 'tests' && (bench.tests.last?.failed ?? 0) > 0 && (
                <span class="count" title="failed">
                  {bench.tests.last?.failed}
                  <span class="unseen"> failed</span>
                </span>
              )}
            </button>
          ))}
        </nav>
        <p class="subject">
          {pack.folder} · {pack.database}
        </p>
      </header>
      {VIEWS.map(({ name, view: View }) => (name === bench.view ? <View key={name} bench={bench} /> : null))}
      <output class="message" aria-live="polite">
        {bench.message}
      </output>
    </>
  );
}
