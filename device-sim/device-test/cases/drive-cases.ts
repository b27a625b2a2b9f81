import { isDeepStrictEqual } from 'node:util';
import type { Command } from '../../mqtt/messages.ts';
import { createRandom, deriveSeed, draw, type Random } from '../../random.ts';
import { pause } from '../../timers.ts';
import { type Ack, answerAfterSending, answersTo, harmless, send, shownAck } from '../asking.ts';
import { Breach, LeftOut, NotPlayed } from '../breach.ts';
import type { DriveFigures, DriveSettings } from '../drive.ts';
import { connected, isReady, type Stage, seconds } from '../stage.ts';
import type { Case } from './case.ts';

/** A device must have noticed a silent connection after so many keep-alive intervals. */
const INTERVALS = 2;
/** In a slow network an answer takes longer: this many times the time for an answer. */
const PATIENCE = 4;
const MOST_AT_ONCE = 8;

/** The network around the device at one moment of the drive. */
type Trouble = 'none' | 'cut' | 'half-open' | 'slow';
/** As often as each is in the list. */
const TROUBLES: readonly Trouble[] = ['none', 'cut', 'cut', 'cut', 'half-open', 'slow', 'slow'];

const pick = <One>(random: Random, list: readonly One[]): One => list[Math.floor(random() * list.length)]!;

/** Lets the device be silent without an end of its connection, and waits until it has made another one. */
async function passTunnel(stage: Stage): Promise<void> {
  const { service, settings, stopped } = stage;
  const { logins, connect } = service;
  const limit = 1000 * INTERVALS * (connect?.keepalive ?? 0) + settings.waitMs;
  service.freeze();
  if (!(await service.until(() => service.logins > logins, limit))) {
    if (stopped.aborted) throw new NotPlayed('the test was interrupted');
    const expected = `another connection within ${seconds(limit)} of silence`;
    throw new Breach('silence', expected, 'none', { isTimed: true });
  }
  await connected(stage);
}

async function halfOpen(stage: Stage): Promise<string> {
  const before = stage.timers.now();
  await passTunnel(stage);
  return `noticed after ${seconds(Math.round(stage.timers.now() - before))}`;
}

interface Drive {
  readonly random: Random;
  readonly figures: DriveFigures;
  readonly settings: DriveSettings;
  readonly usual: Ack;
}

/** The commands of one moment, until each has its answer. */
class Batch {
  readonly #stage: Stage;
  readonly #figures: DriveFigures;
  #isRepeated = false;
  /** The answer that such a command had in a good network. */
  readonly #usual: Ack;
  #open: Command[];

  constructor(stage: Stage, { figures, usual }: Pick<Drive, 'figures' | 'usual'>, count: number) {
    this.#stage = stage;
    this.#figures = figures;
    this.#usual = usual;
    this.#open = Array.from({ length: count }, () => harmless(stage));
    figures.commands += count;
  }

