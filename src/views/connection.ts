import { hasSession, subscriptionsOf } from '../core/sessions/session-repository.ts';
import type { Database } from '../platform/database/sql.ts';

/** A connection that is here, as the broker knows it. */
export interface LiveConnection {
  /** Microseconds; null while it logs in. */
  since: number | null;
  address: string;
  transport: 'mqtt' | 'mqtts' | 'ws' | 'wss';
  keepAliveSeconds: number;
  protocol: '3.1' | '3.1.1' | '5' | null;
  /** Its session outlives it. */
  isPersistent: boolean;
  subscriptions: string[];
}

/** What is known of a device's connection and session, wherever it is connected. */
export interface ConnectionView {
  /** Undefined when it has none, or another node has it. */
  live: LiveConnection | undefined;
  /** The node that it is connected to; null when it is connected nowhere, and where there is one node only. */
  node: string | null;
  session: { present: boolean; subscriptions: string[] };
}

interface Parts {
  database: Pick<Database, 'read'>;
  live(deviceId: string): LiveConnection | undefined;
  nodeOf(deviceId: string): Promise<string | null>;
}

export type FindConnection = ReturnType<typeof createConnectionView>;

/** What the broker knows of a connection, and what is stored of its session. */
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
