import type { LapelClient } from '@lapel/client/lapel-client';
import { pause, type Timers } from '../timers.ts';
import { eventOf } from './came-event.ts';
import { createConsumer } from './consumers.ts';
import { createEndpoints, NOTHING_WAITS } from './endpoints.ts';
import type { ReceivedWebhook } from './genuine.ts';
import type { Ledger } from './ledger.ts';
import { type PlannedProgramFault, PROGRAM_FAULTS, type Program, type ProgramFault } from './program.ts';
import { createProgramBook, type Waiting } from './program-book.ts';
import type { Receiver } from './receiver.ts';
import type { Requests } from './requests.ts';

const LOOK_MILLISECONDS = 100;
/**
 * Nothing more comes to a program to which nothing has come for so long: longer than the first pause of an event that was
 * refused.
 */
const QUIET_MILLISECONDS = 7000;
/** An endpoint with a backlog gets it at its rate, but the run ends some time. */
const LONGEST_MILLISECONDS = 120_000;
/** A program to which events still come may get all others. */
const STILL_COMING: Waiting = { includes: () => true, told: '' };

/** The programs of the customer that take events, besides the receiver for the URLs of its settings. */
export interface Programs {
  start(receiver: Receiver): Promise<void>;
  /** A webhook came to a URL of the settings. */
  received(received: ReceivedWebhook, at: number): void;
  /** Plays these faults, each at its time from now on. */
  play(faults: readonly PlannedProgramFault[]): void;
  /** How often each fault was played. */
  played(): Readonly<Record<string, number>>;
  /** Waits for what the service still owes to the programs, and counts what does not come. */
  settle(): Promise<void>;
  restored(from: number): void;
  /** Ends the programs, and removes from the service what it has of them. */
  end(): Promise<void>;
}

export function createPrograms({
  programs,
  lapel,
  requests,
  ledger,
  timers,
  stopped,
  spentSince,
}: {
  programs: readonly Program[];
  lapel: LapelClient;
  requests: Requests;
  ledger: Ledger;
  timers: Timers;
  stopped: AbortSignal;
  /** Milliseconds since a time, without the spans in which the simulator itself stood still. */
  spentSince: (from: number) => number;
}): Programs {
  const { now } = timers;
  const book = createProgramBook(programs, ledger);
  const played: Record<string, number> = {};
  const onPlayed = (fault: ProgramFault): void => {
    played[fault] = (played[fault] ?? 0) + 1;
  };
  const endpointPrograms = programs.filter((one) => one.kind === 'endpoint');
  const endpoints = createEndpoints({ programs: endpointPrograms, lapel, requests, book, look: ledger.look, now });
  const consumers = new Map(
    programs.flatMap((program) =>
      program.kind === 'endpoint'
        ? []
        : [[program.name, createConsumer({ program, lapel, requests, book, ledger, timers, onPlayed })] as const],
    ),
  );

  function begin({ fault, program }: PlannedProgramFault): void {
    if (PROGRAM_FAULTS[fault].of === 'consumer') {
      consumers.get(program)?.play(fault);
      return;
    }
    book.of(program).forget();
    onPlayed(fault);
  }

  /**
   * Waits until each program has got what it is owed, or has got nothing for some seconds. Resolves to the names of those to
   * which events still come.
   */
  async function quiet(): Promise<ReadonlySet<string>> {
    const from = now();
    const seen = new Map<string, { arrivals: number; since: number }>();
    const isComing = (name: string): boolean => {
      const { arrivals } = book.of(name);
      const known = seen.get(name);
      if (known?.arrivals === arrivals) return spentSince(known.since) < QUIET_MILLISECONDS;
      seen.set(name, { arrivals, since: now() });
      return true;
    };
    for (;;) {
      const coming = [...book.owed().keys()].filter(isComing);
      const isOver = stopped.aborted || spentSince(from) >= LONGEST_MILLISECONDS;
      if (coming.length === 0 || isOver) return new Set(coming);
      await pause(timers, LOOK_MILLISECONDS, stopped);
    }
  }

  return {
    async start(receiver) {
      await endpoints.start(receiver);
      for (const consumer of consumers.values()) await consumer.start();
    },
    received(received, at) {
      if (programs.length > 0) book.came(null, eventOf(received), at);
    },
    play(faults) {
      for (const one of faults) timers.after(one.after, () => stopped.aborted || begin(one));
    },
    played: () => played,
    async settle() {
      if (programs.length === 0) return;
      const coming = await quiet();
      const names = endpointPrograms.map(({ name }) => name).filter((name) => !coming.has(name));
      const waiting = new Map(
        await Promise.all(names.map(async (name) => [name, await endpoints.waiting(name)] as const)),
      );
      book.judge(now(), (name) => (coming.has(name) ? STILL_COMING : (waiting.get(name) ?? NOTHING_WAITS)));
    },
    restored: book.restored,
    async end() {
      await Promise.all([...consumers.values()].map((consumer) => consumer.end()));
      await endpoints.remove();
    },
  };
}
