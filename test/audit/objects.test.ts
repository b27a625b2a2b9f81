import t from 'tap';
import { pagesOf } from '../pages.ts';
import { startWorld } from '../world.ts';

interface Entry {
  action: string;
  actor: { kind: string; name: string | null; displayName: string | null };
  address: string | null;
  details: { before?: object; after?: object; replaced?: string[] } | null;
  objects: { kind: string; id: string; name: string | null }[];
}

t.test('the history of an object', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { api, applicationId, path } = tenant;
  const admin = world.admin();
  const { deviceId } = await world.registerDevice();

  async function historyOf(about: string, limit = 100): Promise<Entry[]> {
    const target = `/admin/v1/audit?about=${encodeURIComponent(about)}&limit=${limit}`;
    return (await pagesOf<Entry>(admin, target, 'entries')).flat();
  }
  const actionsOf = async (about: string): Promise<string[]> => (await historyOf(about)).map(({ action }) => action);

  await t.test('begins with its creation, whose path does not name it', async (t) => {
    t.same(await actionsOf(`device:${deviceId}`), ['POST /admin/v1/developers/{developerId}/devices']);
    t.equal((await actionsOf('developer:dev')).at(-1), 'POST /admin/v1/developers');
    t.equal(
      (await actionsOf(`application:${applicationId}`)).at(-1),
      'POST /admin/v1/developers/{developerId}/applications',
    );
    await api.post(`${path}/packages`, { json: { package: 'com.example.camera', displayName: 'Camera' } });
    t.same(await actionsOf('package:com.example.camera'), ['POST /v1/applications/{applicationId}/packages']);
    for (let refusal = 0; refusal < 2; refusal += 1)
      t.equal((await api.delete(`${path}/packages/com.example.missing`)).status, 404);
    t.equal((await actionsOf('package:com.example.missing')).length, 1, 'a repeated refusal has no entry');
  });

  await t.test('has the values before and after a change, and only those that changed', async (t) => {
    await admin.patch('/admin/v1/developers/dev', { json: { name: 'Acme', deviceLimit: 100 } });
    const [ofDeveloper] = await historyOf('developer:dev');
    t.same(ofDeveloper?.details, { before: { name: 'dev' }, after: { name: 'Acme' } });
    await admin.patch(`/admin/v1/devices/${deviceId}`, { json: { blocked: true } });
    const [ofDevice] = await historyOf(`device:${deviceId}`);
    t.same(ofDevice?.details, { before: { blocked: false }, after: { blocked: true } });
    const { deviceEvent } = (await api.get(path)).body;
    await api.patch(path, { json: { deviceEvent, callEvent: 'https://example.com/calls' } });
    const [ofApplication] = await historyOf(`application:${applicationId}`);
    t.same(ofApplication?.details, { before: { callEvent: null }, after: { callEvent: 'https://example.com/calls' } });
    await api.patch(`${path}/packages/com.example.camera`, { json: { displayName: 'Body camera' } });
    const [ofPackage] = await historyOf('package:com.example.camera');
    t.same(ofPackage?.details, { before: { displayName: 'Camera' }, after: { displayName: 'Body camera' } });
    const long = { model: { description: 'x'.repeat(2_000) } };
    t.equal((await admin.patch(`/admin/v1/devices/${deviceId}`, { json: { hardwareProperties: long } })).status, 200);
    const [ofLong] = await historyOf(`device:${deviceId}`);
    t.match(JSON.stringify(ofLong?.details?.after), /^.{900,1100}…"\}$/, 'a long value is cut');
  });

  await t.test('names secrets, and never shows one', async (t) => {
    const credential = 'a credential of the device, which is secret';
    await admin.post(`/admin/v1/devices/${deviceId}/credential`, { json: { credential } });
    const { secret } = (await admin.post(`/admin/v1/applications/${applicationId}/secret`)).body;
    const token = await world.clientOf(applicationId, secret);
    const { authenticationKey } = (await token.post(`${path}/refresh_authkey`)).body;
    const signature = 'signature-of-a-url';
    await token.patch(path, { json: { callEvent: `https://example.com/moved?sign=${signature}` } });
    await admin.patch(`/admin/v1/devices/${deviceId}`, {
      json: { hardwareProperties: { model: { name: 'x' } } },
    });
    const entries = [...(await historyOf(`device:${deviceId}`)), ...(await historyOf(`application:${applicationId}`))];
    t.match(
      entries.flatMap(({ details }) => details?.replaced ?? []),
      ['credential', 'authenticationKey', 'secret'],
    );
    const text = JSON.stringify(entries);
    for (const hidden of [credential, secret, authenticationKey, signature]) t.notMatch(text, hidden);
    t.match(text, 'example.com/moved', 'the rest of a URL is shown');
  });

  await t.test('says who made the change with the name that people know, and from where', async (t) => {
    const entries = await historyOf(`application:${applicationId}`);
    const own = entries.find(({ actor }) => actor.kind === 'application');
    t.match(own, { actor: { name: applicationId, displayName: 'dev' }, address: '127.0.0.1' });
    const [ofDeveloper] = await historyOf('developer:dev');
    t.match(ofDeveloper?.objects, [{ kind: 'developer', id: 'dev', name: 'Acme' }]);
  });

  await t.test('is paged, and goes with its entries', async (t) => {
    const all = await historyOf(`application:${applicationId}`);
    t.same(await historyOf(`application:${applicationId}`, 1), all);
    const other = await admin.get('/admin/v1/audit?about=device');
    t.equal(other.status, 400);
    const file = await world.raw();
    const [{ objects } = { objects: 0 }] = await file.all<{ objects: number }>(
      'SELECT count(*) AS objects FROM audit_objects WHERE audit_id NOT IN (SELECT audit_id FROM audit_log)',
    );
    t.equal(Number(objects), 0);
  });
});
