import t from 'tap';
import { until } from '../until.ts';
import { startWorld } from '../world.ts';

t.test('what devices report selects them', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { api, path } = tenant;
  const reports = [
    { lang: 'ja-JP', firmwareVersion: '9.1.0', software: [{ package: 'com.a.x', version: '1.0.0', versionCode: 1 }] },
    {
      lang: 'en',
      firmwareVersion: '9.2.0-beta',
      software: [{ package: 'com.a.x', version: '1.3.0-rc.1', versionCode: 1 }],
    },
    { lang: 'JA-jp', firmwareVersion: 'custom', software: [{ package: 'com.a.x', version: 'old', versionCode: 1 }] },
    { software: [{ package: 'com.a.y', version: '7.0.0', versionCode: 1 }] },
  ];
  const devices: Awaited<ReturnType<typeof world.activatedDevice>>[] = [];
  for (const report of reports) {
    const device = await world.activatedDevice(tenant);
    device.link.publish('status', report);
    await device.link.next('puback');
    devices.push(device);
  }
  const numbers = new Map(devices.map(({ deviceId }, index) => [deviceId, index]));
  const listed = async (query: string, client = api, at = path) => {
    const { status, body } = await client.get(`${at}/devices?${query}`);
    t.equal(status, 200, JSON.stringify(body));
    return body.devices.map(({ deviceId }: { deviceId: string }) => numbers.get(deviceId));
  };
  const count = async (selector: object, more: object = {}) =>
    (await api.post(`${path}/devices/count`, { json: { devices: selector, ...more } })).body;

  for (const [selector, expected] of [
    [{}, [0, 1, 2, 3]],
    [{ package: 'com.a.x' }, [0, 1, 2]],
    [{ package: 'com.a.x', version: '1.0.0' }, [0]],
    [{ package: 'com.a.x', versionNot: '1.0.0' }, [1, 2, 3]],
    [{ package: 'com.a.x', versionRange: '>=1.0.0' }, [0, 1]],
    [{ package: 'com.a.x', versionRange: '>=1.0.0', versionNot: '1.0.0' }, [1]],
    [{ package: 'com.a.x', versionRange: '^1.3' }, [1]],
    [{ package: 'com.a.x', versionRange: '<1.3.0' }, [0, 1]],
    [{ package: 'com.a.z' }, []],
    [{ firmwareVersion: '9.1.0' }, [0]],
    [{ firmwareVersionNot: '9.1.0' }, [1, 2, 3]],
    [{ firmwareVersionRange: '9.x' }, [0, 1]],
    [{ firmwareVersionRange: '9.x', package: 'com.a.x', versionRange: '*' }, [0, 1]],
    [{ lang: 'ja-jp' }, [0, 2]],
    [{ lang: 'en', firmwareVersionRange: '>=9.2.0-alpha' }, [1]],
    [{ percent: 0 }, []],
    [{ percent: 100, salt: 'a' }, [0, 1, 2, 3]],
  ] as const) {
    const query = new URLSearchParams(
      Object.entries(selector).map(([key, value]): [string, string] => [key, String(value)]),
    ).toString();
    t.same(await listed(query), expected, query);
    t.same(await listed(query, world.admin(), '/admin/v1'), expected, `${query}, for the operator`);
    t.equal((await count(selector)).matching, expected.length, `${query} is counted`);
  }
  await api.patch(`${path}/devices/${devices[2]!.deviceId}/tags`, { json: { site: 'osaka' } });
  for (const [query, expected] of [
    ['tag=site%3Dosaka', [2]],
    ['tag=site%3Dkyoto', []],
    ['tag=site%3Dosaka&lang=ja-jp', [2]],
    ['tag=site%3Dosaka&lang=en', []],
  ] as const) {
    t.same(await listed(query), expected, query);
    t.same(await listed(query, world.admin(), '/admin/v1'), expected, `${query}, for the operator`);
  }
  t.same(await listed('firmware='), [3], 'an empty firmware selects devices that have reported none');

  t.same(await count({ package: 'com.a.x', versionNot: '1.0.0' }), {
    matching: 3,
    connected: 3,
    estimate: false,
    versions: [
      { version: null, devices: 1 },
      { version: '1.3.0-rc.1', devices: 1 },
      { version: 'old', devices: 1 },
    ],
    firmwareVersions: [
      { version: null, devices: 1 },
      { version: '9.2.0-beta', devices: 1 },
      { version: 'custom', devices: 1 },
    ],
  });
  t.match(await count({ lang: 'en' }, { versionsOf: 'com.a.y' }), { versions: [{ version: null, devices: 1 }] });
  t.equal((await count({ lang: 'en' })).versions, undefined, 'without a package no versions are counted');

  await t.test('their battery, network and storage do, too', async (t) => {
    const more = [
      { battery: { level: 80, charging: false }, network: { type: 'wifi', ssid: null, rssi: null } },
      { battery: { level: 20, charging: true }, storage: { total: 100, free: 60 } },
      { network: { type: 'lte', ssid: null, rssi: null }, storage: { total: 100, free: 50 } },
    ];
    for (const [index, report] of more.entries()) {
      devices[index]!.link.publish('status', report);
      await devices[index]!.link.next('puback');
    }
    for (const [selector, expected] of [
      [{ batteryAtLeast: 20 }, [0, 1]],
      [{ batteryAtLeast: 21 }, [0]],
      [{ charging: true }, [1]],
      [{ charging: false }, [0]],
      [{ networkType: 'wifi' }, [0]],
      [{ networkType: 'lte', storageFreeAtLeast: 50 }, [2]],
      [{ storageFreeAtLeast: 51 }, [1]],
    ] as const) {
      const query = new URLSearchParams(
        Object.entries(selector).map(([key, value]): [string, string] => [key, String(value)]),
      ).toString();
      t.same(await listed(query), expected, query);
      t.equal((await count(selector)).matching, expected.length, `${query} is counted`);
    }
    devices[1]!.link.publish('status', { battery: { level: 20, charging: false } });
    await devices[1]!.link.next('puback');
    t.same(await listed('charging=true'), [], 'a newer report counts');
    devices[2]!.link.publish('status', { storage: { total: 1e20, free: 1e20 } });
    await devices[2]!.link.next('puback');
    t.same(await listed('storageFreeAtLeast=61'), [2], 'a device may report any number of bytes');
  });

  await t.test('so does their state in a rollout, of the same application', async (t) => {
    const json = { operation: 'setLanguage', parameters: { lang: 'de' }, devices: { percent: 100 } };
    const { rolloutId } = (await api.post(`${path}/rollouts`, { json })).body;
    await world.idle();
    const { transactionId } = await devices[0]!.link.command();
    await devices[0]!.link.ack({ transactionId, status: 'failed', error: { code: 'BROKEN', message: 'x' } });
    await world.idle();
    t.same(await listed(`rollout=${rolloutId}`), [0, 1, 2, 3]);
    t.same(await listed(`rollout=${rolloutId}&memberState=failed`), [0]);
    t.equal((await count({ rollout: rolloutId, memberState: 'unfinished' })).matching, 3);
    t.equal((await count({ rollout: `rol_${'0'.repeat(32)}` })).matching, 0);
    t.match(await api.get(`${path}/devices?memberState=failed`), {
      status: 400,
      body: { details: [{ loc: ['query', 'rollout'], type: 'missing' }] },
    });
    const other = await world.createTenant('stranger');
    await world.activatedDevice(other);
    const { body } = await other.api.post(`${other.path}/devices/count`, { json: { devices: { rollout: rolloutId } } });
    t.equal(body.matching, 0);
    await api.delete(`${path}/rollouts/${rolloutId}`);
    await world.idle();
  });

  await t.test('and so does their connection', async (t) => {
    await devices[3]!.link.drop();
    // The service may hear of the end later than the device, and several nodes store who is connected.
    await until(async () => {
      await world.idle();
      return (await listed('connected=true')).length < 4;
    });
    t.same(await listed('connected=true'), [0, 1, 2]);
    t.match(await count({ connected: false }), { matching: 1, connected: 0 });
    t.match(await count({}), { matching: 4, connected: 3 });
    t.same(await listed('lastSeenWithin=10'), [0, 1, 2, 3]);
    world.clock.advance(20_000);
    devices[1]!.link.publish('status', { lang: 'fr' });
    await devices[1]!.link.next('puback');
    t.same(await listed('lastSeenWithin=10'), [1], 'also within the minute in which that time is not stored yet');
    t.equal((await count({ lastSeenWithin: 10 })).matching, 1);
    t.same(await listed('lang=fr'), [1], 'a newer report counts');
  });
});
