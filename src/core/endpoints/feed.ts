import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Micros } from '../../runtime/units.ts';
import type { EventPage, Stream } from '../stream/stream.ts';
import { findRemovedUpTo } from '../stream/stream-repository.ts';
import { countWith } from './delivery-list-repository.ts';
import { type Endpoint, type EndpointKey, isDown, type Released } from './endpoint.ts';
import { findEndpoint, savePlace, saveReplay } from './endpoint-repository.ts';
import { take } from './taking.ts';

/** The most deliveries to an endpoint that wait for their next attempt; further events stay in the stream. */
const MOST_PENDING = 500;
/** The most deliveries that wait behind another one of their device. */
const MOST_BLOCKED = 100_000;
/** The most events that one unit of work takes. */
const MOST_TAKEN = 100;
/**
 * Microseconds between two events that an endpoint takes which is down, to find out whether it works again: in its first hour, and
 * later. All others stay in the stream meanwhile.
 */
const PROBE_MICROS = { soon: 5 * 60_000_000, later: 30 * 60_000_000 };
const SOON_MICROS = 3_600_000_000;
/** Microseconds after which the deliveries that wait for another one are looked at, in case that nobody let them go on. */
const HEAL_MICROS = 60_000_000;
/** Microseconds for which events are taken ahead of the rate of the endpoint. */
const AHEAD_MICROS = 2_000_000;
/** A replay takes so many events at a time, with so many milliseconds between two pieces: 200 a second at most. */
const REPLAYED = 50;
const REPLAY_PAUSE_MS = 250;

/**
 * The result of a step: `taken`: there may be more; `full`: as many wait as may; `at`: milliseconds until more may be done;
 * `idle`: the endpoint has all events up to `after`; `gone`: it is disabled or removed.
 */
export type Step =
  | { step: 'taken' | 'gone' }
  | { step: 'full' }
  | { step: 'wait'; milliseconds: number }
  | { step: 'idle'; endpoint: Endpoint };

/** What is remembered of an endpoint between two steps, in microseconds. */
export interface FeedMemory {
  healedAt: Micros;
  takenAt: Micros;
  /** At least so many more may wait behind others; counting 100,000 of them at each step would take longer than the step. */
  blockable: number;
}

interface Parts {
  database: Database;
  clock: Clock;
  stream: Pick<Stream, 'read'>;
  /** Called after the commit of new deliveries that may be sent. */
  offer(endpoint: EndpointKey, deliveries: readonly Released[]): void;
  /** Called after the commit of other deliveries that are due. */
  due(endpoint: EndpointKey): void;
  /** Makes the open deliveries of an endpoint fit its state. */
  settle(endpoint: Endpoint, isOn: () => boolean): Promise<void>;
}

/** A pace that is further ahead than any node could have set it was set by a wrong clock. */
const isSensible = (pacedUntil: Micros, now: Micros): boolean => pacedUntil - now <= 30 * AHEAD_MICROS;

/**
 * Test events are for one receiver, so others get them only when they ask for this type. That an endpoint fails is told to
 * all but itself: it gets nothing while that is so.
 */
const isFor =
  ({ types, endpointId }: Pick<Endpoint, 'types' | 'endpointId'>) =>
  ({ type, body }: { type: string; body: string }): boolean =>
    type === 'test'
      ? types.includes('test')
      : !type.startsWith('endpoint.') || !body.includes(`"endpointId":"${endpointId}"`);

