import { createRandom } from '@lapel/device-sim/random';
import t from 'tap';
import type { RawDevice } from '../raw-device.ts';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';

const SEEDS = 6;
const STEPS = 12;
const FINISHED = ['succeeded', 'failed', 'cancelled'];
const EARLY = ['EXPIRED', 'NO_ANSWER', 'SUPERSEDED'];

// Each seed plays another order of everything that can end a transaction, or come too late to.
t.test('in every order, a transaction ends once, and one webhook tells its end', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  let link: RawDevice = device.link;
  const read = async (id: number) => (await tenant.api.get(`${device.path}/transactions/${id}`)).body;

  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = createRandom(seed);
    const one = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
    const ids: number[] = [];
    const ended = new Map<number, { status: string; code: string | undefined }>();
    const log: string[] = [];
    const checked = new WeakSet<object>();

    const put = async (): Promise<void> => {
      const query = one(['expireIn=60', 'answerWithin=60', 'expireIn=60&answerWithin=90', 'supersede=true', '']);
      ids.push(transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi?${query}`, { json: WIFI })));
    };
    const reconnect = async (): Promise<void> => {
      await link.drop();
      link = await world.connect(device);
    };
    const takeAll = async (): Promise<void> => {
      for (const packet of link.pending('publish').slice()) {
        await link.next('publish');
        if (one([true, true, false])) link.puback(packet as { messageId: number });
      }
      link.publish('status', {});
      await link.next('puback');
    };
    /** Checks the commands that have come since the last check. `before`: the transactions that had ended by then. */
    const checkCommands = (before: ReadonlySet<number>): void => {
      for (const packet of link.pending('publish')) {
        if (checked.has(packet)) continue;
        checked.add(packet);
        const { transactionId, operation } = JSON.parse(String((packet as { payload: Buffer }).payload));
        if (before.has(transactionId))
          t.equal(operation, 'cancel', `seed ${seed}: nothing is published after its end (${log.join(', ')})`);
      }
    };
    const steps: Record<string, () => Promise<unknown>> = {
      put,
      takeAll,
      reconnect,
      processing: () => link.ack({ transactionId: one(ids), status: 'processing', progress: 5 }),
      succeeded: () => link.ack({ transactionId: one(ids), status: 'succeeded' }),
      failed: () =>
        link.ack({ transactionId: one(ids), status: 'failed', error: { code: 'UNSUPPORTED', message: '' } }),
      cancel: () => tenant.api.delete(`${device.path}/transactions/${one(ids)}`),
      async pass() {
        await world.idle();
        world.clock.advance(one([1, 30, 61]) * 1000);
      },
      async together() {
        await world.idle();
        const transactionId = one(ids);
        world.clock.advance(60_000);
        await Promise.all([
          tenant.api.delete(`${device.path}/transactions/${transactionId}`),
          link.ack({ transactionId, status: 'succeeded' }),
        ]);
      },
      async restart() {
        if (seed % 6 !== 0) return;
        await link.drop();
        await world.restart(() => world.clock.advance(one([0, 60_000])));
        await tenant.renew();
        link = await world.connect(device);
      },
    };

    await put();
    for (let step = 0; step < STEPS; step += 1) {
      const name = one(Object.keys(steps));
      const before = new Set(ended.keys());
      log.push(name);
      await steps[name]?.();
      await world.idle();
      checkCommands(before);
      for (const id of ids) {
        const { status, error, late } = await read(id);
        const before = ended.get(id);
        const now = { status, code: error?.code };
        if (before) t.same(now, before, `seed ${seed}: an end stays (${log.join(', ')})`);
        if (FINISHED.includes(status)) ended.set(id, now);
        if (late)
          t.ok(
            status === 'cancelled' || EARLY.includes(error?.code),
            `seed ${seed}: only an early end, or a cancel, takes a late result`,
          );
      }
    }
    // Whatever is left ends: with terms by time, without by a cancel.
    await world.idle();
    world.clock.advance(200_000);
    await world.idle();
    for (const id of ids) if (!ended.has(id)) await tenant.api.delete(`${device.path}/transactions/${id}`);
    await world.idle();
    const told = tenant.receiver.requests.map(({ body }) => JSON.parse(body.toString()).data.transaction);
    for (const id of ids) {
      const { status, error } = await read(id);
      const webhooks = told.filter(({ transactionId }) => transactionId === id);
      t.same(
        webhooks.map((shown) => [shown.status, shown.error?.code]),
        [[status, error?.code]],
        `seed ${seed}: one webhook (${log.join(', ')})`,
      );
    }
    await tenant.renew(); // a token lasts for an hour of the clock
    await reconnect();
  }
});
