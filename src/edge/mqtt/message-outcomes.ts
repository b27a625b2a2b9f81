import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Client } from 'aedes';
import type { Metrics } from '../../metrics.ts';
import { Superseded } from '../../platform/cluster/superseded.ts';
import type { Log } from '../../runtime/log.ts';
import type { createWaitingMessages } from './waiting-messages.ts';

interface Parts {
  log: Log;
  metrics: Pick<Metrics, 'mqttMessagesWaiting'>;
  /** Keeps messages waiting while the database is unavailable. */
  waitingMessages: Pick<ReturnType<typeof createWaitingMessages>, 'wait'>;
}

/** The outcome of an attempt while the database is unavailable. */
const AWAY = Symbol('database away');

/** Carries out messages of devices, also when the database is unavailable for a while. */
export function createOutcomes({ log, metrics, waitingMessages }: Parts) {
  /** For a connection with messages that wait for the database: the outcome of the last of them. */
  const lastWaiting = new WeakMap<Client, Promise<Error | null>>();

  /**
   * Waits until the waiting messages of the connection that came earlier have their outcome, because a later message
   * must not overtake them, and then calls `run`. If one of them has failed, the connection ends, and this message has
   * the same outcome.
   */
  async function inTurn(client: Client | null, run: () => Promise<Error | null>): Promise<Error | null> {
    const before = client && lastWaiting.get(client);
    const outcome = before ? before.then((error) => error ?? run()) : run();
    if (client) lastWaiting.set(client, outcome);
    metrics.mqttMessagesWaiting.inc();
    try {
      return await outcome;
    } finally {
      metrics.mqttMessagesWaiting.dec();
      if (client && lastWaiting.get(client) === outcome) lastWaiting.delete(client);
    }
  }

  /**
   * Carries out a message, and again after the database was unavailable. Returns null, or the reason why no PUBACK is
   * sent.
   */
  async function of(
    deviceId: string,
    client: Client | null,
    carryOut: () => Promise<Error | null>,
  ): Promise<Error | null> {
    /** Returns AWAY if the database is unavailable. */
    async function attempt(): Promise<Error | null | typeof AWAY> {
      try {
        return await carryOut();
      } catch (err) {
        if (isDatabaseAway(err)) return AWAY;
        if (err instanceof Superseded) return err; // the device sends the message again on its newer connection
        log.error({ err, deviceId }, 'a message from a device could not be carried out; the device will send it again');
        return err instanceof Error ? err : new Error(String(err));
      }
    }
    async function afterWaiting(): Promise<Error | null> {
      while (await waitingMessages.wait(client)) {
        const outcome = await attempt();
        if (outcome !== AWAY) return outcome;
      }
      return new Error('the connection ended, or the service stops, before the database was available');
    }
    async function atOnce(): Promise<Error | null> {
      const outcome = await attempt();
      return outcome === AWAY ? afterWaiting() : outcome;
    }
    if (client && lastWaiting.has(client)) return inTurn(client, atOnce);
    const outcome = await attempt();
    if (outcome !== AWAY) return outcome;
    return inTurn(client, client && lastWaiting.has(client) ? atOnce : afterWaiting);
  }

  return {
    of,

    /** Whether messages of the connection wait for the database. */
    areAwaited: (client: Client): boolean => lastWaiting.has(client),
  };
}
