import type { Client } from 'aedes';
import type { SessionTerms, StoredPacket } from '../../core/sessions/sessions.ts';
import type { Entered, Seen, Standing, Takeover } from '../../core/sessions/takeover.ts';
import { dropWill } from './aedes-internals.ts';

interface Parts {
  takeover: Pick<Takeover, 'enter' | 'left'> | undefined;
  /** Publishes the will of the older connection that the device had to another node. */
  carryOut(will: StoredPacket): void;
  /** The session that a connection wants. */
  termsOf(client: Client): SessionTerms;
  /** Called before a connection is closed because this node no longer owns the device. */
  leaves(client: Client): void;
}

/**
 * Gives connections their epochs in a cluster. Each new connection of a device gets a higher epoch than the one before
 * it, and only the connection with the highest epoch may write to the database.
 */
export function createDeviceEpochs({ takeover, carryOut, termsOf, leaves }: Parts) {
  const epochs = new WeakMap<object, Entered>();

  return {
    /** The epoch of a connection; undefined before the connection has got one, and without a cluster. */
    of: (client: object): Entered | undefined => epochs.get(client),

    /**
     * Makes this node the one that the device is connected to, until its connection ends. Returns the result of
     * `standing`, the check whether the device may connect.
     */
    async enter(client: Client, standing: (sql: Seen) => Promise<Standing>): Promise<Standing> {
      if (!takeover) return 'good';
      const deviceId = client.id;
      const close = (): void => {
        leaves(client);
        dropWill(client); // the device has a newer connection, whose node publishes the will
        client.close();
      };
      const persistent = client.clean === false;
      const entered = await takeover.enter(deviceId, { standing, persistent, terms: termsOf(client), close });
      if (!('epoch' in entered)) return entered.standing;
      epochs.set(client, entered);
      if (entered.will) carryOut(entered.will);
      const left = (): void => takeover.left(deviceId, entered.epoch);
      if (client.conn.closed) left();
      else client.conn.once('close', left);
      return 'good';
    },
  };
}
