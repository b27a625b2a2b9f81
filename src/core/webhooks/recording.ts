import type { Metrics } from '../../metrics.ts';
import type { UnitOfWork } from '../../platform/database/sql.ts';
import { type Clock, toUtc } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import { type Delivery, type EventNumbers, NO_NUMBERS, type ReceiverName, type WebhookEvent } from './delivery.ts';
import { insertEvent } from './delivery-repository.ts';

interface Parts {
  clock: Clock;
  ids: Ids;
  metrics: Pick<Metrics, 'deliveriesCreated' | 'eventsUnsent'>;
  /** Called after the commit of a new delivery. */
  accept(name: ReceiverName, delivery: Delivery): void;
  /** Called after the commit of a new event. */
  appended(event: Pick<WebhookEvent, 'applicationId' | 'deviceId' | 'type'>): void;
}

/** The most devices that are remembered as counted. */
const MOST_COUNTED = 100_000;

/** Types of events whose last part is chosen by devices; as a metric's label it would be unbounded. */
const OPEN_TYPE = /^(call|custom)\./;

/** Stores events, with their deliveries, in the units of work that cause them. */
export function createRecording({ clock, ids, metrics, accept, appended }: Parts) {
  /** The devices of applications whose events are counted in a row already. */
  const counted = new Set<string>();

  function noteCounted(key: string, { deviceSequence }: EventNumbers): void {
    if (counted.size >= MOST_COUNTED) counted.clear();
    // Without a number the row is gone, as after a restore while the service runs: the next event makes it again.
    if (deviceSequence === null) counted.delete(key);
    else counted.add(key);
  }

  /**
   * Stores an event in the caller's unit of work, in the stream of its application; it is sent after the commit if its
   * setting has a URL. Returns the deliveryId, which is also the eventId. The body is `{ type, timestamp, data }`, and gets
   * its numbers when it is sent or read; `data` always has applicationId and deviceId.
   */
  function record(unit: UnitOfWork, event: WebhookEvent): string {
    const { applicationId, deviceId, setting, type, unsent = false, traceparent = null } = event;
    const createdAt = clock.now();
    const timestamp = toUtc(event.occurredAt);
    const deliveryId = ids.next('msg', createdAt);
    const body = JSON.stringify({ type, timestamp, data: { ...event.data, applicationId, deviceId } });
    const transactionId = event.transactionId ?? null;
    const stored = { deliveryId, body, createdAt, traceparent };
    let numbers: EventNumbers = NO_NUMBERS;
    const key = `${applicationId} ${deviceId}`;
    const row = { ...stored, applicationId, setting, deviceId, transactionId, type, unsent };
    const numbered = (given: EventNumbers): void => {
      numbers = given;
    };
    insertEvent(unit, row, numbered, counted.has(key));
    unit.onCommit(() => {
      noteCounted(key, numbers);
      appended({ applicationId, deviceId, type });
      if (unsent) {
        metrics.eventsUnsent.inc({ setting });
        return;
      }
      metrics.deliveriesCreated.inc({ type: OPEN_TYPE.exec(type)?.[1] ?? type });
      accept({ applicationId, setting }, { ...stored, ...numbers, attempts: 0, round: 0 });
    });
    return deliveryId;
  }

  return { record };
}
