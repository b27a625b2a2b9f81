import { EventEmitter } from 'node:events';
import { type Chances, createChances, type Decision } from '../faults/chances.ts';
import type { FaultKind } from '../faults/fault.ts';
import type { Patience } from '../files/download.ts';
import { createDownloadFolder } from '../files/download-folder.ts';
import { promptBehaviour } from '../model/behaviour.ts';
import { createDevice, type Device } from '../model/device.ts';
import type { DeviceOptions, Watcher } from '../model/device-options.ts';
import type { KeyOf } from '../model/plans.ts';
import { createStateFile } from '../model/state-file.ts';
import { deriveSeed } from '../random.ts';
import { createTimerWheel } from '../timer-wheel.ts';
import { systemTimers, type Timers } from '../timers.ts';
import { scheduleAbsences } from './absences.ts';
import type { FleetEvents } from './fleet-events.ts';
import { letLive, quietLife } from './life.ts';
import type { FleetMember } from './member.ts';
import { createPacer } from './pacer.ts';
import { createTally, type Tally } from './tally.ts';

/** Devices of one fleet that are connecting at the same time: as many as the kernel keeps waiting at a listener. */
const CONNECTING = 500;

/** A fleet now, and what it went through, which only grows. */
export interface FleetCounts extends Tally {
  /** Faults that were played, by kind. */
  faults: Partial<Record<FaultKind, number>>;
  devices: number;
  connected: number;
  /** Commands not finished and answers not acknowledged, now. */
  outstanding: number;
}

export interface GivenUp {
  readonly deviceId: string;
  readonly error: Error;
}

/** A part of a fleet. Missing: all of it. */
export interface Part {
  readonly groups?: readonly string[] | undefined;
  /** Share of them, 0 to 1; which ones is decided by the seed and `occasion`. */
  readonly share?: number | undefined;
  readonly occasion?: number | undefined;
}

export interface Fleet extends AsyncDisposable {
  readonly devices: readonly Device[];
  /** In the order of `devices`. */
  readonly members: readonly FleetMember[];
  /** What all devices let know: one listener for all of them, where those of each device would be thousands. */
  readonly events: EventEmitter<FleetEvents>;
  /**
   * Connects those of a part, no faster than the rate (connections a second; null: unbounded; missing: as before), and then lets their absences
   * and their life begin. Resolves when each is online or was given up; says who was given up and why.
   */
  connect(part?: Part & { rate?: number | null }): Promise<GivenUp[]>;
  /**
   * Those of a part go offline, and stay there until `connect`: half of them politely, half as in a tunnel, or all in one
   * of these ways. Gives how many they are.
   */
  away(part?: Part & { how?: 'politely' | 'cut' }): Promise<number>;
  /** From now on nothing happens to devices by itself any more, but that they come and go. */
  rest(): void;
  /** Everyone goes offline politely. */
  disconnect(): Promise<void>;
  /** Resolves when no device has anything unfinished. */
  idle(): Promise<void>;
  counts(): FleetCounts;
}

interface FleetOptions {
  members: readonly FleetMember[];
  url: string;
  seed?: number;
  /** Connections a second; null is unbounded. */
  connectRate?: number | null;
  /** How many processes share the fleet: the rates are those of all of them. */
  processes?: number;
  connectAttempts?: number;
  clean?: boolean;
  /** Makes the connections; the lean client without it. */
  createLink?: DeviceOptions['createLink'];
  /** A folder in which devices remember over restarts. */
  stateFolder?: string;
  /** Where files are while they are downloaded; a temporary folder, removed at the end, when missing. */
  downloadFolder?: string | undefined;
  patience?: Partial<Patience>;
  timers?: Timers;
  /** By what a command is known in every run, when it is of an action of this one. */
  keyOf?: KeyOf;
  /** The phase that is on. */
  phase?: () => string;
  /** Told of everything that is left to chance: `place` is that of the device. */
  onDecision?: (place: number, decision: Decision) => void;
  /** Told of each breach of the contract, complaint and given up connection, in words. */
  onTrouble?: (deviceId: string, text: string) => void;
}

