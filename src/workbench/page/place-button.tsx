/** A button that goes to a place in the pack, labelled with its file and line, or with other words. */
import type { ComponentChildren } from 'preact';
import type { WirePlace } from '../wire/mapping.ts';
import type { Bench } from './bench.ts';

interface Parts {
  readonly place: WirePlace;
  readonly bench: Bench;
  /** Default: the place with its column. */
  readonly children?: ComponentChildren;
}

export function PlaceButton({ place, bench, children }: Parts) {
  return (
    <button type="button" class="place" onClick={() => bench.goTo(place)}>
      {children ?? `${place.file}:${place.line}:${place.column}`}
    </button>
  );
}
