import { createRandom } from '@lapel/device-sim/random';
import t from 'tap';
import type { RawDevice } from '../raw-device.ts';
import { startRollouts } from './rollout-world.ts';

const SEEDS = 6;
const STEPS = 25;
const DEVICES = 6;

// Each seed plays another order of everything that can happen to a rollout and its commands.
t.test(
  'in every order, counts equal rows, no device succeeds twice, nothing new goes out while it is paused',
  async (t) => {
    const { world, tenant, devices, read, act, checkCounts, start } = await startRollouts(t, DEVICES);
    const links = new Map<string, RawDevice>(devices.map(({ deviceId, link }) => [deviceId, link]));

    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const random = createRandom(seed);
      const one = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
      const log: string[] = [];
      const known = new Set<number>();
      const rolloutId = await start({
        parameters: { lang: `de-x-l${seed}` },
        stages: [
          { count: 2, continueWhen: { succeededPercent: one([0, 50]) } },
          { count: 2, approval: one([true, false]) },
        ],
        ...one([
          {},
          { expireIn: 120 },
          { answerWithin: 60 },
          { supersede: true },
          { retry: { codes: ['BUSY'], attempts: 3, after: 1 } },
        ]),
        ...one([{}, { abort: { failedPercent: 30, minimumResults: 2 } }]),
        ...one([{}, { ratePerMinute: 60 }]),
      });
      const transactions = async (): Promise<
        { transactionId: number; deviceId: string; status: string; attempts: number }[]
      > => (await tenant.api.get(`${tenant.path}/transactions?rolloutId=${rolloutId}&limit=1000`)).body.transactions;
      const anyOf = async () => one(await transactions());

      /** Takes all commands that have come; returns the transactions of those that are no cancels. */
      async function takeAll(): Promise<number[]> {
        const taken: number[] = [];
        for (const link of links.values()) {
          for (const packet of link.pending('publish').slice()) {
            await link.next('publish');
            if (one([true, true, false])) link.puback(packet as { messageId: number });
            const { transactionId, operation } = JSON.parse(String((packet as { payload: Buffer }).payload));
            if (operation !== 'cancel') taken.push(transactionId);
          }
          link.publish('status', {});
          await link.next('puback');
        }
        await world.idle();
        for (const transactionId of taken) known.add(transactionId);
        return taken;
      }
      const ack = (status: string, code?: string) => async (): Promise<void> => {
        const some = await anyOf();
        if (!some) return;
        await links.get(some.deviceId)?.ack({
          transactionId: some.transactionId,
          status,
          ...(code !== undefined && { error: { code, message: '' } }),
        });
      };
      const steps: Record<string, () => Promise<unknown>> = {
        takeAll,
        succeeded: ack('succeeded'),
        again: ack('succeeded'),
        failed: ack('failed', 'INTERNAL'),
        busy: ack('failed', 'BUSY'),
        processing: ack('processing'),
        pause: () => act(rolloutId, 'pause'),
        resume: () => act(rolloutId, 'resume'),
        approve: () => act(rolloutId, 'approve'),
        retry: () => act(rolloutId, 'retry-failed', {}),
        async cancel() {
          const some = await anyOf();
          if (some)
            await tenant.api.delete(`${tenant.path}/devices/${some.deviceId}/transactions/${some.transactionId}`);
        },
        async reconnect() {
          const { deviceId, credential } = one(devices);
          await links.get(deviceId)?.drop();
          links.set(deviceId, await world.connect({ deviceId, credential }));
        },
        async pass() {
          await world.idle();
          world.clock.advance(one([1, 31, 61]) * 1000);
        },
        async restart() {
          if (seed % 3 !== 0) return;
          for (const link of links.values()) await link.drop();
          await world.restart();
          await tenant.renew();
          for (const { deviceId, credential } of devices)
            links.set(deviceId, await world.connect({ deviceId, credential }));
        },
      };

      for (let step = 0; step < STEPS; step += 1) {
        const name = one(Object.keys(steps));
        log.push(name);
        await steps[name]?.();
        await world.idle();
        await takeAll();
        const { state } = await read(rolloutId);
        if (state === 'paused') {
          const before = new Set(known);
          await world.idle();
          const news = (await takeAll()).filter((transactionId) => !before.has(transactionId));
          t.same(news, [], `seed ${seed}: nothing new is published while it is paused (${log.join(', ')})`);
        }
      }
      await checkCounts(t, rolloutId);

      // Everything ends: what is paused goes on, what waits is approved, what was sent is answered.
      for (let round = 0; round < 40 && (await read(rolloutId)).endedAt === null; round += 1) {
        await act(rolloutId, 'resume');
        await act(rolloutId, 'approve');
        await world.idle();
        world.clock.advance(2_000);
        await takeAll();
        for (const { transactionId, deviceId, status } of await transactions())
          if (['queued', 'delivered', 'processing'].includes(status))
            await links.get(deviceId)?.ack({ transactionId, status: 'succeeded' });
      }
      await world.idle();
      const { state, counts } = await read(rolloutId);
      t.equal(state, 'completed', `seed ${seed} (${log.join(', ')}) ${JSON.stringify(counts)}`);
      await checkCounts(t, rolloutId);
      const succeeded = (await transactions())
        .filter(({ status }) => status === 'succeeded')
        .map(({ deviceId }) => deviceId);
      t.same(succeeded.toSorted(), [...new Set(succeeded)].sort(), `seed ${seed}: no device has succeeded twice`);
      await tenant.renew();
    }
  },
);
