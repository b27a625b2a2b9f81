import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { command, startBroker } from '../device-sim/plain-broker.ts';
import type { Figures } from './simulated-cuts.ts';

const TARGET = join(import.meta.dirname, 'cut-target.ts');
const DEVICE_ID = '490154203237518';
/** Messages of the device, and milliseconds behind the last of them, before it is killed, each at most. */
const MOST_MESSAGES = 12;
const MOST_MILLISECONDS = 8;
const COMMANDS_OF_A_LIFE = 2;
/** Commands that wait, at most: lives are shorter than it takes to carry them out. */
const MOST_OPEN = 20;

/** The broker of a device, with commands that are sent at each login until they are answered. */
async function startService() {
  const broker = await startBroker();
  const open = new Set<number>();
  const answers = new Map<number, string>();
  const events = new Map<string, Set<string>>();
  const figures = { commands: 0, differing: 0 };
  let read = 0;
  const send = (transactionId: number): void => broker.send(DEVICE_ID, command(transactionId, 'count'));
  broker.broker.on('subscribe', () => {
    for (const transactionId of open) send(transactionId);
  });
  return {
    url: broker.url,
    open,
    answers,
    events,
    figures,
    add(): void {
      figures.commands += 1;
      open.add(figures.commands);
    },
    /** Resolves when so many more messages have come. */
    async messages(count: number): Promise<void> {
      const wanted = broker.published.length + count;
      await broker.until(() => broker.published.length >= wanted);
    },
    until: (holds: () => boolean): Promise<boolean> => broker.until(holds),
    /** Reads the messages that have come since the last call. */
    read(): void {
      for (const { kind, body } of broker.published.slice(read)) {
        if (kind === 'acks') {
          const [transactionId, text] = [body['transactionId'] as number, JSON.stringify(body)];
          open.delete(transactionId);
          if ((answers.get(transactionId) ?? text) !== text) figures.differing += 1;
          answers.set(transactionId, text);
        } else if (kind === 'events') {
          const { mark } = body['data'] as { mark: string };
          events.set(mark, (events.get(mark) ?? new Set()).add(body['eventId'] as string));
        }
      }
      read = broker.published.length;
    },
    [Symbol.asyncDispose]: () => broker[Symbol.asyncDispose](),
  };
}

/** Begun commands and stored events of the log of a device from a byte on. */
function linesOf(log: string, from: number): string[][] {
  if (!existsSync(log)) return [];
  const text = readFileSync(log).subarray(from).toString();
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split(' '));
}

/** Kills a device so many times, at random moments; `told` is called after each. */
export async function killDevice(
  folder: string,
  kills: number,
  random: () => number,
  told: (kill: number) => void = () => {},
): Promise<Figures & { bytes: number }> {
  await using service = await startService();
  const [file, log] = [join(folder, 'device'), join(folder, 'log')];
  const begun = new Set<number>();
  let [position, interrupted, doneAgain, unaware] = [0, 0, 0, 0];
  const start = (...more: string[]): ChildProcess =>
    spawn(process.execPath, [TARGET, service.url, DEVICE_ID, file, log, ...more], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  async function end(child: ChildProcess): Promise<void> {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  /** After a life: a command that had its acknowledgement before this life must not have begun in it. */
  function judge(answered: ReadonlySet<number>): void {
    for (const [kind, id, isInterrupted] of linesOf(log, position)) {
      if (kind !== 'begins') continue;
      const transactionId = Number(id);
      if (answered.has(transactionId)) doneAgain += 1;
      if (isInterrupted === 'true') interrupted += 1;
      if (begun.has(transactionId) && isInterrupted === 'false') unaware += 1;
      begun.add(transactionId);
    }
    if (existsSync(log)) position = statSync(log).size;
  }

  for (let kill = 1; kill <= kills; kill += 1) {
    for (let count = 0; count < COMMANDS_OF_A_LIFE && service.open.size < MOST_OPEN; count += 1) service.add();
    const answered = new Set(service.answers.keys());
    const child = start();
    const died = once(child, 'exit').then(() => {
      if (child.signalCode !== 'SIGKILL') throw new Error(`the device ended with ${child.exitCode}`);
    });
    await Promise.race([service.messages(1 + Math.floor(random() * MOST_MESSAGES)), died]);
    await pause(random() * MOST_MILLISECONDS);
    await end(child);
    await died;
    service.read();
    judge(answered);
    told(kill);
  }
  const answered = new Set(service.answers.keys());
  const last = start('settle');
  const stored = linesOf(log, 0).flatMap(([kind, mark]) => (kind === 'event' && mark !== undefined ? [mark] : []));
  await service.until(() => {
    service.read();
    return service.open.size === 0 && stored.every((mark) => service.events.has(mark));
  });
  await end(last);
  judge(answered);
  return {
    cuts: kills,
    ...service.figures,
    events: stored.length,
    interrupted,
    doneAgain,
    unaware,
    doubled: [...service.events.values()].filter((ids) => ids.size > 1).length,
    lost: stored.filter((mark) => !service.events.has(mark)).length,
    bytes: statSync(file).size,
  };
}
