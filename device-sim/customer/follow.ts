import type { Fleet } from '../fleet/fleet.ts';
import type { Device } from '../model/device.ts';
import type { Timers } from '../timers.ts';
import type { Ledger } from './ledger.ts';

/** The connection state of the devices that are followed. */
export interface Followed {
  /** Follows the fleet from now on: the books record the events of its devices. */
  follow(fleet: Pick<Fleet, 'devices' | 'events'>): void;
  /** All followed devices. */
  devices(): readonly Device[];
  device(deviceId: string): Device | undefined;
  /** The time since which the device is connected; undefined while it is offline. */
  onlineSince(deviceId: string): number | undefined;
  /**
   * The longest time in milliseconds, after the moment `after`, for which the device was connected without a break. It
   * considers the present connection and the last earlier one that lasted at least 5 s.
   */
  onlineFor(deviceId: string, after: number): number;
}

/** Milliseconds. The last ended connection of a device that lasted at least this long is remembered for `onlineFor`. */
const LONG = 5000;

/**
 * `stoodStill` tells for how many milliseconds of a span the simulator itself stood still; in them it could not notice
 * any message.
 */
export function createFollowed({
  ledger,
  timers,
  stoodStill = () => 0,
  onAllGone = () => {},
}: {
  ledger: Ledger;
  timers: Timers;
  stoodStill?: ((from: number, to: number) => number) | undefined;
  /** Called when no device is connected any more because the last connection broke: the service may be away. */
  onAllGone?: () => void;
}): Followed {
  const devices = new Map<string, Device>();
  const online = new Map<string, number>();
  const long = new Map<string, { from: number; to: number }>();
  const now = (): number => timers.now();

  return {
    follow({ devices: all, events }) {
      for (const device of all) {
        devices.set(device.deviceId, device);
        if (device.online) online.set(device.deviceId, now());
      }
      events.on('replaced', (former, device) => {
        devices.delete(former.deviceId);
        devices.set(device.deviceId, device);
      });
      events.on('command', ({ deviceId }, command) => ledger.delivered(deviceId, command, now()));
      events.on('answer', ({ deviceId }, answer, repeated) => {
        if (!repeated) ledger.answered(deviceId, answer, now());
      });
      events.on('acknowledged', ({ deviceId }, answer) => ledger.acknowledged(deviceId, answer, now()));
      events.on('event', ({ deviceId }, event) => ledger.happened(deviceId, event));
      events.on('told', ({ deviceId }, event) => ledger.told(deviceId, event, now()));
      events.on('complaint', ({ deviceId }, complaint) => ledger.complained(deviceId, complaint, now()));
      events.on('online', ({ deviceId }) => {
        online.set(deviceId, now());
        ledger.connected(deviceId, now());
      });
      events.on('overrun', ({ deviceId }, commands) => ledger.overrun(deviceId, commands, now()));
      events.on('offline', ({ deviceId }, reason, expected) => {
        const from = online.get(deviceId) ?? now();
        if (now() - from >= LONG) long.set(deviceId, { from, to: now() });
        online.delete(deviceId);
        if (!expected && online.size === 0) onAllGone();
        ledger.note(deviceId, `has disconnected: ${reason}`, now());
      });
      events.on('refused', ({ deviceId }, error) => ledger.note(deviceId, `is refused: ${error.message}`, now()));
      events.on('fault', ({ deviceId }, { kind }, { kind: what, operation, key }) => {
        if (kind === 'two-with-one-identity') ledger.excuseCancels(deviceId);
        ledger.note(
          deviceId,
          `plays the fault ${kind}, at ${what} ${operation ?? ''} ${String(key).replace(/^(\d+)th$/, 'number $1')}`.replace(
            '  ',
            ' ',
          ),
          now(),
        );
      });
    },
    devices: () => [...devices.values()],
    device: (deviceId) => devices.get(deviceId),
    onlineSince: (deviceId) => online.get(deviceId),
    onlineFor(deviceId, after) {
      const since = online.get(deviceId);
      const { from, to } = long.get(deviceId) ?? { from: 0, to: 0 };
      const seen = (first: number, last: number): number => last - first - stoodStill(first, last);
      const open = since === undefined ? 0 : seen(Math.max(since, after), now());
      return Math.max(open, to > Math.max(from, after) ? seen(Math.max(from, after), to) : 0, 0);
    },
  };
}
