import type { Core } from '../core/core.ts';
import type { Answered, Command, Effect, ListKind, LogLevel } from '../core/effects.ts';
import type { Connection, ConnectionEvents, Logins, Open } from './connection.ts';
import { pauseAfter } from './pauses.ts';
import type { Timers } from './timers.ts';

/** Timers of JavaScript take no more milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** The side of the maker. */
export interface Ends {
  begin(command: Command): void;
  answered(answer: Answered): void;
  networks(kind: ListKind, list: readonly unknown[]): void;
  log(level: LogLevel, text: string): void;
  /** The device has logged in, or has lost its connection. */
  connection(isConnected: boolean): void;
  /** The network that a new connection goes over, if the device knows it. */
  networkInUse(): ListKind | undefined;
}

interface Parts {
  core: Core;
  open: Open;
  logins: Logins;
  timers: Timers;
  monotonic: () => number;
  random: () => number;
  ends: Ends;
}

/** Carries out the effects of the core, and connects again after each lost connection. */
export class Driver {
  readonly #parts: Parts;
  readonly #cancels = new Set<() => void>();
  #connection: Connection | undefined;
  #isRunning = false;
  #isStarted = false;
  #isOnline = false;
  #failures = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get isOnline(): boolean {
    return this.#isOnline;
  }

  /** Carries out the effects of the core from now on. */
  start(): void {
    this.#isStarted = true;
    this.run();
  }

  /** Begins the first attempt, and goes on connecting. */
  connect(): void {
    this.#connect();
  }

  /** Ends the connection, and opens another one. */
  reconnect(): void {
    this.#leave();
  }

  stop(): void {
    this.#isStarted = false;
    for (const cancel of this.#cancels) cancel();
    this.#cancels.clear();
    this.#connection?.close();
    this.#ended();
  }

  /** To be called after each input of the core. */
  run(): void {
    if (!this.#isStarted || this.#isRunning) return; // the outer call carries all out, in their order
    this.#isRunning = true;
    try {
      for (let effects = this.#parts.core.take(); effects.length > 0; effects = this.#parts.core.take())
        for (const effect of effects) this.#carryOut(effect);
    } finally {
      this.#isRunning = false;
    }
  }

  #carryOut(effect: Effect): void {
    const { ends } = this.#parts;
    if ('subscribe' in effect) this.#connection?.subscribe(effect.subscribe);
    else if ('publish' in effect) this.#connection?.publish(effect.publish, effect.token);
    else if ('accept' in effect) this.#connection?.accept();
    else if ('begin' in effect) ends.begin(effect.begin);
    else if ('answered' in effect) ends.answered(effect.answered);
    else if ('networks' in effect) ends.networks(effect.networks.kind, effect.networks.list);
    else if ('log' in effect) ends.log(effect.log.level, effect.log.text);
    else if ('wake' in effect) this.#wake(effect.wake);
    else this.#leave();
  }

  #after(milliseconds: number, task: () => void): void {
    const cancel = this.#parts.timers.after(milliseconds, () => {
      this.#cancels.delete(cancel);
      task();
    });
    this.#cancels.add(cancel);
  }

  #wake(at: number): void {
    const left = Math.ceil(at - this.#parts.monotonic());
    this.#after(Math.min(Math.max(left, 0), LONGEST_TIMER), () => {
      if (this.#parts.monotonic() < at) return this.#wake(at);
      this.#parts.core.timePassed();
      this.run();
    });
  }

  #connect(): void {
    const { core, open, logins, ends } = this.#parts;
    if (!this.#isStarted || this.#connection) return;
    const over = ends.networkInUse();
    let connection: Connection | undefined;
    const events: ConnectionEvents = {
      connected: () => {
        if (connection !== this.#connection) return;
        this.#failures = 0;
        this.#isOnline = true;
        logins.succeeded();
        core.connected(over);
        this.run();
        ends.connection(true);
      },
      message: (kind, text) => {
        if (connection !== this.#connection) return;
        core.received(kind, text);
        this.run();
      },
      confirmed: (token) => {
        if (connection !== this.#connection) return;
        core.confirmed(token);
        this.run();
      },
      lost: (reason, isRefused) => {
        if (connection !== this.#connection) return;
        if (isRefused) logins.refused();
        ends.log('warning', `no connection: ${reason}`);
        this.#ended();
      },
    };
    try {
      connection = open(logins.current, events);
      this.#connection = connection;
    } catch (error) {
      // Such as a certificate that is none. Another login may be good.
      logins.refused();
      ends.log('error', `no connection: ${String(error)}`);
      this.#ended();
    }
  }

  #leave(): void {
    const connection = this.#connection;
    // In the next turn, so that the PUBACKs before it go out.
    if (connection) setImmediate(() => connection.close());
    this.#failures = 0;
    this.#ended();
  }

  #ended(): void {
    const { core, random, ends } = this.#parts;
    this.#connection = undefined;
    core.disconnected();
    this.run();
    if (this.#isOnline) {
      this.#isOnline = false;
      ends.connection(false);
    }
    if (!this.#isStarted) return;
    this.#after(pauseAfter(this.#failures, core.isTrying, random), () => this.#connect());
    this.#failures += 1;
  }
}
