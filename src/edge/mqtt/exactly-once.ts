import type { Client } from 'aedes';
import type { Metrics } from '../../metrics.ts';
import type { Log } from '../../runtime/log.ts';
import type { LogLimit } from '../../runtime/log-limit.ts';

/** Messages of QoS 2 that a device has sent and not released (PUBREL), at most; over all its connections. */
export const MOST_UNRELEASED = 100;

interface Parts {
  log: Log;
  logLimit(key: string, deviceId: string): ReturnType<LogLimit>;
  metrics: Metrics;
  /** What the store holds for a device: whether this identifier, and how many. */
  incoming(deviceId: string, messageId: number): Promise<{ known: boolean; held: number }>;
}

/**
 * QoS 2 by method B [MQTT-4.3.3-2]: a message is carried out when it comes, and until its PUBREL another one with the
 * same identifier is the same message, on the next connection too. Aedes looks into the store only after a message was
 * carried out, and packets that come together run together; so it is looked for here, before.
 */
export function createExactlyOnce({ log, logLimit, metrics, incoming }: Parts) {
  // Of this connection: carried out, or about to be, and not released.
  const taken = new WeakMap<Client, Map<number, Promise<Error | null>>>();

  async function first(
    deviceId: string,
    messageId: number,
    carryOut: () => Promise<Error | null>,
  ): Promise<Error | null> {
    const { known, held } = await incoming(deviceId, messageId);
    if (known) return null;
    if (held < MOST_UNRELEASED) return carryOut();
    metrics.mqttRefused.inc({ reason: 'qos2' });
    const leftOut = logLimit(`qos2 ${deviceId}`, deviceId);
    if (leftOut !== undefined) log.warn({ deviceId, held, leftOut }, 'a device releases none of its messages of QoS 2');
    return new Error(`${held} messages of QoS 2 wait for their PUBREL`);
  }

  return {
    /** Null, or why there is no PUBREC. Rejects as `carryOut` does, and when the store does. */
    async carryOut(client: Client, messageId: number, carryOut: () => Promise<Error | null>): Promise<Error | null> {
      const ids = taken.get(client) ?? new Map<number, Promise<Error | null>>();
      taken.set(client, ids);
      const before = ids.get(messageId);
      if (before) return before;
      const outcome = first(client.id, messageId, carryOut);
      ids.set(messageId, outcome);
      try {
        const error = await outcome;
        if (error) ids.delete(messageId);
        return error;
      } catch (thrown) {
        ids.delete(messageId);
        throw thrown;
      }
    },

    /** PUBREL came, and the store knows. */
    released(client: Client, messageId: number): void {
      taken.get(client)?.delete(messageId);
    },
  };
}
