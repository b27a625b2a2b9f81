import { HOUR_MICROS, hourOf } from '../core/devices/sampling.ts';
import { type FleetFilter, fleetPlaces } from '../core/selection/fleet-repository.ts';
import type { FleetSelection } from '../core/selection/fleet-selection.ts';
import type { Database } from '../platform/database/sql.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Micros } from '../runtime/units.ts';
import { type ConnectedTimes, connectedWithin, type Spans } from './connected-times.ts';
import { changesIn, stepOf } from './device-samples.ts';
import { median } from './median.ts';
import { listSamples, type SampleRow, versionsOf } from './samples-repository.ts';

/** The most devices that are looked at: a random sample of those that match. Medians of more differ little. */
const MOST_DEVICES = 1_000;
/** The devices of one query: at 90 days, each has some 300 samples. */
const PER_QUERY = 25;
const MOST_COHORTS = 20;
const MOST_POINTS = 100;
/** The longest time between two reports, in hours, of which a drop of the battery is made: nobody knows what was between. */
const LONGEST_GAP = 24;

interface Drop {
  hour: number;
  /** Percent an hour. */
  drop: number;
}

export interface Cohort {
  version: string;
  devices: number;
  /** The number of drops of which the medians are made. */
  drops: number;
  /** The median drop of the battery in percent an hour, while it was not charged; null when nothing is known. */
  batteryDrop: number | null;
  connectedShare: number | null;
  /** The median of the free storage that each device reported last with the version. */
  freeMebibytes: number | null;
  points: { at: Micros; batteryDrop: number; drops: number }[];
}

export interface Cohorts {
  since: Micros;
  stepHours: number;
  /** The devices that were looked at, and whether these are all that match. */
  devices: number;
  isWhole: boolean;
  cohorts: Cohort[];
}

interface Gathered {
  devices: Set<string>;
  drops: Drop[];
  free: Map<string, number>;
  connected: number;
  known: number;
}

export interface CohortQuery {
  filter: FleetFilter;
  /** The package whose versions are compared; null: the firmware. */
  package: string | null;
  since: Micros;
  stepHours: number;
}

/** A time in which a device had a version. */
interface Segment {
  version: string | null;
  from: Micros;
  until: Micros;
}

/** Parts the time since a device's first sample by its versions of a package. `last` is the present one. */
function segmentsOf(rows: readonly SampleRow[], name: string | null, last: string | null, until: Micros): Segment[] {
  const [first] = rows;
  if (!first) return [];
  const changes = changesIn(rows).filter((change) => change.package === name);
  let from = first.hour * HOUR_MICROS;
  const segments = changes.map(({ at, was }): Segment => {
    const segment = { version: was, from, until: at };
    from = at;
    return segment;
  });
  return [...segments, { version: last, from, until }];
}

/** How much the battery lost between two samples; undefined when it was charged, or nobody knows. */
function dropBetween(before: SampleRow, after: SampleRow): Drop | undefined {
  const hours = after.hour - before.hour;
  if (before.battery === null || after.battery === null || hours > LONGEST_GAP) return undefined;
  if (before.isCharging === 1 || after.isCharging === 1 || after.battery > before.battery) return undefined;
  return { hour: after.hour, drop: (before.battery - after.battery) / hours };
}

export type CohortViews = ReturnType<typeof createCohorts>;

interface Parts {
  database: Pick<Database, 'aside'>;
  clock: Pick<Clock, 'now'>;
  fleetSelection: Pick<FleetSelection, 'passing'>;
  times: ConnectedTimes;
}

/** Compares devices by the version that they had, over a period. */
export function createCohorts({ database: { aside }, clock, fleetSelection, times }: Parts) {
  /** Adds a device to the cohorts of the versions that it had. */
  function add(cohorts: Map<string, Gathered>, rows: readonly SampleRow[], segments: readonly Segment[], spans: Spans) {
    const [{ deviceId }] = rows as [SampleRow];
    for (const { version, from, until } of segments) {
      if (version === null || until <= from) continue;
      const cohort: Gathered = cohorts.get(version) ?? {
        devices: new Set(),
        drops: [],
        free: new Map(),
        connected: 0,
        known: 0,
      };
      cohorts.set(version, cohort);
      cohort.devices.add(deviceId);
      const begun = times.knownSince(from);
      if (until > begun) {
        cohort.known += until - begun;
        cohort.connected += connectedWithin(spans, begun, until);
      }
      // A sample has the last values of its hour, so it belongs to the version at the end of this hour.
      const own = rows.filter(({ hour }) => {
        const end = (hour + 1) * HOUR_MICROS;
        return end > from && (end <= until || until >= clock.now());
      });
      for (const [index, row] of own.entries()) {
        if (row.freeMebibytes !== null) cohort.free.set(deviceId, row.freeMebibytes);
        const drop = index > 0 ? dropBetween(own[index - 1] as SampleRow, row) : undefined;
        if (drop) cohort.drops.push(drop);
      }
    }
  }

  function shown(version: string, gathered: Gathered, step: number): Cohort {
    const byStep = Map.groupBy(gathered.drops, ({ hour }) => hour - (hour % step));
    return {
      version,
      devices: gathered.devices.size,
      drops: gathered.drops.length,
      batteryDrop: median(gathered.drops.map(({ drop }) => drop)),
      connectedShare: gathered.known === 0 ? null : gathered.connected / gathered.known,
      freeMebibytes: median([...gathered.free.values()]),
      points: [...byStep]
        .map(([hour, drops]) => ({
          at: hour * HOUR_MICROS,
          batteryDrop: median(drops.map(({ drop }) => drop)) ?? 0,
          drops: drops.length,
        }))
        .sort((a, b) => a.at - b.at),
    };
  }

  return {
    async read({ filter, package: name, since: asked, stepHours }: CohortQuery): Promise<Cohorts> {
      const now = clock.now();
      const begin = Math.min(hourOf(asked), hourOf(now));
      const since = begin * HOUR_MICROS;
      const step = stepOf(hourOf(now) - begin + 1, stepHours, MOST_POINTS);
      const found = await fleetPlaces(aside, { filter, order: 'lot', after: undefined, limit: MOST_DEVICES + 1 });
      const isWhole = found.length <= MOST_DEVICES;
      const passed = await fleetSelection.passing(found.slice(0, MOST_DEVICES), filter);
      const cohorts = new Map<string, Gathered>();
      for (let at = 0; at < passed.length; at += PER_QUERY) {
        const deviceIds = passed.slice(at, at + PER_QUERY).map(({ deviceId }) => deviceId);
        const [rows, versions, spans] = await Promise.all([
          listSamples(aside, deviceIds, begin),
          versionsOf(aside, deviceIds, name),
          times.of(deviceIds, times.knownSince(since)),
        ]);
        for (const [deviceId, own] of Map.groupBy(rows, (row) => row.deviceId))
          add(cohorts, own, segmentsOf(own, name, versions.get(deviceId) ?? null, now), spans.get(deviceId) ?? []);
      }
      return {
        since,
        stepHours: step,
        devices: passed.length,
        isWhole,
        cohorts: [...cohorts]
          .map(([version, gathered]) => shown(version, gathered, step))
          .sort((a, b) => b.devices - a.devices || (a.version < b.version ? 1 : -1))
          .slice(0, MOST_COHORTS),
      };
    },
  };
}
