import { makeApk } from '@lapel/device-sim/files/make-apk';
import t from 'tap';
import { startWorld } from '../world.ts';

const HEX = '0123456789abcdefABCDEF0123456789';

t.test(
  'Wi-Fi passwords of every kind that networks have are accepted, and their limits are those of bytes',
  async (t) => {
    const world = await startWorld(t);
    const tenant = await world.createTenant();
    const { path } = await world.activatedDevice(tenant);
    const set = (security: string, password: string) =>
      tenant.api.put(`${path}/settings/wifi`, { json: [{ ssid: 'a', security, password }] });
    const good: [security: string, password: string][] = [
      ['WPA2', HEX + HEX],
      ['WPA3', 'é'.repeat(4)],
      ['WPA2_WPA3', 'x'.repeat(63)],
      ['WEP', HEX.slice(0, 10)],
      ['WEP', HEX.slice(0, 26)],
      ['WEP', 'abcde'],
    ];
    for (const [security, password] of good) t.match(await set(security, password), { status: 201 }, password);
    const bad: [security: string, password: string, msg: string][] = [
      ['WPA2', 'é'.repeat(32), 'String should have at most 63 bytes'],
      ['WPA2', 'x'.repeat(64), 'String should have at most 63 bytes'],
      ['WPA3', 'x'.repeat(65), 'String should have at most 63 bytes'],
      ['WPA2', 'ééé', 'String should have at least 8 bytes'],
      ['WEP', `${HEX.slice(0, 9)}x`, 'String should have 5 or 13 characters, or 10 or 26 hexadecimal digits, for WEP'],
    ];
    for (const [security, password, msg] of bad) {
      t.match(await set(security, password), { status: 400, body: { details: [{ msg }] } }, password);
    }
  },
);

t.test('an access point may leave its country and its network empty', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { path, link } = await world.activatedDevice(tenant);
  const json = [{ name: 'a', apn: 'internet', mcc: '', mnc: '' }];
  t.match(await tenant.api.put(`${path}/settings/apn`, { json }), { status: 201 });
  t.match((await link.command()).parameters, { apns: json });
  t.match(await tenant.api.put(`${path}/settings/apn`, { json: [{ ...json[0], mcc: '44' }] }), { status: 400 });
});

t.test('a byte order mark before the JSON of a body is ignored', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { path } = await world.activatedDevice(tenant);
  const bodies = ['{"lang":"ja"}', `{"lang":"ja"}${' '.repeat(100_000)}`];
  for (const body of bodies) {
    const answer = await tenant.api.request('PUT', `${path}/settings/lang`, {
      text: `\ufeff${body}`,
      headers: { 'content-type': 'application/json' },
    });
    t.match(answer, { status: 201 });
  }
});

t.test('version names of real files go the whole way: registration, upload, distribution, installation', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { api, path } = tenant;
  const { path: device, link } = await world.activatedDevice(tenant);
  const name = 'com.example.camera';
  const versions = [
    '3.4 (build 5)',
    '1.0 [beta]',
    '2.1@hotfix',
    '100%',
    'v1;2,3',
    'a?b#c&d=e',
    '%2e%2e',
    'C:\\2',
    '1,0 "gold"',
    'バージョン 1',
    `${'9'.repeat(124)}.1.2`.slice(0, 128),
  ];
  for (const version of versions) {
    const file = new Uint8Array(
      makeApk({
        attributes: [
          { name: 'package', value: name },
          { name: 'versionName', value: version },
        ],
      }),
    );
    const { body } = await api.post(`${path}/apps`, { json: { package: name, version, fileSize: file.length } });
    t.equal((await fetch(body.urlList[0].uploadUrl, { method: 'PUT', body: file })).status, 200, version);
    const at = `${path}/packages/${name}/versions/${encodeURIComponent(version)}`;
    await api.get(`${at}/binaries`);
    await world.idle();
    t.match((await api.get(`${at}/binaries`)).body, { version, warning: null }, version);
    t.match(await api.post(`${at}/distributions`), { status: 201 }, version);
    t.match(await api.put(`${device}/apps`, { json: { package: name, version } }), { status: 201 }, version);
    const command = await link.command();
    t.match(command.parameters, { package: name, version });
    link.puback(command.packet);
    const url = (command.parameters as { url: string }).url;
    t.equal((await fetch(url)).status, 200, version);
    link.publish('acks', { transactionId: command.transactionId, status: 'succeeded' });
    t.match((await tenant.event()).data.transaction, { status: 'succeeded' });
    const installations = `/admin/v1/packages/${name}/versions/${encodeURIComponent(version)}/installations?state=failed`;
    t.match(await world.admin().get(installations), { status: 200 }, version);
  }
  for (const version of ['a/b', ' 1', '1 ', '1\u0007', '.', '..', '1\u202e', '9'.repeat(129), '']) {
    const answer = await api.post(`${path}/apps`, { json: { package: name, version, fileSize: 1 } });
    t.match(answer, { status: 400 }, JSON.stringify(version));
  }
});
