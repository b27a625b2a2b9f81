import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { createFakeClock } from '../fake-clock.ts';
import { faultsOf } from './operations.ts';
import { allPages, CAMERA, NOW, startSoftware } from './software-world.ts';

const NO_PACKAGE = { status: 404, body: { reason: 'package not found.', details: [] } };
const NO_VERSION = { status: 404, body: { reason: 'version not found.', details: [] } };
const UNKNOWN = 'com.example.unknown';

t.test('versions', async (t) => {
  const clock = createFakeClock();
  const software = await startSoftware(t, { clock });
  const { world, api, path, other, second, versionPath } = software;
  await software.register(CAMERA);
  const list = `${path}/packages/${CAMERA}/versions`;

  t.test('op 17 registers a version and says where it is', async (t) => {
    const answer = await api.post(list, { json: { version: '1.0.0', description: 'first' } });
    t.equal(answer.status, 201);
    const body = { package: CAMERA, version: '1.0.0', description: 'first', registerDate: NOW, updateDate: NOW };
    t.same(answer.body, body);
    t.equal(answer.headers['location'], `${world.service.addresses.http}${list}/1.0.0`);
    const build = await api.post(list, { json: { version: '1.0.0+build.5' } });
    t.match(build, { status: 201, body: { description: null } }, 'the same precedence, yet another version');
    const location = String(build.headers['location']);
    t.equal(location, `${world.service.addresses.http}${list}/1.0.0%2Bbuild.5`);
    const found = await api.patch(new URL(location).pathname, { json: {} });
    t.match(found, { status: 200, body: { version: '1.0.0+build.5' } }, 'where it said');
    t.match(
      await api.patch(`${list}/1.0.0+build.5`, { json: {} }),
      { body: { version: '1.0.0+build.5' } },
      'a + is a +',
    );
  });

  t.test('op 17: a version that the package has is a conflict, one of another package is none', async (t) => {
    for (const client of [{ api, path }, second]) {
      const answer = await client.api.post(`${client.path}/packages/${CAMERA}/versions`, {
        json: { version: '1.0.0' },
      });
      t.match(answer, { status: 409, body: { message: 'version already exists.' } });
    }
    await software.register('com.example.viewer', '1.0.0');
    const racing = await Promise.all([1, 2, 3].map(() => api.post(list, { json: { version: '7.0.0' } })));
    t.same(
      racing.map(({ status }) => status).sort((a, b) => a - b),
      [201, 409, 409],
    );
    await api.delete(`${list}/7.0.0`);
  });

  t.test('ops 17 and 18 name every fault of a body at once', async (t) => {
    const rows: [method: string, target: string, json: unknown, faults: string[]][] = [
      ['POST', '', {}, ['body.version missing']],
      ['POST', '', { version: '', description: 1 }, ['body.description string_type', 'body.version string_too_short']],
      ['POST', '', { version: 1.5, package: CAMERA }, ['body.package extra_forbidden', 'body.version string_type']],
      [
        'POST',
        '',
        { version: '1'.repeat(129), description: 'x'.repeat(4001) },
        ['body.description string_too_long', 'body.version string_too_long'],
      ],
      [
        'PATCH',
        '/1.0.0',
        { description: 5, version: '2.0.0' },
        ['body.description string_type', 'body.version extra_forbidden'],
      ],
      ...[' 1', '1 ', '1/0', '..', '.', '1.0\n', '1\u007f'].map((version): [string, string, unknown, string[]] => [
        'POST',
        '',
        { version },
        ['body.version string_pattern_mismatch'],
      ]),
    ];
    for (const [method, target, json, faults] of rows) {
      const answer = await api.request(method, `${list}${target}`, { json });
      t.match(answer, { status: 400, body: { reason: 'invalid request.' } }, JSON.stringify(json).slice(0, 80));
      t.same(faultsOf(answer), faults);
    }
    const longest = { version: '1'.repeat(128), description: 'x'.repeat(4000) };
    t.equal((await api.post(list, { json: longest })).status, 201);
    t.equal((await api.delete(`${list}/${longest.version}`)).status, 204);
  });

  t.test('op 18 changes and removes the description, and says when', async (t) => {
    const at = versionPath(CAMERA, '1.0.0');
    t.match(await api.patch(at, { json: {} }), { status: 200, body: { description: 'first', updateDate: NOW } });
    clock.advance(1000);
    const updateDate = NOW.replace(':00.', ':01.');
    t.same((await api.patch(at, { json: { description: 'better' } })).body, {
      package: CAMERA,
      version: '1.0.0',
      description: 'better',
      registerDate: NOW,
      updateDate,
    });
    t.match(await api.patch(at, { json: { description: null } }), { status: 200, body: { description: null } });
  });

  t.test('ops 16, 18 and 19 are developer-wide: another application can, another developer cannot', async (t) => {
    const at = (base: string) => `${base}/packages/${CAMERA}/versions`;
    t.match((await second.api.get(at(second.path))).body, { total: 2 });
    const change = { json: { description: 'by second' } };
    t.match(await second.api.patch(`${at(second.path)}/1.0.0`, change), {
      status: 200,
      body: { description: 'by second' },
    });
    t.match(await other.api.get(at(other.path)), NO_PACKAGE);
    t.match(await other.api.post(at(other.path), { json: { version: '9.0.0' } }), NO_PACKAGE);
    t.match(await other.api.patch(`${at(other.path)}/1.0.0`, change), NO_PACKAGE);
    t.match(await other.api.delete(`${at(other.path)}/1.0.0`), NO_PACKAGE);
    t.equal((await second.api.delete(`${at(second.path)}/1.0.0%2Bbuild.5`)).status, 204);
    t.match((await api.get(list)).body, { total: 1 });
  });

  t.test('an unknown package or version is answered 404, the package first', async (t) => {
    for (const [method, rest] of [
      ['PATCH', ''],
      ['DELETE', ''],
      ['GET', '/binaries'],
      ['DELETE', '/binaries'],
      ['POST', '/binaries'],
      ['GET', '/distributions'],
      ['POST', '/distributions'],
      ['DELETE', '/distributions'],
    ] as const) {
      const title = `${method} ${rest}`;
      t.match(await api.request(method, `${versionPath(UNKNOWN, '1.0.0')}${rest}`, { json: {} }), NO_PACKAGE, title);
      t.match(await api.request(method, `${versionPath(CAMERA, '9.9.9')}${rest}`, { json: {} }), NO_VERSION, title);
      const foreign = versionPath(CAMERA, '1.0.0').replace(path, other.path);
      t.match(
        await other.api.request(method, `${foreign}${rest}`, { json: {} }),
        NO_PACKAGE,
        `${title} of another developer`,
      );
      for (const version of ['%20a', '%zz', '%ff', '1%2F0', '1%07', '1'.repeat(129)]) {
        const answer = await api.request(method, encodeURI(`${list}/${version}${rest}`).replaceAll('%25', '%'), {
          json: {},
        });
        t.match(answer, { status: 404, body: { reason: 'invalid path parameter.' } }, `${title} ${version}`);
        t.match(faultsOf(answer)[0], /^pathParameters\.version string_(pattern_mismatch|too_long)$/);
      }
    }
    t.match(await api.get(`${path}/packages/${UNKNOWN}/versions`), NO_PACKAGE);
    t.match(await api.post(`${path}/packages/${UNKNOWN}/versions`, { json: { version: '1.0.0' } }), NO_PACKAGE);
  });

  t.test('op 16 lists the newest first by the precedence of SemVer, and other schemes after all of them', async (t) => {
    const name = 'com.example.order';
    const expected = [
      '10.0.0',
      '2.0.0+b',
      '2.0.0+a',
      '2.0.0',
      '2.0.0-rc.x',
      '2.0.0-rc.11',
      '2.0.0-rc.2',
      '2.0.0-alpha',
      '2.0.0-1',
      '1.10.0',
      '1.9.0',
      '0.0.1',
      '2024.06',
      '1.10',
      '1.2',
      'beta',
    ];
    await software.register(name, ...expected.toSorted());
    const { rows } = await allPages(api, `${path}/packages/${name}/versions?limit=3`, ({ versions, total }) => {
      t.equal(total, expected.length);
      return versions.map(({ version }: { version: string }) => version);
    });
    t.same(rows, expected);
    t.same(faultsOf(await api.get(`${path}/packages/${name}/versions?limit=0&offset=x`)), [
      'query.limit greater_than_equal',
      'query.offset int_type',
    ]);
  });

  t.test(
    'a list with details says of each version what the calls for its binary and its distribution say',
    async (t) => {
      const name = 'com.example.details';
      const versions = Array.from({ length: 10 }, (_, patch) => `1.0.${patch}`);
      await software.register(name, ...versions);
      await software.upload(name, '1.0.3');
      await api.post(`${versionPath(name, '1.0.3')}/distributions`);
      const all = `${path}/packages/${name}/versions`;
      const { body } = await api.get(`${all}?details=true&limit=100`);
      t.same(
        body.versions.map(({ version }: { version: string }) => version),
        versions.toReversed(),
      );
      for (const { version, binary, distribution } of body.versions) {
        const own = await api.get(`${versionPath(name, version)}/binaries`);
        t.same(binary, { ...own.body, inspected: binary.inspected, warning: binary.warning });
        const { exist: _, ...state } = (await api.get(`${versionPath(name, version)}/distributions`)).body;
        t.same(distribution, state);
        t.equal(distribution.distributable, version === '1.0.3');
      }
      t.notOk('binary' in (await api.get(`${all}?details=false`)).body.versions[0], 'only who asks for it');
      t.same(faultsOf(await api.get(`${all}?details=true&limit=101`)), ['query.limit less_than_equal']);
      t.same(faultsOf(await api.get(`${all}?details=x`)), ['query.details enum']);
    },
  );

  t.test('a package that is deleted while a version is added: no version is left without its package', async (t) => {
    const seen = new Set<string>();
    for (let round = 0; round < 40; round += 1) {
      const name = `com.example.orphan${round}`;
      await api.post(`${path}/packages`, { json: { package: name } });
      const add = () => api.post(`${path}/packages/${name}/versions`, { json: { version: '1.0.0' } });
      const remove = () => second.api.delete(`${second.path}/packages/${name}`);
      // The request that is sent some milliseconds earlier does not always arrive first.
      const ahead = pause(Math.floor(round / 2) % 4);
      const answers =
        round % 2 === 0
          ? await Promise.all([add(), ahead.then(remove)])
          : await Promise.all([ahead.then(add), remove()]);
      const outcome = answers.map(({ status }) => status).join(' ');
      seen.add(outcome);
      t.ok(['201 409', '404 204'].includes(outcome), `add and delete: ${outcome}`);
      const again = await api.post(`${path}/packages`, { json: { package: name } });
      t.equal(again.status, outcome === '404 204' ? 201 : 409);
      t.equal((await api.get(`${path}/packages/${name}/versions`)).body.total, outcome === '404 204' ? 0 : 1);
    }
    t.equal(seen.size, 2, 'both orders were met');
  });
});
