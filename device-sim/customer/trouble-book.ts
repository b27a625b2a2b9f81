import type { DeviceBooks } from './device-books.ts';
import type { Entry } from './entry.ts';
import type { Trouble } from './ledger.ts';
import { type Note, tell } from './story.ts';

/** How many faults of each kind and phase are kept, each with the events that led to it. */
const TROUBLES_KEPT = 50;
/** The story of a fault begins this many milliseconds before the request of its transaction. */
const BEFORE = 10_000;

/** Keeps the first faults of each kind and phase, each with the events that led to it. */
export function createTroubleBook({ began, devices }: { began: number; devices: DeviceBooks }) {
  const troubles: Trouble[] = [];
  const kept = new Map<string, number>();

  function storyOf(entry: Entry, more: readonly Note[] = []): string[] {
    const { notes } = devices.book(entry.deviceId);
    return tell(
      began,
      [entry],
      notes.filter(({ at }) => at >= entry.requestedAt - BEFORE),
      more,
    );
  }

  return {
    troubles: (): readonly Trouble[] => troubles,
    storyOf,
    trouble(
      kind: Trouble['kind'],
      phase: string,
      text: string,
      at: number,
      entry?: Entry,
      deviceId = '',
      before: readonly Note[] = [],
    ): void {
      const about = `${kind} ${entry ? 'transaction' : 'event'} ${phase}`;
      const known = kept.get(about) ?? 0;
      if (known >= TROUBLES_KEPT) return;
      kept.set(about, known + 1);
      const story = entry
        ? storyOf(entry, [...before, { at, text }])
        : tell(began, [], devices.known(deviceId)?.notes ?? [], [...before, { at, text }]);
      troubles.push({
        kind,
        deviceId: entry?.deviceId ?? deviceId,
        transactionId: entry?.transactionId ?? null,
        phase,
        text,
        story,
      });
    },
  };
}
