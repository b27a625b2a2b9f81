import { randomUUID } from 'node:crypto';
import { remember } from '../bounded-map.ts';
import type { DeviceAccount } from '../fleet/member.ts';
import { createConformance } from '../mqtt/conformance.ts';
import type { Inbound } from '../mqtt/link.ts';
import { type Command, parseCommand, parseComplaint } from '../mqtt/messages.ts';
import { createLink } from '../mqtt/mqtt-link.ts';
import { createReconnector } from '../mqtt/reconnector.ts';
import { createRandom } from '../random.ts';
import { pause, type Timers } from '../timers.ts';
import { addTrouble, type ReplayTally } from './replay-tally.ts';
import type { Saying, Script, Step } from './script.ts';

const CONNECT_ATTEMPTS = 5;
/** The number of commands whose repetitions are recognised. */
const MEMORY = 2000;
const LOOK_MILLISECONDS = 20;
/** How long the device waits at the end for the acknowledgements of the service. */
const REST_MILLISECONDS = 10_000;

/** A device that does again what a device of the record did. */
export interface ReplayedDevice extends AsyncDisposable {
  readonly deviceId: string;
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  /** Plays all steps; resolves after the last one, when the service has acknowledged everything. Never rejects. */
  play(stopped: AbortSignal): Promise<void>;
}

/** An event happened as long before its message as in the record. Its id is new, or the service would drop it. */
function eventOf(payload: Step & { do: 'publish' }, startedAt: number) {
  const { occurredAt } = payload.payload;
  const before = startedAt + payload.at - Date.parse(String(occurredAt));
  const time = Number.isFinite(before) ? `${new Date(Date.now() - before).toISOString().slice(0, -1)}000Z` : occurredAt;
  return { ...payload.payload, eventId: randomUUID(), occurredAt: time };
}

