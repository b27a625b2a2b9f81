import { Core } from '@lapel/device/core/core';
import type { Command, Effect } from '@lapel/device/core/effects';
import { createRandom, type Random } from '@lapel/device-sim/random';
import { SimulatedDisk } from './simulated-disk.ts';

const ISSUED = '2026-11-20T09:29:00.000Z';
/** Writes of a life, at most, before the power is cut. */
const MOST_STEPS = 25;
/** Small, so that the file is written anew often. */
const REWRITE_ABOVE = 3000;

/** The figures of a run; all but the first four must be 0. */
export interface Figures {
  cuts: number;
  commands: number;
  events: number;
  /** Commands that came again because the power was cut in the middle of them. */
  interrupted: number;
  /** Commands that began again after their acknowledgement had been given. */
  doneAgain: number;
  /** Commands that began again, and were not told that they had begun before. */
  unaware: number;
  /** Commands with two acknowledgements that differ. */
  differing: number;
  /** Events that came under two eventIds. */
  doubled: number;
  /** Events that were on the disk when the call returned, and never came. */
  lost: number;
}

/** A device whose power is cut at any append, sync, cut or replacement of its disk, and between any two effects. */
class CutDevice {
  readonly #random: Random;
  readonly #disk = new SimulatedDisk();
  readonly #open = new Set<number>();
  readonly #answers = new Map<number, string>();
  readonly #begun = new Set<number>();
  readonly #given = new Set<number>();
  readonly #stored = new Set<number>();
  readonly #arrived = new Map<number, Set<string>>();
  readonly figures: Figures = {
    cuts: 0,
    commands: 0,
    events: 0,
    interrupted: 0,
    doneAgain: 0,
    unaware: 0,
    differing: 0,
    doubled: 0,
    lost: 0,
  };
  #core: Core | undefined;
  #running: Command | undefined;
  #unconfirmed: number[] = [];
  #isOnline = false;
  /** The connection is dead, and neither side has noticed. */
  #isDead = false;
  #left = Number.POSITIVE_INFINITY;
  #isCut = false;
  #ids = 0;
  #time = Date.parse(ISSUED);

  constructor(seed: number) {
    this.#random = createRandom(seed);
    this.#disk.before = () => {
      this.#left -= 1;
      if (this.#left <= 0) this.#isCut = true;
      if (this.#isCut) throw new Error('the power is cut');
    };
  }

  /** A life from the start of the device to a power cut. */
  live(): void {
    this.#left = 1 + Math.floor(this.#random() * MOST_STEPS);
    this.#start();
    while (!this.#isCut) this.#act();
    this.figures.cuts += 1;
    this.#disk.cutPower(Math.floor(this.#random() * 40));
  }

  /** A last life without a cut: everything that is owed comes. */
  settle(): void {
    this.#left = Number.POSITIVE_INFINITY;
    this.#start();
    this.#connect();
    while (this.#running || this.#unconfirmed.length > 0) {
      if (this.#running) this.#finish();
      else this.#confirm();
    }
    const { figures } = this;
    figures.lost = [...this.#stored].filter((event) => !this.#arrived.has(event)).length;
    figures.doubled = [...this.#arrived.values()].filter((ids) => ids.size > 1).length;
    if (this.#open.size > 0) throw new Error(`${this.#open.size} commands have no answer`);
  }

  #start(): void {
    this.#isCut = false;
    this.#isOnline = false;
    this.#running = undefined;
    this.#core = undefined;
    this.#give(() => {
      this.#core = new Core({
        disk: this.#disk,
        // An answer that is still owed is among the last of them, because each login brings it.
        bounds: { leastAnswers: 100, mostAnswers: 100 },
        rewriteAbove: REWRITE_ABOVE,
        now: () => this.#time,
        monotonic: () => this.#time,
        newId: () => {
          this.#ids += 1;
          return String(this.#ids);
        },
      });
    });
  }

  /** An input of the core. With the power cut in it, nothing that it wants is done. */
  #give(input: () => void): void {
    try {
      input();
    } catch (error) {
      if (!this.#isCut) throw error;
    }
    for (const effect of this.#core?.take() ?? []) {
      if (this.#random() < 0.002 && Number.isFinite(this.#left)) this.#isCut = true;
      if (this.#isCut) return;
      this.#carryOut(effect);
    }
  }

  #act(): void {
    this.#time += 50;
    const dice = this.#random();
    if (!this.#isOnline) {
      if (dice < 0.7) this.#connect();
      else if (dice < 0.9) this.#event();
      else if (this.#running) this.#finish();
    } else if (dice < 0.2) this.#command();
    else if (dice < 0.4) this.#event();
    else if (dice < 0.6) this.#finish();
    else if (dice < 0.9) this.#confirm();
    else if (dice < 0.95) this.#isDead = true;
    else this.#disconnect();
  }

  #connect(): void {
    this.#isOnline = true;
    this.#isDead = false;
    this.#unconfirmed = [];
    this.#give(() => this.#core?.connected());
    for (const transactionId of this.#open) this.#deliver(transactionId);
  }

  #disconnect(): void {
    this.#isOnline = false;
    this.#give(() => this.#core?.disconnected());
  }

  #command(): void {
    this.figures.commands += 1;
    this.#open.add(this.figures.commands);
    this.#deliver(this.figures.commands);
  }

  #deliver(transactionId: number): void {
    if (this.#isCut || this.#isDead) return;
    const command = { transactionId, operation: 'setLanguage', parameters: {}, issuedAt: ISSUED, attempt: 1 };
    this.#give(() => this.#core?.received('commands', JSON.stringify(command)));
  }

  #finish(): void {
    const running = this.#running;
    if (!running) return;
    this.#running = undefined;
    // The result is another one each time, so that a second answer is seen.
    this.#give(() => this.#core?.finished({ result: { at: this.#random() } }));
  }

  #event(): void {
    this.figures.events += 1;
    const event = this.figures.events;
    this.#give(() => {
      this.#core?.event('custom.count', { event });
      if (!this.#isCut) this.#stored.add(event); // the call has returned
    });
  }

  #confirm(): void {
    const token = this.#isDead ? undefined : this.#unconfirmed.shift();
    if (token !== undefined) this.#give(() => this.#core?.confirmed(token));
  }

  #carryOut(effect: Effect): void {
    if ('begin' in effect) this.#begin(effect.begin);
    if (!('publish' in effect)) return;
    const { kind, message } = effect.publish;
    if (kind === 'acks') this.#given.add(message.transactionId);
    if (this.#isDead) return;
    this.#unconfirmed.push(effect.token);
    if (kind === 'acks') {
      const text = JSON.stringify(message);
      this.#open.delete(message.transactionId);
      if ((this.#answers.get(message.transactionId) ?? text) !== text) this.figures.differing += 1;
      this.#answers.set(message.transactionId, text);
    } else if (kind === 'events') {
      const { event } = message.data as { event: number };
      this.#arrived.set(event, (this.#arrived.get(event) ?? new Set()).add(message.eventId));
    }
  }

  #begin(command: Command): void {
    const { transactionId, interrupted } = command;
    this.#running = command;
    if (this.#given.has(transactionId)) this.figures.doneAgain += 1;
    if (this.#begun.has(transactionId) && !interrupted) this.figures.unaware += 1;
    if (interrupted) this.figures.interrupted += 1;
    this.#begun.add(transactionId);
  }
}

/** Cuts the power of a simulated device so many times. */
export function cutPower(seed: number, cuts: number): Figures {
  const device = new CutDevice(seed);
  for (let cut = 0; cut < cuts; cut += 1) device.live();
  device.settle();
  return device.figures;
}
