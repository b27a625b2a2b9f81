import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Ids, idsFrom } from '../../runtime/ids.ts';
import type { Micros } from '../../runtime/units.ts';
import { countMatching, findEdge, findEvents } from '../stream/stream-repository.ts';
import type { Endpoint, Replay } from './endpoint.ts';
import type { EndpointAccess } from './endpoint-access.ts';
import { listEndpoints, saveReplay } from './endpoint-repository.ts';

/** The most events that are counted before a replay. */
export const MOST_COUNTED = 100_000;

/** The events that are sent again: those behind a number, or made since a time; up to a time; of types and of a device. */
export interface ReplayWish {
  after?: number;
  since?: Micros;
  until?: Micros;
  types?: readonly string[];
  deviceId?: string;
}

interface Parts {
  database: Database;
  clock: Pick<Clock, 'now'>;
  ids: Pick<Ids, 'next'>;
  access: EndpointAccess;
}

export type Replays = ReturnType<typeof createReplays>;

/** Sends events of the stream once more to an endpoint. An application has one replay at a time. */
export function createReplays({ database, clock, ids, access: { find, locked, newestOf } }: Parts) {
  /**
   * The part of the stream that a wish means: (after, until]. It ends before the first event that the endpoint is yet to take
   * itself: a replay that overtook it would send later events of a device first.
   */
  async function rangeOf(
    { applicationId, types, after: taken }: Endpoint,
    { after, since, until }: ReplayWish,
  ): Promise<[after: number, until: number]> {
    const upTo = await newestOf(applicationId);
    const own = types.length === 0 ? {} : { types };
    const ahead = await findEvents(database.aside, applicationId, own, { after: taken, upTo, limit: 1 });
    const newest = Math.min(upTo, ahead.events[0] ? ahead.events[0].sequence - 1 : ahead.examined);
    const from =
      since === undefined ? (after ?? 0) : await findEdge(database.read, applicationId, idsFrom('msg', since), 'first');
    const to =
      until === undefined
        ? newest
        : Math.min(newest, await findEdge(database.read, applicationId, idsFrom('msg', until), 'last'));
    return [from, to];
  }

  return {
    /** Counts the events that a replay would send; MOST_COUNTED stands for that many or more. Throws ENDPOINT_NOT_FOUND. */
    async count(applicationId: string, endpointId: string, wish: ReplayWish): Promise<number> {
      const endpoint = await find(applicationId, endpointId);
      const [after, upTo] = await rangeOf(endpoint, wish);
      const types = wish.types ?? (endpoint.types.length === 0 ? undefined : endpoint.types);
      const filter = { types, ...(wish.deviceId !== undefined && { deviceId: wish.deviceId }) };
      return countMatching(database.aside, applicationId, filter, { after, upTo, most: MOST_COUNTED });
    },

    /**
     * Begins a replay. Its events are sent beside new ones, at most 200 a second. Throws ENDPOINT_NOT_FOUND,
     * ENDPOINT_DISABLED, REPLAY_RUNNING.
     */
    async start(applicationId: string, endpointId: string, wish: ReplayWish): Promise<Replay> {
      const [after, until] = await rangeOf(await find(applicationId, endpointId), wish);
      return locked(applicationId, endpointId, async (unit, endpoint) => {
        if (!endpoint.enabled) throw new DomainError('ENDPOINT_DISABLED');
        const running = (await listEndpoints(unit, applicationId)).find(({ replay }) => replay !== null);
        if (running) throw new DomainError('REPLAY_RUNNING', { values: { endpointId: running.endpointId } });
        const startedAt = clock.now();
        const replay: Replay = {
          replayId: ids.next('rp', startedAt),
          after,
          until,
          types: wish.types ?? null,
          deviceId: wish.deviceId ?? null,
          events: 0,
          startedAt,
        };
        saveReplay(unit, endpoint, replay);
        return replay;
      });
    },

    /** Ends a replay; what it has taken already is sent. Throws ENDPOINT_NOT_FOUND, REPLAY_NOT_RUNNING. */
    cancel: (applicationId: string, endpointId: string): Promise<void> =>
      locked(applicationId, endpointId, async (unit, endpoint) => {
        if (!endpoint.replay) throw new DomainError('REPLAY_NOT_RUNNING');
        saveReplay(unit, endpoint, null);
      }),
  };
}
