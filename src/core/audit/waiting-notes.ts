import { isPassing } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import { createBackgroundWork } from '../../platform/database/looks.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';

/** Milliseconds until the notes that could not be stored are tried again, and the most that wait for that. */
const AGAIN_MS = 1_000;
const MOST = 1_000;

interface Named {
  action: string;
  details: object;
}

interface Waiting<Note> {
  note: Note;
  err: unknown;
  ended(): void;
}

interface Parts<Note> {
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, 'auditNotesLost'>;
  store(note: Note): Promise<void>;
}

/**
 * Stores notes one after another, and keeps those that cannot be stored while the database is away. A note whose commit was
 * stored, and whose answer was lost, is stored twice.
 */
export function createWaitingNotes<Note extends Named>({ clock, log, metrics, store }: Parts<Note>) {
  const waiting: Waiting<Note>[] = [];
  const background = createBackgroundWork({
    clock,
    log,
    run,
    retryMs: AGAIN_MS,
    failed: 'actions of the service could not be written to the audit log; trying again later',
  });
  let hasEnded = false;
  /** How often the database was away. */
  let failures = 0;

  function giveUp({ action, details }: Note, err: unknown): void {
    metrics.auditNotesLost.inc();
    log.error({ err, action, details }, 'an action of the service could not be written to the audit log');
  }

  /** Stores the notes in their order. Rejects at the first that has to wait on. */
  async function run(): Promise<number> {
    for (let first = waiting[0]; first; first = waiting[0]) {
      try {
        await store(first.note);
      } catch (err) {
        first.err = err;
        if (isPassing(err)) {
          failures += 1;
          throw err;
        }
        giveUp(first.note, err);
      }
      waiting.shift();
      first.ended();
    }
    return Number.POSITIVE_INFINITY;
  }

  /** Lets a note wait behind those that wait already. A process that is killed meanwhile has at least told it. */
  function wait(note: Note, err: unknown): Promise<void> | void {
    if (hasEnded || waiting.length >= MOST) return giveUp(note, err);
    const { action, details } = note;
    log.warn({ err, action, details }, 'an action of the service is not in the audit log yet; trying again');
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push({ note, err, ended: resolve });
    if (waiting.length === 1) background.start();
    return promise;
  }

  return {
    /** Resolves when the note is stored, or given up. */
    async add(note: Note): Promise<void> {
      const [before] = waiting;
      if (before) return wait(note, before.err);
      try {
        return await store(note);
      } catch (err) {
        return isPassing(err) ? wait(note, err) : giveUp(note, err);
      }
    },

    /**
     * Stopped before the parts that store their last notes when they end: those must not wait for the database. A note that
     * is being stored comes to its end. Otherwise those that wait are tried once more, until the first that would have to wait on.
     */
    async [Symbol.asyncDispose](): Promise<void> {
      hasEnded = true;
      const before = failures;
      await background.stop();
      if (failures === before) await run().catch(() => undefined);
      for (const { note, err, ended } of waiting.splice(0)) {
        giveUp(note, err);
        ended();
      }
    },
  };
}
