/**
 * Runs a grammar from the tables that ANTLR writes with a generated parser (`*.interp`: names and the serialized
 * automaton). In: the text of both tables, a start rule, a text to parse. Out: the tree and every syntax error. No
 * parser is generated or loaded. Table format: https://github.com/antlr/antlr4/blob/dev/doc/interpreters.md
 */
import type { ATNSimulator, ParserRuleContext, RecognitionException, Recognizer, Token } from 'antlr4ng';
import {
  ATNDeserializer,
  BaseErrorListener,
  CharStream,
  CommonTokenStream,
  LexerInterpreter,
  ParserInterpreter,
  PredictionMode,
  TerminalNode,
  Vocabulary,
} from 'antlr4ng';
import { endWith, forgetOtherCallers, leaveOut, type Omissions } from './smaller-automaton.ts';

/** A rule with the text it consumed, or a token; `name` is the rule's, or the token's symbolic name. */
export interface Node {
  readonly kind: 'rule' | 'token';
  readonly name: string;
  /** The original text; for a rule without the blanks between its tokens. */
  readonly text: string;
  /** `line:column`, both from 1. */
  readonly at: string;
  readonly children: readonly Node[];
}

export interface Parsed {
  /** Tree of the start rule; after a syntax error, as far as the parser got. */
  readonly tree: Node;
  /** The first token that the start rule left over, if any. */
  readonly rest: Node | undefined;
  /** `line:column what is wrong`, in the order of the text. */
  readonly errors: readonly string[];
}

/**
 * Makes a parse function. The function caches what it learns about the grammar, so that later texts cost a tenth of the
 * first ones. Full LL prediction: under SLL the T-SQL grammar refuses qualified column names. With `omissions` the text
 * ends with the start rule, and an error may only mean that the text has an omitted construct.
 */
export function interpretGrammar(
  lexerTables: string,
  parserTables: string,
  startRule: string,
  omissions?: Omissions,
): (text: string) => Parsed {
  const lexis = readTables(lexerTables);
  const syntax = readTables(parserTables);
  const rule = placeIn(syntax.rules);
  const start = rule(startRule);
  if (omissions) {
    leaveOut(syntax.automaton, omissions, { rule, token: placeIn(syntax.tokens) });
    endWith(syntax.automaton, start);
  }
  forgetOtherCallers(syntax.automaton, start);
  const lexer = new LexerInterpreter(
    'lexer',
    lexis.vocabulary,
    lexis.rules,
    lexis.channels,
    lexis.modes,
    lexis.automaton,
    CharStream.fromString(''),
  );
  const parser = new ParserInterpreter(
    'parser',
    syntax.vocabulary,
    syntax.rules,
    syntax.automaton,
    new CommonTokenStream(lexer),
  );
  parser.interpreter.predictionMode = PredictionMode.LL;
  const nameOf = (token: Token): string => syntax.vocabulary.getSymbolicName(token.type) ?? String(token.type);

  return text => {
    const collector = new ErrorCollector();
    for (const recognizer of [lexer, parser]) {
      recognizer.removeErrorListeners();
      recognizer.addErrorListener(collector);
    }
    // The order matters: while the parser takes new tokens it rewinds the old ones, and they may ask the lexer for
    // more.
    const tokens = new CommonTokenStream(lexer);
    parser.tokenStream = tokens;
    lexer.inputStream = CharStream.fromString(text);
    const tree = ruleNode(parser.parse(start), syntax.rules, nameOf);
    const next = tokens.LT(1);
    const rest = next && next.type !== -1 ? tokenNode(next, nameOf) : undefined;
    return { tree, rest, errors: collector.errors };
  };
}

/** The nodes in the order of the text, each before its descendants. */
export function* nodesOf(tree: Node): Generator<Node> {
  yield tree;
  for (const child of tree.children) yield* nodesOf(child);
}

class ErrorCollector extends BaseErrorListener {
  readonly errors: string[] = [];

  override syntaxError<S extends Token, T extends ATNSimulator>(
    _recognizer: Recognizer<T>,
    _symbol: S | null,
    line: number,
    column: number,
    message: string,
    _error: RecognitionException | null,
  ): void {
    // If any name is allowed, ANTLR lists all thousand keywords that may be one.
    this.errors.push(`${line}:${column + 1} ${message.replace(/ expecting \{.{200,}\}$/s, '')}`);
  }
}

function ruleNode(context: ParserRuleContext, rules: readonly string[], nameOf: (token: Token) => string): Node {
  const children = context.children.flatMap((child): readonly Node[] => {
    if (child instanceof TerminalNode) return [tokenNode(child.symbol, nameOf)];
    return [ruleNode(child as ParserRuleContext, rules, nameOf)];
  });
  const { start } = context;
  return {
    kind: 'rule',
    name: rules[context.ruleIndex] ?? '',
    text: context.getText(),
    at: start ? positionOf(start) : '1:1',
    children,
  };
}

function tokenNode(token: Token, nameOf: (token: Token) => string): Node {
  return { kind: 'token', name: nameOf(token), text: token.text ?? '', at: positionOf(token), children: [] };
}

function positionOf(token: Token): string {
  return `${token.line}:${token.column + 1}`;
}

function readTables(tables: string) {
  const sections = new Map<string, string[]>();
  let lines: string[] = [];
  for (const line of tables.split(/\r?\n/)) {
    const heading = /^([a-z][a-z ]+):$/.exec(line)?.[1];
    if (heading !== undefined) {
      lines = [];
      sections.set(heading, lines);
    } else if (line !== '') {
      lines.push(line);
    }
  }
  const section = (name: string): string[] => {
    const found = sections.get(name);
    if (!found) throw new Error(`the tables have no section “${name}”`);
    return found;
  };
  const names = (name: string): (string | null)[] => section(name).map(entry => (entry === 'null' ? null : entry));
  const tokens = names('token symbolic names');
  return {
    vocabulary: new Vocabulary(names('token literal names'), tokens, []),
    tokens,
    rules: section('rule names'),
    channels: sections.get('channel names') ?? [],
    modes: sections.get('mode names') ?? [],
    automaton: new ATNDeserializer().deserialize(JSON.parse(section('atn').join('')) as number[]),
  };
}

function placeIn(names: readonly (string | null)[]): (name: string) => number {
  return name => {
    const place = names.indexOf(name);
    if (place < 0) throw new RangeError(`the grammar has no ${name}`);
    return place;
  };
}
