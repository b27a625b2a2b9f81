import type { Database, UnitOfWork } from '../../../platform/database/sql.ts';
import type { Micros } from '../../../runtime/units.ts';
import { valuesOf } from '../../devices/sampling.ts';
import { findStatus, type ReportedFields } from '../../devices/status-repository.ts';
import type { Look } from '../looking.ts';
import type { HealthRule, Rollout } from '../rollout.ts';
import { supersededAmong } from '../superseding.ts';
import { activatedAmong } from '../unchanged-repository.ts';
import {
  type Counted,
  connectionsFrom,
  factsFrom,
  LOOKS_BACK,
  type Observed,
  SETTLES,
  USUAL_GAP,
} from './observation.ts';
import {
  connectionsBefore,
  countConnections,
  countEvents,
  countFailures,
  findUnwatched,
  findWatched,
  forgetWatch,
  type Part,
  type StoredWatch,
  saveWatch,
  type WatchedDevice,
  watchDevice,
} from './watch-repository.ts';

const SECOND = 1_000_000;
const HOUR: Micros = 3_600 * SECOND;
const PER_PAGE = 500;
const PER_UNIT = 64;
/** Beginnings and ends of connections in which the absences of a device are looked for. */
const CONNECTIONS = 200;
/** The most devices of a rollout that are watched for comparison, and how many for each one that got the release. */
const MOST_CONTROLS = 2_000;
const CONTROLS_EACH = 10;
/** A device is compared only if it was heard of just now, as those that get the release are. */
const JUST_NOW: Micros = 120 * SECOND;

type MutableCounted = Omit<Counted, 'events'> & { events: Map<string, number> };
const NOTHING: Counted = { reconnects: 0, failedCommands: 0, events: new Map() };

interface Parts {
  database: Database;
  presence: { newerThanStored(deviceId: string): number | undefined };
  connected(deviceIds: readonly string[]): ReadonlySet<string> | Promise<ReadonlySet<string>>;
}

/** The longest time for which a device was away, of those that its connections tell. */
export function longestAbsence(facts: readonly { kind: 'connected' | 'ended'; at: Micros; lastAt: Micros }[]): Micros {
  let longest: Micros = USUAL_GAP.least;
  let cameAt: Micros | undefined;
  for (const { kind, at, lastAt } of facts) {
    if (kind === 'connected') cameAt = at;
    else if (cameAt !== undefined && cameAt > lastAt) longest = Math.max(longest, cameAt - lastAt);
  }
  return Math.min(longest, USUAL_GAP.most);
}

/** The device after another report: what its battery has lost while it was not charged, and its free storage. */
export function afterReport<Watched extends WatchedDevice>(
  device: Watched,
  { reported, reportedAt }: { reported: ReportedFields; reportedAt: Micros },
): Watched {
  const { since, level, levelAt } = device;
  const { battery, isCharging, freeMebibytes } = valuesOf(reported);
  const [batteryAt, freeAt] = [reported['battery']?.at ?? 0, reported['storage']?.at ?? 0];
  const isNew = battery !== null && batteryAt > levelAt && batteryAt >= since;
  const discharges = isNew && level !== null && device.isCharging !== 1 && isCharging !== 1;
  // The value of the last report holds until the next one. The storage that the release itself takes is no loss.
  const isFirst = freeMebibytes !== null && (device.freeFirst === null || freeAt <= since + SETTLES);
  return {
    ...device,
    statusAt: reportedAt,
    ...(isNew && { level: battery, levelAt: batteryAt, isCharging }),
    ...(discharges && {
      drained: device.drained + Math.max(0, level - battery),
      drainedMicros: device.drainedMicros + batteryAt - levelAt,
    }),
    ...(isFirst && { freeFirst: freeMebibytes, freeFirstAt: Math.max(freeAt, since) }),
    ...(freeMebibytes !== null && { freeLast: freeMebibytes, freeLastAt: Math.max(freeAt, since) }),
  };
}

const typesOf = (rules: readonly HealthRule[] = []): string[] => [...new Set(rules.flatMap(({ types = [] }) => types))];

