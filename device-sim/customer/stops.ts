import type { Command } from '../mqtt/messages.ts';
import type { Entry } from './entry.ts';

/** Error codes with which the service ends a transaction whose time has passed, each with the term that allows it. */
export const OF_TERMS = { EXPIRED: 'expireIn', NO_ANSWER: 'answerWithin' } as const;

/**
 * The webhook of a cancel, or of an expiry, may overtake a command that was sent before. A connection that began so many
 * milliseconds after that webhook cannot bring such a command.
 */
export const OVERTAKING_MILLISECONDS = 1000;

/** Whether the service itself ended the transaction because its time had passed. */
export const isExpiry = (status: string, code: string | null): boolean =>
  status === 'failed' && code !== null && Object.hasOwn(OF_TERMS, code);

/** The way in which the service has stopped a command, as a story tells it; null if it has not. */
function stopOf({ status, code }: NonNullable<Entry['result']>): 'was cancelled' | 'has expired' | null {
  if (status === 'cancelled') return 'was cancelled';
  return isExpiry(status, code) ? 'has expired' : null;
}

/** Whether the service has stopped the command of the transaction. */
export const isStopped = (result: NonNullable<Entry['result']>): boolean => stopOf(result) !== null;

/** The fault of a command that comes on a connection which began after the command was stopped. */
export function commandAfterStop({ transactionId, result }: Entry, connectedAt: number): string | undefined {
  const stopped = result && stopOf(result);
  if (!result || !stopped || connectedAt - result.at <= OVERTAKING_MILLISECONDS) return undefined;
  return `command ${transactionId} came on a later connection, although it ${stopped}`;
}

/**
 * The fault of a cancel whose command the device has answered. Only a stopped command has a cancel, and the number of the
 * command may belong to a newer one with another `issuedAt`.
 */
export function needlessCancel(
  { transactionId, issuedAt, result }: Entry,
  cancel: Pick<Command, 'issuedAt'>,
): string | undefined {
  if (!result || stopOf(result) || issuedAt !== cancel.issuedAt) return undefined;
  return `the cancel of command ${transactionId} came, although the command had ${result.status}`;
}
