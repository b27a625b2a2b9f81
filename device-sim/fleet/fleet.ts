import type { KeyObject } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { type Chances, createChances, type Decision } from '../faults/chances.ts';
import type { FaultKind } from '../faults/fault.ts';
import type { Patience } from '../files/download.ts';
import { createDownloadFolder } from '../files/download-folder.ts';
import { promptBehaviour } from '../model/behaviour.ts';
import { createDevice, type Device } from '../model/device.ts';
import type { DeviceOptions, Watcher } from '../model/device-options.ts';
import type { Intercept } from '../model/interception.ts';
import type { KeyOf } from '../model/plans.ts';
import { createStateFile } from '../model/state-file.ts';
import { beginningWith } from '../mqtt/addresses.ts';
import type { Command } from '../mqtt/messages.ts';
import type { Look } from '../promises/looks.ts';
import { deriveSeed } from '../random.ts';
import { createTimerWheel } from '../timer-wheel.ts';
import { systemTimers, type Timers } from '../timers.ts';
import { scheduleAbsences } from './absences.ts';
import { type AccessPoint, createAccessPoint } from './access-points.ts';
import type { BadNetwork } from './bad-network.ts';
import { clockErrorOf } from './clocks.ts';
import type { FleetEvents } from './fleet-events.ts';
import { letLive, quietLife } from './life.ts';
import type { DeviceAccount, FleetMember } from './member.ts';
import { createNetworks } from './networks.ts';
import { createPacer } from './pacer.ts';
import { createTally, type Tally } from './tally.ts';

/** How many devices of a fleet connect at the same time: as many as the kernel keeps in the queue of a listener. */
const CONNECTING = 500;

/** Counts of a fleet: its present state, and totals since the start. */
export interface FleetCounts extends Tally {
  /** Faults that were played, by kind. */
  faults: Partial<Record<FaultKind, number>>;
  /** Connections that were made, by node in the order of the addresses. */
  connectionsOfNodes: readonly number[];
  devices: number;
  connected: number;
  /** Commands not finished and answers not acknowledged, now. */
  outstanding: number;
}

export interface GivenUp {
  readonly deviceId: string;
  readonly error: Error;
}

/** Selects devices of a fleet; by default all. */
export interface Part {
  readonly groups?: readonly string[] | undefined;
  /** The share of these devices, 0 to 1. The seed and `occasion` decide which devices belong to it. */
  readonly share?: number | undefined;
  readonly occasion?: number | undefined;
}

export interface Fleet extends AsyncDisposable {
  readonly devices: readonly Device[];
  /** The members, in the same order as `devices`. */
  readonly members: readonly FleetMember[];
  /** The events of all devices: one listener for all, instead of thousands. */
  readonly events: EventEmitter<FleetEvents>;
  /**
   * Connects the selected devices, no faster than the rate (connections a second; null: unbounded; missing: the last
   * rate), and then starts their absences, calls and other events. Resolves when each device is online or has given up;
   * the result names the devices that gave up, and why.
   */
  connect(part?: Part & { rate?: number | null }): Promise<GivenUp[]>;
  /**
   * Takes the selected devices offline until `connect`: with DISCONNECT, with a cut socket, or half of them each way.
   * Resolves to the number of these devices.
   */
  away(part?: Part & { how?: 'politely' | 'cut' }): Promise<number>;
  /**
   * From now on these groups have these networks, and all others their own. `occasion` names the random numbers. Needs
   * `badNetworks`.
   */
  degrade(networks: ReadonlyMap<string, BadNetwork>, occasion: number): void;
  /**
   * Puts another device in the place of the one at this index of `devices`, which goes offline for good. It has the
   * settings of its group, and an empty memory. Resolves to it; it is offline.
   */
  replace(at: number, account: DeviceAccount): Promise<Device>;
  /** Ends the calls, uploads, alarms and other events of all devices. Their absences go on. */
  rest(): void;
  /** Takes all devices offline with DISCONNECT. */
  disconnect(): Promise<void>;
  /** Resolves when no device has work left. */
  idle(): Promise<void>;
  counts(): FleetCounts;
}

