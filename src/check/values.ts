/**
 * Checks that resources agree with the rows. In: the sample. Out: each element that differs, by the line that makes it.
 */
import { plural } from '../common/plural.ts';
import { type CheckSection, someOf } from './section.ts';

export const VALUES: CheckSection = {
  name: 'values',
  title: 'Values',
  weight: 4,
  async run(context) {
    const { rows, resources, unjudged, unreached, cut, problems } = await context.sampled();
    const notes = [
      `${plural(rows, 'row')} compared with ${plural(resources.length, 'resource')}, by an independent reading.`,
    ];
    if (unjudged > 0)
      notes.push(`${plural(unjudged, 'row')} not compared: they depend on values that only the engine can compute.`);
    if (cut.length > 0)
      notes.push(
        `No row was looked for of further branches (\`first\`, \`if\`): ${someOf(cut)}. \`--all\` reads every row.`,
      );
    if (unreached.length > 0) notes.push(`Not reached within the time budget: ${someOf(unreached)}.`);
    return { problems, notes, tables: [] };
  },
};
