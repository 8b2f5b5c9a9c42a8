import fc from 'fast-check';
import { expect, test } from 'vitest';
import { indentJson, indentXml } from '../../src/http/fhir/pretty.ts';
import { appUnderTest } from './app-under-test.ts';

test('indents as JSON.stringify does, for any JSON, indented before or not', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      const expected = JSON.stringify(value, null, 2);
      expect(indentJson(JSON.stringify(value))).toBe(expected);
      expect(indentJson(expected)).toBe(expected);
    }),
  );
});

test('keeps numbers and strings as they are written', () => {
  expect(indentJson('{"a":[1.50,-0.0,1e5],"b":"\\u00e9 \\"{,}:[\\\\"}')).toBe(
    '{\n  "a": [\n    1.50,\n    -0.0,\n    1e5\n  ],\n  "b": "\\u00e9 \\"{,}:[\\\\"\n}',
  );
});

test('XML is indented by its elements, and a narrative keeps its blanks', () => {
  const div = '<div xmlns="http://www.w3.org/1999/xhtml"><p>a <b>b</b></p><div title="x>y"> c <br/></div><div/></div>';
  const xml =
    '<?xml version="1.0" encoding="UTF-8"?><Patient xmlns="http://hl7.org/fhir"><id value="1"/>' +
    `<text><status value="generated"/>${div}</text><name><family value="&lt;div&gt;"/></name></Patient>`;
  expect(indentXml(xml)).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<Patient xmlns="http://hl7.org/fhir">
  <id value="1"/>
  <text>
    <status value="generated"/>
    ${div}
  </text>
  <name>
    <family value="&lt;div&gt;"/>
  </name>
</Patient>`);
});

test('_pretty=true indents XML too', async () => {
  const { app } = appUnderTest(
    {},
    { read: async (type, id) => ({ type, id, json: '{"resourceType":"Group","id":"1"}' }) },
  );
  const response = await app.request('/fhir/Widget/1?_pretty=true&_format=xml');
  expect(await response.text()).toContain('<Group xmlns="http://hl7.org/fhir">\n  <id value="1"/>\n</Group>');
});

test('a string of some megabytes is a token like any other', () => {
  for (const text of ['x'.repeat(10_000_000), '\\n'.repeat(2_500_000)])
    expect(indentJson(`{"a":"${text}"}`).length).toBe(text.length + '{\n  "a": ""\n}'.length);
});
