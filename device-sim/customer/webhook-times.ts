import type { WebhookEvent } from '@lapel/client/verify-webhook';
import type { Difference } from './differences.ts';

/** Milliseconds: the times of others are compared with this tolerance. */
const CLOCKS = 10_000;

/** The facts with which the time of a webhook is compared. Milliseconds since 1970. */
interface Known {
  /** The time of the attempt, by the clock of the service. */
  readonly sentAt: number;
  /** The arrival of the attempt, by the clock of the simulator. */
  readonly arrivedAt: number;
  /** When the customer requested the transaction, by the clock of the simulator; undefined if it is not known. */
  readonly requestedAt?: number | undefined;
  /** The time of an event as its device has sent it; undefined if it is not known. */
  readonly occurredAt?: string | undefined;
}

const differs = (wanted: string, found: string): Difference[] => [{ field: 'timestamp', wanted, found }];
const shown = (at: number): string => new Date(at).toISOString();

/**
 * The difference between `timestamp` of a webhook and the time of its event: the end of a transaction, the time that a device
 * has given to its event. No event is later than its attempt, and no end of a transaction comes before its request.
 */
export function wrongTime({ timestamp, data }: WebhookEvent, known: Known): Difference[] {
  const { sentAt, arrivedAt, requestedAt, occurredAt } = known;
  const at = Date.parse(timestamp);
  if (Number.isNaN(at)) return differs('a time', timestamp);
  // The clock of a device may be wrong, so only its own words say when its event was.
  if (occurredAt !== undefined) return at === Date.parse(occurredAt) ? [] : differs(occurredAt, timestamp);
  if ('eventId' in data) return [];
  if ('transaction' in data && timestamp !== data.transaction.completedAt)
    return differs(`its \`completedAt\` ${data.transaction.completedAt}`, timestamp);
  if (at > sentAt + CLOCKS) return differs(`at most ${shown(sentAt)}, when it was sent`, timestamp);
  // The clock of a service elsewhere may differ from that of the simulator.
  const clocksAgree = Math.abs(arrivedAt - sentAt) <= CLOCKS;
  return clocksAgree && requestedAt !== undefined && at < requestedAt - CLOCKS
    ? differs(`at least ${shown(requestedAt)}, when it was requested`, timestamp)
    : [];
}
