/**
 * A question of the page: its path below `api/`, the shape of its body, and what answers it. Each view of the page has
 * its questions in one file of this folder; the server serves all of them in one way.
 */
import { z } from 'zod';
import type { Desk } from '../desk.ts';

/** What an answer may use. */
export interface Asked {
  readonly desk: Desk;
  /** What the page calls the database; never a user or a password. */
  readonly database: string;
  /** Milliseconds that a sample of rows may take. */
  readonly timeLimit: number;
  /** Ends with the request: whoever leaves a view stops its work. */
  readonly signal: AbortSignal;
}

export interface Question {
  readonly path: string;
  /** PUT writes a file of the pack; POST changes nothing. */
  readonly method: 'POST' | 'PUT';
  /** Throws Refusal where the body has another shape, and what `answer` throws. */
  answer(body: unknown, asked: Asked): object | Promise<object>;
}

/** No answer: why, for the person at the page. */
export class Refusal extends Error {
  readonly status: 400 | 403 | 404 | 409;

  constructor(status: Refusal['status'], message: string) {
    super(message);
    this.status = status;
  }
}

/** Texts that are not saved yet, by path: a member of most questions. */
export const unsaved = z.record(z.string(), z.string());

/** A question whose body has the members of `members` and no others. */
export function question<M extends z.ZodRawShape>(
  path: string,
  members: M,
  answer: (body: z.output<z.ZodObject<M>>, asked: Asked) => object | Promise<object>,
  method: Question['method'] = 'POST',
): Question {
  const shape = z.strictObject(members);
  return {
    ...{ path, method },
    answer(body, asked) {
      const read = shape.safeParse(body);
      if (!read.success) throw new Refusal(400, 'The request lacks required members');
      return answer(read.data, asked);
    },
  };
}
