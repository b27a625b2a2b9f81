import type { Client } from 'aedes';
import type { Metrics } from '../../metrics.ts';
import type { Log } from '../../runtime/log.ts';
import type { LogLimit } from '../../runtime/log-limit.ts';

/** The most QoS 2 messages of a device that were received but not released (PUBREL), over all its connections. */
export const MOST_UNRELEASED = 100;

interface Parts {
  log: Log;
  logLimit(key: string, deviceId: string): ReturnType<LogLimit>;
  metrics: Metrics;
  /** Looks up the stored QoS 2 messages of a device: whether this identifier is among them, and their number. */
  incoming(deviceId: string, messageId: number): Promise<{ known: boolean; held: number }>;
}

/**
 * QoS 2 by method B [MQTT-4.3.3-2]: a message is carried out when it arrives. Until its PUBREL, another message with
 * the same identifier is a repetition of it, also on the next connection. Aedes looks into the store only after a
 * message was carried out, and packets that arrive together are processed together, so the identifier is looked up here
 * first.
 */
export function createExactlyOnce({ log, logLimit, metrics, incoming }: Parts) {
  // The messages of this connection that are carried out, or being carried out, and not released.
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
    if (leftOut !== undefined) log.warn({ deviceId, held, leftOut }, 'a device does not release its QoS 2 messages');
    return new Error(`${held} messages of QoS 2 wait for their PUBREL`);
  }

  return {
    /**
     * Carries out a message once. Returns null, or the reason why no PUBREC is sent. Rejects when `carryOut` or the
     * store does.
     */
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

    /** PUBREL was received and stored. */
    released(client: Client, messageId: number): void {
      taken.get(client)?.delete(messageId);
    },
  };
}
