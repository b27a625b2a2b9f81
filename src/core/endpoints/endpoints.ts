import { DomainError, type Fault } from '@lapel/schemas/contracts/errors';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import { createBulkThrottle } from '../../runtime/bulk-throttle.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Micros } from '../../runtime/units.ts';
import { countBehind, countMatching, findEvents } from '../stream/stream-repository.ts';
import { type EndpointId, NO_DEVICE, type WebhookEvent } from '../webhooks/delivery.ts';
import { countAttempts } from '../webhooks/log/receiver-hours.ts';
import { countWith, findOldestOpen, listBlockedDevices, listDeliveriesTo } from './delivery-list-repository.ts';
import {
  type Endpoint,
  type EndpointTerms,
  MOST_ENDPOINTS,
  receiverOf,
  type SignatureScheme,
  secretsOf,
} from './endpoint.ts';
import type { EndpointAccess } from './endpoint-access.ts';
import {
  holdAll,
  holdBehind,
  insertTest,
  releaseAll,
  releaseBehind,
  removeSome,
  skipAll,
  skipOne,
} from './endpoint-delivery-repository.ts';
import { deleteEndpoint, insertEndpoint, listEndpoints, saveEndpoint, saveReplay } from './endpoint-repository.ts';
import { makeSecret, schemeOf } from './endpoint-secrets.ts';
import { hasMany } from './settling.ts';

/** The most events that are counted for the state of an endpoint. */
export const MOST_COUNTED = 10_000;
/** The most blocked devices that are listed. */
const MOST_LISTED = 100;
/** The rows of a removed endpoint that one unit of work removes. */
const REMOVED_AT_ONCE = 1_000;

/** Others work meanwhile. */
const pause = createBulkThrottle(() => 1);

/** A change of an endpoint. `missed`: what happens to the events that it did not get while it was disabled. */
export interface EndpointChange extends Partial<EndpointTerms> {
  enabled?: boolean;
  missed?: 'send' | 'skip';
}

/** How an endpoint does; MOST_COUNTED stands for that many or more. */
export interface EndpointState {
  /** Events of its types that it has not taken. */
  behind: number;
  pending: number;
  blocked: number;
  /** When the oldest event was made that it has not got; null when it has all. */
  oldestAt: Micros | null;
  /** The attempts of the last 24 hours that were accepted, and that were not. */
  delivered: number;
  failed: number;
}

interface Parts {
  database: Database;
  clock: Pick<Clock, 'now'>;
  ids: Pick<Ids, 'next' | 'bytes'>;
  /** Returns the reason why a webhook may not go to this URL; undefined when it may. */
  urlFault(url: string, name: string): Fault | undefined;
  access: EndpointAccess;
  record(unit: UnitOfWork, event: WebhookEvent): string;
}

export type Endpoints = ReturnType<typeof createEndpoints>;

