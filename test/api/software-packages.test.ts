import t from 'tap';
import { createFakeClock } from '../fake-clock.ts';
import { faultsOf } from './operations.ts';
import { allPages, CAMERA, NOW, startSoftware } from './software-world.ts';

const NOT_FOUND = { status: 404, body: { reason: 'package not found.', details: [] } };

t.test('packages', async (t) => {
  const clock = createFakeClock();
  const software = await startSoftware(t, { clock });
  const { world, api, path, other, second } = software;

  t.test('op 13 registers a package and says where it is', async (t) => {
    const answer = await api.post(`${path}/packages`, { json: { package: CAMERA, displayName: 'Camera' } });
    t.equal(answer.status, 201);
    t.same(answer.body, { package: CAMERA, displayName: 'Camera', registerDate: NOW, updateDate: NOW });
    t.equal(answer.headers['location'], `${world.service.addresses.http}${path}/packages/${CAMERA}`);
    const plain = await api.post(`${path}/packages`, { json: { package: 'com.example.plain' } });
    t.equal(plain.body.displayName, null);
    const explicit = await api.post(`${path}/packages`, { json: { package: 'com.example.none', displayName: null } });
    t.match(explicit, { status: 201, body: { displayName: null } });
    await api.delete(`${path}/packages/com.example.plain`);
    await api.delete(`${path}/packages/com.example.none`);
  });

  t.test('op 13: a registered name is a conflict, for its owner and for others', async (t) => {
    for (const { client, at } of [
      { client: api, at: path },
      { client: second.api, at: second.path },
      { client: other.api, at: other.path },
    ]) {
      const answer = await client.post(`${at}/packages`, { json: { package: CAMERA } });
      t.match(answer, { status: 409, body: { message: 'package already exists.' } }, at);
    }
    await world.admin().put('/admin/v1/system-packages/org.vendor.system/versions/1.0.0');
    const system = await api.post(`${path}/packages`, { json: { package: 'org.vendor.system' } });
    t.match(system, { status: 409 }, 'also when the service itself does');
  });

  t.test('op 13 refuses a name with the reserved prefix, and one that is not a package name', async (t) => {
    const reserved = await api.post(`${path}/packages`, { json: { package: 'com.lapel.camera' } });
    t.match(reserved, {
      status: 400,
      body: { reason: 'invalid request.', details: [{ msg: "String should not start with 'com.lapel.'" }] },
    });
    t.same(faultsOf(reserved), ['body.package string_pattern_mismatch']);
    for (const name of ['com.lapel', 'COM.LAPEL', 'Com.Lapel.camera', 'com.LAPEL.x']) {
      const answer = await api.post(`${path}/packages`, { json: { package: name } });
      t.match(answer, { status: 400, body: { details: [{ loc: ['body', 'package'] }] } }, name);
      const upload = await api.post(`${path}/apps`, { json: { package: name, version: '1', fileSize: 1 } });
      t.match(upload, { status: 400, body: { details: [{ loc: ['body', 'package'] }] } }, `op 23 ${name}`);
    }
    t.equal((await api.post(`${path}/packages`, { json: { package: 'com.lapelx.camera' } })).status, 201);
    t.equal((await api.delete(`${path}/packages/com.lapelx.camera`)).status, 204);
    for (const name of [
      'camera',
      'com..camera',
      '.com.camera',
      'com.camera.',
      'com.1camera',
      'com.ca-mera',
      'com.é',
      'a b.c',
    ]) {
      const answer = await api.post(`${path}/packages`, { json: { package: name } });
      t.equal(answer.status, 400, name);
      t.same(faultsOf(answer), ['body.package string_pattern_mismatch'], name);
    }
  });

  t.test('ops 13 and 14 name every fault of a body at once', async (t) => {
    const long = `a.${'b'.repeat(254)}`;
    const rows: [method: string, target: string, json: unknown, faults: string[]][] = [
      ['POST', '/packages', {}, ['body.package missing']],
      [
        'POST',
        '/packages',
        { package: 5, displayName: 5, x: 1 },
        ['body.displayName string_type', 'body.package string_type', 'body.x extra_forbidden'],
      ],
      [
        'POST',
        '/packages',
        { package: long, displayName: 'x'.repeat(256) },
        ['body.displayName string_too_long', 'body.package string_too_long'],
      ],
      [
        'PATCH',
        `/packages/${CAMERA}`,
        { displayName: false, package: 'a.b' },
        ['body.displayName string_type', 'body.package extra_forbidden'],
      ],
      ['PATCH', `/packages/${CAMERA}`, [], ['body dict_type']],
    ];
    for (const [method, target, json, faults] of rows) {
      const answer = await api.request(method, `${path}${target}`, { json });
      t.match(answer, { status: 400, body: { reason: 'invalid request.' } });
      t.same(faultsOf(answer), faults);
    }
    const longest = `a.${'b'.repeat(253)}`;
    t.equal(
      (await api.post(`${path}/packages`, { json: { package: longest, displayName: 'x'.repeat(255) } })).status,
      201,
    );
    t.equal((await api.delete(`${path}/packages/${longest}`)).status, 204);
  });

  t.test('op 14 changes and removes the display name, and says when', async (t) => {
    const at = `${path}/packages/${CAMERA}`;
    t.match(await api.patch(at, { json: {} }), { status: 200, body: { displayName: 'Camera', updateDate: NOW } });
    clock.advance(1000);
    const changed = await api.patch(at, { json: { displayName: 'Kamera' } });
    t.match(changed, {
      status: 200,
      body: { package: CAMERA, displayName: 'Kamera', registerDate: NOW, updateDate: NOW.replace(':00.', ':01.') },
    });
    t.match(await api.patch(at, { json: { displayName: null } }), { status: 200, body: { displayName: null } });
    t.match((await api.get(`${path}/packages`)).body.packages[0], { package: CAMERA, displayName: null });
  });

  t.test('ops 12, 14 and 15 are developer-wide: another application can, another developer cannot', async (t) => {
    t.match((await second.api.get(`${second.path}/packages`)).body, { total: 1, packages: [{ package: CAMERA }] });
    const renamed = await second.api.patch(`${second.path}/packages/${CAMERA}`, { json: { displayName: 'by second' } });
    t.match(renamed, { status: 200, body: { displayName: 'by second' } });
    t.match((await other.api.get(`${other.path}/packages`)).body, { total: 0, packages: [] });
    t.match(await other.api.patch(`${other.path}/packages/${CAMERA}`, { json: { displayName: 'x' } }), NOT_FOUND);
    t.match(await other.api.delete(`${other.path}/packages/${CAMERA}`), NOT_FOUND);
    t.match(await api.patch(`${path}/packages/com.example.unknown`, { json: {} }), NOT_FOUND);
    t.match(await api.delete(`${path}/packages/com.example.unknown`), NOT_FOUND);
    t.match(await api.delete(`${path}/packages/org.vendor.system`), NOT_FOUND, 'the service’s own is nobody’s');
    t.equal((await second.api.delete(`${second.path}/packages/${CAMERA}`)).status, 204);
    t.match((await api.get(`${path}/packages`)).body, { total: 0, packages: [] });
  });

  t.test('op 12 pages by name', async (t) => {
    const names = Array.from({ length: 5 }, (_, index) => `com.example.p${index}`);
    for (const name of names.toReversed()) await software.register(name);
    const { rows, pages } = await allPages(api, `${path}/packages?limit=2`, ({ packages, total }) => {
      t.equal(total, 5);
      return packages.map((row: { package: string }) => row.package);
    });
    t.same(rows, names);
    t.equal(pages, 3);
    t.same(faultsOf(await api.get(`${path}/packages?limit=0&offset=-1`)), [
      'query.limit greater_than_equal',
      'query.offset greater_than_equal',
    ]);
    t.same(faultsOf(await api.get(`${path}/packages?limit=1001`)), ['query.limit less_than_equal']);
  });

  t.test('two developers who race for a name: one gets it, the other a conflict', async (t) => {
    for (let round = 0; round < 20; round += 1) {
      const json = { package: `com.example.race${round}` };
      const answers = await Promise.all([
        api.post(`${path}/packages`, { json }),
        other.api.post(`${other.path}/packages`, { json }),
        second.api.post(`${second.path}/packages`, { json }),
      ]);
      t.same(
        answers.map(({ status }) => status).sort((a, b) => a - b),
        [201, 409, 409],
      );
    }
  });

  t.test('a path parameter that is not a package name is answered 404 and named', async (t) => {
    for (const name of ['camera', '%zz', 'com.a%2Fb', 'com.%00', `a.${'b'.repeat(254)}`]) {
      for (const [method, rest] of [
        ['PATCH', ''],
        ['DELETE', ''],
        ['GET', '/versions'],
        ['POST', '/versions'],
      ] as const) {
        const answer = await api.request(method, `${path}/packages/${name}${rest}`, { json: {} });
        t.match(answer, { status: 404, body: { reason: 'invalid path parameter.' } }, `${method} ${name.slice(0, 20)}`);
        t.match(faultsOf(answer)[0], /^pathParameters\.package string_(pattern_mismatch|too_long)$/);
      }
    }
  });
});

t.test('the reserved prefix is a setting', async (t) => {
  const { api, path } = await startSoftware(t, { env: { LAPEL_RESERVED_PACKAGE_PREFIX: 'org.vendor.' } });
  t.equal((await api.post(`${path}/packages`, { json: { package: 'org.vendor.camera' } })).status, 400);
  t.equal((await api.post(`${path}/packages`, { json: { package: 'com.lapel.camera' } })).status, 201);
});
