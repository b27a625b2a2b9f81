import t from 'tap';
import { faultsOf } from './operations.ts';
import { allPages, CAMERA, NOW, startSoftware } from './software-world.ts';

const VIEWER = 'com.example.viewer';
const idOf = ({ package: name, version }: { package: string; version: string }): string => `${name} ${version}`;

t.test('op 24: available software', async (t) => {
  const software = await startSoftware(t);
  const { world, api, path, second, other, versionPath } = software;
  const apps = `${path}/apps`;

  await t.test('without software the lists are empty', async (t) => {
    t.same((await api.get(apps)).body, { userPackages: [], systemPackages: [], total: 0, offset: 0, limit: 100 });
  });

  await software.register(VIEWER, '1.0.0', '1.1.0-rc.1', '1.1.0', 'nightly');
  await software.register(CAMERA, '2.0.0', '10.0.0');
  await api.patch(`${path}/packages/${CAMERA}`, { json: { displayName: 'Camera' } });
  await api.patch(versionPath(CAMERA, '2.0.0'), { json: { description: 'old' } });
  await api.post(`${versionPath(CAMERA, '2.0.0')}/distributions`);
  const everything = [
    `${CAMERA} 10.0.0`,
    `${CAMERA} 2.0.0`,
    `${VIEWER} 1.1.0`,
    `${VIEWER} 1.1.0-rc.1`,
    `${VIEWER} 1.0.0`,
    `${VIEWER} nightly`,
  ];

  t.test('every version of every package: by package, newest version first, with its state', async (t) => {
    const { body } = await api.get(apps);
    t.same(body.userPackages.map(idOf), everything);
    t.same([body.total, body.offset, body.limit], [6, 0, 100]);
    t.same(body.userPackages[1], {
      package: CAMERA,
      displayName: 'Camera',
      version: '2.0.0',
      description: 'old',
      distributable: true,
      registerDate: NOW,
      updateDate: NOW,
    });
    t.match(body.userPackages[0], { displayName: 'Camera', description: null, distributable: false });
  });

  t.test('package and mode choose; offset and limit count the rows after that', async (t) => {
    const page = async (query: string) => {
      const { body, headers } = await api.get(`${apps}?${query}`);
      return { rows: body.userPackages.map(idOf), total: body.total, link: headers['link'] };
    };
    t.same(await page(`package=${VIEWER}`), { rows: everything.slice(2), total: 4, link: undefined });
    const latest = [`${CAMERA} 10.0.0`, `${VIEWER} 1.1.0`];
    t.same(await page('mode=latest'), { rows: latest, total: 2, link: undefined });
    t.same(await page(`mode=latest&package=${VIEWER}`), { rows: latest.slice(1), total: 1, link: undefined });
    t.same(await page('package=com.example.unknown'), { rows: [], total: 0, link: undefined });
    t.same((await page('offset=1&limit=2')).rows, everything.slice(1, 3));
    const next = `<${world.service.addresses.http}${apps}?mode=latest&limit=1&offset=1>; rel="next"`;
    t.same(await page('mode=latest&limit=1'), { rows: latest.slice(0, 1), total: 2, link: next });
    t.same(await page('mode=latest&limit=1&offset=1'), { rows: latest.slice(1), total: 2, link: undefined });
    t.same(await page('offset=6'), { rows: [], total: 6, link: undefined });
    const all = await allPages(api, `${apps}?limit=4`, ({ userPackages }) => userPackages.map(idOf));
    t.same(all, { rows: everything, pages: 2 });
  });

  t.test('each fault of the query is named', async (t) => {
    for (const [query, faults] of [
      ['mode=newest', ['query.mode enum']],
      ['mode=', ['query.mode enum']],
      ['mode=latest&mode=latest', ['query.mode extra_forbidden']],
      ['package=camera', ['query.package string_pattern_mismatch']],
      ['offset=-1&limit=1001', ['query.limit less_than_equal', 'query.offset greater_than_equal']],
      ['limit=0', ['query.limit greater_than_equal']],
      ['limit=x&offset=y', ['query.limit int_type', 'query.offset int_type']],
    ] as const) {
      const answer = await api.get(`${apps}?${query}`);
      t.match(answer, { status: 400, body: { reason: 'invalid request.' } }, query);
      t.same(faultsOf(answer), faults);
    }
  });

  t.test('another developer has none of it', async (t) => {
    t.match((await other.api.get(`${other.path}/apps`)).body, { userPackages: [], total: 0 });
  });

  t.test(
    'op 13 permits every application of the developer, op 23 the caller, op 26 the one that starts the distribution',
    async (t) => {
      const own = 'com.example.own';
      const lists = async (): Promise<boolean[]> => {
        const answers = [
          await api.get(`${apps}?package=${own}`),
          await second.api.get(`${second.path}/apps?package=${own}`),
        ];
        return answers.map(({ body }) => body.total === 1);
      };
      t.equal((await second.api.get(`${second.path}/apps`)).body.total, 6);
      await api.post(apps, { json: { package: own, version: '1.0.0', fileSize: 1 } });
      t.same(await lists(), [true, false]);
      t.equal((await second.api.get(`${second.path}/apps`)).body.total, 6);
      t.equal((await second.api.get(`${second.path}/apps?mode=latest`)).body.total, 2);
      await second.api.post(`${second.path}/apps`, { json: { package: own, version: '1.0.0', fileSize: 1 } });
      t.same(await lists(), [true, true]);

      await api.delete(versionPath(own, '1.0.0'));
      t.equal((await api.delete(`${path}/packages/${own}`)).status, 204);
      await api.post(apps, { json: { package: own, version: '1.0.0', fileSize: 1 } });
      t.same(await lists(), [true, false], 'a package that is registered anew begins anew');
      await second.api.post(`${versionPath(own, '1.0.0').replace(path, second.path)}/distributions`);
      t.same(await lists(), [true, true]);
    },
  );

  t.test('system packages: the three newest versions of each, for everyone, whatever the page', async (t) => {
    const admin = world.admin();
    for (const version of ['1.0.0', '1.10.0', '1.9.0', '2.0.0-rc.1', '1.8.0']) {
      await admin.put(`/admin/v1/system-packages/com.lapel.client/versions/${version}`, {
        json: { displayName: 'Client' },
      });
    }
    await admin.put('/admin/v1/system-packages/com.android.webview/versions/140.0.1');
    const system = [
      'com.android.webview 140.0.1',
      ...['2.0.0-rc.1', '1.10.0', '1.9.0'].map((v) => `com.lapel.client ${v}`),
    ];
    const of = async (query = '') => (await api.get(`${apps}${query}`)).body.systemPackages.map(idOf);
    t.same(await of(), system);
    t.same(await of('?limit=1&offset=3'), system);
    t.same(await of('?mode=latest'), ['com.android.webview 140.0.1', 'com.lapel.client 2.0.0-rc.1']);
    t.same(await of('?package=com.lapel.client'), system.slice(1));
    t.same(await of(`?package=${CAMERA}`), []);
    t.match((await other.api.get(`${other.path}/apps`)).body, {
      total: 0,
      systemPackages: [
        {},
        { package: 'com.lapel.client', displayName: 'Client', description: null, distributable: true },
      ],
    });
    t.match((await api.get(`${path}/packages`)).body, { total: 3 }, 'and they are no packages of the developer');
  });
});

