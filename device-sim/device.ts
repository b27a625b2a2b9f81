import { EventEmitter } from 'node:events';
import { type Behaviour, promptBehaviour } from './behaviour.ts';
import { createConformance } from './conformance.ts';
import { createDeviceModel, type DeviceModel, type Reaction } from './device-model.ts';
import { type DeviceState, type Equipment, plainEquipment } from './device-state.ts';
import { type Passage, type Patience, plainPatience } from './download.ts';
import { createDownloadFolder, type DownloadFolder } from './download-folder.ts';
import { createFetcher } from './fetcher.ts';
import {
  type Answer,
  type Command,
  type Complaint,
  type Failure,
  parseCommand,
  parseComplaint,
  parseResponse,
} from './messages.ts';
import { createLink, type Inbound } from './mqtt-link.ts';
import { createRandom, deriveSeed, type Range } from './random.ts';
import { createReconnector } from './reconnector.ts';
import { createRequests } from './requests.ts';
import { createRunningDownloads } from './running-downloads.ts';
import { type DownloadedFile, softwareStatus } from './software.ts';
import type { Journal } from './state-file.ts';
import { systemTimers, type Timers } from './timers.ts';

export interface DeviceEvents {
  /** A command came; what the device does about it. */
  command: [command: Command, reaction: Reaction['kind']];
  /** An answer was handed to the connection, or (offline) waits for the next one. */
  answer: [answer: Answer, repeated: boolean];
  /** The service has acknowledged an answer: its effects are durable there. */
  acknowledged: [answer: Answer];
  /** A download has come to its end, good or bad. */
  download: [passage: Passage];
  /** Connected and subscribed. */
  online: [sessionPresent: boolean];
  /** `expected`: by `disconnect` or `drop`. */
  offline: [reason: string, expected: boolean];
  /** The service refused the device's credential while it tried to reconnect: it stays offline. */
  refused: [error: Error];
  /** The service complained about a message of the device, on `errors`. */
  complaint: [complaint: Complaint];
  /** The service broke the contract: in words. */
  violation: [fault: string];
}

export interface Device extends AsyncDisposable {
  readonly deviceId: string;
  readonly events: EventEmitter<DeviceEvents>;
  readonly online: boolean;
  /** Activation, APNs, Wi-Fi networks, software and firmware as commands have set them. */
  readonly state: Readonly<DeviceState>;
  /** transactionId -> how often it was executed. */
  readonly executions: ReadonlyMap<number, number>;
  /** Commands not finished, downloads not cleared away, and messages not acknowledged. */
  readonly outstanding: number;
  /** Resolves when online; rejects after the attempts allowed, or at once when the credential is refused. */
  connect(): Promise<void>;
  /** Goes offline politely (DISCONNECT) and stays there until `connect`. */
  disconnect(): Promise<void>;
  /** Cuts the socket and stays offline until `connect`. */
  drop(): Promise<void>;
  /** Resolves when every command that came is answered and every answer acknowledged. */
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
  /** Reports software, storage and firmware at each connection, too, not only when they have changed. */
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
  reportStatus = false,
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
    seed: deriveSeed(seed, 2),
    behaviour,
    equipment,
    memory: journal?.memory,
  });
  const conformance = createConformance({ memory: behaviour.memory });
  /** Answers made while offline; those already sent are kept by the link. */
  let unsent: Answer[] = [];
  /** A changed status that the service has not got, because there was no connection. */
  let statusDue = false;
  let idleWaiters: (() => void)[] = [];
  let stopTimer: (() => void) | undefined;

  const link = createLink({
    url,
    deviceId,
    credential,
    clean,
    timers,
    onMessage: receive,
    onOnline(sessionPresent) {
      if (statusDue || reportStatus) publishStatus();
      const waiting = unsent;
      unsent = [];
      waiting.forEach(publish);
      requests.online();
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

  const requests = createRequests({
    isOnline: () => link.online,
    publish: (payload, done) =>
      link.publish('requests', payload, (error) => {
        done(error);
        settle();
      }),
    wait: patience.answer,
    timers,
  });
  const folder = downloads ?? createDownloadFolder();
  const running = createRunningDownloads({
    fetcher: createFetcher({
      deviceId,
      folder,
      requests,
      patience,
      random: createRandom(deriveSeed(seed, 4)),
      timers,
    }),
    timers,
    onProgress: reportProcessing,
    onPassage: (passage) => events.emit('download', passage),
    onFinished(file) {
      conclude(file);
      work();
    },
    onCleared: settle,
  });

  const outstanding = (): number =>
    model.unfinished() + running.clearing() + unsent.length + (statusDue ? 1 : 0) + link.inFlight;

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
    link.publish('acks', JSON.stringify(answer), (error) => {
      if (error) unsent.push(answer);
      else events.emit('acknowledged', answer);
      settle();
    });
  }

  function publishStatus(): void {
    statusDue = !link.online;
    if (statusDue) return;
    link.publish('status', JSON.stringify(softwareStatus(model.state, equipment.storage)), (error) => {
      if (error) statusDue = true;
      settle();
    });
  }

  function answerWith(answer: Answer, repeated: boolean): void {
    publish(answer);
    events.emit('answer', answer, repeated);
    if (behaviour.duplicateAckRate > 0 && repeats() < behaviour.duplicateAckRate) publish(answer);
  }

  function reportProcessing(transactionId: number, progress: number): void {
    if (link.online) link.publish('acks', JSON.stringify({ transactionId, status: 'processing', progress }), settle);
  }

  function conclude(file?: DownloadedFile | Failure): void {
    stopTimer = undefined;
    const { software, firmwareVersion } = model.state;
    const answer = model.finish(file);
    journal?.record(answer, model.state);
    // Before the answer: who hears that it is installed, and looks, shall see it.
    if (model.state.software !== software || model.state.firmwareVersion !== firmwareVersion) publishStatus();
    answerWith(answer, false);
  }

  function work(): void {
    for (let execution = model.begin(); execution; execution = model.begin()) {
      if (execution.download) {
        running.begin(execution);
        return;
      }
      if (behaviour.reportProcessing) reportProcessing(execution.command.transactionId, 0);
      if (execution.latency > 0) {
        stopTimer = timers.after(execution.latency, () => {
          conclude();
          work();
        });
        return;
      }
      conclude();
    }
    settle();
  }

  function receiveCommand(command: Command): void {
    const reaction = model.receive(command);
    events.emit('command', command, reaction.kind);
    if (reaction.kind === 'repeat') answerWith(reaction.answer, true);
    if (reaction.kind === 'underway') running.renew(command);
    if (reaction.kind === 'cancel' && reaction.stopped === 'current') {
      stopTimer?.();
      running.cancel();
    }
    if (reaction.kind === 'accepted' || reaction.kind === 'cancel') work();
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
      receiveCommand(command);
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
      stopTimer?.();
      reconnector.stop();
      running.cancel();
      await running.cleared();
      if (!downloads) await folder[Symbol.asyncDispose]();
      await (link.inFlight > 0 ? link.cut() : link.close());
    },
  };
}
