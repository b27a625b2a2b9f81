import type { Connection, ConnectionEvents } from '@lapel/device/connection/connection';
import { Driver } from '@lapel/device/connection/driver';
import { Core } from '@lapel/device/core/core';
import type { Command, Outgoing } from '@lapel/device/core/effects';
import { createRandom, type Random } from '@lapel/device-sim/random';
import { createFakeClock } from '../fake-clock.ts';
import { SimulatedDisk } from './simulated-disk.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const BEGIN = Date.parse('2026-11-20T09:29:00.000Z');
/** The silence after which a device ends a connection that is dead. */
const SILENCE = 90 * SECOND;
/** A good network: everything that is owed must come in this time, of which two minutes are the longest pause. */
const LONGEST_OWED = 10 * MINUTE;

/** Commands of a whole night, each of which may take minutes, are carried out in this time. */
const BACKLOG = 6 * HOUR;

/** How the network is: the longest time of a message, the mean life of a connection, and for how long it stays so. */
const NETWORKS = {
  good: { delay: 0.4 * SECOND, life: 6 * HOUR, lasts: 2 * HOUR },
  moving: { delay: 8 * SECOND, life: 40 * SECOND, lasts: 20 * MINUTE },
  none: { delay: 0, life: 0, lasts: 30 * MINUTE },
  night: { delay: 0, life: 0, lasts: 9 * HOUR },
} as const;
type Network = keyof typeof NETWORKS;

/** The figures of some days. Those from `doneAgain` on must be 0. */
export interface Days {
  logins: number;
  powerCuts: number;
  deadConnections: number;
  commands: number;
  events: number;
  /** Messages that came a second time, as QoS 1 allows. */
  repeated: number;
  doneAgain: number;
  unaware: number;
  differing: number;
  doubled: number;
  lost: number;
  /** Commands without an answer at the end. */
  unanswered: number;
  /** Times at which something was still owed after the network had been good for ten minutes. */
  late: number;
}

/** A device of the library over days of a bad network, with a service that remembers what it got. */
class Life {
  readonly #random: Random;
  readonly #clock = createFakeClock(BEGIN * 1000);
  readonly #disk: SimulatedDisk;
  readonly #open = new Map<number, { command: object; isDelivered: boolean }>();
  readonly #begun = new Set<number>();
  readonly #given = new Map<number, string>();
  readonly #stored = new Set<number>();
  readonly #arrived = new Map<number, Set<string>>();
  readonly figures: Days = {
    logins: 0,
    powerCuts: 0,
    deadConnections: 0,
    commands: 0,
    events: 0,
    repeated: 0,
    doneAgain: 0,
    unaware: 0,
    differing: 0,
    doubled: 0,
    lost: 0,
    unanswered: 0,
    late: 0,
  };
  #network: Network = 'good';
  #goodSince = BEGIN;
  #life = 0;
  #lastEventAt = BEGIN;
  #core: Core | undefined;
  #driver: Driver | undefined;
  #send: ((kind: 'commands', text: string) => void) | undefined;
  #breakNow: (() => void) | undefined;
  #ids = 0;

  constructor(seed: number, disk: SimulatedDisk) {
    this.#random = createRandom(seed);
    this.#disk = disk;
  }