/** Steps with which an endpoint takes its events from the stream. */
export function createFeed({ database, clock, stream, offer, due, settle }: Parts) {
  const within = <Result>(key: EndpointKey, work: (unit: UnitOfWork) => Promise<Result>): Promise<Result> =>
    database.transact(work, { whose: key.applicationId, pace: 'soon' });

  /** The page of the stream behind a place; `removed` when events there were removed because they were old. */
  async function pageOf(
    applicationId: string,
    reading: Parameters<Stream['read']>[1],
  ): Promise<EventPage | { removed: number }> {
    try {
      // An endpoint at the beginning was made when the stream was empty.
      const removed = reading.after === 0 ? await findRemovedUpTo(database.read, applicationId) : 0;
      if (removed > 0) return { removed };
      return await stream.read(applicationId, reading);
    } catch (err) {
      if (err instanceof DomainError && err.code === 'EVENTS_REMOVED')
        return { removed: Number(err.values?.['removed']) };
      throw err;
    }
  }

  const typesOf = (types: readonly string[]): readonly string[] | undefined => (types.length === 0 ? undefined : types);

  /** Takes the next events, if the endpoint is as it was when its page was read. Returns whether it was. */
  function takePage(known: Endpoint, page: EventPage | { removed: number }): Promise<boolean> {
    return within(known, async (unit) => {
      const endpoint = await findEndpoint(unit, known, unit.forUpdate);
      const isSame =
        endpoint?.enabled &&
        endpoint.settling === null &&
        endpoint.after === known.after &&
        endpoint.updatedAt === known.updatedAt;
      if (!isSame) return false;
      if ('removed' in page) {
        savePlace(unit, endpoint, { after: page.removed, passedOver: page.removed, pacedUntil: endpoint.pacedUntil });
        return true;
      }
      const { ratePerSecond, pacedUntil } = endpoint;
      const isPaced = ratePerSecond !== null;
      const now = clock.now();
      const pace = {
        from: isPaced && isSensible(pacedUntil, now) ? pacedUntil : 0,
        gap: isPaced ? 1_000_000 / ratePerSecond : 0,
        again: false,
      };
      const { until, fresh } = await take(unit, endpoint, page.events.filter(isFor(endpoint)), now, pace);
      savePlace(unit, endpoint, { after: page.next, passedOver: endpoint.passedOver, pacedUntil: until });
      unit.onCommit(() => offer(known, fresh));
      return true;
    });
  }

  /** Takes the next piece of a replay. */
  async function replayPiece(known: Endpoint): Promise<void> {
    const { replay } = known;
    if (!replay) return;
    const page = await pageOf(known.applicationId, {
      after: replay.after,
      limit: REPLAYED,
      types: replay.types ?? typesOf(known.types),
      ...(replay.deviceId !== null && { deviceId: replay.deviceId }),
    });
    await within(known, async (unit) => {
      const endpoint = await findEndpoint(unit, known, unit.forUpdate);
      const isSame = endpoint?.replay?.replayId === replay.replayId && endpoint.replay.after === replay.after;
      if (!isSame) return;
      if ('removed' in page) {
        saveReplay(unit, endpoint, { ...replay, after: page.removed });
        return;
      }
      const events = page.events.filter(isFor(endpoint)).filter(({ sequence }) => sequence <= replay.until);
      await take(unit, endpoint, events, clock.now(), { from: 0, gap: 0, again: true });
      const isOver = !page.more || page.next >= replay.until;
      const rest = { ...replay, after: page.next, events: replay.events + events.length };
      saveReplay(unit, endpoint, isOver ? null : rest);
      unit.onCommit(() => due(known));
    });
  }

  /** Lets what waits for another event of its device go on, if that one is through: its release was lost. */
  async function heal(endpoint: Endpoint, isOn: () => boolean): Promise<void> {
    if ((await countWith(database.read, endpoint, 'blocked', 1)) > 0) await settle(endpoint, isOn);
    if ((await countWith(database.read, endpoint, 'pending', 1)) > 0) due(endpoint);
  }

  /** The milliseconds until an endpoint that is down may take its next event; 0: now, or it is not down. */
  function untilProbe(endpoint: Endpoint, takenAt: number): number {
    if (!isDown(endpoint)) return 0;
    const now = clock.now();
    const gap = now - (endpoint.failingSince ?? now) < SOON_MICROS ? PROBE_MICROS.soon : PROBE_MICROS.later;
    return Math.max(0, Math.ceil((takenAt + gap - now) / 1000));
  }

  return {
    /** Takes the next events of an endpoint, of its replay as well. */
    async step(key: EndpointKey, memory: FeedMemory, isOn: () => boolean): Promise<Step> {
      const now = clock.now();
      const endpoint = await findEndpoint(database.read, key);
      if (endpoint && endpoint.settling !== null) {
        await settle(endpoint, isOn);
        memory.healedAt = 0; // what ended meanwhile has let nothing go on
        return { step: 'taken' };
      }
      if (!endpoint?.enabled) return { step: 'gone' };
      if (now - memory.healedAt >= HEAL_MICROS) {
        await heal(endpoint, isOn);
        memory.healedAt = now;
      }
      const untilNext = untilProbe(endpoint, memory.takenAt);
      if (untilNext > 0) return { step: 'wait', milliseconds: untilNext };
      const room = MOST_PENDING - (await countWith(database.read, key, 'pending', MOST_PENDING));
      if (room <= 0) return { step: 'full' };
      if (endpoint.ordered && memory.blockable <= 0) {
        memory.blockable = MOST_BLOCKED - (await countWith(database.read, key, 'blocked', MOST_BLOCKED));
        if (memory.blockable <= 0) return { step: 'full' };
      }
      const { ratePerSecond, pacedUntil } = endpoint;
      const isPaced = ratePerSecond !== null && isSensible(pacedUntil, now);
      const ahead = isPaced ? pacedUntil - now - AHEAD_MICROS : 0;
      if (ahead > 0) return { step: 'wait', milliseconds: Math.ceil(ahead / 1000) };
      const most = ratePerSecond === null ? MOST_TAKEN : Math.min(MOST_TAKEN, Math.max(1, ratePerSecond));
      const page = await pageOf(key.applicationId, {
        after: endpoint.after,
        limit: isDown(endpoint) ? 1 : Math.min(room, most),
        types: typesOf(endpoint.types),
      });
      const isNew = 'removed' in page || page.events.length > 0 || page.next > endpoint.after;
      if (isNew && (await takePage(endpoint, page))) memory.takenAt = now;
      if (!('removed' in page)) memory.blockable -= page.events.length;
      const isMore = 'removed' in page || page.more || page.events.length > 0;
      if (endpoint.replay && !isDown(endpoint)) {
        await replayPiece(endpoint);
        memory.blockable -= REPLAYED;
        return { step: 'wait', milliseconds: REPLAY_PAUSE_MS };
      }
      return isMore ? { step: 'taken' } : { step: 'idle', endpoint };
    },
  };
}
