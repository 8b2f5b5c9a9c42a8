/** A UUID as a text, in letters of either case. https://www.rfc-editor.org/rfc/rfc9562#section-4 */
export const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
