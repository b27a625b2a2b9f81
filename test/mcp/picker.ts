import { tokensOf } from '../../src/edge/mcp/tokens.ts';
import type { Assistant } from './assistant.ts';

export type Listed = Awaited<ReturnType<Assistant['tools']>>[number];
type Schema = Record<string, unknown>;

const EMPTY = new Set(
  'a an and are as at be by can did do does for from has have how i in is it its me my no not of on or that the their these this to was were what when where which who whose why will with would'.split(
    ' ',
  ),
);

/** A word without its ending, so that "failed", "fails" and "failing" are one. */
const stem = (word: string): string =>
  word.length < 5 ? word.replace(/s$/, '') : word.replace(/(?:ing|ed|es|s|e)$/, '').replace(/(.)\1$/, '$1');

export const wordsIn = (text: string): string[] => [
  ...new Set(
    (
      text
        .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
        .toLowerCase()
        .match(/[a-z]{2,}/g) ?? []
    )
      .filter((word) => !EMPTY.has(word))
      .map(stem),
  ),
];

const propertiesOf = ({ inputSchema }: Listed): [string, Schema][] =>
  Object.entries((inputSchema.properties ?? {}) as Record<string, Schema>);

/** The tools, those whose descriptions share most with a question first. Words that few tools have count more. */
export function ranked(tools: readonly Listed[], question: string): Listed[] {
  const docs = tools.map((tool) => ({
    tool,
    name: new Set(wordsIn(`${tool.name.replaceAll('_', ' ')} ${tool.title ?? ''}`)),
    text: new Set(
      wordsIn(
        `${tool.description ?? ''} ${propertiesOf(tool)
          .map(([name, { description = '' }]) => `${name} ${String(description)}`)
          .join(' ')}`,
      ),
    ),
  }));
  const asked = wordsIn(question);
  const weightOf = (word: string): number => {
    const having = docs.filter(({ name, text }) => name.has(word) || text.has(word)).length;
    return having === 0 ? 0 : Math.log(1 + tools.length / having);
  };
  const weights = new Map(asked.map((word) => [word, weightOf(word)]));
  const scoreOf = ({ name, text }: (typeof docs)[number]): number =>
    asked.reduce(
      (sum, word) => sum + (weights.get(word) ?? 0) * ((name.has(word) ? 1 : 0) + (text.has(word) ? 1 : 0)),
      0,
    );
  return docs.sort((one, other) => scoreOf(other) - scoreOf(one)).map(({ tool }) => tool);
}

/** The value of an argument, if the text of the question has one of its shape. */
function argumentOf(name: string, schema: Schema, question: string): unknown {
  const {
    type,
    pattern,
    enum: choices,
    description = '',
  } = schema as { type?: string; pattern?: string; enum?: string[]; description?: string };
  const words = question.split(/[\s,?]+/).map((word) => word.replace(/^["'(]+|["').:;]+$/g, ''));
  const isAsked = wordsIn(name).some((word) => wordsIn(question).includes(word));
  if (choices) return choices.find((choice) => words.includes(choice));
  if (pattern !== undefined && name === 'deviceId') return words.find((word) => new RegExp(pattern).test(word));
  if (/^rollout(Id)?$/.test(name) && type === 'string') return words.find((word) => /^rol_\w+$/.test(word));
  if (name === 'deliveryId') return words.find((word) => /^(msg|evt)_\w+$/.test(word));
  if (name === 'transactionId')
    return /command (\d{1,12})\b/.exec(question)?.[1] && Number(/command (\d{1,12})\b/.exec(question)?.[1]);
  if (/error ?code/i.test(description)) return words.find((word) => /^[A-Z]+_[A-Z_]+$/.test(word));
  if (name === 'package') return words.find((word) => /^[a-z]+(\.[a-z]+){2,}$/.test(word));
  if (
    /^(version|firmwareVersion)$/.test(name) &&
    isAsked &&
    question.includes('firmware') === name.startsWith('firmware')
  )
    return words.find((word) => /^\d+\.\d+\.\d+$/.test(word));
  if (type === 'integer' && isAsked) return Number(words.find((word) => /^\d{1,3}$/.test(word))) || undefined;
  if (name === 'tags') {
    const pairs = words.filter((word) => /^[a-z]+=\w+$/.test(word)).map((word) => word.split('='));
    return pairs.length > 0 ? Object.fromEntries(pairs) : undefined;
  }
  return name === 'question' ? question : undefined;
}

/** The arguments of a tool from a question; undefined when a needed one is not in it. */
export function argumentsOf(tool: Listed, question: string, known: Record<string, unknown> = {}) {
  const given: Record<string, unknown> = {};
  for (const [name, schema] of propertiesOf(tool)) {
    const value = known[name] ?? argumentOf(name, schema, question);
    if (value !== undefined) given[name] = value;
  }
  const needed = (tool.inputSchema.required ?? []) as string[];
  return needed.every((name) => given[name] !== undefined) ? given : undefined;
}

export interface Reached {
  calls: string[];
  tokens: number;
  text: string;
  found: boolean;
}

/** Asks tools in their order until the facts are there: the next page first, then the next tool. */
export async function reach(
  { assistant, tools }: { assistant: Assistant; tools: readonly Listed[] },
  question: string,
  facts: readonly RegExp[],
  { known = {}, most = 4 }: { known?: Record<string, unknown>; most?: number } = {},
): Promise<Reached> {
  const reached: Reached = { calls: [], tokens: 0, text: '', found: false };
  const left = ranked(tools, question);
  let again: { tool: Listed; given: Record<string, unknown> } | undefined;
  while (reached.calls.length < most && !reached.found) {
    const next = again ?? nextOf(left, question, known);
    if (!next) break;
    const { text } = await assistant.call(next.tool.name, next.given);
    reached.calls.push(next.tool.name);
    reached.tokens += tokensOf(text) + tokensOf(JSON.stringify(next.given));
    reached.text += `${text}\n`;
    reached.found = facts.every((fact) => fact.test(reached.text));
    const cursor = /^more: cursor=(\S+)$/m.exec(text)?.[1];
    again = cursor === undefined ? undefined : { tool: next.tool, given: { ...next.given, cursor } };
  }
  return reached;
}

function nextOf(left: Listed[], question: string, known: Record<string, unknown>) {
  for (let tool = left.shift(); tool; tool = left.shift()) {
    const given = argumentsOf(tool, question, known);
    if (given) return { tool, given };
  }
  return undefined;
}
