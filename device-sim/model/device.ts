import { EventEmitter } from 'node:events';
import { type Patience, plainPatience } from '../files/download.ts';
import { createDownloadFolder, type DownloadFolder } from '../files/download-folder.ts';
import { createFetcher } from '../files/fetcher.ts';
import { createUploader } from '../files/uploader.ts';
import { createConformance } from '../mqtt/conformance.ts';
import { type Answer, type DeviceEvent, parseCommand, parseComplaint, parseResponse } from '../mqtt/messages.ts';
import { createLink, type Inbound } from '../mqtt/mqtt-link.ts';
import { createOutgoingEvents } from '../mqtt/outgoing-events.ts';
import { createReconnector } from '../mqtt/reconnector.ts';
import { createRequests } from '../mqtt/requests.ts';
import { createRandom, deriveSeed, draw, type Range } from '../random.ts';
import { systemTimers, type Timers } from '../timers.ts';
import { createBattery } from './battery.ts';
import { type Behaviour, promptBehaviour } from './behaviour.ts';
import { type Bluetooth, peerChanges, wandered } from './bluetooth.ts';
import { type CallPlan, createCalls } from './calls.ts';
import type { DeviceEvents } from './device-events.ts';
import { createDeviceModel, type DeviceModel } from './device-model.ts';
import { type DeviceState, type Equipment, plainEquipment } from './device-state.ts';
import { createExecutor } from './executor.ts';
import type { Journal } from './state-file.ts';
import { createStatusReport, statusOf } from './status.ts';

export interface Device extends AsyncDisposable {
  readonly deviceId: string;
  readonly events: EventEmitter<DeviceEvents>;
  readonly online: boolean;
  /** Activation, networks, language, Bluetooth, software and firmware as commands have set them. */
  readonly state: Readonly<DeviceState>;
  /** transactionId -> how often it was executed. */
  readonly executions: ReadonlyMap<number, number>;
  /** Commands, calls and uploads not finished, downloads not cleared away, and messages not acknowledged. */
  readonly outstanding: number;
  /** What an earlier run of the simulator knew, and the service still does. */
  rememberActivation(activation: NonNullable<DeviceState['activation']>): void;
  /** Reports what has changed by itself: the battery. */
  reportChanges(): void;
  /** One of the paired Bluetooth peers comes or goes. */
  movePeer(): void;
  /** Its SOS button is pressed. */
  pressButton(): void;
  /** Begins a call. Gives its callId; undefined while there is another one, or no activation. */
  call(plan: CallPlan): string | undefined;
  /** Uploads a file of the customer's application. Gives its fileId; undefined without an activation. */
  uploadFile(): string | undefined;
  /** Resolves when online; rejects after the attempts allowed, or at once when the credential is refused. */
  connect(): Promise<void>;
  /** Goes offline politely (DISCONNECT) and stays there until `connect`. */
  disconnect(): Promise<void>;
  /** Cuts the socket and stays offline until `connect`. */
  drop(): Promise<void>;
  /** Resolves when every command that came is answered, calls and uploads are over, and everything is acknowledged. */
  idle(): Promise<void>;
}

export interface DeviceOptions {
  deviceId: string;
  credential: string;
  /** `mqtt://host:port` (or `mqtts:`, `ws:`, `wss:`). */
  url: string;
  /** Decides latencies, failures, repetitions and pauses before reconnecting. */
  seed?: number;
  behaviour?: Partial<Behaviour>;
  /** A clean session: subscribes anew each time, and the service forgets it. */
  clean?: boolean;
  /** Bounds in milliseconds of the pause before reconnecting after a lost connection (doubled each time); null: stay offline. */
  reconnect?: Range | null;
  /** How often `connect` tries. */
  connectAttempts?: number;
  /** Awaited before each connection attempt, to bound a storm. */
  gate?: () => Promise<void>;
  /** Remembers over restarts. */
  journal?: Journal;
  /** What it is before its first command, as far as the journal knows of none. */
  equipment?: Partial<Equipment>;
  /** Reports its whole status at each connection, not only what has changed. */
  reportStatus?: boolean;
  /** Where files are while they are downloaded; a temporary folder of its own when missing. */
  downloads?: DownloadFolder;
  patience?: Partial<Patience>;
  timers?: Timers;
}

