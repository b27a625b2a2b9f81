import { createAdminClient, type Reply } from '@lapel/device-sim/customer/service-client';
import type { Random } from '@lapel/device-sim/random';
import type { Deed } from './plan.ts';

/** Milliseconds for which devices are blocked. */
const BLOCKED_FOR = 10_000;

/** Throws if the service does not know such a call: then the deed would never take place. */
function checked(reply: Reply): Reply {
  if (reply.status === 400 || reply.status === 401 || reply.status === 405 || reply.status === 422) {
    const text = JSON.stringify(reply.body);
    throw new Mistaken(`the call of an administrator was answered ${reply.status}: ${text}`);
  }
  return reply;
}

/** The call of an administrator is wrong, so the world shows nothing. */
class Mistaken extends Error {}

/** The administrators of a world. Their calls may fail, as the service may be away; nobody repeats them then. */
export function createAdministrators(
  access: { baseUrl: string; token: string },
  chance: Random,
  after: (milliseconds: number, task: () => void) => void,
  restart: () => Promise<void>,
  mistaken: (error: Error) => void,
) {
  const admin = createAdminClient(access);

  async function listed(
    name: 'listFleetDevices' | 'listFleetRollouts',
    member: string,
  ): Promise<Record<string, unknown>[]> {
    const { body } = checked(await admin(name, { query: { limit: 100 } }));
    return (body[member] ?? []) as Record<string, unknown>[];
  }

  async function endConnections(): Promise<void> {
    for (const { deviceId } of await listed('listFleetDevices', 'devices'))
      await admin('closeConnection', { deviceId: String(deviceId) });
  }

  async function pauseRollouts(): Promise<void> {
    for (const { rolloutId } of await listed('listFleetRollouts', 'rollouts'))
      await admin('pauseFleetRollout', { rolloutId: String(rolloutId) });
  }

  /** Cancels a rollout that has not ended. */
  async function cancelRollout(): Promise<void> {
    const all = await listed('listFleetRollouts', 'rollouts');
    const atWork = all.filter(({ state }) => state === 'running' || state === 'paused');
    const { rolloutId } = atWork[Math.trunc(chance() * atWork.length)] ?? {};
    if (typeof rolloutId === 'string') await admin('cancelFleetRollout', { rolloutId });
  }

  /** Asks until the service has answered, because a device that stays blocked would never end its commands. */
  async function letIn(): Promise<void> {
    const body = { action: 'unblock', filter: { blocked: true } } as const;
    const { status } = await admin('startDeviceAction', { body }).catch(() => ({ status: 0 }));
    if (status === 0 || status >= 500) after(1_000, () => void letIn());
  }

  async function blockDevices(): Promise<void> {
    const devices = await listed('listFleetDevices', 'devices');
    const { deviceId } = devices[Math.trunc(chance() * devices.length)] ?? {};
    if (typeof deviceId !== 'string') return;
    after(BLOCKED_FOR, () => void letIn());
    const filter = { prefix: deviceId.slice(0, 15) };
    checked(await admin('startDeviceAction', { body: { action: 'block', filter } }));
  }

  const deeds: Record<Deed['does'], () => Promise<unknown>> = {
    'new-signing-key': async () => checked(await admin('renewSigningKey', { body: {} })),
    'new-store-key': async () => checked(await admin('renewObjectStoreKey', { body: {} })),
    'end-connections': endConnections,
    'pause-rollouts': pauseRollouts,
    'cancel-rollout': cancelRollout,
    'block-devices': blockDevices,
    restart,
  };
  return {
    do(does: Deed['does']): void {
      deeds[does]().catch((error: unknown) => {
        if (error instanceof Mistaken) mistaken(error);
      });
    },
  };
}
