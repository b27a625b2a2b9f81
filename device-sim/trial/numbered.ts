import { luhnDigit } from '../fleet/device-ids.ts';

/**
 * A made-up device whose events have numbers (`deviceSequence`), from 1. It has other digits in each run, because a receiver may
 * remember the numbers of a device.
 */
export interface NumberedDevice {
  readonly deviceId: string;
  /** The number of the next event. */
  next(): number;
  /** The next number never comes. */
  leaveOut(): void;
  /** Notes the webhook of an event. */
  note(webhookId: string, number: number): void;
  numberOf(webhookId: string): number | undefined;
  /** The numbers that never come. */
  readonly missing: ReadonlySet<number>;
}

/** `startedAt`: milliseconds of the Unix time. */
export function createNumbered(startedAt: number): NumberedDevice {
  const digits = `35${String(startedAt).slice(-12)}`;
  const numbers = new Map<string, number>();
  const missing = new Set<number>();
  let last = 0;
  const next = (): number => {
    last += 1;
    return last;
  };
  return {
    deviceId: digits + luhnDigit(digits),
    next,
    leaveOut() {
      missing.add(next());
    },
    note(webhookId, number) {
      numbers.set(webhookId, number);
    },
    numberOf: (webhookId) => numbers.get(webhookId),
    missing,
  };
}