interface FleetOptions {
  members: readonly FleetMember[];
  /** The address of the service, or those of its nodes: each device begins with one of them. */
  url: string | readonly string[];
  seed?: number;
  /** Connections a second; null is unbounded. */
  connectRate?: number | null;
  /** How many processes share the fleet: the rates are those of all processes together. */
  processes?: number;
  connectAttempts?: number;
  /** Whether a network may be bad. By default all networks are good, and no message passes through a simulated one. */
  badNetworks?: boolean;
  clean?: boolean;
  /** Makes the connections; by default the simulator's own client. */
  createLink?: DeviceOptions['createLink'];
  /** A folder in which devices store their memory over restarts. */
  stateFolder?: string;
  /** The folder for files while they are downloaded; by default a temporary folder, which is removed at the end. */
  downloadFolder?: string | undefined;
  /** The public keys that must have signed the software which devices install. */
  trustedKeys?: readonly KeyObject[] | undefined;
  patience?: Partial<Patience>;
  timers?: Timers;
  /**
   * The identity of a command, for commands that an action of the run caused; it is the same in every run with one
   * seed.
   */
  keyOf?: KeyOf;
  /** Lets code decide about commands; see `Intercept`. */
  intercept?: (deviceId: string, command: Command) => ReturnType<Intercept>;
  /** Called when a check of a device has looked. */
  look?: Look | undefined;
  /** The current phase. */
  phase?: () => string;
  /** Called with every random decision; `place` is the index of the device in the whole fleet. */
  onDecision?: (place: number, decision: Decision) => void;
  /**
   * Called with a sentence about each breach of the contract, each fault that the service reports on `errors`, and each
   * connection that was given up.
   */
  onTrouble?: (deviceId: string, text: string) => void;
}

