import { EventEmitter } from 'node:events';
import { type Patience, plainPatience } from '../files/download.ts';
import { createDownloadFolder, type DownloadFolder } from '../files/download-folder.ts';
import { createFetcher, type Fetcher } from '../files/fetcher.ts';
import { createUploader } from '../files/uploader.ts';
import { type Conformance, createConformance } from '../mqtt/conformance.ts';
import { type Answer, type DeviceEvent, parseCommand, parseComplaint, parseResponse } from '../mqtt/messages.ts';
import { createLink, type Inbound, type Link } from '../mqtt/mqtt-link.ts';
import { createOutgoingEvents, type OutgoingEvents } from '../mqtt/outgoing-events.ts';
import { createReconnector, type Reconnector } from '../mqtt/reconnector.ts';
import { createRequests, type Requests } from '../mqtt/requests.ts';
import { createRandom, deriveSeed, draw, type Random, type Range } from '../random.ts';
import { systemTimers, type Timers } from '../timers.ts';
import { createBattery } from './battery.ts';
import { type Behaviour, promptBehaviour } from './behaviour.ts';
import { type Bluetooth, peerChanges, wandered } from './bluetooth.ts';
import { type CallPlan, type Calls, createCalls } from './calls.ts';
import type { DeviceEvents } from './device-events.ts';
import { createDeviceModel, type DeviceModel } from './device-model.ts';
import type { Device, DeviceOptions } from './device-options.ts';
import { type DeviceState, type Equipment, plainEquipment } from './device-state.ts';
import { createExecutor, type Executor } from './executor.ts';
import { createStatusReport, type StatusReport, statusOf } from './status.ts';

export type { Device, DeviceOptions } from './device-options.ts';

const RECONNECT: Range = { min: 250, max: 10_000 };

/** One wearable camera: the model of it, on a connection. Starts offline. */
export const createDevice = (options: DeviceOptions): Device => new SimulatedDevice(options);

/**
 * A class, because there are many thousands: what a device has not needed yet is not there (its calls, its downloads, its
 * listeners), and the rest shares its methods.
 */
class SimulatedDevice implements Device {
  readonly deviceId: string;
  readonly #options: DeviceOptions;
  readonly #behaviour: Behaviour;
  readonly #seed: number;
  readonly #timers: Timers;
  readonly #model: DeviceModel;
  readonly #link: Link;
  readonly #reconnector: Reconnector;
  readonly #status: StatusReport;
  readonly #repeats: Random;
  readonly #switchedOn: number;
  readonly #conformance: Conformance;
  #patience: Patience | undefined;
  #events: EventEmitter<DeviceEvents> | undefined;
  #folder: DownloadFolder | undefined;
  #happened: OutgoingEvents | undefined;
  #requests: Requests | undefined;
  #calls: Calls | undefined;
  #executor: Executor | undefined;
  #wanderings: Random | undefined;
  #bluetooth: Bluetooth;
  /** Answers made while offline; those already sent are kept by the link. */
  #unsent: Answer[] = [];
  #idleWaiters: (() => void)[] = [];

