/**
 * A line in the table of a code map: a raw value with its code, or with suggested codes. In: the line. Out: the user's
 * edit.
 */
import { useRef } from 'preact/hooks';
import type { WireSuggestion } from '../../wire/codes.ts';
import type { Line } from './lines.ts';

export interface Edit {
  readonly raw: string;
  readonly rename?: string;
  readonly to: { readonly code: string; readonly display: string; readonly system?: string } | null;
}

interface LineProps {
  readonly line: Line;
  readonly shut: boolean;
  readonly own: string;
  readonly change: (edit: Edit, next?: string) => void;
  /** The value that gets the focus once this one has its code. */
  readonly next: string | undefined;
  readonly show: () => void;
}

/** A line is applied when it loses the focus, or by Enter. */
export function CodeLine({ line, shut, own, change, next, show }: LineProps) {
  const { raw, count, row, suggestions } = line;
  const cells = useRef<Partial<Record<'raw' | 'code' | 'display' | 'system', HTMLInputElement | null>>>({});
  const written = (name: keyof typeof cells.current): string => cells.current[name]?.value.trim() ?? '';
  const commit = (then: string | undefined): void => {
    const to = { code: written('code'), display: written('display'), system: written('system') };
    const rename = cells.current.raw?.value.trimEnd() || raw;
    const isSame = to.code === row?.code && to.display === row.display && to.system === row.system && rename === raw;
    // A line is applied only if it has a code.
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