/** Reads and writes what is known about the watched devices of rollouts. */
export function createWatching({ database, presence, connected }: Parts) {
  const { aside } = database;

  async function inUnits<One>(all: readonly One[], write: (unit: UnitOfWork, one: One) => void): Promise<void> {
    for (let start = 0; start < all.length; start += PER_UNIT)
      await database.transact(
        async (unit) => {
          for (const one of all.slice(start, start + PER_UNIT)) write(unit, one);
        },
        { pace: 'soon' },
      );
  }

  /** The devices with their usual absences and their newest reports, and those of them that have changed. */
  async function brought(rolloutId: string, stored: readonly StoredWatch[]) {
    const changed: (StoredWatch & WatchedDevice)[] = [];
    const devices: (StoredWatch & WatchedDevice)[] = [];
    for (const device of stored) {
      const { deviceId, since, reportedAt, statusAt } = device;
      const usualGap =
        device.usualGap ?? longestAbsence(await connectionsBefore(aside, deviceId, factsFrom(since), CONNECTIONS));
      const status = (reportedAt ?? 0) > statusAt ? await findStatus(aside, deviceId) : undefined;
      const known = { ...device, usualGap };
      const now = status ? afterReport(known, status) : known;
      devices.push(now);
      if (status || device.usualGap === null) changed.push(now);
    }
    await inUnits(changed, (unit, device) => saveWatch(unit, rolloutId, device));
    return devices;
  }

  /** Counts what happened to the devices of a part in each of the times that rules look back at. */
  async function count(rollout: Rollout, part: Part, now: Micros, listensSince: Micros) {
    const rules: readonly HealthRule[] = rollout.plan.health ?? [];
    const types = typesOf(rules);
    const withins = rules.flatMap(({ within }) => (within === undefined ? [] : [within * SECOND]));
    const found = new Map<string, MutableCounted>();
    const of = (lookBack: Micros, deviceId: string): MutableCounted => {
      const key = `${lookBack} ${deviceId}`;
      const counted = found.get(key) ?? { reconnects: 0, failedCommands: 0, events: new Map() };
      found.set(key, counted);
      return counted;
    };
    for (const lookBack of new Set([LOOKS_BACK, ...withins])) {
      const from = now - lookBack;
      const connectedFrom = connectionsFrom(now, listensSince, lookBack);
      // The last row of an hour also has the later facts of that hour.
      for (const row of await countConnections(aside, part, factsFrom(connectedFrom - HOUR), connectedFrom, SETTLES))
        of(lookBack, row.deviceId).reconnects = row.count;
      for (const row of await countFailures(aside, part, rollout.applicationId, from))
        of(lookBack, row.deviceId).failedCommands = row.count;
      for (const row of types.length > 0 ? await countEvents(aside, part, types, from) : [])
        of(lookBack, row.deviceId).events.set(row.type, row.count);
    }
    return (deviceId: string) =>
      (lookBack: Micros): Counted =>
        found.get(`${lookBack} ${deviceId}`) ?? NOTHING;
  }

  return {
    /**
     * All watched devices of a rollout as they are now. Ends the watch of devices that the application has no longer, or that
     * a newer rollout of the kind has commanded, and of those that wait no more and were watched for comparison.
     */
    async observe(rollout: Rollout, ...[now, listensSince, lives]: Parameters<Look>): Promise<Observed[]> {
      const { rolloutId, applicationId } = rollout;
      const observed: Observed[] = [];
      for (let after = ''; ; ) {
        const page = await findWatched(aside, rolloutId, after, PER_PAGE);
        const last = page.at(-1);
        if (!last) return observed;
        const ids = page.map(({ deviceId }) => deviceId);
        const owned = new Set(await activatedAmong(aside, applicationId, ids));
        // Faults of a newer release are not those of this one.
        const newer = await supersededAmong(aside, rollout, ids);
        const stays = ({ deviceId, isControl, memberState }: StoredWatch): boolean =>
          owned.has(deviceId) && !newer.has(deviceId) && (isControl === 0 || memberState === 'waiting');
        await inUnits(
          page.filter((device) => !stays(device)),
          (unit, device) => forgetWatch(unit, rolloutId, device),
        );
        const isConnected = await connected(ids);
        const counted = await count(rollout, { rolloutId, after, last: last.deviceId }, now, listensSince);
        for (const device of await brought(rolloutId, page.filter(stays))) {
          const { deviceId, lastSeenAt, since } = device;
          const heardAt = Math.max(lastSeenAt ?? 0, presence.newerThanStored(deviceId) ?? 0, since);
          const seenAt = isConnected.has(deviceId) ? now : heardAt;
          observed.push({ ...device, now, seenAt, listensSince, counted: counted(deviceId) });
        }
        after = last.deviceId;
        lives(); // a database that is slow is no service that stands still
      }
    },

    /**
     * Begins to watch waiting devices for comparison: at the same time as those that have got the release, and in a fixed
     * proportion, so that both groups see the same hours. Devices are served in an order of chance, so the last ones are
     * like the first.
     */
    async enrol(rollout: Rollout, observed: readonly Observed[], now: Micros): Promise<void> {
      const controls = observed.filter(({ isControl }) => isControl === 1).length;
      const wanted = Math.min(MOST_CONTROLS, CONTROLS_EACH * (observed.length - controls)) - controls;
      if (wanted <= 0) return;
      const waiting = await findUnwatched(aside, rollout.rolloutId, rollout.stage, Math.min(4 * wanted, PER_PAGE));
      const heard = waiting.filter(({ deviceId, lastSeenAt }) => {
        const at = Math.max(lastSeenAt ?? 0, presence.newerThanStored(deviceId) ?? 0);
        return at >= now - JUST_NOW;
      });
      const isConnected = await connected(waiting.map(({ deviceId }) => deviceId));
      const chosen = [...new Set([...heard, ...waiting.filter(({ deviceId }) => isConnected.has(deviceId))])];
      await inUnits(chosen.slice(0, wanted), (unit, device) =>
        watchDevice(unit, rollout.rolloutId, device, { isControl: true, since: now }),
      );
    },
  };
}
