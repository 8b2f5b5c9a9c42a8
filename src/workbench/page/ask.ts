/**
 * Asks the server of the workbench. Rejects with an Error whose message is for the person at the page.
 */
import type { WireError } from '../wire/mapping.ts';

/** Thrown for an answer that is no success. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export async function ask<T>(path: string, body?: object, signal?: AbortSignal, method = 'POST'): Promise<T> {
  const sent = body && { method, body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } };
  const response = await fetch(`api/${path}`, { ...sent, ...(signal && { signal }) }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new Refused(0, 'The workbench does not answer. Is lintel workbench still running in the terminal?');
  });
  if (response.ok) return (await response.json()) as T;
  const refusal = (await response.json().catch(() => undefined)) as WireError | undefined;
  throw new Refused(response.status, refusal?.error ?? `The workbench answered ${response.status}`);
}
