import type { Client } from 'aedes';
import type { Metrics } from '../../metrics.ts';
import type { Log } from '../../runtime/log.ts';
import type { LogLimit } from '../../runtime/log-limit.ts';
import { Refusal } from './guard-parts.ts';

/** The most QoS 2 messages of a device that the service has received, but the device has not released with PUBREL. */
export const MOST_UNRELEASED = 100;

interface Parts {
  log: Log;
  logLimit(key: string, deviceId: string): ReturnType<LogLimit>;
  metrics: Metrics;
  /** Reads the identifiers of the stored QoS 2 messages of a device that wait for their PUBREL. */
  storedIds(deviceId: string): Promise<ReadonlySet<number>>;
}

/** The messages of a connection that are not released yet, by packet identifier. */
interface Unreleased {
  outcomes: Map<number, Promise<Error | null>>;
  /** Those that are carried out. They are stored afterwards, so until then only this set has them. */
  accepted: Set<number>;
}

/**
 * Carries out each QoS 2 message once, by method B [MQTT-4.3.3-2]: when it arrives. Until its PUBREL, a message with
 * the same identifier is a repetition, also on a later connection. Aedes itself looks for repetitions too late: after
 * it has carried out the message. So the identifier is looked up here before.
 */
export function createExactlyOnce({ log, logLimit, metrics, storedIds }: Parts) {
  const unreleased = new WeakMap<Client, Unreleased>();

  function unreleasedOf(client: Client): Unreleased {
    const known = unreleased.get(client);
    if (known) return known;
    const made: Unreleased = { outcomes: new Map(), accepted: new Set() };
    unreleased.set(client, made);
    return made;
  }

  async function first(
    deviceId: string,
    messageId: number,
    accepted: Set<number>,
    carryOut: () => Promise<Error | null>,
  ): Promise<Error | null> {
    const stored = await storedIds(deviceId);
    if (stored.has(messageId)) return null;
    const held = new Set([...accepted, ...stored]).size;
    if (held < MOST_UNRELEASED) {
      accepted.add(messageId);
      return carryOut();
    }
    metrics.mqttRefused.inc({ reason: 'qos2' });
    const leftOut = logLimit(`qos2 ${deviceId}`, deviceId);
    if (leftOut !== undefined) log.warn({ deviceId, held, leftOut }, 'a device does not release its QoS 2 messages');
    return new Refusal(`${held} messages of QoS 2 wait for their PUBREL`);
  }

  function forget({ outcomes, accepted }: Unreleased, messageId: number): void {
    outcomes.delete(messageId);
    accepted.delete(messageId);
  }

  return {
    /**
     * Carries out a message unless it is a repetition. Returns null, or the reason why no PUBREC is sent. Rejects when
     * `carryOut` or the lookup in the database does.
     */
    async carryOut(client: Client, messageId: number, carryOut: () => Promise<Error | null>): Promise<Error | null> {
      const own = unreleasedOf(client);
      const before = own.outcomes.get(messageId);
      if (before) return before;
      const outcome = first(client.id, messageId, own.accepted, carryOut);
      own.outcomes.set(messageId, outcome);
      try {
        const error = await outcome;
        if (error) forget(own, messageId);
        return error;
      } catch (thrown) {
        forget(own, messageId);
        throw thrown;
      }
    },

    /** True while a message of the connection with this identifier is in work, or waits for its PUBREL. */
    isTaken: (client: Client, messageId: number): boolean => unreleased.get(client)?.outcomes.has(messageId) === true,

    /** Called when the PUBREL of a message was received and stored. */
    released(client: Client, messageId: number): void {
      const own = unreleased.get(client);
      if (own) forget(own, messageId);
    },
  };
}
