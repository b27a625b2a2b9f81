/** A metric that an expression reads, with the labels that the expression selects it by. */
export interface Selected {
  name: string;
  labels: string[];
}

const NAME = /[A-Za-z_:][\w:]*/y;
const NUMBER = /[0-9.][\w.]*/y;
/** Words before lists of labels, which are no metrics. */
const BEFORE_LABELS = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right']);
const WORDS = new Set([...BEFORE_LABELS, 'and', 'or', 'unless', 'offset', 'bool', 'inf', 'nan']);
const AGGREGATIONS = new Set(['sum', 'min', 'max', 'avg', 'count', 'group', 'topk', 'bottomk', 'quantile', 'stddev']);

/**
 * Finds the metrics of an expression of PromQL, in one pass from left to right. Names of functions, of labels and in
 * strings are no metrics. Throws for a character that no expression of ours needs.
 */
export function metricsOf(expression: string): Selected[] {
  const found: Selected[] = [];
  let at = 0;

  function match(pattern: RegExp): string | undefined {
    pattern.lastIndex = at;
    const text = pattern.exec(expression)?.[0];
    at += text?.length ?? 0;
    return text;
  }

  /** Skips a string. */
  function skipString(): void {
    const quote = expression[at];
    for (at += 1; at < expression.length && expression[at] !== quote; at += 1) if (expression[at] === '\\') at += 1;
    at += 1;
  }

  /** Skips everything up to a closing character, and returns the names on the way. */
  function namesUpTo(end: string): string[] {
    const names: string[] = [];
    at += 1;
    while (at < expression.length && expression[at] !== end) {
      const name = match(NAME);
      if (name !== undefined) names.push(name);
      else if (expression[at] === '"') skipString();
      else at += 1;
    }
    at += 1;
    return names;
  }

  const skipSpace = (): void => void match(/\s*/y);

  while (at < expression.length) {
    const name = match(NAME);
    if (name !== undefined) {
      skipSpace();
      const next = expression[at];
      if (next === '(' && BEFORE_LABELS.has(name)) namesUpTo(')');
      else if (next !== '(' && !WORDS.has(name) && !AGGREGATIONS.has(name))
        found.push({ name, labels: next === '{' ? namesUpTo('}') : [] });
    } else if (expression[at] === '"') skipString();
    else if (expression[at] === '[') namesUpTo(']');
    else if (match(NUMBER) === undefined && match(/[\s()+*/<>=!,-]/y) === undefined)
      throw new Error(`unexpected ${expression[at]} in ${expression}`);
  }
  return found;
}
