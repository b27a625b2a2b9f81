import type { Database } from '../../platform/database/sql.ts';
import { type Candidate, needsJudging } from './candidate.ts';
import { type FleetFilter, fleetPlaces, fleetPlacesAmong } from './fleet-repository.ts';
import type { Selection } from './selection.ts';

/** The devices that one query of a count reads. */
const PER_QUERY = 4_000;

interface Parts {
  database: Pick<Database, 'aside'>;
  /** The time at which a device was last heard of (microseconds), if it is newer than the stored one. */
  presence: { newerThanStored(deviceId: string): number | undefined };
  selection: Pick<Selection, 'matching'>;
}

export type FleetSelection = ReturnType<typeof createFleetSelection>;

/** Whether some conditions cannot be checked by the database, so that candidates must be judged one by one. */
export const isJudged = ({ terms, seenBefore }: FleetFilter): boolean =>
  needsJudging(terms) || seenBefore !== undefined;

/**
 * Finds the devices of all developers that match a filter, page by page in the order of their deviceIds. The database is
 * queried on a thread of its own.
 */
export function createFleetSelection({ database: { aside }, presence, selection }: Parts) {
  /** Keeps those of the candidates that match the conditions which the database cannot check. */
  async function passing(batch: readonly Candidate[], filter: FleetFilter): Promise<readonly Candidate[]> {
    const { seenBefore, terms } = filter;
    const silent =
      seenBefore === undefined
        ? batch
        : batch.filter(({ deviceId }) => (presence.newerThanStored(deviceId) ?? 0) < seenBefore);
    return selection.matching(silent, terms);
  }

  /**
   * Finds the next matching devices behind `after`, and the place where the next page begins; undefined after the last
   * page. It examines `limit` devices, so a page can be empty without being the last.
   */
  async function page(
    filter: FleetFilter,
    { after, limit }: { after: string; limit: number },
  ): Promise<{ deviceIds: string[]; next: string | undefined }> {
    const place = after === '' ? undefined : { deviceId: after, seenAt: 0 };
    const found = await fleetPlaces(aside, { filter, order: 'deviceId', after: place, limit });
    const passed = await passing(found, filter);
    return {
      deviceIds: passed.map(({ deviceId }) => deviceId),
      next: found.length < limit ? undefined : found.at(-1)?.deviceId,
    };
  }

  return {
    passing,
    page,

    /** Those of the given devices that match now. */
    async among(filter: FleetFilter, deviceIds: readonly string[]): Promise<ReadonlySet<string>> {
      const passed = await passing(await fleetPlacesAmong(aside, filter, deviceIds), filter);
      return new Set(passed.map(({ deviceId }) => deviceId));
    },

    /** Counts the matching devices, up to a little more than `most`. Each query reads a bounded number of devices. */
    async count(filter: FleetFilter, most: number): Promise<number> {
      let counted = 0;
      for (let after: string | undefined = ''; after !== undefined && counted <= most; ) {
        const found: Awaited<ReturnType<typeof page>> = await page(filter, { after, limit: PER_QUERY });
        counted += found.deviceIds.length;
        after = found.next;
      }
      return counted;
    },
  };
}
