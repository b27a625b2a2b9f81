import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Log } from '../../runtime/log.ts';
import type { Stream } from '../stream/stream.ts';
import type { ReceiverName } from '../webhooks/delivery.ts';
import { type EndpointKey, type Released, receiverOf } from './endpoint.ts';
import { findOwner, listServed } from './endpoint-repository.ts';
import { createFeed, type FeedMemory } from './feed.ts';
import { createSettling } from './settling.ts';

/** Milliseconds for which an endpoint that has all events waits for the next one; then it is looked at again. */
const WAIT_MS = 60_000;
/** Milliseconds after which a full endpoint is looked at again, and one whose step has failed. */
const FULL_MS = 5_000;
const FAILED_MS = 1_000;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  stream: Pick<Stream, 'read' | 'wait'>;
  /** Whether this node sends to an endpoint. */
  isMine(receiver: ReceiverName): boolean;
  /** Called after the commit of new deliveries that may be sent. */
  offer(endpoint: EndpointKey, deliveries: readonly Released[]): void;
  /** Called after the commit of other deliveries that are due. */
  due(receiver: ReceiverName): void;
  /** Called when an endpoint may be sent to again, because its deliveries fit its state. */
  settled(endpoint: EndpointKey): void;
}

/** An endpoint that takes events on this node. */
interface Fed extends FeedMemory {
  /** Ends the present wait, so that the next step begins at once. */
  wake(): void;
  /** Whether something came since the last step began. */
  again: boolean;
  /** Whether only outcomes can let it go on. */
  isFull: boolean;
}

const nameOf = ({ applicationId, endpointId }: EndpointKey): string => `${applicationId} ${endpointId}`;

/**
 * Lets the endpoints of this node take their events from the streams of their applications. Each takes a bounded number ahead
 * of its receiver, so an endpoint that does not answer costs its place only. Each has its own turn, so one waits for
 * no other.
 */
export function createFeeding({ database, clock, log, stream, isMine, offer, due, settled }: Parts) {
  const fed = new Map<string, Fed>();
  const work = createWork();
  const feed = createFeed({
    database,
    clock,
    stream,
    offer,
    due: (key) => due(receiverOf(key)),
    settle: createSettling({ database, clock, settled }),
  });
  let running = false;

  /** Waits until the time is over, or the endpoint is woken. */
  function pause(one: Fed, milliseconds: number): Promise<void> {
    if (one.again) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = clock.after(milliseconds, resolve);
    one.wake = () => {
      cancel();
      resolve();
    };
    return promise;
  }

  /** Waits for the next event of an endpoint that has all. */
  async function follow(
    one: Fed,
    key: EndpointKey,
    { after, types }: { after: number; types: readonly string[] },
  ): Promise<void> {
    if (one.again) return;
    const developerId = await findOwner(database.read, key.applicationId);
    if (developerId === undefined || one.again) return;
    const owner = { applicationId: key.applicationId, developerId };
    const reading = { after, limit: 1, types: types.length === 0 ? undefined : types };
    const { page, leave } = stream.wait(owner, reading, WAIT_MS, true);
    one.wake = leave;
    await page;
  }

  async function run(key: EndpointKey, one: Fed): Promise<void> {
    const name = nameOf(key);
    const isOn = (): boolean => running && fed.get(name) === one && isMine(receiverOf(key));
    const failed = (err: unknown): Promise<void> => {
      if (running && !isDatabaseAway(err))
        log.warn({ err, ...key }, 'an endpoint could not take its events; trying again');
      return pause(one, FAILED_MS);
    };
    while (isOn()) {
      one.again = false;
      one.isFull = false;
      one.wake = () => undefined;
      let wait: () => Promise<void> = () => Promise.resolve();
      work.begun();
      try {
        const result = await feed.step(key, one, isOn);
        if (result.step === 'gone') {
          if (!one.again) break;
        } else if (result.step === 'full') {
          one.isFull = true;
          wait = () => pause(one, FULL_MS);
        } else if (result.step === 'wait') wait = () => pause(one, result.milliseconds);
        else if (result.step === 'idle') wait = () => follow(one, key, result.endpoint);
      } catch (err) {
        wait = () => failed(err);
      } finally {
        work.ended();
      }
      if (isOn()) await wait().catch(failed);
    }
    if (fed.get(name) === one) fed.delete(name);
  }

  function wake(key: EndpointKey): void {
    const one = fed.get(nameOf(key));
    if (one) {
      one.again = true;
      one.wake();
    } else if (running && isMine(receiverOf(key))) {
      const begun: Fed = { wake: () => undefined, again: false, isFull: false, healedAt: 0, takenAt: 0, blockable: 0 };
      fed.set(nameOf(key), begun);
      void run(key, begun);
    }
  }

  return {
    /** Called when an endpoint of this node may have been made or changed. */
    wake,

    /** Called after the commit of outcomes of an endpoint, for which an endpoint with many deliveries waits. */
    concluded(key: EndpointKey): void {
      if (fed.get(nameOf(key))?.isFull) wake(key);
    },

    /** Finds the endpoints that this node serves. */
    async takeUp(): Promise<void> {
      if (!running) return;
      for (const key of await listServed(database.read)) if (!fed.has(nameOf(key))) wake(key);
    },

    async start(): Promise<void> {
      running = true;
      for (const key of await listServed(database.read)) wake(key);
    },

    /** Resolves when no endpoint takes events. */
    idle: work.idle,

    async [Symbol.asyncDispose](): Promise<void> {
      running = false;
      for (const one of fed.values()) one.wake();
      await work.idle();
    },
  };
}
