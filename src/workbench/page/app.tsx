/**
 * The frame of the page: what it works on, the views, and what went wrong last.
 */
import { useEffect, useState } from 'preact/hooks';
import type { WirePack } from '../wire.ts';
import { ask } from './ask.ts';
import { useBench } from './bench.ts';
import { MappingView } from './mapping-view.tsx';

const VIEWS = [{ name: 'mapping', title: 'Mapping', view: MappingView }] as const;

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
  const [shown, setShown] = useState<string>(VIEWS[0].name);
  return (
    <>
      <header>
        <h1>Lintel workbench</h1>
        <nav aria-label="Views">
          {VIEWS.map(({ name, title }) => (
            <button
              key={name}
              type="button"
              aria-current={name === shown ? 'page' : undefined}
              onClick={() => setShown(name)}
            >
              {title}
            </button>
          ))}
        </nav>
        <p class="subject">
          {pack.folder} · {pack.database}
        </p>
      </header>
      {VIEWS.map(({ name, view: View }) => (name === shown ? <View key={name} bench={bench} /> : null))}
      <output class="told" aria-live="polite">
        {bench.told}
      </output>
    </>
  );
}
