/**
 * The view of the coverage of a pack: the verdict of the certification tests, each profile with its elements and
 * searches, and the C-CDA documents. Shares are of a sample, whose size is shown.
 */
import { PlaceButton } from '../place-button.tsx';
import './coverage.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import type {
  WireCoverage,
  WireElementCoverage,
  WireProfile,
  WireState,
  WireTopic,
  WireVerdict,
} from '../../wire/coverage.ts';
import { ask } from '../ask.ts';
import type { Bench } from '../bench.ts';

/** The last answer; kept while another view is shown. */
let kept: { readonly of: string; readonly is: WireCoverage } | undefined;

const FIRST = 'us-core-6.1.0';

export function CoverageView({ bench }: { readonly bench: Bench }) {
  const [found, setFound] = useState(kept);
  const [guide, setGuide] = useState(found?.is.guide ?? FIRST);
  const [asking, setAsking] = useState(false);
  const [failed, setFailed] = useState<string>();
  const [all, setAll] = useState(false);
  const abort = useRef<AbortController>(null);
  const texts = JSON.stringify(bench.unsaved);
  const measure = async (name: string): Promise<void> => {
    abort.current?.abort();
    const own = new AbortController();
    abort.current = own;
    setAsking(true);
    setFailed(undefined);
    try {
      const is = await ask<WireCoverage>('coverage', { unsaved: bench.unsaved, guide: name }, own.signal);
      kept = { of: texts, is };
      setFound(kept);
    } catch (error) {
      if (own.signal.aborted) return;
      setFailed(error instanceof Error ? error.message : 'Nothing was measured');
    }
    setAsking(false);
  };
  useEffect(() => {
    if (!found) void measure(guide);
    return () => abort.current?.abort();
  }, []);
  const is = found?.is;
  return (
    <main class="coverage" aria-busy={asking}>
      <div class="bar">
        <h2>Coverage</h2>
        <label>
          Guide{' '}
          <select
            value={guide}
            onChange={event => {
              setGuide(event.currentTarget.value);
              void measure(event.currentTarget.value);
            }}
          >
            {(is?.guides ?? [FIRST]).map(name => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <button type="button" disabled={asking} onClick={() => void measure(guide)}>
          Measure again
        </button>
        <label>
          <input type="checkbox" checked={all} onChange={event => setAll(event.currentTarget.checked)} /> all elements
        </label>
        <p role="status">
          {asking ? 'Reading resources…' : is && `By up to ${is.sample} resources of each profile, the first by key.`}
          {is && found?.of !== texts && !asking && ' The texts have changed since.'}
          {is?.stale && !asking && ' The texts have errors: this uses the last valid texts.'}
        </p>
      </div>
      {failed !== undefined && <p role="alert">{failed}</p>}
      {is && (
        <>
          {is.unreached.length > 0 && (
            <p class="note">
              The time budget of 20 s ended before resources of these were read: {is.unreached.join(', ')}.
            </p>
          )}
          {is.certification.length > 0 && <Certification verdicts={is.certification} />}
          <Profiles profiles={is.profiles} bench={bench} all={all} />
          <Topics topics={is.topics} />
        </>
      )}
    </main>
  );
}

const MARKS: Readonly<Record<WireState | 'pass' | 'skip' | 'fail', string>> = {
  ready: 'good',
  pass: 'good',
  'no data': 'warn',
  skip: 'warn',
  gaps: 'bad',
  fail: 'bad',
  'not mapped': 'none',
};

function Mark({ verdict }: { readonly verdict: keyof typeof MARKS }) {
  return <span class={`mark ${MARKS[verdict]}`}>{verdict}</span>;
}

function Certification({ verdicts }: { readonly verdicts: readonly WireVerdict[] }) {
  return (
    <section aria-label="Certification">
      <h3>Certification</h3>
      <div class="cards">
        {verdicts.map(({ name, verdict, missing }) => (
          <article key={name}>
            <h4>
              {name} <Mark verdict={verdict} />
            </h4>
            {missing.length === 0 ? (
              <p>Nothing that Lintel can check is missing.</p>
            ) : (
              <ul>
                {missing.map(text => (
                  <li key={text}>{text}</li>
                ))}
              </ul>
            )}
          </article>
        ))}
      </div>
    </section>
  );
}

interface ProfileList {
  readonly profiles: readonly WireProfile[];
  readonly bench: Bench;
  readonly all: boolean;
}

function Profiles({ profiles, bench, all }: ProfileList) {
  return (
    <section aria-label="Profiles">
      <h3>Profiles</h3>
      <ul class="profiles">
        {profiles.map(one => (
          <li key={one.profile}>
            <Profile profile={one} bench={bench} all={all} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Profile({ profile: is, bench, all }: { readonly profile: WireProfile } & Omit<ProfileList, 'profiles'>) {
  const { profile, type, verdict, kit, mappings, resources, elements, searches } = is;
  const there = elements.filter(({ state }) => state !== 'unmapped');
  const required = searches.filter(({ strength }) => strength === 'SHALL');
  const shown = elements.filter(one => all || one.state !== 'filled' || one.resources !== resources || lacks(one));
  const leftOut = elements.length - shown.length;
  return (
    <details>
      <summary>
        <span class="name">{profile}</span>
        <Mark verdict={verdict} />
        <span class="kit">
          {kit ? (
            <>
              test kit: <Mark verdict={kit.verdict} />
            </>
          ) : (
            <span class="quiet">not tested</span>
          )}
        </span>
        <span class="figures">
          {mappings.length === 0 ? (
            type
          ) : (
            <>
              {type} · {there.length} of {elements.length} elements · {required.filter(({ offered }) => offered).length}{' '}
              of {required.length} searches · {resources === undefined ? 'not read' : `${resources} resources`}
            </>
          )}
        </span>
      </summary>
      {kit && kit.because.length > 0 && (
        <ul class="because">
          {kit.because.map(text => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      <p>
        {mappings.length > 0
          ? `Mapped by ${mappings.join(', ')}.`
          : !kit && `No mapping claims the profile. Write it as \`profile\` in one that makes ${type}.`}
        {leftOut > 0 &&
          ` ${leftOut === 1 ? '1 element' : `${leftOut} elements`} that every resource has ${leftOut === 1 ? 'is' : 'are'} left out.`}
      </p>
      {shown.length > 0 && (
        <table>
          <caption class="unseen">Must-support elements of {profile}</caption>
          <thead>
            <tr>
              <th scope="col">Element</th>
              <th scope="col">State</th>
              <th scope="col">Share of resources</th>
              <th scope="col">Made at</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(one => (
              <Element key={one.element} element={one} of={resources} bench={bench} />
            ))}
          </tbody>
        </table>
      )}
      <ul class="searches" aria-label={`Searches of ${profile}`}>
        {searches.map(({ search, strength, offered, lacks: why }) => (
          <li key={search} class={offered ? 'offered' : strength === 'SHALL' ? 'lacking' : 'missing'}>
            <span aria-hidden="true">{offered ? '✓' : '✗'}</span>
            <span class="unseen">{offered ? 'offered' : 'not offered'}</span> <code>{short(search)}</code>{' '}
            <span class="quiet">{strength === 'SHALL' ? 'required' : 'recommended'}</span> {why.join(', ')}
          </li>
        ))}
      </ul>
    </details>
  );
}

const STATES: Readonly<Record<WireElementCoverage['state'], string>> = {
  filled: 'filled',
  mapped: 'mapped',
  empty: 'mapped, in no resource',
  other: 'another of its choice is there',
  unmapped: 'not mapped',
};

function lacks({ lacksTargets }: WireElementCoverage): boolean {
  return lacksTargets.length > 0;
}

interface ElementProps {
  readonly element: WireElementCoverage;
  readonly of: number | undefined;
  readonly bench: Bench;
}

function Element({ element: is, of, bench }: ElementProps) {
  const { element, state, resources, place, lacksTargets } = is;
  const share = of === undefined || of === 0 || resources === undefined ? undefined : resources / of;
  return (
    <tr class={state}>
      <th scope="row">{element}</th>
      <td>
        {STATES[state]}
        {lacksTargets.length > 0 && `; never refers to ${lacksTargets.join(', ')}`}
      </td>
      <td>
        {share !== undefined && state !== 'unmapped' && (
          <>
            <meter min={0} max={1} value={share} aria-hidden="true" /> {percent(share)}
          </>
        )}
      </td>
      <td>{place && <PlaceButton place={place} bench={bench}>{`${place.file}:${place.line}`}</PlaceButton>}</td>
    </tr>
  );
}

function Topics({ topics }: { readonly topics: readonly WireTopic[] }) {
  return (
    <section aria-label="C-CDA documents">
      <h3>C-CDA documents</h3>
      <ul class="profiles">
        {topics.map(({ name, title, verdict, lists, missing }) => (
          <li key={name}>
            <details>
              <summary>
                <span class="name">{title}</span>
                <Mark verdict={verdict} />
                <span class="figures">
                  {lists.length === 0
                    ? 'made of the patient alone'
                    : `${lists.filter(({ state }) => state !== 'unmapped').length} of ${lists.length} ${lists.length === 1 ? 'list has' : 'lists have'} a search`}
                </span>
              </summary>
              {missing.length > 0 && (
                <ul class="because">
                  {missing.map(text => (
                    <li key={text}>{text.replaceAll('`', '')}</li>
                  ))}
                </ul>
              )}
              <p>{lists.map(({ list, type }) => `${list} (${type})`).join(', ')}</p>
            </details>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Never rounds up to 100 % nor down to 0 %. */
function percent(share: number): string {
  const rounded = Math.round(share * 100);
  if (share > 0 && share < 0.01) return '<1 %';
  return `${share < 1 && rounded === 100 ? 99 : rounded} %`;
}

/** Shortens a list of values in a search to the first one. */
function short(search: string): string {
  return search.replace(/=([^|+[]*)\|[^+[]*\|[^+[]*/g, '=$1|…');
}
