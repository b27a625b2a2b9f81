import type { Fence, Ownership } from '../../platform/cluster/ownership.ts';
import type { Database, Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import * as repository from './session-repository.ts';

/** Reads committed rows, or the rows that a unit of work sees. For code that only passes the reader on to the takeover. */
export type Seen = Sql;
type Standing = 'good' | 'bad' | 'blocked';

interface Parts {
  database: Database;
  clock: Clock;
  ownership: Ownership;
}

interface Entry {
  /** Checks the device's proof, with committed rows or with those that a unit sees. */
  standing(sql: Sql): Promise<Standing>;
  /** Whether the session outlives the connection. */
  persistent: boolean;
  /** Ends the connection, without its will. */
  close(): void;
}

/** A device that was admitted to this node. */
export interface Entered {
  standing: 'good';
  epoch: number;
  /** Called first in each unit of work that writes a message of the connection. */
  fence: Fence;
  /** Whether the session existed already. */
  resumes: boolean;
  /** The will of the device's former connection to another live node, which has to be carried out [MQTT-3.1.2-8]. */
  will: repository.StoredPacket | undefined;
}

export type Takeover = ReturnType<typeof createTakeover>;

/** Admits a device to this node, from wherever it was connected, and ends that; with several nodes only. */
export function createTakeover({ database, clock, ownership }: Parts) {
  return {
    /**
     * Admits a device in one unit under its lock: its credential is checked again, it belongs to this node from the commit
     * on, and its session is opened. Rejects while this node may own no device.
     */
    enter: (deviceId: string, { standing, persistent, close }: Entry): Promise<Entered | { standing: Standing }> =>
      database.transactInCrowd(async (unit) => {
        const found = await standing(unit);
        if (found !== 'good') return { standing: found };
        const { epoch, fromOther } = await ownership.take(unit, deviceId, close);
        const will = await repository.deleteWill(unit, deviceId);
        const resumes = persistent && (await repository.openSession(unit, deviceId, clock.now()));
        const fence = ownership.fence(deviceId, epoch);
        return { standing: found, epoch, fence, resumes, will: fromOther ? will : undefined };
      }, deviceId),

    /** Tells that the connection of an epoch has ended. */
    left: ownership.left,

    /** Prepares the end of an epoch's connection: until the device is back, its will is treated as that of a dead node. */
    orphan: (deviceId: string, epoch: number): Promise<number> =>
      database.transactInCrowd((unit) => repository.orphanWill(unit, deviceId, `handed over ${epoch}`), deviceId),

    /**
     * In a unit under the device's lock, ends the device's right to its connection, to whichever node. Returns the will of
     * that connection.
     */
    async revoke(unit: UnitOfWork, deviceId: string): Promise<repository.StoredPacket | undefined> {
      await ownership.revoke(unit, deviceId);
      return repository.deleteWill(unit, deviceId);
    },
  };
}
