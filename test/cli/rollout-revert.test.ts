import t from 'tap';
import { startRollouts } from '../rollouts/rollout-world.ts';
import { WIFI } from '../world.ts';
import { run } from './run.ts';

t.test('a revert counts the devices that it brings back without those that cannot be', async (t) => {
  const { tenant, devices, start, commands, answer, world } = await startRollouts(t, 3);
  let rolloutId = '';
  for (const [lang, some] of [
    ['de', devices.slice(1)],
    ['fr', devices],
  ] as const) {
    rolloutId = await start({ parameters: { lang }, devices: { devices: some.map(({ deviceId }) => deviceId) } });
    for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  }
  const env = {
    LAPEL_APPLICATION: tenant.applicationId,
    LAPEL_APPLICATION_SECRET: tenant.secret,
    LAPEL_URL: world.service.addresses.http,
    NO_COLOR: '1',
  };
  const { code, stdout } = await run(['rollout', 'revert', rolloutId], { env });
  t.equal(code, 0);
  t.match(
    stdout,
    /^rol_\w+ brings 2 devices of rol_\w+ back\n1 device cannot be brought back: .* \(FORMER_UNKNOWN\)\n$/,
  );
});

t.test('a revert of networks takes the time in which devices try them, and that of the answer', async (t) => {
  const { tenant, start, commands, answer, world, read } = await startRollouts(t, 1);
  const newer = [{ ssid: 'newer', security: 'OPEN' }];
  let rolloutId = '';
  for (const parameters of [WIFI, newer]) {
    rolloutId = await start({ operation: 'setWifi', parameters });
    for (const [deviceId, command] of await commands()) await answer(deviceId, command);
    world.clock.advance(1_000);
  }
  const env = {
    LAPEL_APPLICATION: tenant.applicationId,
    LAPEL_APPLICATION_SECRET: tenant.secret,
    LAPEL_URL: world.service.addresses.http,
    NO_COLOR: '1',
  };
  const revert = (time: string) =>
    run(['rollout', 'revert', rolloutId, '--revert-after', time, '--answer-within', '10m', '--json'], { env });
  t.match(await revert('soon'), { code: 2, stderr: /--revert-after/ });
  t.match(await revert('5s'), { code: 1, stdout: /revertAfter/ });
  const { code, stdout } = await revert('5m');
  t.equal(code, 0);
  t.match(await read(JSON.parse(stdout).rolloutId), {
    reverts: rolloutId,
    rules: { revertAfter: 300, answerWithin: 600 },
  });
  t.match([...(await commands()).values()], [{ parameters: { networks: WIFI, revertAfter: 300 } }]);
});