/** The endpoints of applications: places to which their events are sent, beside the URLs of their settings. */
export function createEndpoints({ database, clock, ids, urlFault, record, access }: Parts) {
  const { keyOf, find, locked, newestOf, lockApplication, changed } = access;
  function requireUrl(url: string): void {
    const fault = urlFault(url, 'url');
    if (fault) throw DomainError.invalid(fault);
  }

  /** The events of its types that an endpoint has not taken, and when the first of them was made. */
  async function behindOf({ applicationId, types, after }: Endpoint): Promise<{ count: number; since: Micros | null }> {
    if (types.length === 0) return countBehind(database.read, applicationId, after, MOST_COUNTED);
    const upTo = await newestOf(applicationId);
    const range = { after, upTo, most: MOST_COUNTED };
    const count = await countMatching(database.aside, applicationId, { types }, range);
    if (count === 0) return { count, since: null };
    const { events } = await findEvents(database.aside, applicationId, { types }, { ...range, limit: 1 });
    return { count, since: events[0]?.createdAt ?? null };
  }

  return {
    list: (applicationId: string): Promise<Endpoint[]> => listEndpoints(database.read, applicationId),

    /** Throws ENDPOINT_NOT_FOUND. */
    find,

    async stateOf(endpoint: Endpoint): Promise<EndpointState> {
      const [behind, pending, blocked, openSince, attempts] = await Promise.all([
        behindOf(endpoint),
        countWith(database.read, endpoint, 'pending', MOST_COUNTED),
        countWith(database.read, endpoint, 'blocked', MOST_COUNTED),
        findOldestOpen(database.read, endpoint),
        countAttempts(database.read, receiverOf(endpoint), clock.now()),
      ]);
      return { behind: behind.count, pending, blocked, oldestAt: openSince ?? behind.since, ...attempts };
    },

    /** The secrets that sign, the current one first. */
    secretsOf: (endpoint: Endpoint): string[] => secretsOf(endpoint, clock.now()),

    /** The devices that an ordered endpoint holds up, at most 100, with the number of the event that each waits for. */
    blockedDevices: async (endpoint: Endpoint) =>
      !endpoint.ordered || !endpoint.enabled ? [] : listBlockedDevices(database.aside, endpoint, MOST_LISTED),

    /**
     * Makes an endpoint; it gets the events that come from now on. Its secret is returned here only. Throws
     * TOO_MANY_ENDPOINTS, REQUEST_INVALID.
     */
    async create(
      applicationId: string,
      { enabled, signatures, ...terms }: EndpointTerms & { enabled: boolean; signatures: SignatureScheme },
    ): Promise<Endpoint> {
      requireUrl(terms.url);
      const after = await newestOf(applicationId);
      const createdAt = clock.now();
      const endpoint: Endpoint = {
        ...terms,
        applicationId,
        endpointId: ids.next('ep', createdAt) as EndpointId,
        enabled,
        disabledReason: enabled ? null : 'asked',
        pacedUntil: 0,
        secret: makeSecret(signatures, ids),
        formerSecret: null,
        secretReplacedAt: null,
        after,
        passedOver: 0,
        failingSince: null,
        failedInRow: 0,
        refusedInRow: 0,
        lastStatusCode: null,
        lastError: null,
        toldAt: null,
        replay: null,
        settling: null,
        createdAt,
        updatedAt: createdAt,
      };
      return database.transact(
        async (unit) => {
          await lockApplication(unit, applicationId);
          if ((await listEndpoints(unit, applicationId)).length >= MOST_ENDPOINTS)
            throw new DomainError('TOO_MANY_ENDPOINTS', { values: { limit: MOST_ENDPOINTS } });
          insertEndpoint(unit, endpoint);
          unit.onCommit(() => changed(endpoint));
          return endpoint;
        },
        { whose: applicationId },
      );
    },

    /**
     * Changes the properties that the change names. `check` may refuse the change of the endpoint that it gets, by an error.
     * A caller who enables one that is disabled chooses what happens to the events that it missed. Throws ENDPOINT_NOT_FOUND,
     * REQUEST_INVALID.
     */
    async change(
      applicationId: string,
      endpointId: string,
      { missed, ...change }: EndpointChange,
      check: (known: Endpoint) => void,
    ): Promise<Endpoint> {
      if (change.url !== undefined) requireUrl(change.url);
      const newest = missed === 'skip' ? await newestOf(applicationId) : 0;
      return locked(applicationId, endpointId, async (unit, known) => {
        check(known);
        const now = clock.now();
        const enables = change.enabled === true && !known.enabled;
        if (enables && missed === undefined)
          throw DomainError.invalid({
            loc: ['body', 'missed'],
            msg: 'Field required: send or skip the events that the endpoint missed while it was disabled',
            type: 'missing',
          });
        if (!enables && missed !== undefined)
          throw DomainError.invalid({
            loc: ['body', 'missed'],
            msg: 'Input is only permitted when a disabled endpoint is enabled',
            type: 'extra_forbidden',
          });
        const made: Endpoint = { ...known, ...change, updatedAt: Math.max(now, known.updatedAt + 1) };
        // Many deliveries are changed a piece at a time, behind this unit.
        const moves = made.enabled !== known.enabled || made.ordered !== known.ordered;
        const isLarge = known.settling !== null || (moves && (await hasMany(unit, known)));
        if (isLarge) made.settling = known.settling ?? 0;
        if (known.enabled && !made.enabled) {
          Object.assign(made, { disabledReason: 'asked', replay: null });
          if (known.replay) saveReplay(unit, known, null);
          if (!isLarge) holdAll(unit, known);
        }
        if (enables) {
          Object.assign(made, {
            disabledReason: null,
            failingSince: null,
            failedInRow: 0,
            refusedInRow: 0,
            lastStatusCode: null,
            lastError: null,
            toldAt: null,
          });
          if (missed === 'skip') {
            made.after = Math.max(known.after, newest);
            if (isLarge) made.settling = made.after;
            else skipAll(unit, known, now);
          }
        }
        if (made.ratePerSecond !== known.ratePerSecond) made.pacedUntil = 0;
        if (!isLarge && made.enabled && made.ordered && !known.ordered) holdBehind(unit, known);
        if (!isLarge && moves && made.enabled) releaseAll(unit, known, made.ordered, now);
        saveEndpoint(unit, made);
        return made;
      });
    },

    /**
     * Sends a `test` event to an endpoint, whatever its types are; returns its eventId. Throws ENDPOINT_NOT_FOUND,
     * ENDPOINT_DISABLED.
     */
    test: (applicationId: string, endpointId: string): Promise<string> =>
      locked(applicationId, endpointId, async (unit, known) => {
        if (!known.enabled) throw new DomainError('ENDPOINT_DISABLED');
        const now = clock.now();
        const about = { applicationId, deviceId: NO_DEVICE, setting: 'deviceEvent', unsent: true } as const;
        const data = { endpointId: known.endpointId };
        const eventId = record(unit, { ...about, type: 'test', occurredAt: now, data });
        insertTest(unit, known, eventId, now);
        return eventId;
      }),

    /** Makes another secret. For a day notifications are signed with both. Throws ENDPOINT_NOT_FOUND. */
    replaceSecret: (applicationId: string, endpointId: string, signatures?: SignatureScheme): Promise<Endpoint> =>
      locked(applicationId, endpointId, async (unit, known) => {
        const now = clock.now();
        const secret = makeSecret(signatures ?? schemeOf(known.secret), ids);
        const made = {
          ...known,
          secret,
          formerSecret: known.secret,
          secretReplacedAt: now,
          updatedAt: Math.max(now, known.updatedAt + 1),
        };
        saveEndpoint(unit, made);
        return made;
      }),

    /** Removes an endpoint; what it has not got is not sent. Throws ENDPOINT_NOT_FOUND. */
    async remove(applicationId: string, endpointId: string, check: (known: Endpoint) => void): Promise<void> {
      const key = keyOf(applicationId, endpointId);
      await locked(applicationId, endpointId, async (unit, known) => {
        check(known);
        await deleteEndpoint(unit, key);
      });
      // Behind the row of the endpoint, so none is added any more. Those that are through may be millions: nobody waits for
      // them, and the sweep of old rows removes what a stop leaves.
      const some = (onlyOpen: boolean): Promise<number> => {
        const part = { most: REMOVED_AT_ONCE, onlyOpen };
        return database.transact((unit) => removeSome(unit, key, part), { whose: applicationId, pace: 'soon' });
      };
      const all = async (onlyOpen: boolean): Promise<void> => {
        for (let began = performance.now(); (await some(onlyOpen)) > 0; began = performance.now()) await pause(began);
      };
      await all(true);
      all(false).catch(() => undefined);
    },

    /** Deliveries to an endpoint, the newest first. Throws ENDPOINT_NOT_FOUND. */
    async deliveries(
      applicationId: string,
      endpointId: string,
      filter: Omit<Parameters<typeof listDeliveriesTo>[2], 'isOrdered'>,
    ) {
      const endpoint = await find(applicationId, endpointId);
      return listDeliveriesTo(database.read, endpoint, { ...filter, isOrdered: endpoint.ordered && endpoint.enabled });
    },

    /**
     * Gives up a delivery that waits, so that the next event of its device can be sent. Throws ENDPOINT_NOT_FOUND,
     * DELIVERY_NOT_WAITING.
     */
    skip: (applicationId: string, endpointId: string, sequence: number): Promise<void> =>
      locked(applicationId, endpointId, async (unit, known) => {
        const now = clock.now();
        if ((await skipOne(unit, known, sequence, now)) === undefined) throw new DomainError('DELIVERY_NOT_WAITING');
        if (known.enabled && known.ordered && known.settling === null)
          await releaseBehind(unit, known, [sequence], now);
      }),
  };
}
