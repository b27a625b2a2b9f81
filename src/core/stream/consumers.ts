import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Micros } from '../../runtime/units.ts';
import { type Consumer, findConsumer, listConsumers, removeConsumer, saveConsumer } from './consumer-repository.ts';
import { type Judged, judge } from './consumer-state.ts';
import { countBehind, findNewest, findRemovedUpTo } from './stream-repository.ts';

/** The most consumers of an application. */
const MOST_CONSUMERS = 16;
/** The most events that are counted behind a consumer. */
const MOST_COUNTED = 10_000;

/** The distance of a consumer from the end of the stream. */
export interface Lag extends Judged {
  /** MOST_COUNTED stands for that many or more. */
  events: number;
}

interface Parts {
  database: Pick<Database, 'read' | 'transact' | 'decidedEvents'>;
  clock: Pick<Clock, 'now'>;
  /** How long events are kept; it may be for ever. */
  keptMicros: Micros;
  /** Locks an application. Throws APPLICATION_UNREGISTERED. */
  lockApplication(unit: UnitOfWork, applicationId: string): Promise<unknown>;
}

export type Consumers = ReturnType<typeof createConsumers>;

/** Readers of the stream that keep their places in the service, by names that the application chooses. */
export function createConsumers({ database, clock, keptMicros, lockApplication }: Parts) {
  async function withLag(applicationId: string, consumer: Consumer): Promise<Consumer & { lag: Lag }> {
    const { count, since } = await countBehind(database.read, applicationId, consumer.after, MOST_COUNTED);
    const removed = await findRemovedUpTo(database.read, applicationId);
    const place = { ...consumer, oldestAt: since, removed };
    return { ...consumer, lag: { events: count, ...judge(place, clock.now(), keptMicros) } };
  }

  return {
    /** All consumers of an application, by name. */
    async list(applicationId: string): Promise<(Consumer & { lag: Lag })[]> {
      const consumers = await listConsumers(database.read, applicationId);
      return Promise.all(consumers.map((consumer) => withLag(applicationId, consumer)));
    },

    /** Throws CONSUMER_NOT_FOUND. */
    async find(applicationId: string, name: string): Promise<Consumer & { lag: Lag }> {
      const consumer = await findConsumer(database.read, applicationId, name);
      if (!consumer) throw new DomainError('CONSUMER_NOT_FOUND');
      return withLag(applicationId, consumer);
    },

    /**
     * Moves a consumer to a place in the stream; it may be new. `check` may refuse the change of the place that it gets, which
     * is undefined for a new consumer, by an error; without it (`isChecked` is false) a consumer only goes forward. Throws
     * CONSUMER_AHEAD, TOO_MANY_CONSUMERS, REQUEST_INVALID.
     */
    async move(
      applicationId: string,
      { name, after }: Pick<Consumer, 'name' | 'after'>,
      check: (after: number | undefined) => void,
      isChecked: boolean,
    ): Promise<Consumer> {
      const newest = await findNewest(database.read, applicationId, await database.decidedEvents());
      return database.transact(
        async (unit) => {
          await lockApplication(unit, applicationId);
          const known = await findConsumer(unit, applicationId, name);
          check(known?.after);
          if (!isChecked && known && after < known.after)
            throw new DomainError('CONSUMER_AHEAD', { values: { after: known.after } });
          // A consumer behind the end of the stream would pass over the events that come next.
          if (after > Math.max(newest, known?.after ?? 0))
            throw DomainError.invalid({
              loc: ['body', 'after'],
              msg: `Input should not be greater than ${newest}, the number of the newest event`,
              type: 'less_than_equal',
            });
          if (!known && (await listConsumers(unit, applicationId)).length >= MOST_CONSUMERS)
            throw new DomainError('TOO_MANY_CONSUMERS', { values: { limit: MOST_CONSUMERS } });
          const consumer = { name, after, updatedAt: clock.now() };
          saveConsumer(unit, applicationId, consumer);
          return consumer;
        },
        { whose: applicationId },
      );
    },

    /** Throws CONSUMER_NOT_FOUND. */
    async remove(applicationId: string, name: string): Promise<void> {
      const removed = await database.transact((unit) => removeConsumer(unit, applicationId, name), {
        whose: applicationId,
      });
      if (removed === 0) throw new DomainError('CONSUMER_NOT_FOUND');
    },
  };
}