  /** Milliseconds. */
  get #now(): number {
    return this.#clock.now() / 1000;
  }

  run(days: number): Days {
    this.#start();
    const end = BEGIN + days * DAY;
    this.#every(
      () => this.#between(MINUTE, 30 * MINUTE),
      () => this.#command(),
      end,
    );
    this.#every(
      () => this.#between(10 * SECOND, 15 * MINUTE),
      () => this.#event(),
      end,
    );
    this.#every(
      () => this.#between(HOUR, 12 * HOUR),
      () => this.#cutPower(),
      end,
    );
    this.#every(
      () => this.#lasts(),
      () => this.#changeNetwork(),
      end,
    );
    this.#every(
      () => MINUTE,
      () => this.#look(),
      Number.POSITIVE_INFINITY,
    );
    for (let day = 0; day < days; day += 1) this.#clock.advance(DAY);
    this.#become('good');
    this.#clock.advance(BACKLOG);
    this.#driver?.stop();
    const { figures } = this;
    figures.lost = [...this.#stored].filter((event) => !this.#arrived.has(event)).length;
    figures.doubled = [...this.#arrived.values()].filter((ids) => ids.size > 1).length;
    figures.unanswered = this.#open.size;
    return figures;
  }

  #between(least: number, most: number): number {
    return least + this.#random() * (most - least);
  }

  #every(pause: () => number, task: () => void, end: number): void {
    const next = (): void => {
      this.#clock.after(pause(), () => {
        if (this.#now >= end) return;
        task();
        next();
      });
    };
    next();
  }

  #lasts(): number {
    return this.#between(0.2, 1.8) * NETWORKS[this.#network].lasts;
  }

  #changeNetwork(): void {
    const dice = this.#random();
    this.#become(dice < 0.35 ? 'good' : dice < 0.75 ? 'moving' : dice < 0.95 ? 'none' : 'night');
  }

  #become(network: Network): void {
    if (network === 'good' && this.#network !== 'good') this.#goodSince = this.#now;
    this.#network = network;
    if (NETWORKS[network].life === 0) this.#breakNow?.();
  }

  /** While the network is good, everything that is owed comes in some minutes. */
  #look(): void {
    if (this.#network !== 'good' || this.#now - this.#goodSince < LONGEST_OWED) return;
    const isOwed = [...this.#stored].slice(-20).some((event) => !this.#arrived.has(event));
    if (isOwed && this.#now - this.#lastEventAt > LONGEST_OWED) this.figures.late += 1;
  }

  #start(): void {
    this.#life += 1;
    const life = this.#life;
    const core = new Core({
      disk: this.#disk,
      now: () => this.#now,
      monotonic: () => this.#now,
      newId: () => {
        this.#ids += 1;
        return `id-${this.#ids}`;
      },
    });
    const driver = new Driver({
      core,
      open: (_, events) => this.#connect(events, life),
      logins: { current: { credential: 'x' }, succeeded: () => {}, refused: () => {} },
      timers: { after: (milliseconds, task) => this.#clock.after(milliseconds, task) },
      monotonic: () => this.#now,
      random: this.#random,
      ends: {
        begin: (command) => this.#begin(command, life),
        answered: () => {},
        networks: () => {},
        log: () => {},
        connection: () => {},
        networkInUse: () => undefined,
      },
    });
    [this.#core, this.#driver] = [core, driver];
    driver.start();
    driver.connect();
  }

  /** The power goes, with everything that was not synced. */
  #cutPower(): void {
    this.figures.powerCuts += 1;
    this.#life += 1; // whatever the old life still does is not done
    this.#driver?.stop();
    this.#disk.cutPower(Math.floor(this.#random() * 40));
    this.#breakNow = undefined;
    this.#send = undefined;
    this.#start();
  }

  #begin(command: Command, life: number): void {
    const { transactionId, interrupted } = command;
    if (this.#given.has(transactionId)) this.figures.doneAgain += 1;
    if (this.#begun.has(transactionId) && !interrupted) this.figures.unaware += 1;
    this.#begun.add(transactionId);
    this.#clock.after(this.#between(100, 5 * MINUTE), () => {
      if (life !== this.#life) return;
      this.#core?.finished({ result: { at: this.#random() } });
      this.#driver?.run();
    });
  }

  #event(): void {
    this.figures.events += 1;
    const event = this.figures.events;
    this.#core?.event('custom.count', { event });
    this.#stored.add(event); // the call has returned
    this.#lastEventAt = this.#now;
    this.#driver?.run();
  }

  #command(): void {
    this.figures.commands += 1;
    const transactionId = this.figures.commands;
    const issuedAt = new Date(this.#now).toISOString();
    const command = { transactionId, operation: 'setLanguage', parameters: {}, issuedAt, attempt: 1 };
    this.#open.set(transactionId, { command, isDelivered: false });
    this.#send?.('commands', JSON.stringify(command));
  }

  /** The service takes a message; it may come again, because its PUBACK was lost. */
  #arrive({ kind, message }: Outgoing): void {
    if (kind === 'acks') {
      const text = JSON.stringify(message);
      const known = this.#given.get(message.transactionId);
      if (known !== undefined) this.figures.repeated += 1;
      if (known !== undefined && known !== text) this.figures.differing += 1;
      this.#given.set(message.transactionId, text);
      this.#open.delete(message.transactionId);
    } else if (kind === 'events') {
      const { event } = message.data as { event: number };
      const ids = this.#arrived.get(event) ?? new Set();
      if (ids.has(message.eventId)) this.figures.repeated += 1;
      this.#arrived.set(event, ids.add(message.eventId));
    }
  }

  /** A connection over the network as it is. Messages keep their order; those on the way are lost when it breaks. */
  #connect(events: ConnectionEvents, life: number): Connection {
    const { delay, life: meanLife } = NETWORKS[this.#network];
    let isOpen = true;
    const is = (): boolean => isOpen && life === this.#life;
    const lastAt = { up: 0, down: 0 };
    const pass = (way: 'up' | 'down', task: () => void): void => {
      const at = Math.max(lastAt[way], this.#now + this.#random() * delay);
      lastAt[way] = at;
      this.#clock.after(at - this.#now, () => {
        if (is()) task();
      });
    };
    const send = (kind: 'commands', text: string): void => pass('down', () => events.message(kind, text));
    const close = (): void => {
      isOpen = false;
      if (this.#breakNow === breaks) [this.#breakNow, this.#send] = [undefined, undefined];
    };
    const breaks = (): void => {
      if (!isOpen) return;
      close();
      const isSilent = this.#random() < 0.5;
      if (isSilent) this.figures.deadConnections += 1;
      this.#clock.after(isSilent ? SILENCE : 0, () => {
        if (life === this.#life) events.lost('the network', false);
      });
    };
    if (meanLife === 0) {
      this.#clock.after(5 * SECOND, () => {
        if (is()) {
          close();
          events.lost('no network', false);
        }
      });
      return { subscribe: () => {}, publish: () => {}, accept: () => {}, close };
    }
    this.#breakNow = breaks;
    this.#clock.after(-Math.log(1 - this.#random()) * meanLife, breaks);
    pass('down', () => {
      this.figures.logins += 1;
      events.connected();
      this.#send = send;
      for (const { command } of this.#open.values()) send('commands', JSON.stringify(command));
    });
    return {
      subscribe: () => {},
      accept: () => {},
      close,
      publish: (outgoing, token) =>
        pass('up', () => {
          this.#arrive(outgoing);
          pass('down', () => events.confirmed(token));
        }),
    };
  }
}

/** Lives some days from a seed; everything that the device keeps is on the disk. */
export const liveDays = (seed: number, days: number, disk = new SimulatedDisk()): Days =>
  new Life(seed, disk).run(days);
