/**
 * Reduces a grammar's automaton in place, because ANTLR's prediction costs time for all possible continuations. In: the
 * automaton, a start rule, the constructs to omit. The full automaton accepts everything that the smaller one accepts;
 * the reverse holds only after `forgetOtherCallers`. https://github.com/antlr/antlr4/blob/dev/doc/interpreters.md
 */
import type { ATN, ATNState, Transition } from 'antlr4ng';
import { AtomTransition, BasicState, IntervalSet, RuleTransition, SetTransition, Token } from 'antlr4ng';

/** Constructs that most texts lack, by names of rules and tokens. */
export interface Omissions {
  /** Removes the alternatives of a rule that begin with one of these rules. */
  readonly alternatives: Readonly<Record<string, readonly string[]>>;
  /** Rules that are replaced by one of these tokens. */
  readonly tokens: Readonly<Record<string, readonly string[]>>;
}

export interface Names {
  readonly rule: (name: string) => number;
  readonly token: (name: string) => number;
}

export function leaveOut(automaton: ATN, { alternatives, tokens }: Omissions, names: Names): void {
  for (const [name, begun] of Object.entries(alternatives)) {
    const rule = names.rule(name);
    const gone = new Set<number | undefined>(begun.map(names.rule));
    for (const state of automaton.decisionToState) {
      if (state.ruleIndex === rule) keep(state, transition => !gone.has(firstRule(transition)));
    }
  }
  for (const [name, types] of Object.entries(tokens)) {
    const { start, stop } = endsOf(automaton, names.rule(name));
    const one = new IntervalSet();
    for (const type of types) one.addOne(names.token(type));
    keep(start, () => false);
    start.addTransition(new SetTransition(stop, one));
  }
}

/** The text ends with the start rule, so no continuation after it is considered. */
export function endWith(automaton: ATN, startRule: number): void {
  const { stop } = endsOf(automaton, startRule);
  const end = new BasicState();
  end.ruleIndex = startRule;
  automaton.addState(end);
  for (const state of automaton.states) {
    if (state?.ruleIndex !== startRule) continue;
    for (const transition of state.transitions) if (transition.target === stop) transition.target = end;
  }
  end.addTransition(new AtomTransition(stop, Token.EOF));
  keep(stop, () => false);
}

/**
 * Removes callers that the start rule never reaches from the ends of rules. A parse from the start rule accepts the
 * same texts, because it never returns to them.
 */
export function forgetOtherCallers(automaton: ATN, startRule: number): void {
  const reached = reachableFrom(automaton, startRule);
  for (const [rule, stop] of automaton.ruleToStopState.entries()) {
    if (stop && rule !== startRule && reached.has(stop)) keep(stop, ({ target }) => reached.has(target));
  }
}

function reachableFrom(automaton: ATN, startRule: number): ReadonlySet<ATNState> {
  const reached = new Set<ATNState>();
  const waiting: ATNState[] = [endsOf(automaton, startRule).start];
  for (let state = waiting.pop(); state; state = waiting.pop()) {
    if (reached.has(state)) continue;
    reached.add(state);
    // Each caller has its own return from the end of a rule.
    if (automaton.ruleToStopState[state.ruleIndex] === state) continue;
    for (const transition of state.transitions) {
      waiting.push(transition.target);
      if (transition instanceof RuleTransition) waiting.push(transition.followState);
    }
  }
  return reached;
}

function endsOf(automaton: ATN, rule: number): { readonly start: ATNState; readonly stop: ATNState } {
  const [start, stop] = [automaton.ruleToStartState[rule], automaton.ruleToStopState[rule]];
  if (!start || !stop) throw new RangeError(`the grammar has no rule ${rule}`);
  return { start, stop };
}

/** The rule that an alternative begins with; undefined if it begins with a token or a choice. */
function firstRule(begin: Transition): number | undefined {
  for (let transition: Transition | undefined = begin; transition; ) {
    if (transition instanceof RuleTransition) return transition.target.ruleIndex;
    if (!transition.isEpsilon || transition.target.transitions.length !== 1) return undefined;
    [transition] = transition.target.transitions;
  }
  return undefined;
}

function keep(state: ATNState, wanted: (transition: Transition) => boolean): void {
  const kept = state.transitions.filter(wanted);
  state.transitions.splice(0, state.transitions.length, ...kept);
  state.epsilonOnlyTransitions = kept.length > 0 && kept.every(({ isEpsilon }) => isEpsilon);
}
