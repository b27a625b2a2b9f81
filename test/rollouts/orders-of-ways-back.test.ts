import { createRandom } from '@lapel/device-sim/random';
import t from 'tap';
import type { RawDevice } from '../raw-device.ts';
import { startRollouts } from './rollout-world.ts';

const SEEDS = Number(process.env['ORDERS_SEEDS'] ?? 4);
const FIRST = Number(process.env['ORDERS_FIRST'] ?? 1);
const STEPS = 25;
const DEVICES = 6;
const MOST = 2;

const wifi = (ssid: string) => [{ ssid, password: `secret-of-${ssid}`, security: 'WPA2' }];

/** A device: the list that it has, and the commands that it has neither answered nor forgotten. */
interface Carrier {
  link: RawDevice;
  has: string;
  open: { transactionId: number; ssid: string }[];
  seen: Set<number>;
}

// Each seed plays another order of everything that can happen to a rollout and its revert. The devices have a state of
// their own, so the end says whether the fleet is without the release, and not only whether the books say so.
t.test(
  'in every order, at most so many devices are at work, and a revert leaves no device with the release',
  async (t) => {
    const { world, tenant, devices, read, act, checkCounts, start, members } = await startRollouts(t, DEVICES);
    const carriers = new Map<string, Carrier>(
      devices.map(({ deviceId, link }) => [deviceId, { link, has: '', open: [], seen: new Set() }]),
    );

    for (let seed = FIRST; seed < FIRST + SEEDS; seed += 1) {
      const random = createRandom(seed);
      const one = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
      const log: string[] = [];
      const release = `release-${seed}`;
      const about = (): string => `seed ${seed} (${log.join(', ')})`;

      /** Takes what has come to all devices. Returns the commands that have come for the first time. */
      async function takeAll(): Promise<Carrier['open']> {
        const fresh: Carrier['open'] = [];
        for (const carrier of carriers.values()) {
          const { link, seen } = carrier;
          for (const packet of link.pending('publish').slice()) {
            await link.next('publish');
            if (one([true, true, false])) link.puback(packet as { messageId: number });
            const { transactionId, operation, parameters } = JSON.parse(
              String((packet as { payload: Buffer }).payload),
            );
            if (operation === 'cancel')
              carrier.open = carrier.open.filter((each) => each.transactionId !== transactionId);
            else if (!seen.has(transactionId)) {
              const command = { transactionId, ssid: parameters.networks[0].ssid as string };
              carrier.open.push(command);
              fresh.push(command);
            }
            seen.add(transactionId);
          }
          link.publish('status', {});
          await link.next('puback');
        }
        await world.idle();
        return fresh;
      }
      async function answer(carrier: Carrier, status: 'succeeded' | 'failed' | 'processing', code = 'INTERNAL') {
        const [command] = carrier.open;
        if (!command) return;
        const { transactionId } = command;
        if (status !== 'processing') carrier.open.shift();
        if (status === 'succeeded') carrier.has = command.ssid;
        await carrier.link.ack({
          transactionId,
          status,
          ...(status === 'failed' && { error: { code, message: '' } }),
        });
        await world.idle();
      }
      const someone = (): Carrier => one([...carriers.values()]);
      const set = (deviceId: string, ssid: string) =>
        tenant.api.put(`${tenant.path}/devices/${deviceId}/settings/wifi`, { json: wifi(ssid) });
      async function reconnectAll(): Promise<void> {
        for (const { link } of carriers.values()) await link.drop();
      }

      for (const [deviceId] of carriers) await set(deviceId, `of-${seed}-${deviceId}`);
      for (let round = 0; round < 5; round += 1) {
        await takeAll();
        for (const carrier of carriers.values()) await answer(carrier, 'succeeded');
      }

      const rolloutId = await start({
        operation: 'setWifi',
        parameters: wifi(release),
        maxUnfinished: MOST,
        stages: [
          { count: 2, continueWhen: { succeededPercent: one([0, 50]), minimumResults: 1 } },
          { count: 2, approval: one([true, false]) },
        ],
        ...one([{}, { expireIn: 120 }, { answerWithin: 60 }, { retry: { codes: ['BUSY'], attempts: 3, after: 1 } }]),
        ...one([{}, { abort: { failedPercent: 30, minimumResults: 2 } }]),
        ...one([{}, { confirm: { seenAgainWithin: 120 } }]),
        ...one([{}, { ratePerMinute: 60 }]),
        ...one([{}, { health: [{ measure: 'failedCommands', atMost: 3, minimumDevices: 1 }] }]),
      });
      await takeAll();
      let revertId: string | undefined;
      const pathOf = (id: string) => `${tenant.path}/transactions?rolloutId=${id}&limit=1000`;
      const transactionsOf = async (
        id: string,
      ): Promise<{ transactionId: number; deviceId: string; status: string; attempts: number }[]> =>
        (await tenant.api.get(pathOf(id))).body.transactions;
      async function revert(): Promise<void> {
        const answered = await act(rolloutId, 'revert', one([{}, { failed: true }]));
        if (answered.status === 201) revertId = answered.body.rolloutId;
      }
      const steps: Record<string, () => Promise<unknown>> = {
        succeeded: () => answer(someone(), 'succeeded'),
        again: () => answer(someone(), 'succeeded'),
        failed: () => answer(someone(), 'failed'),
        busy: () => answer(someone(), 'failed', 'BUSY'),
        processing: () => answer(someone(), 'processing'),
        pause: () => act(rolloutId, 'pause'),
        resume: () => act(rolloutId, 'resume'),
        approve: () => act(rolloutId, 'approve'),
        retry: () => act(rolloutId, 'retry-failed', {}),
        pauseBack: async () => revertId !== undefined && act(revertId, 'pause'),
        resumeBack: async () => revertId !== undefined && act(revertId, 'resume'),
        revert: async () => random() < 0.4 && revert(),
        person: async () => random() < 0.3 && set(one(devices).deviceId, `person-${seed}-${log.length}`),
        async cancel() {
          const some = one(await transactionsOf(revertId ?? rolloutId));
          if (some)
            await tenant.api.delete(`${tenant.path}/devices/${some.deviceId}/transactions/${some.transactionId}`);
        },
        async reconnect() {
          const { deviceId, credential } = one(devices);
          const carrier = carriers.get(deviceId) as Carrier;
          await carrier.link.drop();
          carrier.link = await world.connect({ deviceId, credential });
        },
        async pass() {
          await world.idle();
          world.clock.advance(one([1, 31, 61]) * 1000);
        },
        async restart() {
          if (seed % 3 !== 0) return;
          await reconnectAll();
          await world.restart();
          await tenant.renew();
          for (const { deviceId, credential } of devices)
            (carriers.get(deviceId) as Carrier).link = await world.connect({ deviceId, credential });
        },
      };

      for (let step = 0; step < STEPS; step += 1) {
        const name = one(Object.keys(steps));
        log.push(name);
        await steps[name]?.();
        await world.idle();
        const isReverted = revertId !== undefined;
        const fresh = await takeAll();
        if (isReverted)
          t.same(
            fresh.filter(({ ssid }) => ssid === release),
            [],
            `${about()}: nobody gets the release after its revert`,
          );
        const atWork = (await transactionsOf(rolloutId)).filter(
          ({ status, attempts }) => attempts > 0 && ['queued', 'delivered', 'processing'].includes(status),
        );
        t.ok(atWork.length <= MOST, `${about()}: ${atWork.length} are at work`);
      }
      await checkCounts(t, rolloutId);

      if (revertId === undefined) await revert();
      // Everything ends: what is paused goes on, and what was sent is answered.
      const hasEnded = async (): Promise<boolean> => revertId === undefined || (await read(revertId)).endedAt !== null;
      for (let round = 0; round < 60 && !(await hasEnded()); round += 1) {
        if (revertId !== undefined) await act(revertId, 'resume');
        await world.idle();
        world.clock.advance(round < 40 ? 2_000 : 31_000);
        await takeAll();
        for (const carrier of carriers.values()) await answer(carrier, 'succeeded');
      }
      for (let round = 0; round < 5; round += 1) {
        await takeAll();
        for (const carrier of carriers.values()) await answer(carrier, 'succeeded');
      }
      if (revertId !== undefined) {
        const { state, counts } = await read(revertId);
        t.equal(state, 'completed', `${about()} ${JSON.stringify(counts)}`);
        await checkCounts(t, revertId);
      }
      await checkCounts(t, rolloutId);
      const back = revertId === undefined ? [] : await members(revertId, 'limit=1000');
      for (const [deviceId, { has }] of carriers) {
        const member = back.find((each) => each.deviceId === deviceId);
        // A step let the command of the revert fail, or took it back.
        if (member?.state === 'failed' || member?.state === 'cancelled') continue;
        t.not(has, release, `${about()} ${deviceId} ${JSON.stringify(member)}`);
      }
      await tenant.renew();
    }
  },
);
