/**
 * Shows the XML of a document in a browser: a stylesheet as a processing instruction inside the XML. It is CSS, because
 * browsers are dropping XSLT; it is inside the file, so that a saved or forwarded document keeps it. It shows the facts
 * of the header and the narrative, hides all entries, and loads nothing. https://www.w3.org/TR/xml-stylesheet/
 */

const CSS = `
@namespace "urn:hl7-org:v3";
ClinicalDocument { display: block; max-width: 80rem; margin: 0 auto; padding: 1rem 1.5rem 3rem; background: #f6f5f1; color: #1d2b2a;
 font: 15px/1.5 system-ui, sans-serif; }
ClinicalDocument > *, recordTarget > patientRole > *, patient > *, section > * { display: none; }
ClinicalDocument > title { display: block; font-size: 1.6rem; font-weight: 600; }
ClinicalDocument > effectiveTime { display: block; opacity: 0.75; }
ClinicalDocument > effectiveTime::before { content: "Made at " attr(value); }
ClinicalDocument > recordTarget { display: block; margin-top: 0.5rem; }
recordTarget > patientRole > id:first-child { display: block; }
recordTarget > patientRole > id:first-child::before { content: "Number " attr(extension); }
recordTarget > patientRole > patient { display: block; }
patient > name:first-child { display: block; font-size: 1.25rem; font-weight: 600; }
patient > name:first-child > *::after { content: " "; }
patient > birthTime[value] { display: block; }
patient > birthTime::before { content: "Born " attr(value); }
patient > administrativeGenderCode[displayName] { display: block; }
patient > administrativeGenderCode::before { content: attr(displayName); }
ClinicalDocument > component, section, section > title, section > text { display: block; }
section { margin-top: 1rem; padding: 0.75rem 1rem 1rem; background: #ffffff; border: 1px solid #dcdad2; border-radius: 6px; }
section > title { margin-bottom: 0.5rem; font-size: 1.1rem; font-weight: 600; }
section > text { overflow-x: auto; }
text table { display: table; width: 100%; border-collapse: collapse; font-size: 0.92rem; }
thead { display: table-header-group; }
tbody { display: table-row-group; }
tr { display: table-row; }
th, td { display: table-cell; padding: 0.35rem 0.6rem; border-bottom: 1px solid #dcdad2; text-align: left; vertical-align: top; }
th { font-weight: 600; }
tr[styleCode="Bold"] > td:first-child { box-shadow: inset 3px 0 #a4440f; font-weight: 600; }
td:first-child { min-width: 10rem; font-weight: 600; }
paragraph { display: block; }
br::before { content: "\\A"; white-space: pre; }
@media (prefers-color-scheme: dark) {
 ClinicalDocument { background: #121817; color: #e4ebe9; }
 section { background: #1a2221; border-color: #2e3a38; }
 th, td { border-color: #2e3a38; }
 tr[styleCode="Bold"] > td:first-child { box-shadow: inset 3px 0 #f2a65a; }
}
`;

const ESCAPED = encodeURIComponent(CSS.trim().replace(/\s*\n\s*/g, '\n')).replaceAll("'", '%27');

/** `<?xml-stylesheet …?>`, for the line after the XML declaration. */
export const STYLESHEET_INSTRUCTION = `<?xml-stylesheet type="text/css" href="data:text/css;charset=utf-8,${ESCAPED}"?>`;

/** Content-Security-Policy of the XML: allows its own stylesheet, and no scripts or other loads. */
export const XML_POLICY = "default-src 'none'; style-src data:; sandbox";
