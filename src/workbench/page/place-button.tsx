/**
 * A button that leads to a place of the pack, and says which: its file and line, or other words.
 */
import type { ComponentChildren } from 'preact';
import type { WirePlace } from '../wire/mapping.ts';
import type { Bench } from './bench.ts';

interface Parts {
  readonly place: WirePlace;
  readonly bench: Bench;
  /** Without it the place, to the column. */
  readonly children?: ComponentChildren;
}

export function PlaceButton({ place, bench, children }: Parts) {
  return (
    <button type="button" class="place" onClick={() => bench.goTo(place)}>
      {children ?? `${place.file}:${place.line}:${place.column}`}
    </button>
  );
}
