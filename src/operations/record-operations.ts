/**
 * Lists the operations that answer with pages of resources, like searches. A new one needs an entry here; its route,
 * its OperationDefinition and its entry in the CapabilityStatement follow from it.
 * https://hl7.org/fhir/R4/operationslist.html
 */

import type { Parameters, SystemQuery } from '../search/query.ts';
import type { ParseContext } from '../search/values.ts';
import { DOCREF } from './docref.ts';
import { EVERYTHING } from './everything.ts';
import type { Operation } from './operations.ts';
import type { MadeResource } from './summary-operation.ts';

export interface RecordOperation extends Operation {
  /** Parses a call. Throws FhirError naming the parameter. */
  understand(asked: AskedOperation): UnderstoodOperation;
}

/** A call of an operation. */
export interface AskedOperation {
  /** Id of the resource on which it is called; undefined if it is called on the type. */
  readonly id: string | undefined;
  readonly parameters: Parameters;
  /** The mapped types, in the order in which they are returned. */
  readonly types: readonly string[];
  readonly context: ParseContext;
  /** True if the server makes documents. */
  readonly documents: boolean;
}

export interface UnderstoodOperation {
  readonly query: SystemQuery;
  /** Types that may be included; undefined: any. */
  readonly includable?: (type: string) => boolean;
  /** A resource to add to the first page, if the caller may see that patient. */
  readonly made?: { readonly patient: string; readonly resource: MadeResource } | undefined;
}

export const RECORD_OPERATIONS: readonly RecordOperation[] = [EVERYTHING, DOCREF];
