import t from 'tap';
import { startWorld, WIFI } from '../world.ts';
import { run } from './run.ts';

t.test('all devices that match are changed from the command line', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  await world.registerDevice();
  const { addresses, adminToken } = world.service;
  const env = { LAPEL_ADMIN_TOKEN: adminToken, LAPEL_ADMIN_URL: addresses.admin };
  const actions = (line: string, more: Parameters<typeof run>[1] = {}) =>
    run(['admin', 'device-action', ...line.split(' ')], { env, ...more });
  const ask = '--application dev-app';

  await t.test('it asks for the number, shows the progress, and says what was not changed and why', async (t) => {
    const counted = await actions('delete --developer dev --dry-run');
    t.match(counted, { code: 0, stdout: '2 devices match\n' });
    const wrong = await actions('delete --developer dev', { answers: ['3'] });
    t.match(wrong, { code: 1, stderr: /nothing was changed: the number was not confirmed/ });
    const nobody = await actions('block --developer dev');
    t.match(nobody, { code: 2, stderr: /--confirm: is needed without a terminal; 2 devices match/ });
    const tagged = await actions('tag wave=1 --remove old --developer dev', { answers: ['2'], tty: true });
    t.equal(tagged.code, 1, 'a device was refused');
    t.match(tagged.stdout, /completed\n2 devices: 1 done, 1 refused\n1 device refused: DEVICE_NOT_ACTIVATED\n$/);
    t.match(tagged.stderr, /lapel admin device-action devices act_[0-9a-f]{32} --state refused/);
    t.same((await tenant.api.get(`${device.path}/tags`)).body, { wave: '1' });
  });

  await t.test('a script gives the number, and need not wait', async (t) => {
    const begun = await actions(`block ${ask} --connected true --confirm 1 --detach --json`);
    t.equal(begun.code, 0, begun.stderr);
    const { actionId } = JSON.parse(begun.stdout) as { actionId: string };
    const watched = await actions(`watch ${actionId} --json`);
    t.match(JSON.parse(watched.stdout), { ok: true, state: 'completed', counts: { done: 1 } });
    t.match(await actions(`unblock --blocked true --confirm 1`), { code: 0, stdout: /1 device: 1 done/ });
    await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
    t.match(await actions(`cancel ${ask} --battery-from 0 --confirm 1`), { code: 0, stdout: /0 devices/ });
    t.match(await actions(`cancel ${ask} --confirm 1`), { code: 0, stdout: /1 device: 1 done/ });
    const refused = await actions('delete --prefix 35 --confirm 1');
    t.match(refused, { code: 1, stdout: /refused \(MORE_THAN_CONFIRMED\)\n2 devices: 2 waiting/ });
    t.match(await actions(`move ${ask} --to dev-app --confirm 1`), { code: 0, stdout: /1 device: 1 unchanged/ });
  });

  await t.test('what was done is listed', async (t) => {
    const list = await actions('list');
    t.match(list.stdout, /move +completed/);
    const { actions: all } = JSON.parse((await actions('list --limit 0 --json')).stdout) as {
      actions: { actionId: string; action: string }[];
    };
    const actionId = all.find(({ action }) => action === 'tag')?.actionId ?? '';
    t.match(await actions(`show ${actionId}`), { code: 0, stdout: /1 device refused: DEVICE_NOT_ACTIVATED/ });
    const devices = await actions(`devices ${actionId} --state refused`);
    t.match(devices.stdout, /refused +DEVICE_NOT_ACTIVATED/);
    t.match(await actions(`stop ${actionId}`), { code: 1, stderr: /409 the device action is completed/ });
    const story = await run(['admin', 'device', 'story', device.deviceId], { env });
    t.match(story.stdout, /action +tag +done act_/);
  });

  await t.test('a wrong call is refused before anything is counted', async (t) => {
    for (const [line, problem] of [
      ['block', /--all: is needed for all devices/],
      [`block --all ${ask}`, /--all: cannot be combined/],
      ['block --connected perhaps', /--connected: is true or false/],
      [`tag ${ask}`, /KEY=VALUE: or --remove KEY is needed/],
      [`tag wave ${ask}`, /wave: is not a tag/],
      [`move ${ask}`, /--to: is needed/],
    ] as const)
      t.match(await actions(line), { code: 2, stderr: problem }, line);
  });

  await t.test('Ctrl-C leaves the action to the service', async (t) => {
    const mend = await (await world.raw()).breakWrites('UPDATE ON device_action_devices');
    const stop = new AbortController();
    const left = await actions('block --all --confirm 2', {
      interrupted: stop.signal,
      pause: async () => stop.abort(),
    });
    t.match(left, { code: 130, stderr: /goes on without this command/ });
    await world.idle();
    await mend();
    world.clock.advance(1_000);
    await world.idle();
    t.match(await actions('list --json'), { stdout: /"state": ?"completed"/ });
  });
});
