import t, { type Test } from 'tap';
import { onBoth } from '../database/kinds.ts';
import { send } from '../stream/stream-world.ts';
import type { Received } from '../webhooks/test-receiver.ts';
import { bodyOf, type Got, startEndpoints } from './endpoint-world.ts';

/** Each device's events come in the order of its numbers, apart from repeated ones. */
function areInOrder(t: Test, seen: readonly Got[], gaps = true): void {
  const last = new Map<string, number>();
  for (const { deviceSequence = 0, data } of seen) {
    const before = last.get(data.deviceId);
    if (before !== undefined && deviceSequence > before + 1 && gaps)
      t.fail(`${data.deviceId}: ${deviceSequence} behind ${before}`);
    if (before !== undefined && deviceSequence < before) t.fail(`${data.deviceId}: ${deviceSequence} after ${before}`);
    last.set(data.deviceId, deviceSequence);
  }
}

onBoth(t, async (t, database) => {
  const { world, tenant, device, add, another, got, deliveries, later, settled } = await startEndpoints(t, {
    database,
  });
  const ordered = (json: object = {}) => add({ ordered: 'device', types: ['custom.*'], ...json });
  const types = (seen: readonly Got[]): string[] => seen.map(({ type }) => type);

  await t.test(
    'the next event of a device is sent when the one before was accepted; other devices go on',
    async (t) => {
      const { at, receiver } = await ordered();
      const other = await another();
      receiver.answer((request) => ({ status: bodyOf(request).type === 'custom.bad' ? 500 : 200 }));
      for (const type of ['custom.one', 'custom.bad', 'custom.three']) await send(device.link, type);
      await send(other.link, 'custom.other');
      const seen = await got(receiver);
      t.same([...new Set(types(seen))].sort(), ['custom.bad', 'custom.one', 'custom.other']);
      const rows = await deliveries(at);
      const [, bad, third] = rows;
      t.match(third, { status: 'blocked', blockedBy: bad?.['sequence'], nextAttemptAt: String });
      const read = (await tenant.api.get(at)).body;
      t.match(read.state, { pending: 1, blocked: 1 });
      t.match(read.blockedDevices, [{ deviceId: device.deviceId, blockedBy: bad?.['sequence'], waiting: 1 }]);
      receiver.answer({});
      await later(6 * 60_000);
      const all = await got(receiver);
      t.same(types(all.filter(({ data }) => data.deviceId === device.deviceId)).slice(-2), [
        'custom.bad',
        'custom.three',
      ]);
      areInOrder(t, all);
      await tenant.api.delete(at);
    },
  );

  await t.test('an event that is refused for ever is skipped by hand', async (t) => {
    const { at, receiver } = await ordered();
    receiver.answer((request) => ({ status: bodyOf(request).type === 'custom.bad' ? 500 : 200 }));
    for (const type of ['custom.bad', 'custom.next', 'custom.last']) await send(device.link, type);
    t.same(types(await got(receiver)).slice(0, 1), ['custom.bad']);
    const [bad] = await deliveries(at);
    t.equal((await tenant.api.post(`${at}/deliveries/${bad?.['sequence']}/skip`)).status, 204);
    await later(60_000);
    t.same(types(await got(receiver)).slice(-2), ['custom.next', 'custom.last']);
    t.match(await deliveries(at), [{ status: 'skipped' }, { status: 'delivered' }, { status: 'delivered' }]);
    const again = await tenant.api.post(`${at}/deliveries/${bad?.['sequence']}/skip`);
    t.match(again, { status: 404, headers: { 'lapel-error-code': 'DELIVERY_NOT_WAITING' } });
    await tenant.api.delete(at);
  });

  await t.test('an event that is given up lets the next one go on', async (t) => {
    const { at, receiver } = await ordered();
    receiver.answer((request: Received) => ({ status: bodyOf(request).type === 'custom.gone' ? 410 : 200 }));
    for (const type of ['custom.gone', 'custom.next']) await send(device.link, type);
    t.same(types(await got(receiver)), ['custom.gone', 'custom.next']);
    t.match(await deliveries(at), [{ status: 'gone' }, { status: 'delivered' }]);
    await tenant.api.delete(at);
  });

  await t.test('many devices that send at a time are each in order, without a gap', async (t) => {
    const { at, receiver } = await ordered();
    const devices = [device];
    while (devices.length < 8) devices.push(await another());
    let count = 0;
    receiver.answer(() => {
      count += 1;
      return { status: count % 7 === 0 ? 503 : 200 };
    });
    for (let round = 0; round < 12; round += 1) await Promise.all(devices.map(({ link }) => send(link, 'custom.many')));
    for (let minutes = 0; minutes < 40; minutes += 1) {
      world.clock.advance(60_000);
      await settled();
    }
    receiver.answer({});
    // An event that was refused three times waits for two hours.
    for (let hours = 0; hours < 6; hours += 2) await later(2 * 3600_000);
    const seen = await got(receiver);
    areInOrder(t, seen, false);
    const delivered = (await deliveries(at)).filter(({ status }) => status === 'delivered');
    t.equal(delivered.length, 96, 'all are delivered');
    t.equal(new Set(seen.map(({ sequence }) => sequence)).size, 96);
    await tenant.api.delete(at);
  });

  await t.test('an outage of a day loses nothing, and keeps the order', async (t) => {
    const { at, receiver } = await ordered();
    receiver.answer({ status: 500 });
    for (let hours = 0; hours < 24; hours += 2) {
      await send(device.link, 'custom.hour');
      await later(2 * 3600_000);
    }
    receiver.answer({});
    await later(24 * 3600_000);
    await later(24 * 3600_000);
    const rows = await deliveries(at);
    t.equal(rows.length, 12);
    t.ok(
      rows.every(({ status }) => status === 'delivered'),
      rows.map(({ status }) => status).join(' '),
    );
    areInOrder(t, await got(receiver));
    await tenant.api.delete(at);
  });

  await t.test('what waits goes on in order when the endpoint becomes ordered, or is no longer', async (t) => {
    const { at, receiver } = await ordered();
    receiver.answer({ status: 500 });
    for (const type of ['custom.one', 'custom.two', 'custom.three']) await send(device.link, type);
    await got(receiver);
    t.match(await deliveries(at), [{ status: 'pending' }, { status: 'blocked' }]);
    receiver.answer({});
    await tenant.api.patch(at, { json: { ordered: 'none' } });
    await settled();
    await later(3600_000);
    t.match(await deliveries(at), [{ status: 'delivered' }, { status: 'delivered' }, { status: 'delivered' }]);
    await tenant.api.delete(at);
  });
});
