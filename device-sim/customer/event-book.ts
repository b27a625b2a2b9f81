import { remember } from '../bounded-map.ts';
import type { DeviceEvent } from '../mqtt/messages.ts';
import { type Difference, differences } from './differences.ts';

/**
 * Members that the service adds to an event of a device in its webhook; `webmFile` has the same value as `movieFile`.
 */
const ADDED = new Set(['eventId', 'applicationId', 'webmFile']);

/** How many events are remembered after their webhook, so that a second webhook for one of them is noticed. */
const KEPT = 50_000;
/** How many events are remembered with their data, until the data is compared with the webhook. */
const CONTENTS_KEPT = 10_000;

export interface ToldEvent {
  readonly eventId: string;
  readonly deviceId: string;
  readonly type: string;
  readonly phase: string;
  readonly at: number;
}

/** The events of devices, from the PUBACK of the service to the webhook. The webhook may arrive before the PUBACK. */
export interface EventBook {
  told(event: ToldEvent): void;
  /** An event happened on a device, which will report it. */
  happened(deviceId: string, event: DeviceEvent): void;
  /** The differences between a webhook and its event. Empty if the event is unknown or was forgotten. */
  differences(eventId: string, webhook: { type: string; data: object }): Difference[];
  /** The time of an event as its device has sent it; undefined if it is not known. */
  occurredAt(eventId: string): string | undefined;
  /** Whether the event, as the device has sent it, is known. */
  isKnown(eventId: string): boolean;
  /** Whether the service has acknowledged the event, and its webhook has not arrived. */
  isTold(eventId: string): boolean;
  /** The service has reported a fault in the message of the event, so its webhook may stay away. */
  excused(eventId: string): void;
  /**
   * Notes the webhook of an event; `mark` is a hash of its webhook-id. `repeated`: the same webhook came before;
   * `doubled`: another webhook for this event came before.
   */
  received(eventId: string, mark: number, at: number): 'first' | 'repeated' | 'doubled';
  /** The events that the service has acknowledged and whose webhook has not arrived. */
  owed(): readonly ToldEvent[];
  readonly waiting: number;
  forget(eventId: string): void;
  /** The service may have lost what it has stored since `from`: events and the fact that they have come. */
  lost(from: number): void;
}

export function createEventBook(): EventBook {
  const waiting = new Map<string, ToldEvent>();
  const come = new Map<string, { readonly mark: number; readonly at: number }>();
  const contents = new Map<string, { deviceId: string; type: string; occurredAt: string; data: object }>();
  const excused = new Map<string, true>();
  return {
    told(event) {
      if (!come.has(event.eventId) && !excused.has(event.eventId)) waiting.set(event.eventId, event);
    },
    happened(deviceId, { eventId, type, occurredAt, data }) {
      remember(contents, eventId, { deviceId, type, occurredAt, data }, CONTENTS_KEPT);
    },
    differences(eventId, { type, data }) {
      const event = contents.get(eventId);
      contents.delete(eventId);
      if (!event) return [];
      const { deviceId } = event;
      return [
        ...differences('type', event.type, type),
        ...differences('data', { ...event.data, deviceId }, data, ADDED),
      ];
    },
    occurredAt: (eventId) => contents.get(eventId)?.occurredAt,
    isKnown: (eventId) => contents.has(eventId),
    isTold: (eventId) => waiting.has(eventId),
    excused(eventId) {
      waiting.delete(eventId);
      remember(excused, eventId, true, KEPT);
    },
    received(eventId, mark, at) {
      waiting.delete(eventId);
      const before = come.get(eventId);
      if (before !== undefined) return before.mark === mark ? 'repeated' : 'doubled';
      remember(come, eventId, { mark, at }, KEPT);
      return 'first';
    },
    owed: () => [...waiting.values()],
    get waiting() {
      return waiting.size;
    },
    forget: (eventId) => void waiting.delete(eventId),
    lost(from) {
      for (const [eventId, event] of waiting) if (event.at >= from) waiting.delete(eventId);
      for (const [eventId, { at }] of come) if (at >= from) come.delete(eventId);
    },
  };
}
