/**
 * Generates code for logical ids: of a row itself (V7), and of rows that references lead to (V5).
 * https://hl7.org/fhir/R4/datatypes.html#id, https://hl7.org/fhir/R4/references.html
 */
import { countedAs, type IdPart, type IdRule, isLegalId, LONGEST, longestId } from '../mapping/id-rule.ts';
import type { RefNode } from '../mapping/model.ts';
import type { ColumnExpression } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';
import { AS_IT_IS, lengthInId } from '../sql/shared-functions.ts';
import { type Emission, rawCode, refIn, targetIn } from './emission.ts';
import { castTo } from './raw.ts';
import type { Source } from './source-text.ts';

/** '' for a text that is no FHIR id. */
function legalId(text: string): string {
  return isLegalId(text) ? text : '';
}

const LEGAL_PART = /^[A-Za-z0-9\-.]*$/;

/**
 * Codecs print parts of legal characters; what is left to see is what a mapping writes between them, and the length.
 */
function isLegalButForLength(parts: readonly IdPart[]): boolean {
  const legal = parts.every(part => part.kind !== 'literal' || LEGAL_PART.test(part.text));
  return legal && parts.some(part => part.kind !== 'literal');
}

/** Statements that print an id; returns the variable that holds it, '' where no alternative can be written. */
export function idCode(rule: IdRule, raw: (column: ColumnExpression) => string, source: Source): string {
  const result = source.variable("''");
  const from = (index: number): void => {
    const parts = rule.alternatives[index];
    if (!parts) return;
    const printed: string[] = [];
    /** Where it may be too long: what escapes add, as they are counted, to what is printed. */
    const added: string[] = [];
    const fits = longestId(parts) <= LONGEST;
    const operands = parts.map(part => {
      if (part.kind === 'literal') return JSON.stringify(part.text);
      const value = raw(part.column);
      const print = `${source.bind(part.codec)}.print(${value})`;
      const name = source.variable(`${value} === null ? undefined : ${print}`, 'const');
      printed.push(name);
      const how = countedAs(part.codec);
      if (how !== AS_IT_IS && !fits) added.push(` + ${source.bind(lengthInId)}(${value}, ${how}) - ${name}.length`);
      return name;
    });
    const text = operands.join(' + ');
    const assign = (): void => {
      if (!isLegalButForLength(parts)) source.line(`${result} = ${source.bind(legalId)}(${text});`);
      else source.line(`${result} = ${text};`);
      source.line(`if (${result}.length${added.join('')} > ${LONGEST}) ${result} = '';`);
    };
    if (printed.length === 0) assign();
    else source.block(`if (${printed.map(name => `${name} !== undefined`).join(' && ')})`, assign);
    if (index + 1 < rule.alternatives.length) source.block(`if (${result} === '')`, () => from(index + 1));
  };
  from(0);
  return result;
}

/** Runs `body` where the target is there; `id` is a variable with its id. */
export function referenceText(
  node: RefNode,
  at: Emission,
  body: (target: { readonly resource: string; readonly id: string }) => void,
): void {
  const { source, frame } = at;
  const found = refIn(node, frame);
  const target = targetIn(node, frame);
  if (found?.shape.never) return;
  const raw = (column: ColumnExpression): string => {
    const key = expressionKey(column);
    const id = found?.shape.id.get(key);
    if (found && id) {
      const code = `${found.row}[${id.position}]`;
      return id.castTo ? `${source.bind(castTo(id.castTo))}(${code})` : code;
    }
    const ours = node.on.find(({ theirs }) => expressionKey(theirs) === key)?.ours;
    if (!ours) throw new TypeError(`not fetched: ${key}, of which the id of ${target.name} is made`);
    const code = rawCode(ours, frame);
    return ours.type.kind === column.type.kind ? code : `${source.bind(castTo(column.type))}(${code})`;
  };
  const flag = found?.shape.flag;
  source.when(found && flag !== undefined ? `${found.row}[${flag}] === 1` : 'true', () => {
    const id = idCode(target.id, raw, source);
    source.when(`${id} !== ''`, () => body({ resource: target.resource, id }));
  });
}
