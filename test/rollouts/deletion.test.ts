import t from 'tap';
import { startRollouts } from './rollout-world.ts';

t.test('the deletion of an application cancels its rollouts, and forgets what they would send', async (t) => {
  const { world, tenant, devices, start, events, commands, answer, act } = await startRollouts(t, 1);
  const [device] = devices;
  const wifi = { operation: 'setWifi', parameters: [{ ssid: 'office', password: 'correct horse', security: 'WPA2' }] };
  const waiting = await start({ ...wifi, startAt: '2026-11-20T10:30:00Z' });
  const continuous = await start({ continuous: true, devices: { tags: { ring: 'canary' } } });
  const failed = await start(wifi);
  for (const [deviceId, command] of await commands()) await answer(deviceId, command, 'BROKEN');
  const paused = await start();
  await act(paused, 'pause');

  const unfinished = await start({ parameters: { lang: 'fr' } });
  await tenant.api.delete(device?.path ?? '');
  for (let operation = ''; operation !== 'deactivate'; ) {
    const command = await device?.link.command();
    operation = String(command?.operation);
    if (operation === 'deactivate')
      await device?.link.ack({ transactionId: command?.transactionId, status: 'succeeded' });
  }
  await world.idle();
  t.equal((await world.admin().delete(`/admin/v1/applications/${tenant.applicationId}`)).status, 204);
  await world.idle(); // else the clock would end attempts that are in progress
  world.clock.advance(2 * 3_600_000);
  const ended = (await events()).filter((event) => event.startsWith('cancelled'));
  t.equal(ended.length, 3, 'the application hears of it');
  await world.idle();
  const read = async (rolloutId: string) => (await world.admin().get(`/admin/v1/rollouts/${rolloutId}`)).body;
  for (const rolloutId of [waiting, continuous, paused])
    t.match(await read(rolloutId), {
      state: 'cancelled',
      counts: { waiting: 0, unfinished: 0 },
      history: [{ event: 'cancelled', by: 'administration' }],
    });
  t.match(await read(failed), { state: 'completed', counts: { failed: 1 } });
  const counts = { cancelled: 1, unfinished: 0 };
  t.match(await read(unfinished), { state: 'completed', counts }, 'the deactivation had cancelled its command');
  const database = await world.raw();
  t.same(await database.all("SELECT * FROM rollouts WHERE asked LIKE '%correct horse%'"), []);
});
