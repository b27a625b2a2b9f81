import { remember } from '../bounded-map.ts';

/** How many received events are remembered, so that a second webhook for one of them is noticed. */
const KEPT = 50_000;

export interface ToldEvent {
  readonly eventId: string;
  readonly deviceId: string;
  readonly type: string;
  readonly phase: string;
  readonly at: number;
}

/** Events of devices between the acknowledgement of the service and their webhook; either may be seen first. */
export interface EventBook {
  told(event: ToldEvent): void;
  /** The service has reported a fault in the event: its webhook may arrive, but need not. */
  excused(eventId: string): void;
  /** `mark` distinguishes webhooks. */
  received(eventId: string, mark: number): 'first' | 'repeated' | 'doubled';
  /** Events that were acknowledged and never received. */
  owed(): readonly ToldEvent[];
  readonly waiting: number;
  forget(eventId: string): void;
}

export function createEventBook(): EventBook {
  const waiting = new Map<string, ToldEvent>();
  const come = new Map<string, number>();
  const excused = new Map<string, true>();
  return {
    told(event) {
      if (!come.has(event.eventId) && !excused.has(event.eventId)) waiting.set(event.eventId, event);
    },
    excused(eventId) {
      waiting.delete(eventId);
      remember(excused, eventId, true, KEPT);
    },
    received(eventId, mark) {
      waiting.delete(eventId);
      const before = come.get(eventId);
      if (before !== undefined) return before === mark ? 'repeated' : 'doubled';
      remember(come, eventId, mark, KEPT);
      return 'first';
    },
    owed: () => [...waiting.values()],
    get waiting() {
      return waiting.size;
    },
    forget: (eventId) => void waiting.delete(eventId),
  };
}
