import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Bus } from '../../platform/cluster/bus.ts';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Log } from '../../runtime/log.ts';
import type { Millis } from '../../runtime/units.ts';
import { devicesOf, listRevoked } from './authority-repository.ts';

/** Devices that are read at once. */
const DEVICES = 1_000;
/** The least milliseconds between two looks that nobody asks for, and until a failed one is repeated. */
const LOOK_MS = 10_000;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  bus: Pick<Bus, 'broadcast' | 'on' | 'onGap'>;
  /** Closes the connection of a device to this node, if it has one, after any login that is in progress. */
  disconnect(deviceId: string): void;
}

/**
 * Ends the connections of devices whose certificate is one of a revoked device CA. Each node ends its own: logins are
 * refused from the revocation on, so a node has to do it once for each device CA.
 */
export function createAuthorityEndings({ database, clock, log, bus, disconnect }: Parts) {
  const ended = new Set<string>();
  const work = createWork();
  let cancel: (() => void) | undefined;
  let stopped = false;

  async function endOne(authorityId: string): Promise<void> {
    for (let after: string | undefined = ''; after !== undefined && !stopped; ) {
      const devices: { deviceId: string }[] = await devicesOf(database.aside, authorityId, after, DEVICES);
      for (const { deviceId } of devices) disconnect(deviceId);
      after = devices.length < DEVICES ? undefined : devices.at(-1)?.deviceId;
    }
    ended.add(authorityId);
  }

  function lookIn(waitMs: Millis): void {
    cancel?.();
    cancel = stopped || !Number.isFinite(waitMs) ? undefined : clock.after(waitMs, look);
  }
  const lookAgain = (): void => lookIn(Math.max(LOOK_MS, database.lookAgainMs));

  async function endAll(): Promise<void> {
    for (const { authorityId } of await listRevoked(database.aside)) {
      if (!ended.has(authorityId)) await endOne(authorityId);
    }
    lookAgain();
  }

  function look(): void {
    if (stopped) return;
    work.begun();
    void endAll()
      .catch((err: unknown) => {
        if (!isDatabaseAway(err)) log.error({ err }, 'connections of a revoked device CA could not be ended');
        lookIn(LOOK_MS);
      })
      .finally(work.ended);
  }

  bus.on('authority', look);
  bus.onGap(look);

  return {
    /** Before the start no device is connected, so nothing is to be ended of what was revoked until then. */
    async start(): Promise<void> {
      for (const { authorityId } of await listRevoked(database.read)) ended.add(authorityId);
      lookAgain();
    },

    /** Called after a device CA was revoked by this node. */
    end(): void {
      bus.broadcast({ kind: 'authority', about: '' });
      look();
    },

    idle: work.idle,

    async [Symbol.asyncDispose](): Promise<void> {
      stopped = true;
      cancel?.();
      await work.idle();
    },
  };
}
