import t from 'tap';
import { startRollouts } from './rollout-world.ts';

t.test('devices whose commands the database did not store wait, and get them when it stores again', async (t) => {
  const { world, devices, tenant, start, read, members, commands, answer, checkCounts } = await startRollouts(t, 5);
  const raw = await world.raw();
  const repair = await raw.breakWrites('INSERT ON transactions');
  const rolloutId = await start();
  t.match(await read(rolloutId), { state: 'running', counts: { waiting: 5, refused: 0, unfinished: 0 } });
  t.same(
    (await members(rolloutId)).map(({ code }) => code),
    devices.map(() => null),
    'the fault is none of the devices',
  );
  t.same((await tenant.api.get(`${tenant.path}/transactions?unfinished=true`)).body.transactions, []);
  await repair();
  world.clock.advance(1_000);
  const sent = await commands();
  t.equal(sent.size, 5, 'without being asked');
  for (const [deviceId, command] of sent) await answer(deviceId, command);
  t.match(await read(rolloutId), { state: 'completed', counts: { succeeded: 5 } });
  await checkCounts(t, rolloutId);
});

t.test('a result that cannot be stored ends neither the service nor the rollout', async (t) => {
  const { world, device, start, commands, read } = await startRollouts(t, 1, { database: 'sqlite' });
  const rolloutId = await start();
  const [[deviceId = '', command] = []] = await commands();
  const result = { transactionId: command?.transactionId ?? 0, status: 'succeeded' } as const;
  const raw = await world.raw();
  for (const what of [`UPDATE ON transactions WHEN NEW.status = 'succeeded'`, 'INSERT ON deliveries']) {
    const repair = await raw.breakWrites(what);
    const link = await world.connect(device(deviceId));
    link.publish('acks', result);
    await link.closed;
    await world.idle();
    t.match(await read(rolloutId), { counts: { unfinished: 1 } }, what);
    await repair();
  }
  const link = await world.connect(device(deviceId));
  await link.ack(result);
  await world.idle();
  t.match(await read(rolloutId), { state: 'completed', counts: { succeeded: 1 } });
});
