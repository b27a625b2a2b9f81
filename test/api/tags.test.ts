import t from 'tap';
import { startWorld } from '../world.ts';

t.test('tags of devices', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const other = await world.createTenant('other');
  const { api, path } = tenant;
  const [first, second, third] = [
    await world.activatedDevice(tenant),
    await world.activatedDevice(tenant),
    await world.activatedDevice(tenant),
  ];
  const foreign = await world.activatedDevice(other);
  const tagsOf = async (device: { path: string }, client = api) => (await client.get(`${device.path}/tags`)).body;
  const tag = (device: { path: string }, json: object) => api.patch(`${device.path}/tags`, { json });
  const listed = async (query: string): Promise<string[]> => {
    const answer = await api.get(`${path}/devices?${query}`);
    t.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.devices.map(({ deviceId }: { deviceId: string }) => deviceId);
  };
  const count = async (devices: object, more: object = {}) => {
    const answer = await api.post(`${path}/devices/count`, { json: { devices, ...more } });
    t.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body;
  };
  const faultsOf = (answer: { status: number; body: { details?: { loc: string[]; type: string }[] } }) => {
    t.equal(answer.status, 400);
    return answer.body.details?.map(({ loc, type }) => [...loc, type].join(' '));
  };

  await t.test('a patch sets some, removes others and leaves the rest as it is', async (t) => {
    t.same(await tagsOf(first), {});
    t.same((await tag(first, { site: 'osaka', ring: 'canary' })).body, { ring: 'canary', site: 'osaka' });
    t.same((await tag(first, { ring: null, floor: '3', never: null })).body, { floor: '3', site: 'osaka' });
    t.same(await tagsOf(first), { floor: '3', site: 'osaka' });
    const { devices } = (await api.get(`${path}/devices`)).body;
    t.same(
      devices.map((row: { tags: object }) => row.tags),
      [{ floor: '3', site: 'osaka' }, {}, {}],
      'a list shows them',
    );
  });

  await t.test('have keys and values of a certain form, and each fault is named', async (t) => {
    for (const [json, ...faults] of [
      [{ Site: 'a' }, 'body Site string_pattern_mismatch'],
      [{ ['a'.repeat(65)]: 'a', b: 1 }, `body b string_type`, `body ${'a'.repeat(65)} string_pattern_mismatch`],
      [{ a: '' }, 'body a string_too_short'],
      [{ a: 'x'.repeat(65) }, 'body a string_too_long'],
      [{ a: 'x\u0000' }, 'body a string_pattern_mismatch'],
      [Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, 'v'])), 'body less_than_equal'],
    ] as const)
      t.same(faultsOf(await tag(first, json))?.sort(), [...faults].sort());
    t.equal((await tag(first, { '': 'a' })).status, 400);
    t.equal((await tag(first, { ['a'.repeat(64)]: '日本語'.repeat(21) })).status, 200, 'the longest ones are accepted');
    await tag(first, { ['a'.repeat(64)]: null });
  });

  await t.test('a device has at most 32, and a patch that exceeds them changes nothing', async (t) => {
    const many = Object.fromEntries(Array.from({ length: 31 }, (_, index) => [`k${index}`, 'v']));
    t.equal((await tag(second, many)).status, 200);
    t.match(await tag(second, { a: '1', b: '2' }), { status: 409, body: { message: /more than 32 tags/ } });
    t.same(await tagsOf(second), many);
    t.equal((await tag(second, { a: '1', b: '2', k0: null })).status, 200, 'what a patch removes makes room');
    await tag(second, Object.fromEntries(Object.keys({ ...many, a: 1, b: 2 }).map((key) => [key, null])));
    t.same(await tagsOf(second), {});
  });

  await t.test('belong to the application for which the device is activated', async (t) => {
    const wrong = { path: foreign.path.replace(other.path, path) };
    t.match(await api.get(`${wrong.path}/tags`), { status: 403, body: { message: /unavailable/ } });
    t.equal((await tag(wrong, { a: 'b' })).status, 403);
    await other.api.patch(`${foreign.path}/tags`, { json: { site: 'osaka' } });
    t.same(
      await listed('tag=site%3Dosaka'),
      [first.deviceId],
      'a list of another application does not show the device',
    );
    t.same((await count({ tags: { site: 'osaka' } })).matching, 1);
    t.match(
      (
        await api.patch(`${path}/devices/tags`, {
          json: { devices: { devices: [foreign.deviceId] }, tags: { a: 'b' } },
        })
      ).body,
      { matching: 0, changed: 0 },
    );
    t.same(await tagsOf(foreign, other.api), { site: 'osaka' });
  });

  await t.test('select devices: equal, one of several values, absent', async (t) => {
    await tag(first, { site: 'osaka', ring: 'canary' });
    await tag(second, { site: 'kyoto', ring: 'early' });
    await tag(third, { site: 'kyoto' });
    const [a, b, c] = [first.deviceId, second.deviceId, third.deviceId];
    for (const [query, tags, expected] of [
      ['tag=site%3Dkyoto', { site: 'kyoto' }, [b, c]],
      ['tag=site%3Dkyoto&tag=site%3Dosaka', { site: ['kyoto', 'osaka'] }, [a, b, c]],
      ['tag=site%3Dkyoto&tag=ring%3Dearly', { site: 'kyoto', ring: 'early' }, [b]],
      ['tag=site%3Dkyoto&tag=!ring', { site: 'kyoto', ring: null }, [c]],
      ['tag=!ring', { ring: null }, [c]],
      ['tag=ring%3Dcanary&tag=ring%3Dearly&tag=!floor', { ring: ['canary', 'early'], floor: null }, [b]],
      ['tag=site%3DKYOTO', { site: 'KYOTO' }, []],
      ['tag=site%3Dky%25', { site: 'ky%' }, []],
    ] as const) {
      t.same(await listed(query), expected, query);
      t.equal((await count({ tags })).matching, expected.length, query);
    }
    t.same(await listed('tag=site%3Dkyoto&sort=-lastSeen&connected=true'), [c, b].sort(), 'also in another order');
    const page = await api.get(`${path}/devices?tag=site%3Dkyoto&tag=!floor&limit=1`);
    const [, next = ''] = /<[^>]*(\/v1[^>]*)>/.exec(page.headers.link as string) ?? [];
    t.same(
      (await api.get(next)).body.devices.map((row: { deviceId: string }) => row.deviceId),
      [c],
      'the next page has the same terms',
    );
  });

  await t.test('terms that contradict or miss one another are refused with their names', async (t) => {
    for (const [query, fault] of [
      ['tag=site', 'query tag 0 string_pattern_mismatch'],
      ['tag=site%3D', 'query tag 0 string_pattern_mismatch'],
      ['tag=site%3Da&tag=!site', 'query tag less_than_equal'],
      [Array.from({ length: 17 }, (_, index) => `tag=a%3D${index}`).join('&'), 'query tag less_than_equal'],
      [Array.from({ length: 9 }, (_, index) => `tag=a${index}%3D1`).join('&'), 'query tag less_than_equal'],
      ['versionNot=1.0.0', 'query package missing'],
      ['versionRange=1', 'query package missing'],
      ['package=com.a.x&versionRange=latest', 'query versionRange string_pattern_mismatch'],
      ['firmwareVersionRange=%3E%3E1', 'query firmwareVersionRange string_pattern_mismatch'],
      ['salt=a', 'query percent missing'],
      ['percent=101', 'query percent less_than_equal'],
      ['percent=1.5', 'query percent int_type'],
      ['firmware=1&firmwareVersion=1', 'query firmwareVersion extra_forbidden'],
      ['lang=ja&lang=en', 'query lang extra_forbidden'],
      ['site=osaka', 'query site extra_forbidden'],
    ] as const)
      t.same(faultsOf(await api.get(`${path}/devices?${query}`)), [fault], query);
    for (const [devices, ...faults] of [
      [{ site: 'osaka' }, 'body devices site extra_forbidden'],
      [{ devices: [] }, 'body devices devices greater_than_equal'],
      [{ devices: ['1'] }, 'body devices devices 0 string_pattern_mismatch'],
      [
        { devices: [first.deviceId], connected: true, percent: 5 },
        'body devices connected extra_forbidden',
        'body devices percent extra_forbidden',
      ],
      [{ tags: { site: [] } }, 'body devices tags site greater_than_equal'],
      [{ tags: { Site: 'a' } }, 'body devices tags Site string_pattern_mismatch'],
      [{ version: '1.0.0', salt: 'a' }, 'body devices package missing', 'body devices percent missing'],
      [{ connected: 'true' }, 'body devices connected bool_type'],
      [{ firmwareVersionRange: '' }, 'body devices firmwareVersionRange string_too_short'],
    ] as const)
      t.same(faultsOf(await api.post(`${path}/devices/count`, { json: { devices } })), faults, JSON.stringify(devices));
  });

  await t.test('of many devices are changed by one request, which can be repeated', async (t) => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`k${index}`, 'v']));
    await tag(third, many);
    const patch = async () =>
      (
        await api.patch(`${path}/devices/tags`, {
          json: { devices: {}, tags: { wave: '1', ring: null, area: 'west' } },
        })
      ).body;
    const refused = { refused: 1, refusedDevices: [third.deviceId] };
    t.same(await patch(), { matching: 3, changed: 2, ...refused });
    t.same(await patch(), { matching: 3, changed: 0, ...refused });
    t.same(await tagsOf(second), { area: 'west', site: 'kyoto', wave: '1' });
    t.same(await tagsOf(third), { ...many, site: 'kyoto' }, 'a device that would have too many stays as it is');
  });

  await t.test('are gone in the commit of the deactivation', async (t) => {
    const { deviceId, link } = second;
    await api.delete(second.path);
    const { transactionId } = await link.command();
    t.equal((await count({ tags: { wave: '1' } })).matching, 2);
    await link.ack({ transactionId, status: 'succeeded' });
    t.equal((await count({ tags: { wave: '1' } })).matching, 1);
    t.match(await api.get(`${second.path}/tags`), { status: 403, body: { message: /not activated/ } });
    const { body } = await world.admin().get(`/admin/v1/devices?prefix=${deviceId}`);
    t.same(body.devices[0].tags, {});
    t.equal((await api.post(second.path, { json: {} })).status, 201);
    const again = await link.command();
    t.equal((await tag(second, { a: 'b' })).status, 403, 'a device that is being activated has none');
    await link.ack({ transactionId: again.transactionId, status: 'succeeded' });
    t.same(await tagsOf(second), {}, 'they do not come back');
  });
});
