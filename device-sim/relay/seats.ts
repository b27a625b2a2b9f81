import type { IPublishPacket } from 'mqtt-packet';
import { remember } from '../bounded-map.ts';
import type { Recorder } from '../recording/recorder.ts';
import type { Ending } from '../recording/traffic.ts';

/** The devices whose unconfirmed messages are remembered, and the number of these messages for each. */
const MOST_DEVICES = 100_000;
const MOST_UNCONFIRMED = 1000;

/** The place of a device in the record. Its newest connection has it, because the service closes the older one. */
export interface Seat {
  isCurrent(): boolean;
  /** Whether the record does not have this message yet: it is no repetition of one that the service has not confirmed. */
  isFirst(message: IPublishPacket): boolean;
  /** The service has confirmed the message. */
  confirmed(messageId: number): void;
  /** The connection has ended. */
  leave(how: Ending): void;
}

export interface Seats {
  /** The service has accepted the login of a device. */
  take(deviceId: string): Seat;
}

/** Records connections, at most one for each device at a time. */
export function createSeats(recorder: Pick<Recorder, 'connected' | 'disconnected'>): Seats {
  const current = new Map<string, Seat>();
  /** The ids of messages that the service has not confirmed yet, by device; they outlive the connection. */
  const unconfirmed = new Map<string, Map<number, true>>();

  return {
    take(deviceId) {
      const ids = unconfirmed.get(deviceId) ?? new Map<number, true>();
      current.get(deviceId)?.leave('lost');
      const seat: Seat = {
        isCurrent: () => current.get(deviceId) === seat,
        isFirst({ qos, dup, messageId }) {
          if (!seat.isCurrent()) return false;
          if (qos === 0 || messageId === undefined) return true;
          if (dup && ids.has(messageId)) return false;
          remember(ids, messageId, true, MOST_UNCONFIRMED);
          remember(unconfirmed, deviceId, ids, MOST_DEVICES);
          return true;
        },
        confirmed(messageId) {
          ids.delete(messageId);
          if (ids.size === 0 && seat.isCurrent()) unconfirmed.delete(deviceId);
        },
        leave(how) {
          if (!seat.isCurrent()) return;
          current.delete(deviceId);
          recorder.disconnected(deviceId, how);
        },
      };
      current.set(deviceId, seat);
      recorder.connected(deviceId);
      return seat;
    },
  };
}
