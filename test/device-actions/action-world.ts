import type { ActionDeviceList, DeviceAction, DeviceActionStart } from '@lapel/schemas/contracts/types';
import type { Test } from 'tap';
import { startWorld } from '../world.ts';

/** The world with an application and activated devices, for tests of device actions. */
export async function startActions(t: Test, count: number, options: Parameters<typeof startWorld>[1] = {}) {
  const world = await startWorld(t, options);
  const tenant = await world.createTenant('dev', { deviceLimit: count + 10 });
  const devices: Awaited<ReturnType<typeof world.activatedDevice>>[] = [];
  while (devices.length < count) devices.push(await world.activatedDevice(tenant));
  const admin = world.admin();
  const base = '/admin/v1/device-actions';

  const read = async (actionId: string): Promise<DeviceAction> => (await world.admin().get(`${base}/${actionId}`)).body;

  /** The outcome of each device of an action, `STATE CODE`, by deviceId. */
  async function outcomes(actionId: string, query = ''): Promise<Record<string, string>> {
    const { body } = await world.admin().get(`${base}/${actionId}/devices?${query}`);
    const rows = (body as ActionDeviceList).devices;
    return Object.fromEntries(rows.map(({ deviceId, state, code }) => [deviceId, [state, code].join(' ').trim()]));
  }

  const post = (json: DeviceActionStart, headers: Record<string, string> = {}) => admin.post(base, { json, headers });

  return {
    world,
    tenant,
    devices,
    base,
    admin,
    post,
    read,
    outcomes,

    /** Begins an action and waits for its end. */
    async run(json: DeviceActionStart): Promise<DeviceAction> {
      const { status, body } = await post(json);
      t.equal(status, 201, JSON.stringify(body));
      await world.idle();
      world.clock.advance(10); // so that later actions are newer
      return read(body.actionId);
    },
  };
}
