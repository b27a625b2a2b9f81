import { randomUUID } from 'node:crypto';
import type { DeviceEvent } from './messages.ts';

/** The largest number of events that a device keeps while it cannot send them. */
const KEPT = 200;

/** `events` of the contract, section 2: the device keeps each event until the service has acknowledged it. */
export interface OutgoingEvents {
  /** Adds an event, and returns it. If the device has no room for more, it drops the oldest waiting one. */
  add(type: string, data: Readonly<Record<string, unknown>>): DeviceEvent;
  /** Sends the events that waited for a connection. */
  online(): void;
  /** The number of events that wait for a connection. */
  readonly waiting: number;
}

/** The present time in UTC with microseconds, the format of MQTT payloads. */
function utcNow(wrongBy: number): string {
  const microseconds = Math.floor((performance.timeOrigin + performance.now() + wrongBy) * 1000);
  const text = new Date(Math.floor(microseconds / 1000)).toISOString();
  return `${text.slice(0, -1)}${String(microseconds % 1000).padStart(3, '0')}Z`;
}

export function createOutgoingEvents({
  isOnline,
  wrongBy = () => 0,
  publish,
  onEvent,
  onAcknowledged,
  onLost,
}: {
  isOnline: () => boolean;
  /** Milliseconds by which the clock of the device is wrong at the next event. */
  wrongBy?: () => number;
  publish: (payload: string, done: () => void) => void;
  onEvent: (event: DeviceEvent) => void;
  onAcknowledged: (event: DeviceEvent) => void;
  onLost: (event: DeviceEvent) => void;
}): OutgoingEvents {
  /** The events that wait to be sent, in the order in which they happened: a Set keeps the order of additions. */
  const waiting = new Set<DeviceEvent>();
  const sent = new Set<DeviceEvent>();

  function flush(): void {
    for (const event of waiting) {
      if (!isOnline() || sent.size >= KEPT) return;
      waiting.delete(event);
      sent.add(event);
      publish(JSON.stringify(event), () => {
        sent.delete(event);
        onAcknowledged(event);
        flush();
      });
    }
  }

  return {
    add(type, data) {
      const event: DeviceEvent = { eventId: randomUUID(), type, occurredAt: utcNow(wrongBy()), data };
      onEvent(event);
      waiting.add(event);
      flush();
      const [oldest] = waiting;
      if (waiting.size > KEPT && oldest) {
        waiting.delete(oldest);
        onLost(oldest);
      }
      return event;
    },
    online: flush,
    get waiting() {
      return waiting.size;
    },
  };
}
