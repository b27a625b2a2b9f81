import type { LapelClient } from '@lapel/client/lapel-client';
import { pause, type Timers } from '../timers.ts';
import { eventOf } from './came-event.ts';
import { createConsumer } from './consumers.ts';
import { createEndpoints } from './endpoints.ts';
import type { ReceivedWebhook } from './genuine.ts';
import type { Ledger } from './ledger.ts';
import { type PlannedProgramFault, PROGRAM_FAULTS, type Program, type ProgramFault } from './program.ts';
import { createProgramBook } from './program-book.ts';
import type { Receiver } from './receiver.ts';
import type { Requests } from './requests.ts';

const LOOK_MILLISECONDS = 50;
/** An event that has not come when nothing else has come for so long does not come any more. */
const QUIET_MILLISECONDS = 5000;
/** A service with a backlog sends as long as it takes, but the run ends some time. */
const LONGEST_MILLISECONDS = 120_000;

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
  onHasten,
}: {
  programs: readonly Program[];
  lapel: LapelClient;
  requests: Requests;
  ledger: Ledger;
  timers: Timers;
  stopped: AbortSignal;
  /** Milliseconds since a time, without the spans in which the simulator itself stood still. */
  spentSince: (from: number) => number;
  /** Called before the customer asks for what waits for its next attempt. */
  onHasten: () => void;
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

  /** Waits until nothing is owed, or nothing has come for some seconds. */
  async function quiet(): Promise<void> {
    const from = now();
    let [before, stillSince] = [-1, from];
    while (book.owed() > 0 && !stopped.aborted && spentSince(from) < LONGEST_MILLISECONDS) {
      if (book.arrivals !== before) stillSince = now();
      before = book.arrivals;
      if (spentSince(stillSince) >= QUIET_MILLISECONDS) return;
      await pause(timers, LOOK_MILLISECONDS, stopped);
    }
  }

  /** Asks for the events that wait because a receiver has refused them. Resolves to whether there are any. */
  async function hasten(): Promise<boolean> {
    let isHastened = false;
    for (const { name } of endpointPrograms) {
      if (book.owed(name) === 0) continue;
      const state = await endpoints.state(name);
      if (!state?.enabled || !(state.isFailing || state.pending > 0)) continue;
      onHasten();
      await endpoints.hasten(name);
      isHastened = true;
    }
    return isHastened;
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
      await quiet();
      if (await hasten()) await quiet();
      const states = new Map(
        await Promise.all(endpointPrograms.map(async ({ name }) => [name, await endpoints.state(name)] as const)),
      );
      const told = (name: string): string => {
        const state = states.get(name);
        if (!state) return '';
        return `; the service says that it has not taken ${state.behind}, that ${state.pending} wait for an attempt, and ${state.blocked} for another event`;
      };
      const isExcused = (name: string, sequence: number): boolean => {
        const { enabled = true, passedOver = 0 } = states.get(name) ?? {};
        return !enabled || sequence <= passedOver;
      };
      book.judge(now(), isExcused, told);
    },
    restored: book.restored,
    async end() {
      await Promise.all([...consumers.values()].map((consumer) => consumer.end()));
      await endpoints.remove();
    },
  };
}
