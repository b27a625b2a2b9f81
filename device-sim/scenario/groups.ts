import type { Absence } from '../fleet/absences.ts';
import type { BadNetwork } from '../fleet/bad-network.ts';
import type { Clocks } from '../fleet/clocks.ts';
import { type Life, quietLife } from '../fleet/life.ts';
import { type Behaviour, promptBehaviour } from '../model/behaviour.ts';
import { type Equipment, plainEquipment } from '../model/device-state.ts';
import type { Range } from '../random.ts';
import { byteRange, bytes, bytesPerSecond, duration, durations, rate, share } from './quantities.ts';
import type * as file from './scenario-file.ts';

/** The delay of a network in milliseconds, and how often devices lose it. */
export interface Network extends Absence {
  /** The delay that the network adds before each answer, on top of the latency of the device itself. */
  readonly delay: Range;
}

const network = (delay: [number, number], away: number, window: [number, number]): Network => ({
  delay: { min: delay[0], max: delay[1] },
  share: away,
  window: { min: window[0], max: window[1] },
});

/** Networks with the delays and absences of devices in the field. */
export const NETWORKS: Readonly<Record<'good' | 'wifi' | 'lte' | 'tunnel' | 'flaky', Network>> = {
  good: network([0, 0], 0, [5000, 30_000]),
  wifi: network([5, 40], 0.005, [1000, 5000]),
  lte: network([30, 150], 0.02, [5000, 30_000]),
  tunnel: network([30, 150], 0.15, [20_000, 120_000]),
  flaky: network([50, 1500], 0.3, [1000, 10_000]),
};

const HOUR = 3600;
const perHour = (text: string): number => rate(text) * HOUR;

function networkOf(written: file.Network = 'good'): Network {
  if (typeof written === 'string') return NETWORKS[written];
  const { profile = 'good', delay, away, window } = written;
  return {
    ...NETWORKS[profile],
    ...(delay !== undefined && { delay: durations(delay) }),
    ...(away !== undefined && { share: share(away) }),
    ...(window !== undefined && { window: durations(window) }),
  };
}

function behaviourOf(written: file.Behaviour = {}, delay: Range): Behaviour {
  const { latency = '0s', failures = 0, repeats = 0, processing = false, silent = [], uploadFailures = 0 } = written;
  const own = durations(latency);
  return {
    ...promptBehaviour,
    latency: { min: own.min + delay.min, max: own.max + delay.max },
    failureRate: share(failures),
    duplicateAckRate: share(repeats),
    reportProcessing: processing,
    silentOperations: new Set(silent),
    uploadFailureRate: share(uploadFailures),
    ...(written.fileSize !== undefined && { fileSize: byteRange(written.fileSize) }),
  };
}

function lifeOf(written: file.Life = {}): Life {
  const { statusInterval, peerMoves, alarms, calls, callLength, recorded, fileUploads } = written;
  return {
    ...quietLife,
    ...(statusInterval !== undefined && { statusInterval: duration(statusInterval) }),
    ...(peerMoves !== undefined && { peerMoves: perHour(peerMoves) }),
    ...(alarms !== undefined && { alarms: perHour(alarms) }),
    ...(calls !== undefined && { calls: perHour(calls) }),
    ...(callLength !== undefined && { callLength: durations(callLength) }),
    ...(recorded !== undefined && { recorded: share(recorded) }),
    ...(fileUploads !== undefined && { fileUploads: perHour(fileUploads) }),
  };
}

const equipmentOf = ({ storage, firmware, managementClient, language, software = [] }: file.Group): Equipment => ({
  ...plainEquipment,
  ...(storage !== undefined && { storage: bytes(storage) }),
  ...(firmware !== undefined && { firmwareVersion: firmware }),
  ...(managementClient !== undefined && { managementClientVersion: managementClient }),
  ...(language !== undefined && { lang: language }),
  software: Object.fromEntries(
    software.map(({ package: name, version, versionCode, size = 0 }) => [
      name,
      { version, versionCode, size: bytes(size) },
    ]),
  ),
});

/** A bad network as a group or a phase describes it. */
export const badNetworkOf = ({ delay, bandwidth, losses }: file.RegionalNetwork): BadNetwork => ({
  delay: delay === undefined ? { min: 0, max: 0 } : durations(delay),
  bytesPerSecond: bandwidth === undefined ? null : bytesPerSecond(bandwidth),
  losses: losses === undefined ? 0 : perHour(losses),
});

/**
 * The bandwidth and the losses of a group's network; null when it has neither. Its delay and its absences are left out,
 * because the devices themselves simulate them.
 */
function limitsOf(written: file.Network = 'good'): BadNetwork | null {
  if (typeof written === 'string') return null;
  const { bandwidth, losses } = written;
  return bandwidth === undefined && losses === undefined
    ? null
    : badNetworkOf({ ...(bandwidth !== undefined && { bandwidth }), ...(losses !== undefined && { losses }) });
}

const clocksOf = ({ wrong = '0s', drift = '0s' }: file.Clock): Clocks => ({
  wrong: durations(wrong),
  drift: duration(drift),
});

/** The equipment, behaviour, life, network and clocks of the devices of a group, without faults. */
export function devicesOf(group: file.Group) {
  const { delay, share: away, window } = networkOf(group.network);
  return {
    model: group.model ?? 'SIM-1',
    tags: group.tags ?? [],
    deviceTags: group.deviceTags ?? {},
    ...(group.mqtt === 5 && { level: 5 as const }),
    equipment: equipmentOf(group),
    behaviour: behaviourOf(group.behaviour, delay),
    absence: { share: away, window },
    life: lifeOf(group.life),
    isShared: typeof group.network === 'object' && group.network.shared === true,
    network: limitsOf(group.network),
    clocks: group.clock ? clocksOf(group.clock) : null,
  };
}

/** The number of devices in each group; a string says why the numbers do not fit. */
export function countsOf(devices: number, groups: readonly file.Group[]): number[] | string {
  const counted = groups.reduce((sum, { count = 0 }) => sum + count, 0);
  const shared = groups.reduce((sum, group) => sum + share(group.share ?? 0), 0);
  const open = groups.filter((group) => group.count === undefined && group.share === undefined).length;
  if (counted > devices) return `the groups have ${counted} devices together, but the scenario has ${devices}`;
  const rest = 1 - counted / devices - shared;
  if (rest < -1e-9) return `the groups have ${Math.round(100 * (1 - rest))} % of the devices together`;
  if (open === 0 && rest > 1e-9)
    return `the groups have only ${Math.round(100 * (1 - rest))} % of the devices together`;
  const wanted = groups.map(({ count, share: part }) =>
    count !== undefined ? count : devices * (part !== undefined ? share(part) : Math.max(0, rest) / open),
  );
  // First each group gets the whole part of its number. The devices that are left go to the groups with the largest
  // fractions, so every group is off by less than one.
  const counts = wanted.map((exact) => Math.floor(exact + 1e-9));
  const left = devices - counts.reduce((sum, count) => sum + count, 0);
  const order = wanted.map((exact, place) => ({ place, rest: exact - counts[place]! })).sort((a, b) => b.rest - a.rest);
  for (const { place } of order.slice(0, left)) counts[place]! += 1;
  return counts;
}
