import type { Client } from 'aedes';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { LogLimit } from '../../runtime/log-limit.ts';
import type { Micros } from '../../runtime/units.ts';

/** Microseconds that a device has, after its login, to subscribe to its topic for commands. */
const SOON_MICROS = 30_000_000;
const LOOK_MS = 10_000;

interface Parts {
  clock: Clock;
  log: Log;
  logLimit: LogLimit;
  metrics: Pick<Metrics, 'devicesWithoutCommands'>;
  /** Whether the client has a subscription to its topic for commands. */
  hearsCommands(client: Client): boolean;
  ownerOf(deviceId: string): string | undefined;
}

/**
 * Finds devices that are connected and have no subscription to their topic for commands. Their commands wait, and
 * nothing else shows it: a connection without this subscription is as good for MQTT as any other.
 */
export function createDeafConnections({ clock, log, logLimit, metrics, hearsCommands, ownerOf }: Parts) {
  /** The connections without the subscription, and since when, the oldest first. */
  const since = new Map<Client, Micros>();
  const told = new WeakSet<Client>();
  let cancel: (() => void) | undefined;

  const isLate = (at: Micros): boolean => clock.now() - at >= SOON_MICROS;

  function look(): void {
    let count = 0;
    for (const [client, at] of since) {
      if (!isLate(at)) break;
      count += 1;
      if (told.has(client)) continue;
      told.add(client);
      const leftOut = logLimit(`deaf ${client.id}`, ownerOf(client.id));
      if (leftOut !== undefined)
        log.warn({ deviceId: client.id, leftOut }, 'a device is connected without a subscription to its commands');
    }
    metrics.devicesWithoutCommands.set(count);
    if (since.size > 0) arm();
  }

  function arm(): void {
    cancel ??= clock.after(LOOK_MS, () => {
      cancel = undefined;
      look();
    });
  }

  function forget(client: Client): void {
    const at = since.get(client);
    if (at === undefined) return;
    since.delete(client);
    if (isLate(at)) look();
    if (since.size > 0) return;
    cancel?.();
    cancel = undefined;
  }

  return {
    /** Called when a client has logged in, subscribed or unsubscribed. */
    check(client: Client): void {
      if (hearsCommands(client)) forget(client);
      else if (!since.has(client) && !client.closed) {
        since.set(client, clock.now());
        arm();
      }
    },

    /** Called when a connection has ended. */
    ended: forget,

    /** Since when a connection has no subscription to its commands; null when it has one, or had the time to subscribe. */
    since(client: Client): Micros | null {
      const at = since.get(client);
      return at !== undefined && isLate(at) ? at : null;
    },
  };
}
