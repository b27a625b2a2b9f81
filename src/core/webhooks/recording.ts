import type { Metrics } from '../../metrics.ts';
import type { UnitOfWork } from '../../platform/database/sql.ts';
import { type Clock, toUtc } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { ReceiverName, WebhookEvent } from './delivery.ts';
import { type Delivery, insertDelivery } from './delivery-repository.ts';

interface Parts {
  clock: Clock;
  ids: Ids;
  metrics: Pick<Metrics, 'deliveriesCreated'>;
  /** Called after the commit of a new delivery. */
  accept(name: ReceiverName, delivery: Delivery): void;
}

/** Types of events whose last part is chosen by devices; as a metric's label it would be unbounded. */
const OPEN_TYPE = /^(call|custom)\./;

/** Stores deliveries in the units of work that cause them. */
export function createRecording({ clock, ids, metrics, accept }: Parts) {
  /**
   * Stores the delivery of an event in the caller's unit of work; it is sent after the commit. Returns the deliveryId. The
   * body is `{ type, timestamp, data }`; `data` always has applicationId and deviceId.
   */
  function record(unit: UnitOfWork, event: WebhookEvent): string {
    const { applicationId, deviceId, setting, type } = event;
    const createdAt = clock.now();
    const timestamp = toUtc(event.occurredAt);
    const deliveryId = ids.next('msg', createdAt);
    const body = JSON.stringify({ type, timestamp, data: { ...event.data, applicationId, deviceId } });
    const delivery = { deliveryId, body, attempts: 0, round: 0, createdAt, traceparent: event.traceparent ?? null };
    const transactionId = event.transactionId ?? null;
    insertDelivery(unit, { ...delivery, applicationId, setting, deviceId, transactionId, type });
    unit.onCommit(() => {
      metrics.deliveriesCreated.inc({ type: OPEN_TYPE.exec(type)?.[1] ?? type });
      accept({ applicationId, setting }, delivery);
    });
    return deliveryId;
  }

  return { record };
}
