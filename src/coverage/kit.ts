/**
 * Predicts the verdict of the (g)(10) test kit on a group of tests. In: the coverage of its profile. Out: a verdict
 * with its reasons. A search that is not offered fails its test. An element that no resource shows, or a missing
 * Provenance, skips its test, which then does not count as passed.
 * https://github.com/onc-healthit/onc-certification-g10-test-kit
 */
import type { ProfileCoverage } from './coverage.ts';
import { elementGapsOf, searchGapsOf } from './gaps.ts';
import type { SearchCoverage } from './searches.ts';

export interface Kit {
  readonly verdict: 'pass' | 'skip' | 'fail';
  /** One sentence each; empty if it passes. */
  readonly because: readonly string[];
}

/** Returns null if the tests leave the profile out, or test it only if a server has it. */
export function kitOf(tested: Omit<ProfileCoverage, 'kit' | 'verdict' | 'gaps'>): Kit | null {
  const { certified, optional, type, profile: name, mappings, elements, searches, withoutData, resources } = tested;
  if (!certified || optional) return null;
  if (mappings.length === 0) {
    return {
      verdict: 'skip',
      because: [
        `The tests find no ${type} of ${name}: no mapping claims the profile. Write \`profile: ${name}\` in one.`,
      ],
    };
  }
  const asked = searches.filter(one => one.certified);
  const isInclude = ({ search }: SearchCoverage): boolean => search.startsWith('_revinclude');
  const refused = searchGapsOf(asked.filter(one => !isInclude(one))).map(gap => `${begun(gap)}, so its test fails.`);
  const alone = searchGapsOf(asked.filter(isInclude)).map(gap => `${begun(gap)}, so its test is skipped.`);
  const missing = elementGapsOf(elements).map(
    gap => `${begun(gap)}. The tests look for it in all resources and skip without it.`,
  );
  const unseen =
    withoutData.length === 0
      ? []
      : [
          resources === 0
            ? `No row makes a ${type} of ${name}, so all of its tests are skipped.`
            : `Mapped, but in none of ${resources} sampled resources: ${withoutData.join(', ')}. ` +
              'One of the tested patients needs a row with it.',
        ];
  const because = [...refused, ...missing, ...unseen, ...alone];
  return { verdict: refused.length > 0 ? 'fail' : because.length > 0 ? 'skip' : 'pass', because };
}

function begun(text: string): string {
  return `${text[0]?.toUpperCase()}${text.slice(1)}`;
}
