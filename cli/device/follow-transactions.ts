import type { Operations } from '@lapel/client/operations';
import type { Application } from '../account/access.ts';
import { Failure } from '../show/failure.ts';
import { oneLine } from '../show/plain-text.ts';
import { bar } from '../show/progress.ts';
import type { Screen, Terminal } from '../show/terminal.ts';

type TransactionRecord = Operations['readTransaction']['answer'];

/** The known state of a transaction of one device. */
export interface Followed {
  deviceId: string;
  /** The transactionId; null when the service refused to create the transaction. */
  transactionId: number | null;
  /** The status of the transaction, or `refused`. */
  status: string;
  progress: number | null;
  error: { code: string; message: string } | null;
  /** The whole transaction, after it was read. */
  record?: TransactionRecord;
}

const FINISHED = new Set(['succeeded', 'failed', 'cancelled', 'refused']);
export const isFinished = ({ status }: { status: string }): boolean => FINISHED.has(status);

const PARALLEL = 8;
// Milliseconds between two reads of the same transaction. With many devices the pause is longer, so that there are at
// most 50 requests a second.
const SHORTEST_PAUSE = 250;
const LONGEST_PAUSE = 3000;
const PER_DEVICE = 20;
const FAILURES_IN_A_ROW = 15;

export async function inParallel<Item>(items: readonly Item[], task: (item: Item) => Promise<void>): Promise<void> {
  const queue = items.values();
  const worker = async (): Promise<void> => {
    for (const item of queue) await task(item);
  };
  // When a worker fails, the others are awaited too, so that no request is made after this function has returned.
  const ends = await Promise.allSettled(Array.from({ length: PARALLEL }, worker));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** A state in words, such as `queued: waits for the device`. */
export function stateText({ status, progress, error }: Pick<Followed, 'status' | 'progress' | 'error'>): string {
  if (error) return oneLine(`${status}: ${error.code} ${error.message}`);
  if (status === 'queued') return 'queued: waits for the device';
  return status === 'processing' && progress !== null ? `processing ${bar(progress)}` : status;
}

interface Parts {
  application: Application;
  screen: Screen;
  terminal: Terminal;
  /** Milliseconds after which following ends; null to wait until all transactions end. */
  timeout: number | null;
}

/**
 * Follows transactions to their end, or for `timeout` milliseconds, or until it is interrupted, and shows each change.
 * The service may be unreachable for about a minute. Throws a Failure.
 */
export async function followTransactions(
  followed: readonly Followed[],
  { application, screen, terminal, timeout }: Parts,
): Promise<void> {
  const { now, pause: rest, interrupted } = terminal;
  const began = now();
  const last = new Map<Followed, string>();
  const warned = new Set<Followed>();
  let pause = SHORTEST_PAUSE;
  let failures = 0;

  async function look(one: Followed): Promise<void> {
    const { deviceId, transactionId } = one;
    const what = `read transaction ${transactionId} of ${deviceId}`;
    const record = await application.call(what, (lapel) =>
      lapel.readTransaction({ deviceId, transactionId: Number(transactionId), signal: interrupted }),
    );
    Object.assign(one, { record, status: record.status, progress: record.progress, error: record.error });
  }

  function show(): boolean {
    let changed = false;
    for (const one of followed) {
      const { warning } = one.record ?? {};
      if (warning && !warned.has(one)) {
        warned.add(one);
        screen.line(oneLine(`warning: ${one.deviceId} will not answer: ${warning.code} ${warning.message}`));
        screen.line(`  lapel device cancel ${one.deviceId} ${one.transactionId}`);
      }
      // A terminal shows the progress in lines that it overwrites. Elsewhere only changes of the status are printed,
      // because a line for every tenth percent would be too much.
      const state = one.error ? stateText(one) : one.status;
      if (one.transactionId === null || last.get(one) === state) continue;
      last.set(one, state);
      changed = true;
      const text = one.status === 'processing' ? 'processing' : stateText(one);
      if (!screen.live || isFinished(one)) screen.line(`${one.deviceId}  ${text}`);
    }
    screen.show(followed.filter((one) => !isFinished(one)).map((one) => `${one.deviceId}  ${stateText(one)}`));
    return changed;
  }

  show();
  try {
    while (!interrupted.aborted) {
      const open = followed.filter((one) => !isFinished(one));
      if (open.length === 0) return;
      const elapsed = now() - began;
      if (timeout !== null && elapsed >= timeout) return;
      const wanted = Math.max(pause, open.length * PER_DEVICE);
      await rest(timeout === null ? wanted : Math.min(wanted, timeout - elapsed), interrupted).catch(() => undefined);
      if (interrupted.aborted) return;
      try {
        await inParallel(open, look);
        failures = 0;
      } catch (error) {
        if (interrupted.aborted) return;
        failures += 1;
        if (!(error instanceof Failure) || !error.passing || failures === FAILURES_IN_A_ROW) throw error;
        if (failures === 1) screen.line(oneLine(`${error.message}; trying again`));
      }
      pause = show() ? SHORTEST_PAUSE : Math.min(LONGEST_PAUSE, pause * 1.5);
    }
  } finally {
    screen.show([]);
  }
}
