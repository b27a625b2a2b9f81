import type { UnitOfWork } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import type { StoredEvent } from '../stream/stream-repository.ts';
import { NO_DEVICE } from '../webhooks/delivery.ts';
import type { Endpoint, Released } from './endpoint.ts';
import { findBusyDevices, insertTaken } from './endpoint-delivery-repository.ts';

/** The time at which an endpoint's next event may go out, and the microseconds between two events. */
interface Pace {
  from: Micros;
  gap: number;
  /** Whether events that the endpoint has got are sent once more. */
  again: boolean;
}

/**
 * Stores events of the stream as deliveries to an endpoint, whose row is locked. An ordered endpoint gets the next event of a
 * device only when the one before is through, so others wait as `blocked`. `until`: when the event behind these may go out;
 * `fresh` has, after the commit, the new deliveries that may be sent.
 */
export async function take(
  unit: UnitOfWork,
  endpoint: Endpoint,
  events: readonly StoredEvent[],
  now: Micros,
  { from, gap, again }: Pace,
): Promise<{ until: Micros; fresh: readonly Released[] }> {
  const devices = new Set(endpoint.ordered ? events.map(({ deviceId }) => deviceId) : []);
  devices.delete(NO_DEVICE);
  const busy = await findBusyDevices(unit, endpoint, [...devices]);
  const fresh: Released[] = [];
  let at = Math.max(now, from);
  for (const event of events) {
    const { eventId, deviceId } = event;
    const isBlocked = busy.has(deviceId);
    const dueAt = Math.round(at);
    const taken = { ...event, isBlocked, nextAttemptAt: dueAt };
    insertTaken(unit, endpoint, taken, { now, again }, () => {
      if (!isBlocked) fresh.push({ ...event, deliveryId: eventId, attempts: 0, round: 0, dueAt });
    });
    if (devices.has(deviceId)) busy.add(deviceId);
    at += gap;
  }
  return { until: Math.round(at), fresh };
}
