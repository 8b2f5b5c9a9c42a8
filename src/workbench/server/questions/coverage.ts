/**
 * Answers the question of the view *Coverage*: how much of a guide the pack covers, the likely results of the
 * certification tests, and how much of the C-CDA documents it fills. Reads a limited sample of resources.
 */
import { z } from 'zod';
import { profilesOf } from '../../../coverage/coverage.ts';
import { documentsOf } from '../../../coverage/documents.ts';
import { type Guide, GuideError, guideIn, guidesIn, usCore, VERSIONS } from '../../../coverage/guide.ts';
import type { WireCoverage } from '../../wire/coverage.ts';
import type { Unsaved } from '../../wire/mapping.ts';
import { placeOf } from '../to-wire.ts';
import { type Question, question, Refusal, unsaved } from './question.ts';

/** Resources per profile. */
const SAMPLE = 200;
const SECONDS = 20;

export const COVERAGE_QUESTIONS: readonly Question[] = [
  question('coverage', { unsaved, guide: z.string() }, async (asked, { desk, signal }) => {
    const guide = guideNamed(asked.guide, desk.folder, asked.unsaved);
    const served = await desk.served(asked.unsaved);
    if (!served) throw new Refusal(409, 'The pack has errors: correct them to measure coverage');
    const { registry, facade, content, stale, placeNow } = served;
    const rows = { database: desk.database, now: Date.now(), sample: SAMPLE, seconds: SECONDS, signal };
    const found = await profilesOf({ registry, guide, rows });
    return {
      ...{ guide: found.guide, sample: SAMPLE, unreached: found.unreached, stale },
      guides: [...VERSIONS.map(version => `us-core-${version}`), ...guidesIn(desk.folder)],
      certification: found.certification,
      topics: await documentsOf(content, facade, signal),
      profiles: found.profiles.map(({ profile, type, verdict, kit, mappings, resources, elements, searches }) => ({
        ...{ profile, type, verdict, mappings, searches, kit: kit ?? undefined, resources: resources ?? undefined },
        elements: elements.map(({ element, state, resources: filled, at, lacksTargets }) => ({
          ...{ element, state, lacksTargets, resources: filled, place: at && placeOf(placeNow(at)) },
        })),
      })),
    } satisfies WireCoverage;
  }),
];

function guideNamed(name: string, folder: string, texts: Unsaved): Guide {
  const version = VERSIONS.find(one => name === `us-core-${one}`);
  if (version) return usCore(version);
  if (!guidesIn(folder).includes(name)) throw new Refusal(404, 'There is no such guide');
  try {
    return guideIn(folder, name, texts);
  } catch (error) {
    if (error instanceof GuideError) throw new Refusal(409, error.message);
    throw error;
  }
}
