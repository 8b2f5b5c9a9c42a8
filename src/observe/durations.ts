/**
 * A histogram of request durations. In: method, route, status and milliseconds of each request. Out: lines in
 * Prometheus format. It is our own, as prom-client takes longer for one observation than an answer from the cache
 * takes altogether.
 * https://prometheus.io/docs/instrumenting/exposition_formats/#histograms-and-summaries
 */

/** Seconds: from a kept answer to the longest that REQUEST_TIMEOUT allows as a rule. */
const EDGES = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const MILLISECONDS = EDGES.map(seconds => seconds * 1000);

export interface Durations {
  add(method: string, route: string, status: number, milliseconds: number): void;
  text(): string;
}

interface Series {
  /** By the first edge that is not exceeded; behind the last those beyond. */
  readonly counts: number[];
  milliseconds: number;
}

export function createDurations(name: string, help: string): Durations {
  const methods = new Map<string, Map<string, Map<number, Series>>>();
  return {
    add(method, route, status, milliseconds) {
      const routes = inner(methods, method, () => new Map<string, Map<number, Series>>());
      const statuses = inner(routes, route, () => new Map<number, Series>());
      const series = inner(statuses, status, () => ({ counts: new Array(EDGES.length + 1).fill(0), milliseconds: 0 }));
      let edge = 0;
      while (edge < EDGES.length && milliseconds > (MILLISECONDS[edge] ?? 0)) edge++;
      series.counts[edge] = (series.counts[edge] ?? 0) + 1;
      series.milliseconds += milliseconds;
    },
    text() {
      const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`];
      for (const [method, routes] of methods)
        for (const [route, statuses] of routes)
          for (const [status, series] of statuses)
            lines.push(...linesOf(name, `method="${method}",route="${escaped(route)}",status="${status}"`, series));
      return `${lines.join('\n')}\n`;
    },
  };
}

function linesOf(name: string, labels: string, { counts, milliseconds }: Series): readonly string[] {
  let sum = 0;
  const buckets = counts.map((count, i) => {
    sum += count;
    return `${name}_bucket{le="${EDGES[i] ?? '+Inf'}",${labels}} ${sum}`;
  });
  return [...buckets, `${name}_sum{${labels}} ${milliseconds / 1000}`, `${name}_count{${labels}} ${sum}`];
}

function inner<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\"]/g, '\\$&').replaceAll('\n', '\\n');
}
