import { randomUUID } from 'node:crypto';
import type { Login } from './connection/connection.ts';
import { Driver } from './connection/driver.ts';
import { type Address, openMqtt } from './connection/mqtt-connection.ts';
import { systemTimers } from './connection/timers.ts';
import type { Bounds } from './core/bounds.ts';
import { Core } from './core/core.ts';
import { DeviceFailure, failureOf } from './core/device-failure.ts';
import type { Command, ListKind, LogLevel } from './core/effects.ts';
import { FileDisk } from './disk/file-disk.ts';
import type { Importance } from './disk/records.ts';
import { readKeys } from './download/signature.ts';
import { type Enrolment, enrol } from './enrolment/enrol.ts';
import { keepCertificate } from './enrolment/renewal.ts';
import { StoredLogins } from './enrolment/stored-logins.ts';
import type { Maker } from './maker.ts';
import { Pending } from './pending.ts';
import { RunningCommand } from './running-command.ts';
import { Settings } from './settings.ts';

type MaybePromise<Value> = Value | Promise<Value>;

export interface DeviceOptions {
  deviceId: string;
  /** The memory of the device: a path on a disk that outlives a power cut, for this device alone. */
  file: string;
  service: Address;
  /** The credential, or the certificate with its key. Left out for a device that enrols, or has enrolled. */
  login?: Login | undefined;
  /** Also with a login that the device has already: its certificate is renewed there. */
  enrolment?: Enrolment | undefined;
  /** Public keys of ed25519 as PEM: then `installSoftware` needs the signature of one of them (rule `signatures`). */
  trustedKeys?: readonly string[];
  /** The lists of networks that this device has; both if left out. Without `useNetworks` of the maker it has none. */
  lists?: readonly ListKind[];
  /** How much the device keeps; see `Bounds`. */
  bounds?: Partial<Bounds>;
}

/** A device that keeps the duties of docs/devices.md. Its maker writes operations, and tells status and events. */
export class Device {
  /** Small values that outlive a restart. */
  readonly settings: Settings;
  readonly #options: DeviceOptions;
  readonly #maker: Maker;
  readonly #core: Core;
  readonly #logins: StoredLogins;
  readonly #driver: Driver;
  readonly #pending: Pending;
  readonly #trustedKeys: ReturnType<typeof readKeys>;
  readonly #stopped = new AbortController();

