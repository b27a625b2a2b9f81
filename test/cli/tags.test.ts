import { deviceBefore } from '@lapel/cli/device/device-before';
import t from 'tap';
import { deviceIdOf, startWorld } from '../world.ts';
import { run } from './run.ts';

t.test('lapel device tag, tags, count and list', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const devices: Awaited<ReturnType<typeof world.activatedDevice>>[] = [];
  for (const version of ['1.0.0', '1.1.0', '2.0.0']) {
    const device = await world.activatedDevice(tenant);
    device.link.publish('status', {
      firmwareVersion: '9.1.0',
      lang: version === '2.0.0' ? 'en' : 'ja-JP',
      software: [{ package: 'com.a.x', version, versionCode: 1 }],
    });
    await device.link.next('puback');
    devices.push(device);
  }
  const [first = '', second = '', third = ''] = devices.map(({ deviceId }) => deviceId);
  const env = {
    LAPEL_APPLICATION: tenant.applicationId,
    LAPEL_APPLICATION_SECRET: tenant.secret,
    LAPEL_URL: world.service.addresses.http,
    NO_COLOR: '1',
  };
  const lapel = (line: string) => run(['device', ...line.split(' ')], { env });
  const json = async (line: string) => JSON.parse((await lapel(`${line} --json`)).stdout);
  const listed = async (line: string) =>
    (await json(`list ${line}`)).devices.map(({ deviceId }: { deviceId: string }) => deviceId);

  await t.test('the deviceIds with a beginning are listed', async (t) => {
    t.equal((await lapel('ids')).stdout, `${first}\n${second}\n${third}\n`);
    t.equal((await lapel(`ids ${first.slice(0, 8)}`)).stdout, `${first}\n${second}\n${third}\n`);
    t.same(await json(`ids ${second}`), { ok: true, devices: [second] });
    for (const other of ['9', 'x', `${first}0`]) t.match(await lapel(`ids ${other}`), { code: 0, stdout: '' }, other);
  });

  await t.test('tags of a device are set, removed and shown', async (t) => {
    t.match(await lapel(`tag ${first}`), { code: 0, stdout: `${first} has no tags\n` });
    t.match(await lapel(`tag ${first} site=osaka ring=canary`), {
      code: 0,
      stdout: 'ring  canary\nsite  osaka\n',
    });
    const changed = await run(['device', 'tag', first, 'note=a = b', '--remove', 'ring', 'never'], { env });
    t.equal(changed.stdout, 'note  a = b\nsite  osaka\n', 'a value may contain = and spaces');
    t.same(await json(`tag ${first} --remove note`), { ok: true, deviceId: first, tags: { site: 'osaka' } });
    t.match((await lapel(`show ${first}`)).stdout, /\ntags +site=osaka\n/);
    t.match(await json(`show ${first}`), { tags: { site: 'osaka' } });
  });

  await t.test('a wrong change is refused, by the command or by the service', async (t) => {
    for (const [line, words] of [
      [`tag ${first} site`, /^lapel: site: is not a tag as KEY=VALUE/],
      [`tag ${first} site=`, /^lapel: site=: is not a tag/],
      [`tag ${first} site=a site=b`, /changes the tag site a second time/],
      [`tag ${first} site=a --remove site`, /^lapel: --remove: changes the tag site a second time/],
      ['tag', /^lapel: DEVICE: is needed/],
      ['tags --tag site=osaka', /^lapel: KEY=VALUE: or --remove KEY is needed/],
      ['tags site=osaka', /^lapel: --all: is needed to change all devices/],
      ['tags site=osaka --all --connected', /^lapel: --all: cannot be combined/],
      [`tags site=osaka --connected --device ${first}`, /^lapel: --device: cannot be combined/],
      ['list --connected --disconnected', /^lapel: --disconnected: cannot be combined with --connected/],
      ['list --tag site', /^lapel: --tag: "site" is no term; write KEY=VALUE, or '!KEY'/],
      ['list --tag site=a --tag !site', /^lapel: --tag: !site and site=\.\.\. contradict each other/],
      ['count --percent much', /^lapel: --percent: "much" is not a whole number/],
      ['count --last-seen-within soon', /"soon" is no duration/],
    ] as const)
      t.match(await lapel(line), { code: 2, stdout: '', stderr: words }, line);
    t.match(await lapel(`tag ${first} Site=osaka`), { code: 1, stderr: /\n {2}body\.Site: String should begin with/ });
    t.match(await lapel('list --version 1.0.0'), { code: 1, stderr: /\n {2}query\.package: / });
  });

  await t.test('tags of many devices are changed by a selector, or by their names', async (t) => {
    t.equal(
      (await lapel(`tags site=kyoto --device ${second} ${third}`)).stdout,
      'matching  2\nchanged   2\nrefused   0\n',
    );
    t.match(await lapel('tags ring=early --tag site=kyoto --lang en'), { code: 0, stdout: /^matching {2}1\n/ });
    t.same(await json(`tag ${third}`), { ok: true, deviceId: third, tags: { ring: 'early', site: 'kyoto' } });
    t.match(await json('tags fleet=2026 --remove floor --all'), { ok: true, matching: 3, changed: 3, refused: 0 });
    t.match(await json('tags fleet=2026 --all'), { matching: 3, changed: 0 }, 'it can be repeated');
    const many = Array.from({ length: 31 }, (_, index) => `k${index}=v`).join(' ');
    const { code, stdout, stderr } = await lapel(`tags ${many} --tag ring=early`);
    t.match({ code, stdout }, { code: 1, stdout: /refused +1/ });
    t.match(stderr, `lapel: 1 would have more than 32 tags and stay as they were: ${third}\n`);
    t.match(await json(`tags ${many} --tag ring=early`), { ok: false, refusedDevices: [third] });
    await lapel('tags --remove fleet --all');
  });

  await t.test('the list is selected in the same way, and shows tags beside the whole status', async (t) => {
    const { stdout } = await lapel('list');
    t.match(stdout, /^DEVICE .* TAGS\n/);
    t.match(stdout, new RegExp(`\n${third} +yes .* 9\\.1\\.0 .* en .* ring=early, site=kyoto\n`));
    t.match(await json(`list --tag ring=early`), {
      total: 1,
      devices: [{ deviceId: third, lang: 'en', software: [{ version: '2.0.0' }], tags: { site: 'kyoto' } }],
    });
    for (const [line, expected] of [
      ['--tag site=kyoto --tag !ring', [second]],
      ['--tag site=osaka --tag site=kyoto --limit 2', [first, second]],
      ['--package com.a.x --version-range >=1.1', [second, third]],
      ['--package com.a.x --version-not 1.0.0 --lang ja-jp', [second]],
      ['--package com.a.x --version 1.0.0', [first]],
      ['--firmware-version-range 9.x --tag ring=early', [third]],
      ['--firmware-version-not 9.1.0', []],
      ['--firmware-version 9.1.0 --connected --last-seen-within 2h --percent 100 --salt a', [first, second, third]],
      ['--disconnected', []],
      ['--percent 0', []],
      ['--limit 0', [first, second, third]],
    ] as const)
      t.same(await listed(line), expected, line);
    t.equal((await lapel('list --tag site=nara')).stdout, 'No device matches.\n');
  });

  await t.test('the matching devices are counted, with their versions', async (t) => {
    t.equal(
      (await lapel('count --tag site=kyoto --package com.a.x')).stdout,
      'matching   2\nconnected  2\n\nFIRMWARE  DEVICES\n9.1.0     2\n\ncom.a.x  DEVICES\n1.1.0    1\n2.0.0    1\n',
    );
    t.match(await lapel('count --versions-of com.a.y'), { stdout: /\ncom\.a\.y +DEVICES\nnot installed +3\n/ });
    t.match(await json(`count --device ${first} --device ${third}`), { ok: true, matching: 2, estimate: false });
    t.equal((await lapel('count --tag site=nara')).stdout, 'matching   0\nconnected  0\n');
  });

  await t.test('the operator lists devices by their tags', async (t) => {
    const admin = {
      LAPEL_ADMIN_URL: world.service.addresses.admin,
      LAPEL_ADMIN_TOKEN: world.service.adminToken,
      NO_COLOR: '1',
    };
    const { code, stdout } = await run(
      ['admin', 'device', 'list', '--tag', 'site=kyoto', '--tag', 'site=osaka', '--tag', '!ring', '--lang', 'ja-jp'],
      { env: admin },
    );
    t.equal(code, 0);
    t.match(stdout, new RegExp(`\n${first} .* site=osaka.*\n${second} .* site=kyoto.*\n$`));
  });
});

t.test('the list reads the pages of statuses that it needs', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const env = {
    LAPEL_APPLICATION: tenant.applicationId,
    LAPEL_APPLICATION_SECRET: tenant.secret,
    LAPEL_URL: world.service.addresses.http,
  };
  const devices: string[] = [];
  for (let count = 0; count < 5; count += 1) devices.push((await world.activatedDevice(tenant)).deviceId);
  await tenant.api.patch(`${tenant.path}/devices/tags`, {
    json: { devices: { devices: [devices[1], devices[4]] }, tags: { ring: 'canary' } },
  });
  const { stdout } = await run(['device', 'list', '--tag', 'ring=canary', '--limit', '2', '--json'], { env });
  t.match(JSON.parse(stdout), { total: 2, devices: [{ deviceId: devices[1] }, { deviceId: devices[4] }] });
  t.equal(deviceBefore(deviceIdOf(8)), deviceIdOf(7));
  t.equal(deviceBefore(deviceIdOf(1000)), deviceIdOf(999));
  t.equal(deviceBefore('000000000000018'), '000000000000000');
  t.equal(deviceBefore('000000000000000'), undefined);
});
