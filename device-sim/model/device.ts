import { EventEmitter } from 'node:events';
import { type Chances, createChances } from '../faults/chances.ts';
import { type Conformance, createConformance } from '../mqtt/conformance.ts';
import type { Inbound, Link } from '../mqtt/link.ts';
import { type Answer, type DeviceEvent, parseCommand, parseOther } from '../mqtt/messages.ts';
import { createLink } from '../mqtt/mqtt-link.ts';
import { createReconnector, type Reconnector } from '../mqtt/reconnector.ts';
import { createRandom, deriveSeed } from '../random.ts';
import { systemTimers, type Timers } from '../timers.ts';
import { type Answering, createAnswering } from './answering.ts';
import { type Behaviour, promptBehaviour } from './behaviour.ts';
import type { CallPlan } from './calls.ts';
import type { DeviceEvents } from './device-events.ts';
import { createDeviceFaults, type DeviceFaults } from './device-faults.ts';
import { createDeviceModel, type DeviceModel } from './device-model.ts';
import type { Device, DeviceOptions } from './device-options.ts';
import { type DeviceState, type Equipment, plainEquipment } from './device-state.ts';
import { createExecutor, type Executor } from './executor.ts';
import { PeerWatch } from './peer-watch.ts';
import { createPlans, type Plans } from './plans.ts';
import { SideTasks } from './side-tasks.ts';
import { createStatusReport, type StatusReport, statusReader } from './status.ts';
import { RunningTrial } from './trial.ts';

export type { Device, DeviceOptions } from './device-options.ts';

/** One wearable camera: the device model with a connection. It starts offline. */
export const createDevice = (options: DeviceOptions): Device => new SimulatedDevice(options);

/**
 * A class, because there are many thousands: all share the methods, and unneeded parts (calls, listeners) do not exist.
 */
class SimulatedDevice implements Device {
  readonly deviceId: string;
  readonly #options: DeviceOptions;
  readonly #behaviour: Behaviour;
  readonly #seed: number;
  readonly #timers: Timers;
  readonly #model: DeviceModel;
  readonly #link: Link;
  readonly reconnector: Reconnector;
  readonly #status: StatusReport;
  readonly #chances: Chances;
  readonly #plans: Plans;
  readonly #deviceFaults: DeviceFaults | undefined;
  readonly #answering: Answering;
  readonly conformance: Conformance;
  #events: EventEmitter<DeviceEvents> | undefined;
  #sideTasks: SideTasks | undefined;
  #executor: Executor | undefined;
  readonly #peers: PeerWatch;
  /** Milliseconds for which the device stays switched off once its connection has ended; undefined while it is on. */
  #off: number | undefined;
  #trial: RunningTrial | undefined;
  /** Whether it does not start any more, or has no network, so that it cannot connect. */
  #isDead = false;
  /** Stopped executions that are still removing their files. */
  #leaving: Promise<unknown>[] = [];
  #idleWaiters: (() => void)[] = [];

