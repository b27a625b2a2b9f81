import type { Fence, Ownership } from '../../platform/cluster/ownership.ts';
import { inOneGo } from '../../platform/database/in-one-go.ts';
import type { Database, Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import * as repository from './session-repository.ts';
import type { StoredPacket } from './stored-packet.ts';
import { deleteWill, orphanWill } from './will-repository.ts';

/**
 * Another name of `Sql`: the connection or the unit of work with which a login reads its rows, for code that passes it
 * on and runs no statement itself.
 */
export type Seen = Sql;
/** Whether a device may connect. */
export type Standing = 'good' | 'bad' | 'blocked';

interface Parts {
  database: Database;
  clock: Clock;
  ownership: Ownership;
}

interface Entry {
  /** Checks the device's credential or certificate, by the rows that `sql` reads. */
  standing(sql: Sql): Promise<Standing>;
  /** Whether the session outlives the connection (`clean=false` in the CONNECT). */
  persistent: boolean;
  terms: repository.SessionTerms;
  /** Closes the connection without publishing its will. */
  close(): void;
}

/** A device that was admitted to this node. */
export interface Entered {
  standing: 'good';
  epoch: number;
  /** Called first in each unit of work that writes a message of the connection. */
  fence: Fence;
  /**
   * The will of the device's former connection to another live node, which has to be carried out [MQTT-3.1.2-8]: none with
   * a delay, because the device is back.
   */
  will: StoredPacket | undefined;
}

export type Takeover = ReturnType<typeof createTakeover>;

/** Admits a device to this node and ends its connection to any other node. Used only with several nodes. */
export function createTakeover({ database, clock, ownership }: Parts) {
  return {
    /**
     * Admits a device in one unit of work that locks the device: checks its credential again, makes this node its owner
     * from the commit on, and opens its session. Rejects while this node may own no device.
     */
    enter: (
      deviceId: string,
      { standing, persistent, terms, close }: Entry,
    ): Promise<Entered | { standing: Standing }> =>
      database.transact(
        async (unit) => {
          const found = await standing(unit);
          if (found !== 'good') return { standing: found };
          const [{ epoch, fromOther }, will] = await inOneGo(
            ownership.take(unit, deviceId, close), // throws, before anything is written, while this node may own no device
            deleteWill(unit, deviceId),
            persistent ? repository.openSession(unit, deviceId, terms, clock.now()) : false,
          );
          const fence = ownership.fence(deviceId, epoch);
          return { standing: found, epoch, fence, will: fromOther && will?.delaySeconds === null ? will : undefined };
        },
        { device: deviceId, pace: 'crowd' },
      ),

    /** Call this when the connection with this epoch has ended. */
    left: ownership.left,

    /**
     * Called before this node closes a connection to move the device to another node. The will may be published
     * only if the device stays away. So it is assigned to a node that does not exist: wills of such nodes are published
     * after a minute, if the device has not connected by then.
     */
    orphan: (deviceId: string, epoch: number): Promise<number> =>
      database.transact((unit) => orphanWill(unit, deviceId, `handed over ${epoch}`), {
        device: deviceId,
        pace: 'crowd',
      }),

    /**
     * Ends the current connection of a device, whichever node it is connected to. Runs in a unit of work under the lock
     * of the device. Returns the will of that connection.
     */
    async revoke(unit: UnitOfWork, deviceId: string): Promise<StoredPacket | undefined> {
      await ownership.revoke(unit, deviceId);
      return deleteWill(unit, deviceId);
    },
  };
}
