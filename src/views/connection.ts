import { hasSession, subscriptionsOf } from '../core/sessions/session-repository.ts';
import type { Database } from '../platform/database/sql.ts';
import type { Micros } from '../runtime/units.ts';

/** A connection of a device to this node, with the facts that only the broker knows. */
export interface LiveConnection {
  /** The time of the login in microseconds; null while the device logs in. */
  since: Micros | null;
  address: string;
  transport: 'mqtt' | 'mqtts' | 'ws' | 'wss';
  keepAliveSeconds: number;
  protocol: '3.1' | '3.1.1' | '5' | null;
  /** True when the session of the device is kept after the connection has ended. */
  isPersistent: boolean;
  subscriptions: string[];
  /** Since when it has had no subscription to commands, if that is 30 seconds or more; null otherwise. */
  withoutCommandsSince: Micros | null;
}

/** The connection of a device, to any node, and its stored session. */
export interface ConnectionView {
  /** The connection to this node; undefined when there is none. */
  live: LiveConnection | undefined;
  /** The node that the device is connected to; null when it is not connected, and without a cluster. */
  node: string | null;
  session: { present: boolean; subscriptions: string[] };
}

interface Parts {
  database: Pick<Database, 'read'>;
  live(deviceId: string): LiveConnection | undefined;
  nodeOf(deviceId: string): Promise<string | null>;
}

export type FindConnection = ReturnType<typeof createConnectionView>;

/** Makes the function that finds the connection of a device and its stored session. */
export function createConnectionView({ database: { read }, live, nodeOf }: Parts) {
  return async (deviceId: string): Promise<ConnectionView> => {
    const [node, isStored, stored] = await Promise.all([
      nodeOf(deviceId),
      hasSession(read, deviceId),
      subscriptionsOf(read, deviceId),
    ]);
    const here = live(deviceId);
    const subscriptions = here ? here.subscriptions.toSorted() : stored.map(({ topic }) => topic);
    return { live: here, node, session: { present: here ? here.isPersistent : isStored, subscriptions } };
  };
}
