import type { Fence, Ownership } from '../../platform/cluster/ownership.ts';
import type { Database, Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import * as repository from './session-repository.ts';

/** What is committed, or what a unit sees: for who passes it on. */
export type Seen = Sql;
type Standing = 'good' | 'bad' | 'blocked';

interface Parts {
  database: Database;
  clock: Clock;
  ownership: Ownership;
}

interface Entry {
  /** Whether the device shows the right proof, by what is committed, or by what a unit sees. */
  standing(sql: Sql): Promise<Standing>;
  /** A session that outlives the connection. */
  persistent: boolean;
  /** Ends the connection, without its will. */
  close(): void;
}

/** A device that is in. */
export interface Entered {
  standing: 'good';
  epoch: number;
  /** Called first in each unit of work that writes what the connection says. */
  fence: Fence;
  /** There was a session already. */
  resumes: boolean;
  /** Of the connection that it had to another node that lives, to be carried out [MQTT-3.1.2-8]. */
  will: repository.StoredPacket | undefined;
}

export type Takeover = ReturnType<typeof createTakeover>;

/** How a device comes to this node from wherever it was, and goes; where there are other nodes. */
export function createTakeover({ database, clock, ownership }: Parts) {
  return {
    /**
     * One unit under the lock of the device: its credential is looked at again, it is this node's from the commit on, its
     * session is opened. Rejects while this node may own nothing.
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

    /** The connection of that epoch has ended. */
    left: ownership.left,

    /** The connection of that epoch will be ended: its will is as that of a node that is dead, until the device is back. */
    orphan: (deviceId: string, epoch: number): Promise<number> =>
      database.transactInCrowd((unit) => repository.orphanWill(unit, deviceId, `handed over ${epoch}`), deviceId),

    /**
     * In a unit under the lock of the device, which ends its right to its connection wherever that is. Answers the will
     * that the connection would have left.
     */
    async revoke(unit: UnitOfWork, deviceId: string): Promise<repository.StoredPacket | undefined> {
      await ownership.revoke(unit, deviceId);
      return repository.deleteWill(unit, deviceId);
    },
  };
}
