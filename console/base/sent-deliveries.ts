import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { useEvery } from './every.ts';

/** When this page made deliveries due last, by the clock of `performance`; undefined before that. */
const sentAt = signal<number | undefined>(undefined);

/** Called when deliveries were sent: their list follows them for a while. */
export function deliveriesSent(): void {
  sentAt.value = performance.now();
}

/** Milliseconds between two looks at deliveries that were sent, and in which a list follows them. */
const LOOK_MS = 1_000;
const FOLLOW_MS = 30_000;

/**
 * Reads a list of deliveries again when some were sent, and then while rows are pending. The stream of changes reports no
 * deliveries. The time is bounded, because a receiver can be away for long, and a busy service always has pending ones.
 */
export function useSent(arePending: boolean, again: () => void): void {
  const known = useRef(sentAt.value);
  useEffect(() => {
    if (known.current === sentAt.value) return;
    known.current = sentAt.value;
    again();
  }, [sentAt.value]);
  const isRecent = sentAt.value !== undefined && performance.now() - sentAt.value < FOLLOW_MS;
  useEvery(isRecent && arePending ? LOOK_MS : undefined, again);
}
