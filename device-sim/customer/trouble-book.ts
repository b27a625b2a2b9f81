import type { DeviceBooks } from './device-books.ts';
import type { Entry } from './entry.ts';
import type { Trouble } from './ledger.ts';
import { type Note, tell } from './story.ts';

/** How many faults with their stories are kept, for each kind and phase. */
const TROUBLES_KEPT = 50;
/** A story begins this long before the request of its transaction, in milliseconds. */
const BEFORE = 10_000;

/** The faults, each with its story; the first ones of each kind and phase. */
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
    trouble(kind: Trouble['kind'], phase: string, text: string, at: number, entry?: Entry, deviceId = ''): void {
      const about = `${kind} ${entry ? 'transaction' : 'event'} ${phase}`;
      const known = kept.get(about) ?? 0;
      if (known >= TROUBLES_KEPT) return;
      kept.set(about, known + 1);
      const story = entry
        ? storyOf(entry, [{ at, text }])
        : tell(began, [], devices.known(deviceId)?.notes ?? [], [{ at, text }]);
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