t.test('op 29: firmware by package, newest version first', async (t) => {
  const { world, api, path, other } = await startSoftware(t);
  const firmware = `${path}/firmware`;
  t.same((await api.get(firmware)).body, { firmwareVersions: [] });
  const admin = world.admin();
  for (const [name, version] of [
    ['com.lapel.two', '1.0.0'],
    ['com.lapel.one', '9.1.0'],
    ['com.lapel.one', '10.0.0'],
    ['com.lapel.one', '9.001.0'],
    ['com.lapel.one', '10.0.0-beta'],
  ]) {
    t.equal((await admin.put(`/admin/v1/firmware/${name}/versions/${version}`)).status, 200);
  }
  const firmwareVersions = [
    { package: 'com.lapel.one', version: '10.0.0' },
    { package: 'com.lapel.one', version: '10.0.0-beta' },
    { package: 'com.lapel.one', version: '9.1.0' },
    { package: 'com.lapel.one', version: '9.001.0' },
    { package: 'com.lapel.two', version: '1.0.0' },
  ];
  t.same((await api.get(firmware)).body, { firmwareVersions });
  t.same((await other.api.get(`${other.path}/firmware`)).body, { firmwareVersions });
  t.match((await api.get(`${path}/apps`)).body, { userPackages: [], systemPackages: [] }, 'firmware is no software');
  t.equal((await api.post(`${path}/packages`, { json: { package: 'org.example.one' } })).status, 201);
});
