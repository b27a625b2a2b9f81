import type { Patience } from '../files/download.ts';
import { createDownloadFolder } from '../files/download-folder.ts';
import { type Behaviour, promptBehaviour } from '../model/behaviour.ts';
import { createDevice, type Device } from '../model/device.ts';
import type { Equipment } from '../model/device-state.ts';
import { OLD_FIRMWARE } from '../model/firmware-versions.ts';
import { createStateFile } from '../model/state-file.ts';
import { createRandom, deriveSeed } from '../random.ts';
import { systemTimers, type Timers } from '../timers.ts';
import { type Absence, scheduleAbsences } from './absences.ts';
import { type Life, letLive, quietLife } from './life.ts';
import { createPacer } from './pacer.ts';
import { createTally, type Tally } from './tally.ts';

export interface DeviceAccount {
  readonly deviceId: string;
  readonly credential: string;
}

/** A fleet now, and what it went through, which only grows. */
export interface FleetCounts extends Tally {
  devices: number;
  connected: number;
  /** Commands not finished and answers not acknowledged, now. */
  outstanding: number;
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

interface FleetOptions {
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
  const { counts: tally, watch } = createTally({ onTrouble });
  const pacer = createPacer({ perSecond: connectRate, timers });
  const downloads = createDownloadFolder(downloadFolder);
  const stops: (() => void)[] = [];
  let over = false;

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
    watch(device);
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
