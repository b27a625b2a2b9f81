import type { LapelClient } from '@lapel/client/lapel-client';
import { LapelError } from '@lapel/client/lapel-error';
import { pause, type Timers } from '../timers.ts';
import type { Ledger } from './ledger.ts';
import type { ConsumerProgram, ProgramFault } from './program.ts';
import type { ProgramBook } from './program-book.ts';
import { type Requests, reasonOf } from './requests.ts';

/** The beginning of the names of consumers of a run: the application may have others. */
const PREFIX = 'lapel-sim.';
/** The most events that the fault `skips` passes over, and the seconds that it waits for the first of them. */
const SKIPPED = 3;
const SKIP_SECONDS = 20;
/** Milliseconds for which a program with the fault `jumps` is away. */
const AWAY_MILLISECONDS = 2000;
/** Milliseconds until a program starts again after an error. */
const AGAIN_MILLISECONDS = 1000;

/** A program that pulls the events of the application, and keeps its place in the service. */
export interface Consumer {
  /** Begins behind the newest event; resolves when its place is stored. */
  start(): Promise<void>;
  /** Plays a fault as soon as the program handles no event. */
  play(fault: ProgramFault): void;
  /** Ends the program, and removes its place from the service. */
  end(): Promise<void>;
}

export function createConsumer({
  program: { name, types, page },
  lapel,
  requests,
  book,
  ledger,
  timers,
  onPlayed,
}: {
  program: ConsumerProgram;
  lapel: LapelClient;
  requests: Requests;
  book: ProgramBook;
  ledger: Pick<Ledger, 'failed' | 'presentPhase'>;
  timers: Timers;
  onPlayed: (fault: ProgramFault) => void;
}): Consumer {
  const consumer = PREFIX + name;
  const over = new AbortController();
  const filter = types.length > 0 ? { types: [...types] } : {};
  const faults: ProgramFault[] = [];
  /** Ends the wait for events, because a fault begins. */
  let interrupt = new AbortController();
  let running = Promise.resolve();
  let began = 0;

  const forget = (): Promise<unknown> => requests.insist(() => lapel.deleteConsumer({ consumer })).catch(unlessMissing);
  const moveTo = (after: number): Promise<unknown> =>
    requests.insist(() => lapel.moveConsumer({ consumer, body: { after } }));
  const latest = async (): Promise<number> =>
    (await requests.insist(() => lapel.listEvents({ query: { from: 'latest' } }))).next;

  /** Passes over the next events without handling them. */
  async function skip(): Promise<void> {
    const { after } = await requests.insist(() => lapel.readConsumer({ consumer }));
    const query = { after, limit: SKIPPED, wait: SKIP_SECONDS, ...(types.length > 0 && { types: types.join(',') }) };
    const { next, events } = await requests.insist(() => lapel.listEvents({ query, signal: over.signal }));
    await moveTo(next);
    book.of(name).passed(after, next);
    if (events.length > 0) onPlayed('skips');
  }

  async function lose(fault: ProgramFault): Promise<void> {
    if (fault === 'skips') return skip();
    if (fault === 'jumps') await pause(timers, AWAY_MILLISECONDS, over.signal);
    await forget();
    const after = fault === 'jumps' ? await latest() : began;
    await moveTo(after);
    book.of(name).placed(after, true, timers.now());
    onPlayed(fault);
  }

  /** Handles the events until a fault begins; the typed client keeps the place. */
  async function handle(): Promise<void> {
    const { signal } = interrupt;
    while (!signal.aborted)
      for await (const event of lapel.events({ consumer, limit: page, signal, ...filter }))
        book.came(name, event, timers.now());
  }

  async function step(): Promise<void> {
    try {
      await handle();
    } catch (error) {
      if (!interrupt.signal.aborted) throw error;
    }
    if (over.signal.aborted) return;
    interrupt = new AbortController();
    // Events that were handled since the place was stored come again.
    const { after } = await requests.insist(() => lapel.readConsumer({ consumer }));
    book.of(name).placed(after, false, timers.now());
    for (let fault = faults.shift(); fault; fault = faults.shift()) await lose(fault);
  }

  async function run(): Promise<void> {
    while (!over.signal.aborted) {
      try {
        await step();
      } catch (error) {
        if (over.signal.aborted) return;
        const status = error instanceof LapelError ? error.status : 0;
        const about = {
          deviceId: '',
          operation: 'pull',
          phase: ledger.presentPhase(),
          status,
          reason: reasonOf(error),
        };
        ledger.failed({ ...about, at: timers.now() });
        await pause(timers, AGAIN_MILLISECONDS, over.signal);
      }
    }
  }

  return {
    async start() {
      await forget();
      began = await latest();
      await moveTo(began);
      book.of(name).begin(began);
      running = run();
    },
    play(fault) {
      faults.push(fault);
      interrupt.abort();
    },
    async end() {
      over.abort();
      interrupt.abort();
      await running;
      await lapel.deleteConsumer({ consumer }).catch(() => undefined);
    },
  };
}

/** A place that is not there need not be removed. */
function unlessMissing(error: unknown): void {
  if (!(error instanceof LapelError) || error.code !== 'CONSUMER_NOT_FOUND') throw error;
}
