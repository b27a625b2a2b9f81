import t from 'tap';
import { startWorld } from '../world.ts';

t.test('the refusal of op 28 does not show whether another developer’s version exists', async (t) => {
  const world = await startWorld(t);
  const owner = await world.createTenant('owner');
  const stranger = await world.createTenant('stranger');
  const device = await world.activatedDevice(stranger);
  const version = { package: 'com.example.camera', version: '1.0.0' };
  const upload = await owner.api.post(`${owner.path}/apps`, { json: { ...version, fileSize: 4 } });
  await fetch(upload.body.urlList[0].uploadUrl, { method: 'PUT', body: 'file' });
  const path = `${owner.path}/packages/${version.package}/versions/${version.version}`;
  t.equal((await owner.api.post(`${path}/distributions`)).status, 201);
  await world.idle();

  const asked = async (): Promise<number> => {
    const { values } = await world.service.metrics.objectRequests.get();
    return values.reduce((sum, { value }) => sum + value, 0);
  };
  const before = await asked();
  const install = (json: object) => stranger.api.put(`${device.path}/apps`, { json });
  const foreign = await install(version);
  const absent = await install({ package: 'com.example.nothing', version: '1.0.0' });
  const noVersion = await install({ ...version, version: '2.0.0' });
  t.equal(foreign.status, 404);
  t.same([foreign.body, noVersion.body], [absent.body, absent.body], 'the same words');
  t.equal(await asked(), before, 'and the object store, which takes its time, is asked for none of them');
});
