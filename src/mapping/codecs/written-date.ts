/**
 * `written`: converts dates that a text spells with separators, `03/10/2024` or `10.3.2024`, to the digits yyyymmdd for
 * `ymd8`, and dates with a time, `14/03/2024 08:30`, to the digits yyyymmddhhmmss for `ymd14`. In: a form
 * (src/time/written-form.ts). Out: a text step; text of another form is absent. Zeros for a month or a day stay,
 * because both codecs read them as a month or a year. Zeros alone are no date.
 */
import { UNICODE } from '../../sql/column-type.ts';
import { call, constant } from '../../sql/construct.ts';
import { writtenReader } from '../../time/written-form.ts';
import type { TextStep } from './text-step.ts';

/** Makes the step for a valid form. `from`: the first of the hundred years that two digits stand for. */
export function writtenDateStep(form: string, from?: number): TextStep {
  return {
    label: from === undefined ? `written ${form}` : `written ${form} from ${from}`,
    options: { step: 'written', form, ...(from !== undefined && { from }) },
    apply: writtenReader(form, from),
    sql: column => call('written', [column, constant(form, UNICODE), from ?? 0], UNICODE),
  };
}
