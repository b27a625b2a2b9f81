import type { Revoke } from '../../core/devices/device-credentials.ts';
import type { Takeover } from '../../core/sessions/takeover.ts';
import type { Broker } from './broker.ts';

/**
 * Makes the function that disconnects a device from any node, after a unit of work that forbids the device to be
 * connected.
 */
export function createRevoke(
  takeover: Takeover | undefined,
  broker: () => Pick<Broker, 'disconnect' | 'carryOutWill'>,
): Revoke {
  return (unit, deviceId, will) => {
    if (takeover) return anywhere(unit, deviceId, will, takeover);
    unit.onCommit(() => broker().disconnect(deviceId, will));
    return undefined;
  };

  async function anywhere(...[unit, deviceId, will, by]: [...Parameters<Revoke>, Takeover]): Promise<void> {
    const left = await by.revoke(unit, deviceId);
    if (left && will === 'kept') unit.onCommit(() => void broker().carryOutWill(left));
  }
}
