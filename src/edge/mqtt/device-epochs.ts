import type { Client } from 'aedes';
import type { StoredPacket } from '../../core/sessions/sessions.ts';
import type { Entered, Seen, Takeover } from '../../core/sessions/takeover.ts';
import { dropWill } from './aedes-internals.ts';

type Standing = 'good' | 'bad' | 'blocked';

interface Parts {
  takeover: Pick<Takeover, 'enter' | 'left'> | undefined;
  /** The device has found its session. */
  resumes(deviceId: string): void;
  /** The will of a connection that another node had. */
  carryOut(will: StoredPacket): void;
}

/** Under which epoch each connection has its device, where there are other nodes. */
export function createEntries({ takeover, resumes, carryOut }: Parts) {
  const entries = new WeakMap<object, Entered>();

  return {
    /** Undefined for a connection that has not entered, and where there are no other nodes. */
    of: (client: object): Entered | undefined => entries.get(client),

    /** The device is here from now on, until its connection ends. */
    async enter(client: Client, standing: (sql: Seen) => Promise<Standing>): Promise<Standing> {
      if (!takeover) return 'good';
      const deviceId = client.id;
      const close = (): void => {
        dropWill(client); // whoever has the device now has it
        client.close();
      };
      const entered = await takeover.enter(deviceId, { standing, persistent: client.clean === false, close });
      if (!('epoch' in entered)) return entered.standing;
      entries.set(client, entered);
      if (entered.resumes) resumes(deviceId);
      if (entered.will) carryOut(entered.will);
      const left = (): void => takeover.left(deviceId, entered.epoch);
      if (client.conn.closed) left();
      else client.conn.once('close', left);
      return 'good';
    },
  };
}
