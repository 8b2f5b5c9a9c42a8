import { expect, test } from 'vitest';
import { accepts, asksForFhir, negotiate } from '../../src/http/middleware/negotiate.ts';
import { FhirError } from '../../src/outcome.ts';

test.each([
  [undefined, 'json'],
  ['', 'json'],
  ['*/*', 'json'],
  ['application/*', 'json'],
  ['application/fhir+json', 'json'],
  ['application/json', 'json'],
  ['text/json;q=0.1', 'json'],
  ['application/fhir+xml', 'xml'],
  ['application/xml', 'xml'],
  ['TEXT/XML', 'xml'],
  ['application/json+fhir', 'json'],
  ['application/xml+fhir;charset=UTF-8', 'xml'],
  ['application/fhir+xml;q=0.5, application/fhir+json;q=0.9', 'json'],
  ['application/fhir+xml;q=0.9, application/fhir+json;q=0.5', 'xml'],
  ['application/fhir+xml, */*', 'xml'],
  ['application/fhir+xml;q=0.2, */*', 'json'],
  ['*/*, application/fhir+json;q=0, application/json;q=0, text/json;q=0', 'xml'],
  ['*/*, application/fhir+json;q=0', 'xml'],
  ['text/*', 'json'],
  ['application/json, application/fhir+json;q=0', 'json'],
  ['application/fhir+json; fhirVersion=4.0', 'json'],
  ['application/fhir+json; fhirVersion=5.0, application/fhir+xml; fhirVersion=4.0', 'xml'],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'html'],
  ['text/html', 'html'],
  ['text/html;q=0.5, image/*', 'html'],
  ['text/html, */*;q=0.1', 'json'],
])('Accept %s gives %s', (accept, expected) => {
  expect(negotiate(undefined, accept)).toBe(expected);
});

test.each([
  'text/html;q=0',
  'text/*;q=0, image/*',
  'application/pdf, image/*',
  'application/fhir+json;q=0',
  'application/fhir+json; fhirVersion=3.0',
])('Accept %s is not acceptable', accept => {
  expect(() => negotiate(undefined, accept)).toThrow(FhirError);
});

test.each([
  ['json', 'json'],
  ['xml', 'xml'],
  ['application/fhir+json', 'json'],
  ['application/fhir xml', 'xml'],
  ['text/xml', 'xml'],
  ['application/xml+fhir', 'xml'],
  ['application/json fhir', 'json'],
  ['application/fhir+json; fhirVersion=4.0', 'json'],
])('_format=%s overrides Accept and gives %s', (format, expected) => {
  expect(negotiate(format, 'text/html')).toBe(expected);
});

test.each(['turtle', 'application/fhir+json; fhirVersion=5.0', 'json+x'])('_format=%s is not acceptable', format => {
  expect(() => negotiate(format, '*/*')).toThrow(/_format/);
});

test('only media types of FHIR or _format ask for the resource around some content', () => {
  expect(asksForFhir(undefined, 'application/fhir+json')).toBe(true);
  expect(asksForFhir('json', undefined)).toBe(true);
  expect(asksForFhir(undefined, 'text/html, */*')).toBe(false);
  expect(asksForFhir(undefined, 'application/fhir+json;q=0')).toBe(false);
  expect(accepts('text/plain', 'text/*;q=0.5')).toBe(true);
  expect(accepts('text/plain', 'text/*, text/plain;q=0')).toBe(false);
});

test('a hundred thousand blanks in a format are parsed in linear time', () => {
  expect(() => negotiate(`json;fhirVersion=a${' '.repeat(250_000)}x`, undefined)).toThrow(/_format/);
});
