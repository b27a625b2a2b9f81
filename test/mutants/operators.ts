import type { Expression, Literal, Node, Program } from 'acorn';

/** One change of a file: the characters from `start` up to `end` become `after`. */
export interface Change {
  readonly operator: string;
  readonly start: number;
  readonly end: number;
  readonly after: string;
}

/** The text of a node in the source, which an operator needs. */
type TextOf = (node: Node) => string;
type Operator = (node: Node, textOf: TextOf) => Omit<Change, 'operator'> | null;

const SWAPPED: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '&&': '||',
  '||': '&&',
  '??': '&&',
};

/** The largest number that is changed by one. */
const MOST_CHANGED = 16;

/** Calls that write log lines and figures, which no test should repeat. */
const TOLD = /^(?:[\w.]*\b)?(?:log|metrics|span)\b/;

const replaced = ({ start, end }: Node, after: string) => ({ start, end, after });
const isText = (node: Node): boolean =>
  node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof (node as Literal).value === 'string');

/** Changes the operator between two expressions. Texts are joined with `+` as well, and never subtracted. */
function swap(node: Node, textOf: TextOf) {
  if (node.type !== 'BinaryExpression' && node.type !== 'LogicalExpression') return null;
  const { left, right, operator } = node as Node & { left: Node; right: Node; operator: string };
  const after = SWAPPED[operator];
  if (after === undefined || (operator === '+' && (isText(left) || isText(right)))) return null;
  const text = textOf(node);
  const at = text.slice(0, right.start - node.start).lastIndexOf(operator);
  // In parentheses, because `??` may not stand beside `&&`, and both sides may have operators of their own.
  return replaced(node, `((${text.slice(0, at).trimEnd()}) ${after} ${text.slice(at + operator.length).trimStart()})`);
}

/** Negates the condition of a branch, unless its place has a swapped operator already. */
function negate(node: Node, textOf: TextOf) {
  if (node.type !== 'IfStatement' && node.type !== 'ConditionalExpression' && node.type !== 'WhileStatement')
    return null;
  const { test } = node as Node & { test: Expression };
  return replaced(test, `!(${textOf(test)})`);
}

/** Removes a statement that is one call, whose result nobody uses. */
function removeCall(node: Node, textOf: TextOf) {
  if (node.type !== 'ExpressionStatement') return null;
  const { expression } = node as Node & { expression: Node & { argument?: Node } };
  const call = expression.type === 'AwaitExpression' ? expression.argument : expression;
  return call?.type === 'CallExpression' && !TOLD.test(textOf(call)) ? replaced(node, ';') : null;
}

function removeAwait(node: Node, textOf: TextOf) {
  if (node.type !== 'AwaitExpression') return null;
  const { argument } = node as Node & { argument: Node };
  return replaced(node, `(${textOf(argument)})`);
}

/** One more of a small number. One more of a large number is seen by nobody. */
function changeNumber(node: Node) {
  if (node.type !== 'Literal') return null;
  const { value, raw = '' } = node as Literal;
  return typeof value === 'number' && Number.isInteger(value) && value <= MOST_CHANGED
    ? replaced(node, `(${raw} + 1)`)
    : null;
}

function changeBoolean(node: Node) {
  const { value } = node as Literal;
  return node.type === 'Literal' && typeof value === 'boolean' ? replaced(node, `${!value}`) : null;
}

/** Lets a function return at its begin, if it returns nothing at its end. */
function returnEarly(node: Node) {
  if (!/^(?:Function|ArrowFunction)/.test(node.type)) return null;
  const { body } = node as Node & { body: Program };
  const isLong = body.type === ('BlockStatement' as string) && body.body.length > 0;
  if (!isLong || body.body.some(({ type }) => type === 'ReturnStatement')) return null;
  return { start: body.start, end: body.start + 1, after: '{ return;' };
}

/** Asks an optional member always: `a?.b` becomes `a.b`. */
function dropOptional(node: Node, textOf: TextOf) {
  if (node.type !== 'MemberExpression' || !(node as Node & { optional: boolean }).optional) return null;
  const { object } = node as Node & { object: Node };
  const behind = textOf(node).slice(object.end - node.start);
  const dot = behind.indexOf('?.');
  const start = object.end + dot;
  return dot < 0 ? null : { start, end: start + 2, after: behind[dot + 2] === '[' ? '' : '.' };
}

export const OPERATORS: Readonly<Record<string, Operator>> = {
  'swapped operator': swap,
  'negated condition': negate,
  'removed call': removeCall,
  'removed await': removeAwait,
  'another number': changeNumber,
  'another truth': changeBoolean,
  'early return': returnEarly,
  'no longer optional': dropOptional,
};

/** Whether changes of a node say nothing: imports, log lines and figures. */
export const isSkipped = (node: Node, textOf: TextOf): boolean =>
  /^(?:Import|ExportAll)/.test(node.type) || (node.type === 'CallExpression' && TOLD.test(textOf(node)));
