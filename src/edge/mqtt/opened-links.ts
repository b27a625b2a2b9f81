import type { Client } from 'aedes';
import { outboundKind } from './topics.ts';

type Opened = 'commands' | 'responses';

/**
 * Delivers the stored commands of a device while it is subscribed to the topic of commands, and its stored responses
 * while it is subscribed to the topic of responses. A function of `openers` is called when such a subscription begins;
 * the function that it returns is called when the subscription or the connection ends.
 */
export function createOpenLinks(openers: Readonly<Record<Opened, (client: Client) => () => void>>) {
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
    /** Called when the client has subscribed to topics. */
    open(client: Client, topics: readonly string[]): void {
      for (const topic of topics) {
        const kind = kindOf(client, topic);
        if (kind && !client.closed && client.connected) openOne(client, kind);
      }
    },

    /** Called when the client has unsubscribed from topics, or, without topics, when its connection has ended. */
    close(client: Client, topics?: readonly string[]): void {
      for (const kind of topics?.map((topic) => kindOf(client, topic)) ?? (['commands', 'responses'] as const))
        if (kind) closeOne(client, kind);
    },
  };
}