export function createReplayedDevice({
  account: { deviceId, credential },
  script,
  startedAt,
  url,
  faster,
  seed,
  timers,
  tally,
}: {
  account: DeviceAccount;
  script: Script;
  startedAt: number;
  url: string | readonly string[];
  faster: number;
  seed: number;
  timers: Timers;
  tally: ReplayTally;
}): ReplayedDevice {
  const conformance = createConformance({ memory: MEMORY });
  /** The number of commands that came, by operation. */
  const came = new Map<string, number>();
  /** The timers of answers that are due later, and the final answers that were given, by transactionId. */
  const due = new Map<number, (() => void)[]>();
  const given = new Map<number, object>();
  /** Messages that wait for a connection. */
  let waiting: (() => void)[] = [];
  /** Whether the connection was cut, as in the record: the service could not acknowledge the last messages. */
  let isCut = false;

  const link = createLink({
    url,
    deviceId,
    credential,
    clean: false,
    timers,
    onMessage: receive,
    onForeign: (topic) => violation(`a message came on ${topic}, which is not a topic of this device`),
    onBatch: () => conformance.batch(),
    onOnline() {
      isCut = false;
      tally.connections += 1;
      for (const send of waiting.splice(0)) send();
    },
    onClose() {
      conformance.disconnected();
      reconnector.lost();
    },
  });
  const reconnector = createReconnector({
    open: () => link.open(),
    attempts: CONNECT_ATTEMPTS,
    random: createRandom(seed),
    gate: undefined,
    timers,
    onRefused: (error) => failed(error),
  });

  function violation(text: string): void {
    tally.violations += 1;
    addTrouble(tally, deviceId, `the service broke the contract: ${text}`);
  }

  function failed(error: Error): void {
    tally.connectFailures += 1;
    addTrouble(tally, deviceId, error.message);
  }

  function publish(topic: string, payload: object, done: () => void): void {
    const send = (): void => link.publish(topic, JSON.stringify(payload), done);
    if (link.online) send();
    else waiting.push(send);
  }

  function say(transactionId: number, payload: object): void {
    const answer = { ...payload, transactionId };
    if ('status' in answer && answer.status !== 'processing') remember(given, transactionId, answer, MEMORY);
    publish('acks', answer, () => {
      tally.answers += 1;
    });
  }

  /** Finds the recorded answers to the next command of an operation; after the record's last command, the same again. */
  function sayingsFor(operation: string): readonly Saying[] {
    const all = script.answers.get(operation);
    const nth = came.get(operation) ?? 0;
    came.set(operation, nth + 1);
    const sayings = all?.[Math.min(nth, all.length - 1)];
    if (sayings) return sayings;
    if (operation === 'activate') return [{ after: 0, payload: { status: 'succeeded' } }];
    tally.unknown += 1;
    const error = { code: 'UNSUPPORTED', message: `the record has no ${operation}` };
    return [{ after: 0, payload: { status: 'failed', error } }];
  }

  function receiveCommand(command: Command, dup: boolean): void {
    const { transactionId, operation } = command;
    tally.commands += 1;
    const fault = conformance.fault(command, dup);
    if (fault) violation(fault);
    if (operation === 'cancel') {
      for (const cancel of due.get(transactionId) ?? []) cancel();
      due.delete(transactionId);
      return;
    }
    const known = given.get(transactionId);
    if (known) say(transactionId, known);
    if (known || due.has(transactionId)) return;
    const sayings = sayingsFor(operation);
    due.set(
      transactionId,
      sayings.map(({ after, payload }, at) =>
        timers.after(after / faster, () => {
          if (at === sayings.length - 1) due.delete(transactionId);
          say(transactionId, payload);
        }),
      ),
    );
  }

  function receive(topic: Inbound, payload: Uint8Array, dup: boolean): undefined {
    if (topic === 'commands') {
      const command = parseCommand(payload);
      if (typeof command === 'string') violation(`an unreadable command: ${command}`);
      else receiveCommand(command, dup);
    } else if (topic === 'errors') {
      const complaint = parseComplaint(payload);
      tally.complaints += 1;
      const text = typeof complaint === 'string' ? complaint : `${complaint.topic}: ${complaint.reason}`;
      addTrouble(tally, deviceId, `the service reported a fault in ${text}`);
    }
  }

  async function take(step: Step): Promise<void> {
    if (step.do === 'connect') await reconnector.connect();
    else if (step.do === 'disconnect') {
      reconnector.stop();
      isCut = step.how !== 'politely';
      await (isCut ? link.cut() : link.close());
    } else if (step.topic === 'status') {
      publish('status', step.payload, () => {
        tally.statuses += 1;
      });
    } else {
      const event = eventOf(step, startedAt);
      publish('events', event, () => {
        tally.events.add(event.eventId);
      });
    }
  }

  /** Commands that were never answered in the record are no work. */
  const isBusy = (): boolean => link.online && (link.inFlight > 0 || [...due.values()].some((one) => one.length > 0));

  return {
    deviceId,
    connect: () => reconnector.connect(),
    async disconnect() {
      reconnector.stop();
      await link.close();
    },

    async play(stopped) {
      const began = timers.now();
      for (const step of script.steps) {
        const wait = began + step.at / faster - timers.now();
        if (wait > 0) await pause(timers, wait, stopped);
        if (stopped.aborted) return;
        await take(step).catch(failed);
      }
      const end = timers.now() + REST_MILLISECONDS;
      while (isBusy() && timers.now() < end && !stopped.aborted) await pause(timers, LOOK_MILLISECONDS, stopped);
      if (!isCut && !stopped.aborted) tally.unconfirmed += link.inFlight + waiting.length;
    },

    async [Symbol.asyncDispose]() {
      reconnector.stop();
      for (const cancel of [...due.values()].flat()) cancel();
      waiting = [];
      await (link.inFlight > 0 ? link.cut() : link.close());
    },
  };
}