  constructor(options: DeviceOptions) {
    const { deviceId, seed = 1, clean = false, timers = systemTimers, journal } = options;
    const equipment: Equipment = { ...plainEquipment, ...options.equipment };
    this.#options = options;
    this.deviceId = deviceId;
    this.#seed = seed;
    this.#timers = timers;
    this.#behaviour = { ...promptBehaviour, ...options.behaviour };
    this.#chances = options.chances ?? createChances({ seed: deriveSeed(seed, 2), device: 0 });
    const onDecided = (transactionId: number): void => this.#decided(transactionId);
    this.#plans = createPlans({ ...options, chances: this.#chances, behaviour: this.#behaviour, onDecided });
    this.#model = createDeviceModel({
      deviceId,
      plans: this.#plans,
      behaviour: this.#behaviour,
      equipment,
      memory: journal?.memory,
    });
    this.#peers = new PeerWatch(this.#model, seed, (type, peer) => this.#theSideTasks().tell(type, peer));
    this.conformance = createConformance({ memory: this.#behaviour.memory, look: options.look });
    this.#link = (options.createLink ?? createLink)({
      ...options,
      clean,
      timers,
      network: options.conditions && { conditions: options.conditions, random: createRandom(deriveSeed(seed, 11)) },
      onMessage: (topic, payload, dup, messageId) => this.#receive(topic, payload, dup, messageId),
      onForeign: (topic) =>
        this.#tellWatchers('violation', [`a message came on ${topic}, which is not a topic of device ${deviceId}`]),
      onBatch: () => this.conformance.batch(),
      onOnline: (sessionPresent) => this.#online(sessionPresent),
      onClose: (reason, wasOnline) => this.#offline(reason, wasOnline),
    });
    this.#answering = createAnswering({
      isOnline: () => this.#link.online,
      publish: (payload, done) =>
        this.#link.publish('acks', payload, () => {
          done();
          this.#settle();
        }),
      release: (messageId) => this.#link.release(messageId),
      timers,
      onSaid: (answer, repeated) => this.#tellWatchers('answer', [answer, repeated]),
      onAcknowledged: (answer) => this.#tellWatchers('acknowledged', [answer]),
    });
    this.#deviceFaults = this.#chances.isPlain ? undefined : this.#makeDeviceFaults();
    this.reconnector = createReconnector({
      open: () => (this.#deviceFaults ?? this.#link).open(),
      attempts: options.connectAttempts ?? 1,
      pause: options.reconnect,
      random: createRandom(deriveSeed(seed, 3)),
      gate: options.gate,
      timers,
      onRefused: (error) => this.#tellWatchers('refused', [error]),
    });
    const worn = () => this.#deviceFaults?.worn() ?? {};
    this.#status = createStatusReport({
      read: statusReader({ state: () => this.#model.state, total: equipment.storage, seed, timers, worn }),
      isOnline: () => this.#link.online,
      publish: (payload) => this.#link.publish('status', payload, () => this.#settle()),
    });
    if (this.#model.state.trial) this.#theTrial().restarts(0);
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
  get address(): string {
    return this.#link.address;
  }

  get outstanding(): number {
    return (
      (this.#executor?.outstanding() ?? this.#model.unfinished()) +
      (this.#sideTasks?.size ?? 0) +
      this.#answering.size +
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
    this.#peers.move();
  }

  tell(type: string, data: DeviceEvent['data']): DeviceEvent | undefined {
    return this.#theSideTasks().tell(type, data);
  }

  pressButton(): void {
    this.tell('custom.sos', { button: 'side' });
  }

  call(plan: CallPlan): string | undefined {
    return this.#model.state.activation ? this.#theSideTasks().calls().call(plan) : undefined;
  }

  uploadFile(): string | undefined {
    return this.#model.state.activation ? this.#theSideTasks().calls().uploadFile() : undefined;
  }

  connect(): Promise<void> {
    return this.#isDead ? Promise.resolve() : this.reconnector.connect();
  }

  async disconnect(): Promise<void> {
    this.reconnector.stop();
    await this.#link.close();
  }

  useCredential(credential: string): void {
    this.#link.useCredential(credential);
  }

  loseConnection(): void {
    if (this.#link.hasConnection) void this.#link.cut();
  }

  async drop(): Promise<void> {
    this.reconnector.stop();
    await this.#link.cut();
  }

  idle(): Promise<void> {
    return this.outstanding > 0 ? new Promise((resolve) => this.#idleWaiters.push(resolve)) : Promise.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.reconnector.stop();
    this.#deviceFaults?.stop();
    this.#trial?.stop();
    await Promise.all([...this.#leaving, this.#executor?.stop(), this.#sideTasks?.stop()]);
    // A decision that comes later must not begin another command.
    this.#executor = undefined;
    await this.#sideTasks?.clear();
    await (this.#link.inFlight > 0 ? this.#link.cut() : this.#link.close());
  }

  #tellWatchers<Name extends keyof DeviceEvents>(name: Name, what: DeviceEvents[Name]): void {
    this.#options.watch?.(this, name, what);
    // The cast is needed because the types of an EventEmitter do not know that `name` and `what` belong together.
    (this.#events as EventEmitter | undefined)?.emit(name, ...what);
  }

  #theSideTasks(): SideTasks {
    this.#sideTasks ??= new SideTasks({
      ...this.#options,
      link: this.#link,
      seed: this.#seed,
      chances: this.#chances,
      uploadFailureRate: this.#behaviour.uploadFailureRate,
      fileSize: this.#behaviour.fileSize,
      timers: this.#timers,
      wrongBy: () => (this.#deviceFaults?.wrongBy() ?? 0) + (this.#options.clockError?.() ?? 0),
      isLate: this.#deviceFaults?.isLate,
      tellWatchers: (name, what) => this.#tellWatchers(name, what),
      onSettled: () => this.#settle(),
      isActivated: () => this.#model.state.activation !== null,
    });
    return this.#sideTasks;
  }

  #makeDeviceFaults(): DeviceFaults {
    return createDeviceFaults({
      ...this.#options,
      link: this.#link,
      timers: this.#timers,
      chances: this.#chances,
      planOf: this.#plans.find,
      powerOff: (milliseconds, forgets) => this.#powerOff(milliseconds, forgets),
      die: (isDead) => this.#vanish(isDead, () => this.#powerOff(0, 'unfinished')),
      strand: (isStranded) => this.#vanish(isStranded, () => void this.disconnect()),
      loseConnection: () => this.loseConnection(),
      reportStatus: () => this.#status.changes(),
      tell: (type, data) => this.tell(type, data),
      onPlayed: (fault, occasion) => this.#tellWatchers('fault', [fault, occasion]),
      onViolation: (text) => this.#tellWatchers('violation', [text]),
    });
  }

  #theExecutor(): Executor {
    this.#executor ??= createExecutor({
      model: this.#model,
      behaviour: this.#behaviour,
      makeFetcher: () => this.#theSideTasks().makeFetcher(),
      sendDiagnostics: (files, signal) => this.#theSideTasks().calls().sendDiagnostics(files, signal),
      timers: this.#timers,
      onReaction: (command, reaction) => this.#tellWatchers('command', [command, reaction]),
      onBegin: (execution) => this.#deviceFaults?.begins(execution) ?? true,
      onProgress: (transactionId, progress) => {
        this.#reportProcessing(transactionId, progress);
        this.#deviceFaults?.progress(transactionId, progress);
      },
      onPassage: (passage) => this.#tellWatchers('download', [passage]),
      onAnswer: (answer, repeated) => this.#conclude(answer, repeated),
      onTrial: () => this.#theTrial().begin(),
      onSettled: () => this.#settle(),
    });
    return this.#executor;
  }

  #online(sessionPresent: boolean): void {
    this.#status[this.#options.reportStatus === false ? 'changes' : 'whole']();
    this.#answering.online();
    this.#sideTasks?.online();
    this.#tellWatchers('online', [sessionPresent]);
    this.#trial?.online();
  }

  #offline(reason: string, wasOnline: boolean): void {
    this.conformance.disconnected();
    // A new list of networks is tried at once.
    const expected = this.reconnector.lost(this.#off ?? (this.#model.state.trial && wasOnline ? 0 : undefined));
    this.#off = undefined;
    if (wasOnline) this.#tellWatchers('offline', [reason, expected]);
    else if (!expected) this.#tellWatchers('unopened', []);
  }

  #settle(): void {
    if (this.#idleWaiters.length === 0 || this.outstanding > 0) return;
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  /** Switches the device off without DISCONNECT. The service repeats a command in progress, which then begins again. */
  #powerOff(milliseconds: number, forgets: 'unfinished' | 'everything'): void {
    this.#leaving.push(this.#executor?.stop() ?? Promise.resolve());
    this.#executor = undefined;
    this.#model.forget(forgets);
    this.#trial?.restarts(milliseconds);
    if (forgets === 'everything') {
      this.#leaving.push(this.#sideTasks?.forget() ?? Promise.resolve());
      this.#answering.forget();
      this.#link.forget();
    }
    if (this.#link.hasConnection) this.#off = milliseconds;
    this.loseConnection();
  }

  /** The device has no power or no network any more, after `go`; or it has it again. */
  #vanish(isGone: boolean, go: () => void): void {
    this.#isDead = isGone;
    if (!isGone) return void this.connect().catch(() => undefined);
    this.reconnector.stop();
    go();
  }

  #theTrial(): RunningTrial {
    this.#trial ??= new RunningTrial({
      model: this.#model,
      link: this.#link,
      timers: this.#timers,
      journal: this.#options.journal,
      faults: () => this.#deviceFaults,
      conclude: (answer) => this.#conclude(answer, false),
      work: () => this.#theExecutor().work(),
    });
    return this.#trial;
  }

  #reportProcessing(transactionId: number, progress: number): void {
    if (!this.#link.online) return;
    this.#link.publish('acks', JSON.stringify({ transactionId, status: 'processing', progress }), () => this.#settle());
  }

  #conclude(answer: Answer, repeated: boolean): void {
    if (!repeated) {
      this.#options.journal?.record({ answer, issuedAt: this.#model.issuedAt(answer.transactionId) }, this.state);
      // Before the answer, because a customer who gets the result may read the status at once, and must see its effect.
      this.#status.changes();
    }
    this.#answering.say(answer, this.#plans.find(answer.transactionId), repeated);
    if (repeated) return;
    this.#deviceFaults?.concluded(answer);
    this.#peers.report();
  }

  /** Called when the decisions about a command, which it waited for, were made. */
  #decided(transactionId: number): void {
    if (this.#plans.find(transactionId)?.fault?.kind !== 'answers-before-puback') this.#release(transactionId);
    this.#executor?.work();
  }

  #release(transactionId: number): void {
    const messageId = this.#answering.letGo(transactionId);
    if (messageId !== undefined) this.#link.release(messageId);
  }

  #receive(topic: Inbound, payload: Uint8Array, dup: boolean, messageId: number): 'hold' | undefined {
    if (topic === 'commands') return this.#receiveCommand(payload, dup, messageId);
    const outcome = parseOther(topic, payload);
    if (typeof outcome === 'string') this.#tellWatchers('violation', [outcome]);
    else if ('topic' in outcome) this.#tellWatchers('complaint', [outcome, this.#answering.isProvoked()]);
    else this.#sideTasks?.receive(outcome);
    return undefined;
  }

  #receiveCommand(payload: Uint8Array, dup: boolean, messageId: number): 'hold' | undefined {
    const command = parseCommand(payload, this.#options.look);
    if (typeof command === 'string') {
      this.#tellWatchers('violation', [`an unreadable command: ${command}`]);
      return undefined;
    }
    const fault = this.conformance.fault(command, dup);
    if (fault) this.#tellWatchers('violation', [fault]);
    const { transactionId } = command;
    const mayHold = this.#deviceFaults !== undefined && this.#chances.can('answers-before-puback');
    if (mayHold && command.operation !== 'cancel') this.#answering.hold(transactionId, messageId);
    const reaction = this.#theExecutor().receive(command);
    const overrun = this.conformance.overrun(reaction === 'repeat');
    if (overrun !== undefined) this.#tellWatchers('overrun', [overrun]);
    // A device that is switched off acknowledges nothing.
    if (this.#off !== undefined) return 'hold';
    if (!mayHold) return undefined;
    const plan = this.#plans.find(transactionId);
    if (reaction === 'accepted' && (!plan || plan.fault?.kind === 'answers-before-puback')) return 'hold';
    if (reaction === 'cancel') this.#release(transactionId);
    else this.#answering.letGo(transactionId);
    return undefined;
  }
}
