/**
 * When to come again. In: the least number of seconds. Out: whole seconds, up to three times as many, drawn at random: clients that
 * were refused at the same moment do not come back at the same moment.
 * https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
 */
export function retryIn(least: number, random: () => number = Math.random): number {
  return least + Math.floor(random() * (2 * least + 1));
}
