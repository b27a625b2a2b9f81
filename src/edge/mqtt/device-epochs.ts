import type { Client } from 'aedes';
import type { StoredPacket } from '../../core/sessions/sessions.ts';
import type { Entered, Seen, Takeover } from '../../core/sessions/takeover.ts';
import { dropWill } from './aedes-internals.ts';

type Standing = 'good' | 'bad' | 'blocked';

interface Parts {
  takeover: Pick<Takeover, 'enter' | 'left'> | undefined;
  /** Called when the device has an existing session. */
  resumes(deviceId: string): void;
  /** Carries out the will of a connection to another node. */
  carryOut(will: StoredPacket): void;
}

/**
 * The epochs of the connections in a cluster: each connection of a device gets a higher epoch, so that an older one can
 * no longer write.
 */
export function createDeviceEpochs({ takeover, resumes, carryOut }: Parts) {
  const epochs = new WeakMap<object, Entered>();

  return {
    /** The epoch of a connection; undefined before the connection has got one, and without a cluster. */
    of: (client: object): Entered | undefined => epochs.get(client),

    /** Takes the device over to this node, until its connection ends. */
    async enter(client: Client, standing: (sql: Seen) => Promise<Standing>): Promise<Standing> {
      if (!takeover) return 'good';
      const deviceId = client.id;
      const close = (): void => {
        dropWill(client); // the device has a newer connection, which owns the will
        client.close();
      };
      const entered = await takeover.enter(deviceId, { standing, persistent: client.clean === false, close });
      if (!('epoch' in entered)) return entered.standing;
      epochs.set(client, entered);
      if (entered.resumes) resumes(deviceId);
      if (entered.will) carryOut(entered.will);
      const left = (): void => takeover.left(deviceId, entered.epoch);
      if (client.conn.closed) left();
      else client.conn.once('close', left);
      return 'good';
    },
  };
}
