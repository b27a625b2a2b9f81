import type { DeviceBooks } from './device-books.ts';
import type { Entry } from './entry.ts';
import type { Trouble } from './ledger.ts';
import { type Note, tell } from './story.ts';

/** Troubles with their stories: of one kind, in one phase. */
const TROUBLES_KEPT = 50;
/** A note belongs to the story of a transaction from so long before its request on. Milliseconds. */
const BEFORE = 10_000;

/** What went wrong, each with its story; the first ones of each kind and phase. */
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