/** Many devices in one process, the seed of each derived from its place in the fleet. */
export function createFleet({
  members,
  url,
  seed = 1,
  connectRate = null,
  processes = 1,
  connectAttempts = 1,
  clean = false,
  createLink,
  stateFolder,
  downloadFolder,
  patience = {},
  timers = createTimerWheel(systemTimers),
  keyOf,
  phase,
  onDecision,
  onTrouble = () => {},
}: FleetOptions): Fleet {
  const events = new EventEmitter<FleetEvents>();
  const tally = createTally({ events, onTrouble });
  const own = (rate: number | null): number | null => (rate === null ? null : rate / processes);
  const pacer = createPacer({ perSecond: own(connectRate), atOnce: CONNECTING, timers });
  const downloads = createDownloadFolder(downloadFolder);
  /** What ends the absences of a device; there for those whose absences have begun. */
  const absences = new Map<Device, () => void>();
  const faults: FleetCounts['faults'] = {};
  let endLife: (() => void)[] = [];
  let over = false;

  events.on('fault', (_device, { kind }) => {
    faults[kind] = (faults[kind] ?? 0) + 1;
  });
  // The types of an EventEmitter do not see that these belong together.
  const watch: Watcher = (device, name, what) => (events as EventEmitter).emit(name, device, ...what);

  const chancesOf = ({ place, settings: { faults } }: FleetMember): Chances =>
    createChances({
      seed: deriveSeed(seed, 2),
      device: place,
      rules: faults,
      onDecision: onDecision && ((decision) => onDecision(place, decision)),
    });

  const devices = members.map((member) => {
    const { place, settings, account } = member;
    const { deviceId, credential } = account;
    const { behaviour, equipment } = settings;
    const bound = behaviour?.memory ?? promptBehaviour.memory;
    const journal = stateFolder === undefined ? undefined : createStateFile({ folder: stateFolder, deviceId, bound });
    return createDevice({
      deviceId,
      credential,
      url,
      seed: deriveSeed(seed, place, 1),
      chances: chancesOf(member),
      keyOf,
      phase,
      ...(behaviour && { behaviour }),
      clean,
      ...(createLink && { createLink }),
      connectAttempts,
      gate: pacer.turn,
      ...(equipment && { equipment }),
      downloads,
      patience,
      timers,
      watch,
      ...(journal && { journal }),
    });
  });

  function placesOf({ groups, share = 1, occasion = 0 }: Part): number[] {
    const places = [...members.keys()].filter((at) => groups?.includes(members[at]!.settings.group) ?? true);
    if (share >= 1) return places;
    const lot = (at: number): number => deriveSeed(seed, members[at]!.place, 5, occasion);
    return places.toSorted((a, b) => lot(a) - lot(b)).slice(0, Math.round(share * places.length));
  }

  function letGo(at: number): void {
    const device = devices[at]!;
    const { settings } = members[at]!;
    if (!settings.absence || settings.absence.share === 0 || absences.has(device)) return;
    const onFailure = (error: Error): void => {
      if (over) return;
      tally.connectFailures += 1;
      onTrouble(device.deviceId, error.message);
    };
    const chances = chancesOf(members[at]!);
    absences.set(device, scheduleAbsences({ device, absence: settings.absence, chances, timers, onFailure }));
  }

  function beginLife(): void {
    if (endLife.length > 0) return;
    const ways = Map.groupBy(members.keys(), (at) => members[at]!.settings.life);
    endLife = [...ways].map(([life, places]) =>
      letLive({
        members: places.map((at) => ({ device: devices[at]!, seed: deriveSeed(seed, members[at]!.place, 4) })),
        life: { ...quietLife, ...life },
        timers,
      }),
    );
  }

  function stay(device: Device): void {
    absences.get(device)?.();
    absences.delete(device);
  }

  function rest(): void {
    for (const end of endLife.splice(0)) end();
  }

  function quieten(): void {
    over = true;
    rest();
    devices.forEach(stay);
  }

  return {
    devices,
    members,
    events,

    async connect({ rate, ...part } = {}) {
      over = false;
      if (rate !== undefined) pacer.setRate(own(rate));
      const places = placesOf(part);
      const outcomes = await Promise.allSettled(places.map((at) => devices[at]!.connect()));
      const givenUp: GivenUp[] = [];
      outcomes.forEach((outcome, index) => {
        const { deviceId } = devices[places[index]!]!;
        if (outcome.status === 'rejected') givenUp.push({ deviceId, error: outcome.reason as Error });
      });
      if (!over) {
        tally.connectFailures += givenUp.length;
        places.forEach(letGo);
        beginLife();
      }
      return givenUp;
    },

    async away({ how, ...part } = {}) {
      const places = placesOf(part);
      await Promise.all(
        places.map((at) => {
          const device = devices[at]!;
          stay(device);
          const polite = how
            ? how === 'politely'
            : deriveSeed(seed, members[at]!.place, 6, part.occasion ?? 0) % 2 === 0;
          return polite ? device.disconnect() : device.drop();
        }),
      );
      return places.length;
    },

    rest,

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
      return { devices: devices.length, connected, outstanding, faults: { ...faults }, ...tally };
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
