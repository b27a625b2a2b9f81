import type { Consumer } from '../core/stream/consumer-repository.ts';
import type { ConsumerState, Judged } from '../core/stream/consumer-state.ts';
import { lasting } from './conditions/words.ts';

const inWords = (micros: number): string => lasting(micros / 1_000_000);

/** What is wrong with a consumer, and what to do; `whose` is the application, for readers of several ones. */
const SENTENCES: Readonly<
  Record<Exclude<ConsumerState, 'current'>, (who: string, judged: Judged, name: string) => string>
> = {
  behind: (who, { ageMicros }, name) =>
    `An event has waited ${inWords(ageMicros)} for ${who}: look whether its program runs, or delete the consumer if nobody uses it (lapel consumer delete ${name}).`,
  ending: (who, { ageMicros, leftMicros }, name) =>
    `An event that has waited ${inWords(ageMicros)} for ${who} is removed in ${inWords(leftMicros ?? 0)}: let its program run before, or delete the consumer if nobody uses it (lapel consumer delete ${name}).`,
  lost: (who, { restingMicros }, name) =>
    `Events were removed before ${who} handled them, which was moved ${inWords(restingMicros)} ago: let its program go on behind them, or delete the consumer if nobody uses it (lapel consumer delete ${name}).`,
  abandoned: (who, { restingMicros }, name) =>
    `Nobody has moved ${who} for ${inWords(restingMicros)}, and nothing warns of it any more: delete it if nobody uses it (lapel consumer delete ${name}).`,
};

/** Null for a consumer that keeps up. */
export function consumerSentence(
  { name, applicationId }: Pick<Consumer, 'name'> & { applicationId?: string },
  judged: Judged,
): string | null {
  const who = `the consumer ${name}${applicationId === undefined ? '' : ` of ${applicationId}`}`;
  return judged.state === 'current' ? null : SENTENCES[judged.state](who, judged, name);
}
