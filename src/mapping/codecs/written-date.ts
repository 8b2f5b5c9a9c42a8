/**
 * `written`: dates that a text spells in some order with separators, `03/10/2024` or `10.3.2024`, as the digits
 * yyyymmdd that `ymd8` reads, and those with a time, `14/03/2024 08:30`, as the digits yyyymmddhhmmss that `ymd14`
 * reads. In: a form (src/time/written-form.ts). Out: a text step; text of another form is absent. Zeros for a month or
 * a day stay zeros, which are a month or a year to both codecs. Zeros alone are no date.
 */
import { UNICODE } from '../../sql/column-type.ts';
import { call, constant } from '../../sql/construct.ts';
import { writtenReader } from '../../time/written-form.ts';
import type { TextStep } from './text-step.ts';

/** The step for a form that is one. `from`: the first of the hundred years that two digits stand for. */
export function writtenDateStep(form: string, from?: number): TextStep {
  return {
    label: from === undefined ? `written ${form}` : `written ${form} from ${from}`,
    options: { step: 'written', form, ...(from !== undefined && { from }) },
    apply: writtenReader(form, from),
    sql: column => call('written', [column, constant(form, UNICODE), from ?? 0], UNICODE),
  };
}
