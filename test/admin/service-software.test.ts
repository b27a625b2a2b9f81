import t from 'tap';
import { faultsOf } from '../api/operations.ts';
import { allPages, NOW, startSoftware } from '../api/software-world.ts';
import { createFakeClock } from '../fake-clock.ts';

const NAME = 'com.lapel.client';

for (const [resource, listName] of [
  ['system-packages', 'systemPackages'],
  ['firmware', 'firmwareVersions'],
] as const) {
  t.test(`administration of ${resource}`, async (t) => {
    const clock = createFakeClock();
    const { world, api, path, put } = await startSoftware(t, { clock });
    const admin = world.admin();
    const base = `/admin/v1/${resource}`;
    const at = (version: string, name = NAME): string => `${base}/${name}/versions/${encodeURIComponent(version)}`;
    const record = {
      package: NAME,
      displayName: null,
      version: '1.0.0',
      description: null,
      registerDate: NOW,
      updateDate: NOW,
    };

    t.test('PUT registers missing packages and versions, without and with texts', async (t) => {
      t.match(await admin.put(at('1.0.0')), { status: 200 }, 'without a body');
      t.same((await admin.put(at('1.0.0'), { json: {} })).body, record);
      const texts = { displayName: 'Client', description: 'new' };
      t.same((await admin.put(at('1.1.0'), { json: texts })).body, { ...record, version: '1.1.0', ...texts });
    });

    t.test('PUT changes the given texts, null removes them, and only a change sets the date', async (t) => {
      clock.advance(1000);
      const updateDate = NOW.replace(':00.', ':01.');
      const kept = { displayName: 'Client', description: 'new', updateDate: NOW };
      t.match((await admin.put(at('1.1.0'), { json: { description: 'new' } })).body, kept);
      t.match((await admin.put(at('1.1.0'), { json: { description: 'newer' } })).body, {
        ...kept,
        description: 'newer',
        updateDate,
      });
      const removed = await admin.put(at('1.1.0'), { json: { description: null, displayName: null } });
      t.match(removed.body, { displayName: null, description: null, registerDate: NOW });
      t.match((await admin.put(at('1.0.0'), { json: { displayName: 'All' } })).body, { displayName: 'All' });
      t.match((await admin.put(at('1.1.0'))).body, { displayName: 'All' }, 'the name is of the package');
    });

    t.test('PUT names every fault', async (t) => {
      const answer = await admin.put(at('1.0.0'), {
        json: { displayName: 'x'.repeat(256), description: 5, version: '2.0.0' },
      });
      t.equal(answer.status, 400);
      t.same(faultsOf(answer), [
        'body.description string_type',
        'body.displayName string_too_long',
        'body.version extra_forbidden',
      ]);
      const malformed = await admin.put(`${base}/client/versions/a%0Ab`);
      t.equal(malformed.status, 404);
      t.same(faultsOf(malformed), [
        'pathParameters.package string_pattern_mismatch',
        'pathParameters.version string_pattern_mismatch',
      ]);
    });

    t.test('GET lists by package, newest version first, in pages', async (t) => {
      for (const version of ['1.10.0', '1.9.0+b']) await admin.put(at(version));
      await admin.put(at('0.1.0', 'com.lapel.another'));
      const expected = ['0.1.0', '1.10.0', '1.9.0+b', '1.1.0', '1.0.0'];
      const { rows, pages } = await allPages(admin, `${base}?limit=2`, (body) => {
        t.equal(body.total, 5);
        return body[listName].map(({ version }: { version: string }) => version);
      });
      t.same(rows, expected);
      t.equal(pages, 3);
    });

    t.test('POST binaries answers a URL as op 22 does, and DELETE removes version and binary', async (t) => {
      const answer = await admin.post(`${at('1.0.0')}/binaries`);
      t.match(answer, { status: 200, body: { urlList: [{ expireIn: 3600 }] } });
      t.equal(await put(answer, 'image'), 200);
      const { uploadUrl } = answer.body.urlList[0];
      t.equal((await admin.delete(at('1.0.0'))).status, 204);
      for (const gone of [admin.delete(at('1.0.0')), admin.post(`${at('1.0.0')}/binaries`)]) {
        t.match(await gone, { status: 404, body: { reason: 'version not found.' } });
      }
      await admin.put(at('1.0.0'));
      const again = (await admin.post(`${at('1.0.0')}/binaries`)).body.urlList[0].uploadUrl;
      t.not(new URL(again).pathname, new URL(uploadUrl).pathname, 'another object');
    });

    t.test('a package goes with its last version', async (t) => {
      t.equal((await admin.delete(at('0.1.0', 'com.lapel.another'))).status, 204);
      const answer = await admin.delete(at('0.1.0', 'com.lapel.another'));
      t.match(answer, { status: 404, body: { reason: 'package not found.' } });
    });

    t.test('a developer cannot reach it, and administration cannot reach a developer’s', async (t) => {
      const unreachable = { status: 404, body: { reason: 'package not found.' } };
      t.match(await api.get(`${path}/packages/${NAME}/versions`), unreachable);
      t.match(await api.delete(`${path}/packages/${NAME}/versions/1.0.0/binaries`), unreachable);
      await api.post(`${path}/packages`, { json: { package: 'com.example.camera' } });
      await api.post(`${path}/packages/com.example.camera/versions`, { json: { version: '1.0.0' } });
      t.match(await admin.delete(at('1.0.0', 'com.example.camera')), unreachable);
      t.match(await admin.post(`${at('1.0.0', 'com.example.camera')}/binaries`), unreachable);
      const taken = await admin.put(at('1.0.0', 'com.example.camera'));
      if (resource === 'firmware') t.equal(taken.status, 200, 'firmware has names of its own');
      else t.match(taken, { status: 409, body: { message: 'package already exists.' } });
    });
  });
}

t.test('package, version and distribution of a registration have the same time', async (t) => {
  const still = createFakeClock();
  let looks = 0;
  const clock = { ...still, now: () => still.now() + looks++ };
  const { world } = await startSoftware(t, { clock });
  const { body } = await world.admin().put(`/admin/v1/system-packages/${NAME}/versions/1.0.0`);
  t.equal(body.updateDate, body.registerDate);
});
