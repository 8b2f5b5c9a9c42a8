/**
 * What a caller may see. No plan can be made without one, so an unrestricted query has to be written out as such.
 */

export type Access =
  /** Everything: an open server on loopback, or a caller with system scope. */
  | { readonly kind: 'all'; readonly caller: string }
  /** The compartments of these patients (logical ids), and types outside every compartment. */
  | { readonly kind: 'patients'; readonly caller: string; readonly patients: readonly string[] };

export const OPEN_ACCESS: Access = { kind: 'all', caller: 'open' };
