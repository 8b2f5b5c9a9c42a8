/**
 * The sections of `lintel check` in the order in which they run. What they need beyond the server (the FHIRPath engine, facts
 * about profiles) is loaded with this file, so only the command imports it.
 */
import { FORMS } from './forms.ts';
import { RESOURCES } from './resources.ts';
import { ROWS } from './rows.ts';
import { SEARCHES } from './searches.ts';
import type { CheckSection } from './section.ts';
import { VALUES } from './values.ts';
import { WHOSE } from './whose.ts';

export const SECTIONS: readonly CheckSection[] = [FORMS, VALUES, SEARCHES, ROWS, RESOURCES, WHOSE];
