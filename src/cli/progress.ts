/**
 * Shows the progress of a long task as one line: bar, number, rate, time left.
 */
export interface Progress {
  /** From 0 to 1. */
  readonly share: number;
  readonly lines: number;
  /** Milliseconds. */
  readonly elapsed: number;
  /** State when the clock started, for a continued task; rate and time left exclude it. */
  readonly from?: Pick<Progress, 'share' | 'lines'>;
}

const WIDTH = 30;
const NOTHING = { share: 0, lines: 0 } as const;

export function progressLine({ share, lines, elapsed, from = NOTHING }: Progress): string {
  const filled = Math.round(share * WIDTH);
  const bar = `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)}`;
  const rate = elapsed > 0 ? Math.round(((lines - from.lines) * 1000) / elapsed) : 0;
  const done = share - from.share;
  const left = done > 0 && share < 1 ? `, ${duration((elapsed * (1 - share)) / done)} left` : '';
  const percent = String(Math.floor(share * 100)).padStart(3);
  return `${bar} ${percent}%  ${lines} resources, ${rate}/s${left}`;
}

/** Returns `2 h 05 min`, `3 min 20 s`, `7 s`; rounded up. */
function duration(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  if (seconds >= 3600)
    return `${Math.floor(seconds / 3600)} h ${String(Math.floor((seconds % 3600) / 60)).padStart(2, '0')} min`;
  if (seconds >= 60) return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
  return `${seconds} s`;
}
