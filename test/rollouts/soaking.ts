import type { Test } from 'tap';
import { pass, speak, startRollouts } from './rollout-world.ts';

const MINUTE = 60_000;
/** Milliseconds of a step of time: the service has not stood still. */
const STEP = 30_000;
export const SOAK = 30 * 24 * 3600;

/** A rollout whose first devices have the release and soak, while the others wait. */
/** Members of the rollout, and the language that all devices have taken before it. */
type More = { before?: { lang: string }; revert?: 'automatic'; database?: 'sqlite' };

export async function soaking(
  t: Test,
  treated: number,
  waiting: number,
  health: readonly object[],
  soakFor = SOAK,
  { before, database, ...more }: More = {},
) {
  const world = await startRollouts(t, treated + waiting, { ...(database && { database }) });
  if (before) {
    await world.start({ parameters: before });
    for (const [deviceId, command] of await world.commands()) await world.answer(deviceId, command);
  }
  const rolloutId = await world.start({
    ...more,
    stages: [{ count: treated, continueWhen: { succeededPercent: 100, soakFor } }],
    health,
  });
  const sent = await world.commands();
  t.equal(sent.size, treated);
  for (const [deviceId, command] of sent) await world.answer(deviceId, command);
  const canaries = world.devices.filter(({ deviceId }) => sent.has(deviceId));
  return {
    ...world,
    rolloutId,
    canaries,
    others: world.devices.filter(({ deviceId }) => !sent.has(deviceId)),
    async shown() {
      await world.tenant.renew(); // a token lasts for an hour
      return world.read(rolloutId);
    },
    pass: (milliseconds: number) => pass(world.world, milliseconds, STEP),
    /** Lets an hour go by, in which each device reports every ten minutes. */
    async hour(reportOf: (deviceId: string, minute: number) => object): Promise<void> {
      for (let minute = 0; minute < 60; minute += 10) {
        for (const { deviceId, link } of world.devices) await speak(link, reportOf(deviceId, minute));
        await pass(world.world, 10 * MINUTE, STEP);
      }
    },
  };
}