  get #answered(): Command[] {
    return this.#open.filter((command) => answersTo(this.#stage, command).length > 0);
  }

  /** Sends the commands for the first time. `isLast`: cuts the connection behind them. */
  send(isLast = false): void {
    send(this.#stage, this.#open, isLast);
  }

  /** Sends those without an answer again on a new connection, as the service does. */
  #repeat(): void {
    this.#open = this.#open.map((command) => this.#stage.commands.repeated(command));
    this.#figures.repeated += this.#open.length;
    this.#isRepeated = true;
    send(this.#stage, this.#open);
  }

  /** A command has one answer, the usual one, however often it and its answer were repeated. */
  #check(command: Command): void {
    const answers = answersTo(this.#stage, command);
    const other = answers.find((one) => shownAck(one) !== shownAck(this.#usual) || !isDeepStrictEqual(one, answers[0]));
    if (!other) return;
    const expected = `one answer to ${command.operation} ${command.transactionId}: ${shownAck(this.#usual)}`;
    const rule = this.#isRepeated ? 'repeated-commands' : 'answers';
    throw new Breach(rule, expected, answers.map((one) => JSON.stringify(one)).join(', then '));
  }

  /** Resolves when each command has its answer. `logins`: those before the trouble. */
  async answered(logins: number): Promise<void> {
    const { service, settings, timers, stopped } = this.#stage;
    const began = timers.now();
    const all = this.#open;
    let seen = logins;
    while (this.#open.length > 0) {
      const isAgain = (): boolean => service.logins > seen && isReady(service);
      const limit = PATIENCE * settings.answerMs + (service.isOnline ? 0 : settings.waitMs);
      const moved = await service.until(() => isAgain() || this.#answered.length > 0, limit);
      if (!moved && stopped.aborted) throw new NotPlayed('the test was interrupted');
      if (!moved && !service.isOnline) await connected(this.#stage, { waitMs: 0 });
      if (!moved)
        throw new Breach('answers', `answers to ${this.#open.length} commands within ${seconds(limit)}`, 'none', {
          isTimed: true,
        });
      const done = new Set(this.#answered);
      this.#open = this.#open.filter((command) => !done.has(command));
      if (!isAgain()) continue;
      seen = service.logins;
      if (this.#open.length > 0) this.#repeat();
    }
    // The device carries commands out in their order, so the answers to repetitions come before the one to another command.
    if (this.#isRepeated) await answerAfterSending(this.#stage, harmless(this.#stage), { times: PATIENCE });
    for (const command of all) this.#check(command);
    this.#figures.longestAnswerMs = Math.max(this.#figures.longestAnswerMs, Math.round(timers.now() - began));
  }
}

/** Plays one moment of the drive: commands, and a trouble around them. */
async function meet(stage: Stage, trouble: Trouble, { random, figures, settings: drive, usual }: Drive): Promise<void> {
  const { service, timers, stopped, settings } = stage;
  if (!isReady(service)) await connected(stage);
  service.forget();
  const { logins } = service;
  const batch = new Batch(stage, { figures, usual }, 1 + Math.floor(random() * MOST_AT_ONCE));
  const from = timers.now();
  const noteReturn = (): void => {
    figures.longestReturnMs = Math.max(figures.longestReturnMs, Math.round(timers.now() - from));
  };
  if (trouble === 'cut') {
    figures.cuts += 1;
    const isAtOnce = random() < 1 / 2;
    batch.send(isAtOnce);
    // Otherwise in the middle of the answers, whatever the device has done by then.
    if (!isAtOnce) await service.until(() => service.received.length > 0, settings.answerMs);
    if (!isAtOnce) service.cut();
    await service.until(() => service.logins > logins, settings.waitMs);
    await connected(stage);
    noteReturn();
  } else if (trouble === 'half-open') {
    // The commands that the service sends into the silence do not reach the device.
    figures.halfOpen += 1;
    await passTunnel(stage);
    noteReturn();
    batch.send();
    return batch.answered(service.logins);
  } else {
    const isSlow = trouble === 'slow';
    if (isSlow) figures.slow += 1;
    if (isSlow) service.network = { delay: drive.delay, bytesPerSecond: draw(random, drive.bytesPerSecond) };
    batch.send();
    if (isSlow) await pause(timers, draw(random, drive.slowMs), stopped);
  }
  await batch.answered(logins);
  service.network = null;
}

const shown = (figures: DriveFigures): string =>
  [
    `${(figures.milliseconds / 3_600_000).toFixed(2)} h`,
    `${figures.commands} commands, ${figures.repeated} repetitions`,
    `${figures.cuts} cuts, ${figures.halfOpen} half-open, ${figures.slow} slow`,
    `back within ${seconds(figures.longestReturnMs)}, answered within ${seconds(figures.longestAnswerMs)}`,
  ].join('; ');

async function driveAround(stage: Stage): Promise<string> {
  const { timers, stopped, service, figures } = stage;
  const settings = stage.settings.drive;
  if (!settings) throw new LeftOut('needs --hours');
  const random = createRandom(deriveSeed(stage.settings.seed, 2));
  const usual = await answerAfterSending(stage, harmless(stage));
  const drive: Drive = { random, figures, settings, usual };
  const began = timers.now();
  let from = began;
  try {
    for (let count = 0; count < settings.leastMoments || timers.now() - began < settings.milliseconds; count += 1) {
      await pause(timers, draw(random, settings.betweenMs), stopped);
      if (stopped.aborted) throw new NotPlayed(`the test was interrupted: ${shown(figures)}`);
      from = timers.now();
      await meet(stage, pick(random, TROUBLES), drive);
      figures.milliseconds = Math.round(timers.now() - began);
    }
  } catch (error) {
    if (error instanceof Breach) error.since = from;
    throw error;
  } finally {
    service.network = null;
  }
  return shown(figures);
}

export const driveCases: Readonly<Record<string, Case>> = {
  'half-open': {
    about: 'the connection swallows everything, without an end; the device must notice its silence by its keep-alive',
    rules: ['silence'],
    isLong: true,
    play: halfOpen,
  },
  drive: {
    about:
      'the network of a moving car for hours: `--seed` decides about commands, cuts, half-open and slow connections',
    rules: ['silence', 'answers', 'repeated-commands', 'reconnect-pauses'],
    when: 'last',
    isDrive: true,
    play: driveAround,
  },
};