  constructor(options: DeviceOptions) {
    const { deviceId, credential, url, seed = 1, clean = false, timers = systemTimers, journal } = options;
    const equipment: Equipment = { ...plainEquipment, ...options.equipment };
    this.#options = options;
    this.deviceId = deviceId;
    this.#seed = seed;
    this.#timers = timers;
    this.#behaviour = { ...promptBehaviour, ...options.behaviour };
    this.#switchedOn = timers.now();
    this.#repeats = createRandom(deriveSeed(seed, 1));
    const model = createDeviceModel({
      deviceId,
      seed: deriveSeed(seed, 2),
      behaviour: this.#behaviour,
      equipment,
      memory: journal?.memory,
    });
    this.#model = model;
    this.#bluetooth = model.state.bluetooth;
    this.#conformance = createConformance({ memory: this.#behaviour.memory });
    this.#link = createLink({
      url,
      deviceId,
      credential,
      clean,
      timers,
      onMessage: (topic, payload, dup) => this.#receive(topic, payload, dup),
      onOnline: (sessionPresent) => this.#online(sessionPresent),
      onClose: (reason, wasOnline) => this.#offline(reason, wasOnline),
    });
    this.#reconnector = createReconnector({
      open: () => this.#link.open(),
      attempts: options.connectAttempts ?? 1,
      pause: options.reconnect === undefined ? RECONNECT : options.reconnect,
      random: createRandom(deriveSeed(seed, 3)),
      gate: options.gate,
      timers,
      onRefused: (error) => this.#tellWatchers('refused', [error]),
    });
    const battery = createBattery(createRandom(deriveSeed(seed, 7)));
    const rssi = Math.round(draw(createRandom(deriveSeed(seed, 8)), { min: -85, max: -45 }));
    const total = equipment.storage;
    this.#status = createStatusReport({
      read: () => statusOf(model.state, { total, battery: battery(timers.now() - this.#switchedOn), rssi }),
      isOnline: () => this.#link.online,
      publish: (payload) => this.#link.publish('status', payload, () => this.#settle()),
    });
  }

  get events(): EventEmitter<DeviceEvents> {
    this.#events ??= new EventEmitter();
    return this.#events;
  }

  get state(): Readonly<DeviceState> {
    return this.#model.state;
  }

  get executions(): ReadonlyMap<number, number> {
    return this.#model.executions;
  }

  get online(): boolean {
    return this.#link.online;
  }

  get outstanding(): number {
    return (
      (this.#executor?.outstanding() ?? 0) +
      (this.#calls?.size ?? 0) +
      (this.#happened?.waiting ?? 0) +
      this.#unsent.length +
      (this.#status.due ? 1 : 0) +
      this.#link.inFlight
    );
  }

  rememberActivation(activation: NonNullable<DeviceState['activation']>): void {
    this.#model.state.activation = activation;
  }

  reportChanges(): void {
    this.#status.changes();
  }

  movePeer(): void {
    const { state } = this.#model;
    this.#wanderings ??= createRandom(deriveSeed(this.#seed, 6));
    state.bluetooth = wandered(state.bluetooth, this.#wanderings);
    this.#tellPeers();
  }

  pressButton(): void {
    this.#tell('custom.sos', { button: 'side' });
  }

  call(plan: CallPlan): string | undefined {
    return this.#model.state.activation ? this.#theCalls().call(plan) : undefined;
  }

  uploadFile(): string | undefined {
    return this.#model.state.activation ? this.#theCalls().uploadFile() : undefined;
  }

  connect(): Promise<void> {
    return this.#reconnector.connect();
  }

  async disconnect(): Promise<void> {
    this.#reconnector.stop();
    await this.#link.close();
  }

  async drop(): Promise<void> {
    this.#reconnector.stop();
    await this.#link.cut();
  }

  async idle(): Promise<void> {
    if (this.outstanding > 0) await new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#reconnector.stop();
    await Promise.all([this.#executor?.stop(), this.#calls?.stop()]);
    await this.#folder?.[Symbol.asyncDispose]();
    await (this.#link.inFlight > 0 ? this.#link.cut() : this.#link.close());
  }

  #tellWatchers<Name extends keyof DeviceEvents>(name: Name, what: DeviceEvents[Name]): void {
    this.#options.watch?.(this, name, what);
    // The types of an EventEmitter do not see that these belong together.
    (this.#events as EventEmitter | undefined)?.emit(name, ...what);
  }

  #thePatience(): Patience {
    this.#patience ??= { ...plainPatience, ...this.#options.patience };
    return this.#patience;
  }

  #theRequests(): Requests {
    this.#requests ??= createRequests({
      isOnline: () => this.#link.online,
      publish: (payload) => this.#link.publish('requests', payload, () => this.#settle()),
      wait: this.#thePatience().answer,
      timers: this.#timers,
    });
    return this.#requests;
  }

  #theEvents(): OutgoingEvents {
    this.#happened ??= createOutgoingEvents({
      isOnline: () => this.#link.online,
      publish: (payload, done) =>
        this.#link.publish('events', payload, () => {
          done();
          this.#settle();
        }),
      onEvent: (event) => this.#tellWatchers('event', [event]),
      onAcknowledged: (event) => this.#tellWatchers('told', [event]),
      onLost: (event) => this.#tellWatchers('forgotten', [event]),
    });
    return this.#happened;
  }

  #theCalls(): Calls {
    this.#calls ??= createCalls({
      deviceId: this.deviceId,
      uploader: createUploader({
        requests: this.#theRequests(),
        patience: this.#thePatience(),
        failureRate: this.#behaviour.uploadFailureRate,
        random: createRandom(deriveSeed(this.#seed, 9)),
        timers: this.#timers,
        onRetry: () => this.#tellWatchers('uploadRetry', []),
        onFile: (file) => this.#tellWatchers('upload', [file]),
      }),
      fileSize: this.#behaviour.fileSize,
      random: createRandom(deriveSeed(this.#seed, 10)),
      timers: this.#timers,
      tell: (type, data) => this.#tell(type, data),
      onOutcome: (outcome) => this.#tellWatchers('uploaded', [outcome]),
      onSettled: () => this.#settle(),
    });
    return this.#calls;
  }

  #makeFetcher(): Fetcher {
    const { downloads } = this.#options;
    // One of its own goes with the device.
    if (!downloads) this.#folder = createDownloadFolder();
    return createFetcher({
      deviceId: this.deviceId,
      folder: downloads ?? this.#folder!,
      requests: this.#theRequests(),
      patience: this.#thePatience(),
      random: createRandom(deriveSeed(this.#seed, 4)),
      timers: this.#timers,
    });
  }

  #theExecutor(): Executor {
    this.#executor ??= createExecutor({
      model: this.#model,
      behaviour: this.#behaviour,
      makeFetcher: () => this.#makeFetcher(),
      timers: this.#timers,
      onReaction: (command, reaction) => this.#tellWatchers('command', [command, reaction]),
      onProgress: (transactionId, progress) => this.#reportProcessing(transactionId, progress),
      onPassage: (passage) => this.#tellWatchers('download', [passage]),
      onAnswer: (answer, repeated) => this.#conclude(answer, repeated),
      onSettled: () => this.#settle(),
    });
    return this.#executor;
  }

  #online(sessionPresent: boolean): void {
    if (this.#options.reportStatus ?? true) this.#status.whole();
    else this.#status.changes();
    for (const answer of this.#unsent.splice(0)) this.#publish(answer);
    this.#requests?.online();
    this.#happened?.online();
    this.#tellWatchers('online', [sessionPresent]);
  }

  #offline(reason: string, wasOnline: boolean): void {
    this.#conformance.disconnected();
    const expected = this.#reconnector.lost();
    if (wasOnline) this.#tellWatchers('offline', [reason, expected]);
  }

  #settle(): void {
    if (this.#idleWaiters.length === 0 || this.outstanding > 0) return;
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  #publish(answer: Answer): void {
    if (!this.#link.online) {
      this.#unsent.push(answer);
      return;
    }
    this.#link.publish('acks', JSON.stringify(answer), () => {
      this.#tellWatchers('acknowledged', [answer]);
      this.#settle();
    });
  }

  /** Nobody listens to a device that belongs to no application. */
  #tell(type: string, data: DeviceEvent['data']): void {
    if (this.#model.state.activation) this.#theEvents().add(type, data);
  }

  #tellPeers(): void {
    const before = this.#bluetooth;
    const now = this.#model.state.bluetooth;
    if (before === now) return;
    this.#bluetooth = now;
    for (const { type, peer } of peerChanges(before, now, this.#model.peers)) this.#tell(type, { ...peer });
  }

  #reportProcessing(transactionId: number, progress: number): void {
    if (!this.#link.online) return;
    const payload = JSON.stringify({ transactionId, status: 'processing', progress });
    this.#link.publish('acks', payload, () => this.#settle());
  }

  #conclude(answer: Answer, repeated: boolean): void {
    const { duplicateAckRate } = this.#behaviour;
    if (!repeated) {
      this.#options.journal?.record(answer, this.#model.state);
      // Before the answer: who hears that it is installed, and looks, shall see it.
      this.#status.changes();
    }
    this.#publish(answer);
    this.#tellWatchers('answer', [answer, repeated]);
    if (duplicateAckRate > 0 && this.#repeats() < duplicateAckRate) this.#publish(answer);
    if (!repeated) this.#tellPeers();
  }

  #violation(text: string): void {
    this.#tellWatchers('violation', [text]);
  }

  #receive(topic: Inbound, payload: Uint8Array, dup: boolean): undefined {
    if (topic === 'commands') this.#receiveCommand(payload, dup);
    else if (topic === 'responses') {
      const response = parseResponse(payload);
      if (typeof response === 'string') this.#violation(`a response that cannot be read: ${response}`);
      else this.#requests?.receive(response);
    } else {
      const complaint = parseComplaint(payload);
      if (typeof complaint === 'string') this.#violation(`a complaint that cannot be read: ${complaint}`);
      else this.#tellWatchers('complaint', [complaint]);
    }
  }

  #receiveCommand(payload: Uint8Array, dup: boolean): void {
    const command = parseCommand(payload);
    if (typeof command === 'string') {
      this.#violation(`a command that cannot be read: ${command}`);
      return;
    }
    const fault = this.#conformance.fault(command, dup);
    if (fault) this.#violation(fault);
    this.#theExecutor().receive(command);
  }
}
