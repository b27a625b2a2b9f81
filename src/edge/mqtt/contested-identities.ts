import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Micros } from '../../runtime/units.ts';

/** Connections of a device that replace one another within a minute, from which on its identity is contested. */
const MOST = 5;
const WITHIN_MICROS = 60_000_000;
/** The most devices that are remembered: the oldest is forgotten first. */
const BOUND = 10_000;
const SHOWN = 4;

interface Parts {
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, 'mqttIdentitiesContested'>;
}

/**
 * Notices an identity that two devices use: each login ends the connection of the other, which connects again at once. A
 * device that reconnects by itself replaces its own connection now and then, and never five times in a minute.
 */
export function createContestedIdentities({ clock, log, metrics }: Parts) {
  const byDevice = new Map<string, { since: Micros; count: number; addresses: Set<string> }>();

  return {
    /**
     * Called when a newer connection replaces one that came from this address. Returns words for the device's story when
     * its identity is contested.
     */
    replaced(deviceId: string, address: string): string | undefined {
      const now = clock.now();
      let known = byDevice.get(deviceId);
      if (!known || now - known.since >= WITHIN_MICROS) {
        known = { since: now, count: 0, addresses: new Set() };
        byDevice.delete(deviceId);
        byDevice.set(deviceId, known);
        if (byDevice.size > BOUND) for (const oldest of byDevice.keys().take(1)) byDevice.delete(oldest);
      }
      known.count += 1;
      if (known.addresses.size < SHOWN) known.addresses.add(address);
      if (known.count < MOST) return undefined;
      const addresses = [...known.addresses];
      if (known.count === MOST) {
        metrics.mqttIdentitiesContested.inc();
        log.warn(
          { deviceId, addresses },
          'connections of a device replace one another: two devices may be using its identity',
        );
      }
      return `its connections replace one another, from ${addresses.join(', ')}`;
    },
  };
}
