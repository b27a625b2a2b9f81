import type { Client } from 'aedes';
import type { Metrics } from '../../metrics.ts';
import type { Log } from '../../runtime/log.ts';
import type { LogLimit } from '../../runtime/log-limit.ts';

/** The most QoS 2 messages of a device that the service has received, but the device has not released with PUBREL. */
export const MOST_UNRELEASED = 100;

interface Parts {
  log: Log;
  logLimit(key: string, deviceId: string): ReturnType<LogLimit>;
  metrics: Metrics;
  /** Looks up the stored QoS 2 messages of a device: whether `messageId` is among them, and how many there are. */
  incoming(deviceId: string, messageId: number): Promise<{ known: boolean; held: number }>;
}

/**
 * Carries out each QoS 2 message once, by method B [MQTT-4.3.3-2]: when it arrives. Until its PUBREL, a message with
 * the same identifier is a repetition, also on a later connection. Aedes itself looks for repetitions too late: after
 * it has carried out the message. So the identifier is looked up here before.
 */
export function createExactlyOnce({ log, logLimit, metrics, incoming }: Parts) {
  // The outcomes of the messages of this connection that are not released yet, by packet identifier.
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
     * Carries out a message unless it is a repetition. Returns null, or the reason why no PUBREC is sent. Rejects when
     * `carryOut` or the lookup in the database does.
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

    /** True while a message of the connection with this identifier is in work, or waits for its PUBREL. */
    isTaken: (client: Client, messageId: number): boolean => taken.get(client)?.has(messageId) === true,

    /** Called when the PUBREL of a message was received and stored. */
    released(client: Client, messageId: number): void {
      taken.get(client)?.delete(messageId);
    },
  };
}