  /**
   * Reads the file. Throws if another device uses it, the disk fails, or the file is not one of this library; and if a
   * trusted key is none.
   */
  constructor(options: DeviceOptions, maker: Maker) {
    const { deviceId, file, service, login, lists, trustedKeys = [], bounds = {} } = options;
    this.#options = options;
    this.#maker = maker;
    this.#trustedKeys = readKeys(trustedKeys);
    this.#core = new Core({
      disk: new FileDisk(file),
      bounds,
      kinds: maker.useNetworks ? (lists ?? ['networks', 'apns']) : [],
      now: Date.now,
      monotonic: () => performance.now(),
      newId: () => randomUUID(),
    });
    this.settings = new Settings(this.#core);
    this.#logins = new StoredLogins(this.#core, login);
    this.#pending = new Pending((requestId) => this.#core.giveUp(requestId));
    this.#driver = new Driver({
      core: this.#core,
      open: (current, events) => openMqtt(deviceId, service, current, events),
      logins: this.#logins,
      timers: systemTimers,
      monotonic: () => performance.now(),
      random: Math.random,
      ends: {
        begin: (command) => void this.#carryOut(command),
        answered: (answer) => this.#pending.answered(answer),
        networks: (kind, list) => this.#call(() => maker.useNetworks?.(kind, list)),
        log: (level, text) => this.#log(level, text),
        connection: (isConnected) => this.#connection(isConnected),
        networkInUse: () => this.#call(() => maker.networkInUse?.()),
      },
    });
  }

  /** Connects, and goes on connecting; enrols before if it has no login. Throws if it has neither login nor enrolment. */
  start(): void {
    const { enrolment } = this.#options;
    if (!this.#logins.known && !enrolment)
      throw new Error('a device needs a credential, a certificate or an enrolment.');
    this.#driver.start();
    if (this.#logins.known) this.#connect();
    else if (enrolment) this.#enrol(enrolment);
  }

  #enrol(enrolment: Enrolment): void {
    const { deviceId } = this.#options;
    const { signal } = this.#stopped;
    const log = (level: LogLevel, text: string): void => this.#log(level, text);
    enrol(enrolment, { deviceId, store: this.#core, timers: systemTimers, random: Math.random, signal, log })
      .then((login) => this.useLogin(login))
      .then(() => this.#connect())
      .catch((error: unknown) => {
        if (!signal.aborted) this.#log('error', `the device could not enrol: ${String(error)}`);
      });
  }

  /**
   * Ends the connection and closes the file. A command that is running comes again after the next start, with
   * `interrupted`. The device cannot be started again; make another one.
   */
  stop(): void {
    if (this.#stopped.signal.aborted) return;
    this.#stopped.abort(new Error('the device was stopped.'));
    this.#driver.stop();
    this.#pending.stop();
    this.#core.close();
  }

  /**
   * Merges into the status, which is sent at each login and at each change (rule `status`); see schemas/mqtt/status.json. It
   * is not on the disk: report the whole status after each start.
   */
  report(status: object): void {
    this.#core.report(status);
    this.#driver.run();
  }

  /**
   * Tells an event (rule `events`). It is on the disk on return, and is sent until the service has it. Returns its eventId;
   * undefined if the store is full of events that are more important. Throws if the disk fails, or the service would refuse
   * it: the type is not one of schemas/mqtt/event.json, or the data has more than 32 KiB.
   */
  event(type: string, data: object, importance: Importance = 'normal'): string | undefined {
    const eventId = this.#core.event(type, data, importance);
    this.#driver.run();
    return eventId;
  }

  /**
   * Asks the service, such as for an upload URL (rule `requests`; schemas/mqtt/request.json). It is asked again after each lost
   * connection. Rejects with a `DeviceFailure` and the code of the service (`NOT_ACTIVATED`, `BUSY` and others in
   * schemas/mqtt/response.json), and with the reason of `signal` when that is aborted.
   */
  async request(type: string, data: object, signal?: AbortSignal): Promise<Record<string, unknown>> {
    signal?.throwIfAborted();
    this.#stopped.signal.throwIfAborted();
    const answer = this.#pending.wait(this.#core.request(type, data), signal);
    this.#driver.run();
    return answer;
  }

  /** Another login: both are kept until a login with the new one has succeeded. Throws if the disk fails. */
  useLogin(login: Login): void {
    this.#logins.add(login);
    if (this.#driver.isOnline) this.#driver.reconnect();
  }

  #connect(): void {
    const { enrolment, deviceId } = this.#options;
    this.#driver.connect();
    if (!enrolment) return;
    keepCertificate({
      deviceId,
      api: enrolment.api,
      ca: enrolment.ca,
      current: () => this.#logins.current,
      renewed: (login) => this.useLogin(login),
      now: Date.now,
      timers: systemTimers,
      signal: this.#stopped.signal,
      log: (level, text) => this.#log(level, text),
    });
  }

  async #carryOut(command: Command): Promise<void> {
    const { signal } = this.#stopped;
    let hasEnded = false;
    const running = new RunningCommand(command, {
      store: (progress) => {
        if (hasEnded) throw new Error('the command has ended.'); // another one may be running
        this.#core.progress(progress);
      },
      request: (type, data) => this.request(type, data, signal),
      online: () => this.#pending.online(this.#driver.isOnline),
      trustedKeys: this.#trustedKeys,
      timers: systemTimers,
      signal,
    });
    const { operations } = this.#maker;
    try {
      const operation = Object.hasOwn(operations, command.operation) ? operations[command.operation] : undefined;
      if (!operation) throw new DeviceFailure('UNSUPPORTED', 'this device cannot do that');
      const result = await (operation(running) as MaybePromise<object | null | undefined>);
      hasEnded = true;
      if (!signal.aborted) this.#core.finished({ result: result ?? undefined });
    } catch (error) {
      hasEnded = true;
      if (!signal.aborted) this.#core.finished({ failure: failureOf(error) });
    }
    this.#driver.run();
  }

  #connection(isConnected: boolean): void {
    if (isConnected) this.#pending.isOnline();
    this.#call(() => this.#maker.connection?.(isConnected));
  }

  /** An error of a method of the maker must not cost the effects behind it. */
  #call<Value>(method: () => Value): Value | undefined {
    try {
      return method();
    } catch (error) {
      this.#log('error', `a method of the maker failed: ${String(error)}`);
      return undefined;
    }
  }

  #log(level: LogLevel, text: string): void {
    if (this.#maker.log)
      try {
        this.#maker.log(level, text);
      } catch {} // there is no other place to tell it
    else if (level !== 'info') process.stderr.write(`${text}\n`);
  }
}
