import { type Absence, scheduleAbsences } from './absences.ts';
import { type Behaviour, promptBehaviour } from './behaviour.ts';
import { createDevice, type Device } from './device.ts';
import type { Equipment } from './device-state.ts';
import type { Patience } from './download.ts';
import { createDownloadFolder } from './download-folder.ts';
import { OLD_FIRMWARE } from './firmware.ts';
import { type Life, letLive, quietLife } from './life.ts';
import { createPacer } from './pacer.ts';
import { createRandom, deriveSeed } from './random.ts';
import { createStateFile } from './state-file.ts';
import { systemTimers, type Timers } from './timers.ts';

export interface DeviceAccount {
  readonly deviceId: string;
  readonly credential: string;
}

/** What a fleet went through; all but the first three only grow. */
export interface FleetCounts {
  devices: number;
  connected: number;
  /** Commands not finished and answers not acknowledged, now. */
  outstanding: number;
  connections: number;
  /** Connections that ended unwanted. */
  losses: number;
  /** Attempts to connect that were given up. */
  connectFailures: number;
  /** Deliveries of commands, repetitions and cancels included. */
  commands: number;
  /** Deliveries of commands that were known already. */
  repetitions: number;
  cancels: number;
  /** Deliveries that a firmware left unanswered. */
  ignored: number;
  /** Answers to commands executed, and again to repeated ones. */
  answers: number;
  repeatedAnswers: number;
  /** Executions that failed. */
  failures: number;
  /** Answers that the service acknowledged. */
  acknowledged: number;
  /** Downloads that came to an end, good or bad, and their bytes. */
  downloads: number;
  downloadedBytes: number;
  /** How often one went on where it was cut. */
  resumed: number;
  /** How often a fresh URL was asked for. */
  renewed: number;
  /** Events that the service acknowledged; events that a device had no room for while nobody took them. */
  events: number;
  eventsLost: number;
  /** Calls that began. */
  calls: number;
  /** Files that are where the customer wanted them, and their bytes. */
  uploads: number;
  uploadedBytes: number;
  /** How often an upload, or its URL, was tried once more. */
  uploadRetries: number;
  /** Recordings and customer files that were given up. */
  uploadFailures: number;
  /** Recordings and customer files that nobody wanted: the application has no place for them. */
  unwanted: number;
  /** Messages on the errors topics. */
  complaints: number;
  /** Breaches of the contract by the service. */
  violations: number;
}

export interface Fleet extends AsyncDisposable {
  readonly devices: readonly Device[];
  /**
   * Connects all devices, no faster than the connect rate, and then lets absences and life begin. Resolves when each is online or
   * was given up; says who was given up and why.
   */
  connect(): Promise<{ deviceId: string; error: Error }[]>;
  /** Everyone goes offline politely. */
  disconnect(): Promise<void>;
  /** Resolves when no device has anything unfinished. */
  idle(): Promise<void>;
  counts(): FleetCounts;
}

export interface FleetOptions {
  accounts: readonly DeviceAccount[];
  url: string;
  seed?: number;
  behaviour?: Partial<Behaviour>;
  absence?: Absence;
  /** Connections a second; null is unbounded. */
  connectRate?: number | null;
  connectAttempts?: number;
  clean?: boolean;
  /** A folder in which devices remember over restarts. */
  stateFolder?: string;
  /** What each device is before its first command. */
  equipment?: Partial<Equipment>;
  /** Share of the devices that have a firmware from before the Bluetooth operations, 0 to 1. */
  oldFirmware?: number;
  /** What happens to them by itself, from `connect` on. */
  life?: Partial<Life>;
  /** Where files are while they are downloaded; a temporary folder, removed at the end, when missing. */
  downloadFolder?: string | undefined;
  patience?: Partial<Patience>;
  timers?: Timers;
  /** Told of each breach of the contract, complaint and given up connection, in words. */
  onTrouble?: (deviceId: string, text: string) => void;
}

