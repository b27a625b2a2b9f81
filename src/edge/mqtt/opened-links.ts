import type { Client } from 'aedes';
import { outboundKind } from './topics.ts';

type Opened = 'commands' | 'responses';

/**
 * What is sent to connected devices out of the database, to whoever subscribes its topic: commands, and responses. `openers`
 * are called when a device has subscribed one; the functions that they return when that ends.
 */
export function createOpened(openers: Readonly<Record<Opened, (client: Client) => () => void>>) {
  const open = new Map<Client, Map<Opened, () => void>>();

  const kindOf = (client: Client, topic: string): Opened | undefined => {
    const kind = outboundKind(client.id, topic);
    return kind === 'commands' || kind === 'responses' ? kind : undefined;
  };

  function openOne(client: Client, kind: Opened): void {
    const ofClient = open.get(client) ?? new Map<Opened, () => void>();
    open.set(client, ofClient);
    if (!ofClient.has(kind)) ofClient.set(kind, openers[kind](client));
  }

  function closeOne(client: Client, kind: Opened): void {
    const ofClient = open.get(client);
    ofClient?.get(kind)?.();
    ofClient?.delete(kind);
    if (ofClient?.size === 0) open.delete(client);
  }

  return {
    /** The client has subscribed these topics. */
    open(client: Client, topics: readonly string[]): void {
      for (const topic of topics) {
        const kind = kindOf(client, topic);
        if (kind && !client.closed && client.connected) openOne(client, kind);
      }
    },

    /** It subscribes these topics no more; all of them when its connection ends. */
    close(client: Client, topics?: readonly string[]): void {
      for (const kind of topics?.map((topic) => kindOf(client, topic)) ?? (['commands', 'responses'] as const))
        if (kind) closeOne(client, kind);
    },
  };
}
