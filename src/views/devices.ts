import { findTags, type Tags } from '../core/devices/tag-repository.ts';
import {
  type FleetFilter,
  type FleetOrder,
  type FleetPlace,
  fleetPlaces,
  fleetPlacesAmong,
} from '../core/selection/fleet-repository.ts';
import { type FleetSelection, isJudged } from '../core/selection/fleet-selection.ts';
import type { Database } from '../platform/database/sql.ts';
import { type Page, pageOf } from '../runtime/page.ts';
import { type FleetRow, fleetRows } from './devices-repository.ts';

/** A device in a list, with its current state. */
export interface FleetDevice extends Omit<FleetRow, 'reportedAt'> {
  connected: boolean;
  tags: Tags;
}

export interface FleetQuery extends FleetFilter {
  order: FleetOrder;
  after?: FleetPlace;
  limit: number;
}

interface Parts {
  database: Pick<Database, 'aside'>;
  /**
   * The time of the last sign of life in microseconds, when it is newer than the stored time, which may lag by a
   * minute.
   */
  presence: { newerThanStored(deviceId: string): number | undefined };
  /** Keeps those of the candidates that match the conditions which the database cannot check. */
  fleetSelection: Pick<FleetSelection, 'passing'>;
  /** Selects those of the given devices that are connected, to any node. */
  connected(deviceIds: readonly string[]): ReadonlySet<string> | Promise<ReadonlySet<string>>;
  /** The deviceIds of all connected devices; undefined when there are more than `most`. */
  connectedIds(most: number): readonly string[] | undefined | Promise<readonly string[] | undefined>;
}

/**
 * Up to this many connected devices, a list of connected devices looks up these devices. With more, it reads all
 * devices in order instead, because it soon finds enough connected ones.
 */
const FEW_CONNECTED = 2_000;
/**
 * The most devices that are read for one page when the list has a condition that the database cannot check, and the
 * number that one query reads.
 */
const MOST_EXAMINED = 20_000;
const EXAMINED_PER_QUERY: Record<FleetOrder, number> = { deviceId: 1_000, lastSeen: 4_000, '-lastSeen': 4_000 };

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
const ORDERS: Record<FleetOrder, (one: FleetPlace, other: FleetPlace) => number> = {
  deviceId: (one, other) => compare(one.deviceId, other.deviceId),
  lastSeen: (one, other) => one.seenAt - other.seenAt || compare(one.deviceId, other.deviceId),
  '-lastSeen': (one, other) => other.seenAt - one.seenAt || compare(one.deviceId, other.deviceId),
};

export type Fleet = ReturnType<typeof createFleet>;

/**
 * Lists the devices of all developers, with filters and in an order, page by page. The database is queried on a thread
 * of its own. Some conditions cannot be checked there: whether a device is connected, and when it was seen within the
 * last minute. These are checked here, for a bounded number of devices per page. So a page can be shorter than its
 * limit, even empty, without being the last one.
 */
export function createFleet({
  database: { aside },
  presence,
  fleetSelection: { passing },
  connected,
  connectedIds,
}: Parts) {
  /** Makes a page from the given devices, which are few, so all of them are read. */
  async function placesAmong(deviceIds: readonly string[], query: FleetQuery): Promise<Page<FleetPlace, FleetPlace>> {
    const { order, after, limit } = query;
    const named = deviceIds.filter((deviceId) => query.prefix === undefined || deviceId.startsWith(query.prefix));
    const passed = await passing(await fleetPlacesAmong(aside, query, named), query);
    const sorted = passed.toSorted(ORDERS[order]).filter((place) => !after || ORDERS[order](place, after) > 0);
    return pageOf(sorted, limit, (place) => place);
  }

  async function places(query: FleetQuery): Promise<Page<FleetPlace, FleetPlace>> {
    const { order, limit } = query;
    const judges = isJudged(query);
    const size = judges ? EXAMINED_PER_QUERY[order] : limit + 1;
    const kept: FleetPlace[] = [];
    let { after } = query;
    for (let looked = 0; looked < MOST_EXAMINED; looked += size) {
      const batch = await fleetPlaces(aside, { filter: query, order, after, limit: size });
      kept.push(...(judges ? await passing(batch, query) : batch));
      if (kept.length > limit) return pageOf(kept, limit, (place) => place);
      if (batch.length < size) return { rows: kept, next: undefined };
      after = batch.at(-1);
    }
    return { rows: kept, next: after };
  }

  /** Reads the current state of the given devices, in their order. A device that no longer exists is left out. */
  async function find(deviceIds: readonly string[]): Promise<FleetDevice[]> {
    const [rows, tags, isConnected] = await Promise.all([
      fleetRows(aside, deviceIds),
      findTags(aside, deviceIds),
      connected(deviceIds),
    ]);
    return rows.map(({ reportedAt, ...row }) => {
      // A stored report is a sign of life, too. It may be newer than the stored time of the last sign of life.
      const seen = Math.max(presence.newerThanStored(row.deviceId) ?? 0, row.lastSeenAt ?? 0, reportedAt ?? 0);
      return {
        ...row,
        connected: isConnected.has(row.deviceId),
        lastSeenAt: seen === 0 ? null : seen,
        tags: tags.get(row.deviceId) ?? {},
      };
    });
  }

  return {
    find,

    /** Lists a page of devices, with the position at which the next page begins; undefined after the last page. */
    async list(query: FleetQuery): Promise<Page<FleetDevice, FleetPlace>> {
      const few = query.terms.connected === true ? await connectedIds(FEW_CONNECTED) : undefined;
      const page = few ? await placesAmong(few, query) : await places(query);
      return { rows: await find(page.rows.map(({ deviceId }) => deviceId)), next: page.next };
    },
  };
}
