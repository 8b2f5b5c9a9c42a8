/**
 * Lists the sections of `lintel check` in their order. Only the command imports it, as it loads more than the server
 * needs (the FHIRPath engine, facts about profiles).
 */
import { FORMS } from './forms.ts';
import { RESOURCES } from './resources.ts';
import { ROWS } from './rows.ts';
import { SEARCHES } from './searches.ts';
import type { CheckSection } from './section.ts';
import { VALUES } from './values.ts';
import { WHOSE } from './whose.ts';
import { WITHHELD } from './withheld.ts';

export const SECTIONS: readonly CheckSection[] = [WITHHELD, FORMS, VALUES, SEARCHES, ROWS, RESOURCES, WHOSE];
