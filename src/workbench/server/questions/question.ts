/**
 * Defines a question of the page: its path below `api/`, the shape of its body, and the function that answers it. Each
 * view of the page has its questions in one file of this folder; the server serves all in the same way.
 */
import { z } from 'zod';
import type { Desk } from '../desk.ts';

/** What an answer may use. */
export interface Asked {
  readonly desk: Desk;
  /** The database's name for the page; never a user or a password. */
  readonly database: string;
  /** Time limit in milliseconds for a sample of rows. */
  readonly timeLimit: number;
  /** Aborted with the request, so that leaving a view stops its work. */
  readonly signal: AbortSignal;
}

export interface Question {
  readonly path: string;
  /** PUT writes a file of the pack; POST changes nothing. */
  readonly method: 'POST' | 'PUT';
  /** Answers the question. Throws Refusal if the body has another shape, and what `answer` throws. */
  answer(body: unknown, asked: Asked): object | Promise<object>;
}

/** The reason why there is no answer, for the user. */
export class Refusal extends Error {
  readonly status: 400 | 403 | 404 | 409;

  constructor(status: Refusal['status'], message: string) {
    super(message);
    this.status = status;
  }
}

/** Unsaved texts by path; most questions have them. */
export const unsaved = z.record(z.string(), z.string());

/** Defines a question whose body has exactly these members. */
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
