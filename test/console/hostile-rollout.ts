import type { Tenant, World } from '../world.ts';
import { HOSTILE } from './hostile-fleet.ts';

/** The texts of a hostile rollout, as long as they may be: its label, the code of a device, and the value of a tag. */
export const HOSTILE_ROLLOUT = {
  label: `${HOSTILE.image} \u202eabc`,
  code: HOSTILE.script,
  tag: `${HOSTILE.image} \u202ef`,
} as const;

export type HostileRollout = Awaited<ReturnType<typeof createHostileRollout>>;

/**
 * A rollout of two devices with hostile texts. It has paused itself after the first of them failed; the other one has
 * the command of a second rollout, which runs.
 */
export async function createHostileRollout(world: World, tenant: Tenant) {
  const { api, path, receiver } = tenant;
  const failing = await world.activatedDevice(tenant);
  const working = await world.activatedDevice(tenant);
  for (const { path: device } of [failing, working])
    await api.patch(`${device}/tags`, { json: { note: HOSTILE_ROLLOUT.tag, site: 'osaka' } });
  const start = async (more: object): Promise<string> => {
    const json = { operation: 'setLanguage', parameters: { lang: 'fr' }, devices: {}, ...more };
    const { body } = await api.post(`${path}/rollouts`, { json });
    await world.idle();
    return body.rolloutId;
  };
  const rolloutId = await start({
    label: HOSTILE_ROLLOUT.label,
    devices: { tags: { note: HOSTILE_ROLLOUT.tag } },
    ratePerMinute: 1,
    stages: [{ percent: 50, continueWhen: { succeededPercent: 90, soakFor: 60 }, approval: true }],
    abort: { failedPercent: 1, minimumResults: 1, codes: [HOSTILE_ROLLOUT.code] },
  });
  const { body } = await api.get(`${path}/rollouts/${rolloutId}/devices?state=unfinished`);
  const [{ deviceId, transactionId }] = body.devices as [{ deviceId: string; transactionId: number }];
  const [one, other] = deviceId === failing.deviceId ? [failing, working] : [working, failing];
  one.link.puback((await one.link.command()).packet);
  const error = { code: HOSTILE_ROLLOUT.code, message: HOSTILE.script };
  await one.link.ack({ transactionId, status: 'failed', error });
  await world.idle();
  const running = await start({ devices: { devices: [other.deviceId] }, parameters: { lang: 'de' } });
  other.link.puback((await other.link.command()).packet);
  await world.idle();
  receiver.forget();
  /** Answers the next command of the device that has failed. */
  async function succeed(): Promise<void> {
    const command = await one.link.command();
    one.link.puback(command.packet);
    await one.link.ack({ transactionId: command.transactionId, status: 'succeeded' });
    await world.idle();
  }
  return { rolloutId, succeed, failed: one, running, runs: other, transactionId };
}