/** One wearable camera: the model of it, on a connection. Starts offline. */
export function createDevice({
  deviceId,
  credential,
  url,
  seed = 1,
  behaviour: knobs = {},
  clean = false,
  reconnect = { min: 250, max: 10_000 },
  connectAttempts = 1,
  gate,
  journal,
  equipment: given = {},
  reportStatus = true,
  downloads,
  patience: limits = {},
  timers = systemTimers,
}: DeviceOptions): Device {
  const behaviour: Behaviour = { ...promptBehaviour, ...knobs };
  const equipment: Equipment = { ...plainEquipment, ...given };
  const patience: Patience = { ...plainPatience, ...limits };
  const events = new EventEmitter<DeviceEvents>();
  const repeats = createRandom(deriveSeed(seed, 1));
  const model: DeviceModel = createDeviceModel({
    deviceId,
    seed: deriveSeed(seed, 2),
    behaviour,
    equipment,
    memory: journal?.memory,
  });
  const conformance = createConformance({ memory: behaviour.memory });
  /** Answers made while offline; those already sent are kept by the link. */
  let unsent: Answer[] = [];
  let idleWaiters: (() => void)[] = [];
  const wanderings = createRandom(deriveSeed(seed, 6));
  const battery = createBattery(createRandom(deriveSeed(seed, 7)));
  const rssi = Math.round(draw(createRandom(deriveSeed(seed, 8)), { min: -85, max: -45 }));
  const switchedOn = timers.now();

  const link = createLink({
    url,
    deviceId,
    credential,
    clean,
    timers,
    onMessage(topic, payload, dup) {
      receive(topic, payload, dup);
      return undefined;
    },
    onOnline(sessionPresent) {
      if (reportStatus) status.whole();
      else status.changes();
      const waiting = unsent;
      unsent = [];
      waiting.forEach(publish);
      requests.online();
      happened.online();
      events.emit('online', sessionPresent);
    },
    onClose(reason, wasOnline) {
      conformance.disconnected();
      const expected = reconnector.lost();
      if (wasOnline) events.emit('offline', reason, expected);
    },
  });
  const reconnector = createReconnector({
    open: link.open,
    attempts: connectAttempts,
    pause: reconnect,
    random: createRandom(deriveSeed(seed, 3)),
    gate,
    timers,
    onRefused: (error) => events.emit('refused', error),
  });

  /** Whatever is lost with its connection is the sender's business. */
  const sendTo =
    (topic: string) =>
    (payload: string, done: (error?: Error | null) => void): void =>
      link.publish(topic, payload, () => {
        done();
        settle();
      });
  const isOnline = (): boolean => link.online;
  const status = createStatusReport({
    read: () => statusOf(model.state, { total: equipment.storage, battery: battery(timers.now() - switchedOn), rssi }),
    isOnline,
    publish: sendTo('status'),
  });
  const happened = createOutgoingEvents({
    isOnline,
    publish: sendTo('events'),
    onEvent: (event) => events.emit('event', event),
    onAcknowledged: (event) => events.emit('told', event),
    onLost: (event) => events.emit('forgotten', event),
  });
  const requests = createRequests({ isOnline, publish: sendTo('requests'), wait: patience.answer, timers });
  const calls = createCalls({
    deviceId,
    uploader: createUploader({
      requests,
      patience,
      failureRate: behaviour.uploadFailureRate,
      random: createRandom(deriveSeed(seed, 9)),
      timers,
      onRetry: () => events.emit('uploadRetry'),
      onFile: (file) => events.emit('upload', file),
    }),
    fileSize: behaviour.fileSize,
    random: createRandom(deriveSeed(seed, 10)),
    timers,
    tell,
    onOutcome: (outcome) => events.emit('uploaded', outcome),
    onSettled: settle,
  });
  const folder = downloads ?? createDownloadFolder();
  const executor = createExecutor({
    model,
    behaviour,
    fetcher: createFetcher({
      deviceId,
      folder,
      requests,
      patience,
      random: createRandom(deriveSeed(seed, 4)),
      timers,
    }),
    timers,
    onReaction: (command, reaction) => events.emit('command', command, reaction),
    onProgress: reportProcessing,
    onPassage: (passage) => events.emit('download', passage),
    onAnswer: conclude,
    onSettled: settle,
  });
  let bluetooth: Bluetooth = model.state.bluetooth;

  const outstanding = (): number =>
    executor.outstanding() + calls.size + happened.waiting + unsent.length + (status.due ? 1 : 0) + link.inFlight;

  function settle(): void {
    if (idleWaiters.length === 0 || outstanding() > 0) return;
    const waiters = idleWaiters;
    idleWaiters = [];
    for (const resolve of waiters) resolve();
  }

  function publish(answer: Answer): void {
    if (!link.online) {
      unsent.push(answer);
      return;
    }
    link.publish('acks', JSON.stringify(answer), () => {
      events.emit('acknowledged', answer);
      settle();
    });
  }

  /** Nobody listens to a device that belongs to no application. */
  function tell(type: string, data: DeviceEvent['data']): void {
    if (model.state.activation) happened.add(type, data);
  }

  function tellPeers(): void {
    const before = bluetooth;
    bluetooth = model.state.bluetooth;
    for (const { type, peer } of peerChanges(before, bluetooth, model.peers)) tell(type, { ...peer });
  }

  function reportProcessing(transactionId: number, progress: number): void {
    if (link.online) link.publish('acks', JSON.stringify({ transactionId, status: 'processing', progress }), settle);
  }

  function conclude(answer: Answer, repeated: boolean): void {
    if (!repeated) {
      journal?.record(answer, model.state);
      // Before the answer: who hears that it is installed, and looks, shall see it.
      status.changes();
    }
    publish(answer);
    events.emit('answer', answer, repeated);
    if (behaviour.duplicateAckRate > 0 && repeats() < behaviour.duplicateAckRate) publish(answer);
    if (!repeated) tellPeers();
  }

  function receive(topic: Inbound, payload: Uint8Array, dup: boolean): void {
    if (topic === 'commands') {
      const command = parseCommand(payload);
      if (typeof command === 'string') {
        events.emit('violation', `a command that cannot be read: ${command}`);
        return;
      }
      const fault = conformance.fault(command, dup);
      if (fault) events.emit('violation', fault);
      executor.receive(command);
    } else if (topic === 'responses') {
      const response = parseResponse(payload);
      if (typeof response === 'string') events.emit('violation', `a response that cannot be read: ${response}`);
      else requests.receive(response);
    } else {
      const complaint = parseComplaint(payload);
      if (typeof complaint === 'string') events.emit('violation', `a complaint that cannot be read: ${complaint}`);
      else events.emit('complaint', complaint);
    }
  }

  return {
    deviceId,
    events,
    state: model.state,
    executions: model.executions,
    get online() {
      return link.online;
    },
    get outstanding() {
      return outstanding();
    },
    rememberActivation(activation) {
      model.state.activation = activation;
    },
    reportChanges: status.changes,
    movePeer() {
      model.state.bluetooth = wandered(model.state.bluetooth, wanderings);
      tellPeers();
    },
    pressButton: () => tell('custom.sos', { button: 'side' }),
    call: (plan) => (model.state.activation ? calls.call(plan) : undefined),
    uploadFile: () => (model.state.activation ? calls.uploadFile() : undefined),
    connect: reconnector.connect,
    async disconnect() {
      reconnector.stop();
      await link.close();
    },
    async drop() {
      reconnector.stop();
      await link.cut();
    },
    idle: () =>
      new Promise((resolve) => {
        idleWaiters.push(resolve);
        settle();
      }),
    async [Symbol.asyncDispose]() {
      reconnector.stop();
      await Promise.all([executor.stop(), calls.stop()]);
      if (!downloads) await folder[Symbol.asyncDispose]();
      await (link.inFlight > 0 ? link.cut() : link.close());
    },
  };
}