/** Makes many devices in one process. The seed of each is derived from its index in the whole fleet. */
export function createFleet({
  members,
  url,
  seed = 1,
  connectRate = null,
  processes = 1,
  connectAttempts = 1,
  badNetworks = false,
  clean = false,
  createLink,
  stateFolder,
  downloadFolder,
  trustedKeys,
  patience = {},
  timers = createTimerWheel(systemTimers),
  keyOf,
  intercept,
  look,
  phase,
  onDecision,
  onTrouble = () => {},
}: FleetOptions): Fleet {
  const events = new EventEmitter<FleetEvents>();
  const tally = createTally({ events, onTrouble });
  const own = (rate: number | null): number | null => (rate === null ? null : rate / processes);
  const pacer = createPacer({ perSecond: own(connectRate), atOnce: CONNECTING, timers });
  const downloads = createDownloadFolder(downloadFolder);
  /** The functions that end the absences of devices, for devices whose absences have begun. */
  const absences = new Map<Device, () => void>();
  const accessPoints = new Map<string, AccessPoint>();
  const faults: FleetCounts['faults'] = {};
  const urls = [url].flat();
  const networks = createNetworks({ members, seed, processes, timers });
  let endLife: (() => void)[] = [];
  let over = false;

  events.on('fault', (_device, { kind }) => {
    faults[kind] = (faults[kind] ?? 0) + 1;
  });
  const connectionsOfNodes = urls.map(() => 0);
  events.on('online', ({ address }) => {
    const node = urls.indexOf(address);
    if (node >= 0) connectionsOfNodes[node]! += 1;
  });
  // The cast is needed because the types of an EventEmitter do not know that `name` and `what` belong together.
  const watch: Watcher = (device, name, what) => (events as EventEmitter).emit(name, device, ...what);

  const chancesOf = ({ place, settings: { faults } }: FleetMember): Chances =>
    createChances({
      seed: deriveSeed(seed, 2),
      device: place,
      rules: faults,
      onDecision: onDecision && ((decision) => onDecision(place, decision)),
    });

  function makeDevice(member: FleetMember): Device {
    const { place, settings, account } = member;
    const { deviceId, credential, certificate } = account;
    const { behaviour, equipment, clocks } = settings;
    const bound = behaviour?.memory ?? promptBehaviour.memory;
    const journal = stateFolder === undefined ? undefined : createStateFile({ folder: stateFolder, deviceId, bound });
    return createDevice({
      deviceId,
      credential,
      certificate,
      url: beginningWith(urls, place),
      seed: deriveSeed(seed, place, 1),
      chances: chancesOf(member),
      keyOf,
      ...(intercept && { intercept: (command: Command) => intercept(deviceId, command) }),
      phase,
      ...(behaviour && { behaviour }),
      ...(badNetworks && { conditions: networks.conditionsOf(member) }),
      ...(clocks && { clockError: clockErrorOf(clocks, seed, place, timers) }),
      clean,
      ...(settings.level !== undefined && { level: settings.level }), // of MQTT 5 only: each member costs memory
      ...(createLink && { createLink }),
      connectAttempts,
      gate: pacer.turn,
      ...(equipment && { equipment }),
      downloads,
      trustedKeys,
      patience,
      timers,
      look,
      watch,
      ...(journal && { journal }),
    });
  }
  const devices = members.map(makeDevice);

  function placesOf({ groups, share = 1, occasion = 0 }: Part): number[] {
    const places = [...members.keys()].filter((at) => groups?.includes(members[at]!.settings.group) ?? true);
    if (share >= 1) return places;
    const lot = (at: number): number => deriveSeed(seed, members[at]!.place, 5, occasion);
    return places.toSorted((a, b) => lot(a) - lot(b)).slice(0, Math.round(share * places.length));
  }

  function letGo(at: number): void {
    const device = devices[at]!;
    const { absence, group, isShared } = members[at]!.settings;
    if (!absence || absence.share === 0 || absences.has(device)) return;
    const onFailure = (error: Error): void => {
      if (over) return;
      tally.connectFailures += 1;
      onTrouble(device.deviceId, error.message);
    };
    if (isShared) {
      const point = accessPoints.get(group) ?? createAccessPoint({ group, absence, seed, timers });
      accessPoints.set(group, point);
      absences.set(device, point.join(device, onFailure));
      return;
    }
    const chances = chancesOf(members[at]!);
    absences.set(device, scheduleAbsences({ device, absence, chances, timers, onFailure }));
  }

  function beginLife(): void {
    if (endLife.length > 0) return;
    const ways = Map.groupBy(members.keys(), (at) => members[at]!.settings.life);
    endLife = [...ways].map(([life, places]) =>
      letLive({
        members: places.map((at) => ({ device: () => devices[at]!, seed: deriveSeed(seed, members[at]!.place, 4) })),
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
    networks.stop();
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

    async replace(at, account) {
      const former = devices[at]!;
      const { place, settings } = members[at]!;
      stay(former);
      const device = makeDevice({ account, place, settings });
      devices[at] = device;
      events.emit('replaced', former, device);
      await former[Symbol.asyncDispose]();
      letGo(at);
      return device;
    },

    degrade(bad, occasion) {
      networks.play(bad, devices, occasion);
    },

    rest,

    async disconnect() {
      quieten();
      const gone = Promise.all(devices.map((device) => device.disconnect()));
      // Devices that wait for their turn to connect get it only now: they have been told to stay offline, so they do
      // not connect.
      pacer.release();
      await gone;
    },

    async idle() {
      // The first devices may have got new work while the last ones finish.
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
      return {
        devices: devices.length,
        connected,
        outstanding,
        faults: { ...faults },
        connectionsOfNodes: [...connectionsOfNodes],
        ...tally,
      };
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