/** Many devices in one process, the seed of each derived from its place in the list. */
export function createFleet({
  accounts,
  url,
  seed = 1,
  behaviour = {},
  absence = { share: 0, window: { min: 0, max: 0 } },
  connectRate = null,
  connectAttempts = 1,
  clean = false,
  stateFolder,
  equipment = {},
  oldFirmware = 0,
  life = {},
  downloadFolder,
  patience = {},
  timers = systemTimers,
  onTrouble = () => {},
}: FleetOptions): Fleet {
  const tally = {
    connections: 0,
    losses: 0,
    connectFailures: 0,
    commands: 0,
    repetitions: 0,
    cancels: 0,
    ignored: 0,
    answers: 0,
    repeatedAnswers: 0,
    failures: 0,
    acknowledged: 0,
    downloads: 0,
    downloadedBytes: 0,
    resumed: 0,
    renewed: 0,
    events: 0,
    eventsLost: 0,
    calls: 0,
    uploads: 0,
    uploadedBytes: 0,
    uploadRetries: 0,
    uploadFailures: 0,
    unwanted: 0,
    complaints: 0,
    violations: 0,
  };
  const pacer = createPacer({ perSecond: connectRate, timers });
  const downloads = createDownloadFolder(downloadFolder);
  const stops: (() => void)[] = [];
  let over = false;

  function count({ deviceId, events }: Device): void {
    const trouble = (text: string): void => onTrouble(deviceId, text);
    events.on('online', () => {
      tally.connections += 1;
    });
    events.on('offline', (_reason, expected) => {
      if (!expected) tally.losses += 1;
    });
    events.on('refused', (error) => {
      tally.connectFailures += 1;
      trouble(`refused: ${error.message}`);
    });
    events.on('command', (_command, reaction) => {
      tally.commands += 1;
      if (reaction === 'repeat' || reaction === 'underway') tally.repetitions += 1;
      else if (reaction === 'cancel') tally.cancels += 1;
      else if (reaction === 'ignored') tally.ignored += 1;
    });
    events.on('answer', ({ status }, repeated) => {
      tally.answers += 1;
      if (repeated) tally.repeatedAnswers += 1;
      else if (status === 'failed') tally.failures += 1;
    });
    events.on('acknowledged', () => {
      tally.acknowledged += 1;
    });
    events.on('download', ({ bytes, resumed, renewed }) => {
      tally.downloads += 1;
      tally.downloadedBytes += bytes;
      tally.resumed += resumed;
      tally.renewed += renewed;
    });
    events.on('event', ({ type }) => {
      if (type === 'call.started') tally.calls += 1;
    });
    events.on('told', () => {
      tally.events += 1;
    });
    events.on('forgotten', () => {
      tally.eventsLost += 1;
    });
    events.on('upload', ({ size }) => {
      tally.uploads += 1;
      tally.uploadedBytes += size;
    });
    events.on('uploadRetry', () => {
      tally.uploadRetries += 1;
    });
    events.on('uploaded', ({ kind }) => {
      if (kind === 'failed') tally.uploadFailures += 1;
      else if (kind === 'unwanted') tally.unwanted += 1;
    });
    events.on('complaint', ({ topic, reason }) => {
      tally.complaints += 1;
      trouble(`the service complained about ${topic}: ${reason}`);
    });
    events.on('violation', (fault) => {
      tally.violations += 1;
      trouble(`the service broke the contract: ${fault}`);
    });
  }

  const devices = accounts.map(({ deviceId, credential }, index) => {
    const bound = behaviour.memory ?? promptBehaviour.memory;
    const journal = stateFolder === undefined ? undefined : createStateFile({ folder: stateFolder, deviceId, bound });
    const own = deriveSeed(seed, index, 1);
    const old = createRandom(deriveSeed(seed, index, 3))() < oldFirmware;
    const device = createDevice({
      deviceId,
      credential,
      url,
      seed: own,
      behaviour,
      clean,
      connectAttempts,
      gate: pacer.turn,
      equipment: { ...equipment, ...(old && OLD_FIRMWARE) },
      downloads,
      patience,
      timers,
      ...(journal && { journal }),
    });
    count(device);
    return device;
  });

  function letGo(device: Device, index: number): void {
    const random = createRandom(deriveSeed(seed, index, 2));
    const onFailure = (error: Error): void => {
      if (over) return;
      tally.connectFailures += 1;
      onTrouble(device.deviceId, error.message);
    };
    stops.push(scheduleAbsences({ device, absence, random, timers, onFailure }));
  }

  function quieten(): void {
    over = true;
    for (const stop of stops.splice(0)) stop();
  }

  return {
    devices,

    async connect() {
      over = false;
      const outcomes = await Promise.allSettled(devices.map((device) => device.connect()));
      const givenUp: { deviceId: string; error: Error }[] = [];
      outcomes.forEach((outcome, index) => {
        const deviceId = devices[index]?.deviceId ?? '';
        if (outcome.status === 'rejected') givenUp.push({ deviceId, error: outcome.reason as Error });
      });
      if (!over) {
        tally.connectFailures += givenUp.length;
        devices.forEach(letGo);
        stops.push(letLive({ devices, life: { ...quietLife, ...life }, seed: deriveSeed(seed, 4), timers }));
      }
      return givenUp;
    },

    async disconnect() {
      quieten();
      const gone = Promise.all(devices.map((device) => device.disconnect()));
      // Only now: those who waited for their turn find that they are wanted offline.
      pacer.release();
      await gone;
    },

    async idle() {
      // While the last ones finish, the first ones may have got new work.
      while (devices.some(({ outstanding }) => outstanding > 0)) {
        await Promise.all(devices.map((device) => device.idle()));
      }
    },

    counts() {
      let connected = 0;
      let outstanding = 0;
      for (const device of devices) {
        if (device.online) connected += 1;
        outstanding += device.outstanding;
      }
      return { devices: devices.length, connected, outstanding, ...tally };
    },

    async [Symbol.asyncDispose]() {
      quieten();
      const gone = Promise.all(devices.map((device) => device[Symbol.asyncDispose]()));
      pacer.release();
      await gone;
      await downloads[Symbol.asyncDispose]();
    },
  };
}
