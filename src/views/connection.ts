import { hasSession, subscriptionsOf } from '../core/sessions/session-repository.ts';
import type { Database } from '../platform/database/sql.ts';
import type { Micros } from '../runtime/units.ts';

/** A connection to this node, as the broker knows it. */
export interface LiveConnection {
  /** The time of the login in microseconds; null while the device logs in. */
  since: Micros | null;
  address: string;
  transport: 'mqtt' | 'mqtts' | 'ws' | 'wss';
  keepAliveSeconds: number;
  protocol: '3.1' | '3.1.1' | '5' | null;
  /** True when the session outlives the connection. */
  isPersistent: boolean;
  subscriptions: string[];
}

/** The connection and session of a device, on whichever node. */
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

/** Combines the broker's knowledge of a connection with the stored session. */
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
