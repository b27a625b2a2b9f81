import type { Contracts } from '@lapel/schemas/contracts/contracts';
import type { Inbound } from './topics.ts';

/**
 * For each kind of message the member that identifies it, such as `eventId`. An error repeats this member, so that the
 * device knows which message is meant. `inText` is what follows its name in a text that is not JSON.
 */
const IDENTITIES = {
  acks: {
    name: 'transactionId',
    schema: 'common/transaction-id',
    inText: /^["']?\s*[:=]\s*["']?(\d{1,16})/,
  },
  status: undefined,
  events: { name: 'eventId', schema: 'common/event-id', inText: /^["']?\s*[:=]\s*["']([^"'\\]{1,255})["']/ },
  requests: {
    name: 'requestId',
    schema: 'common/request-id',
    inText: /^["']?\s*[:=]\s*["']([^"'\\]{1,255})["']/,
  },
} as const;

const LONGEST = 400; // characters behind a name that are searched

/** Finds the first value behind the name, in linear time. */
function findIn(text: string, name: string, value: RegExp): string | undefined {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length)) {
    const start = at + name.length;
    const found = value.exec(text.slice(start, start + LONGEST))?.[1];
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns a function that finds the `transactionId`, `eventId` or `requestId` of a message, for errors about it. */
export const createIdentities = ({ accepts }: Pick<Contracts, 'accepts'>) => {
  /**
   * Returns an object with the member, from the message or else from its text; an empty object when neither has a valid
   * one.
   */
  return function identityOf(kind: Inbound, message: unknown, textOf: () => string): object {
    const identity = IDENTITIES[kind];
    if (!identity) return {};
    const { name, schema, inText } = identity;
    const given =
      typeof message === 'object' && message !== null ? (message as Record<string, unknown>)[name] : undefined;
    if (accepts(schema, given)) return { [name]: given };
    const found = findIn(textOf(), name, inText);
    const value = kind === 'acks' ? Number(found) : found;
    return found !== undefined && accepts(schema, value) ? { [name]: value } : {};
  };
};
