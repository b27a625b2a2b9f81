import { createHash } from 'node:crypto';
import { makeApk, signedApk } from '@lapel/device-sim/files/make-apk';
import t from 'tap';
import { startWorld, transactionIdOf } from '../world.ts';

const CAMERA = 'com.example.camera';
const OURS = 'our certificate';
const THEIRS = 'the certificate of a thief';
const fingerprint = (certificate: string): string => createHash('sha256').update(certificate).digest('hex');

t.test('the certificate of an APK is shown, and another one is warned of or refused', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { api, path } = tenant;
  const device = await world.activatedDevice(tenant);
  const at = (version: string): string => `${path}/packages/${CAMERA}/versions/${version}`;

  /** Uploads an APK that is signed with a certificate, or with none, and has it read. */
  async function upload(version: string, certificate: string | null): Promise<void> {
    const attributes = [
      { name: 'package', value: CAMERA },
      { name: 'versionName', value: version },
    ];
    const apk = makeApk({ attributes });
    const file = new Uint8Array(certificate === null ? apk : signedApk(apk, certificate));
    const json = { package: CAMERA, version, fileSize: file.length };
    const { body } = await api.post(`${path}/apps`, { json });
    t.equal((await fetch(body.urlList[0].uploadUrl, { method: 'PUT', body: file })).status, 200);
    await api.get(`${at(version)}/binaries`);
    await world.idle();
  }
  const shown = async (version: string) => (await api.get(`${at(version)}/binaries`)).body;
  const start = (version: string) => api.post(`${at(version)}/distributions`);
  const install = (version: string) => api.put(`${device.path}/apps`, { json: { package: CAMERA, version } });
  const rule = (certificateChange: 'warn' | 'refuse') =>
    world.admin().patch(`/admin/v1/developers/${tenant.developerId}`, { json: { certificateChange } });
  const changed = (version: string) => ({
    status: 400,
    headers: { 'lapel-error-code': 'CERTIFICATE_CHANGED' },
    body: { reason: `the APK has another certificate than version ${version}.` },
  });

  await t.test(
    'a version with another certificate than the one before has a warning, and is distributed',
    async (t) => {
      await upload('1.0.0', OURS);
      t.match(await shown('1.0.0'), { certificates: [fingerprint(OURS)], warning: null });
      t.match(await start('1.0.0'), { status: 201 });
      await upload('1.1.0', OURS);
      t.match(await shown('1.1.0'), { certificates: [fingerprint(OURS)], warning: null });
      await upload('1.2.0', THEIRS);
      t.match(await shown('1.2.0'), {
        certificates: [fingerprint(THEIRS)],
        warning: 'the file has another certificate than version 1.1.0.',
      });
      await upload('1.3.0', null);
      t.match(await shown('1.3.0'), { certificates: [], warning: /no certificate .* unlike in version 1\.2\.0\.$/ });
      t.match((await api.get(`${path}/binary-warnings`)).body, { total: 2 });
      t.match(await start('1.2.0'), { status: 201 });
      t.match(await api.delete(`${at('1.2.0')}/distributions`), { status: 204 });
      t.match(await start('1.1.0'), { status: 201 }, 'the package follows the newest distribution again');
    },
  );

  await t.test('where the developer refuses it, it is neither distributed nor installed', async (t) => {
    await rule('refuse');
    t.match(await start('1.2.0'), changed('1.1.0'));
    t.match(await start('1.3.0'), changed('1.1.0'), 'also without any certificate');
    await upload('2.0.0', THEIRS);
    t.match(await start('2.0.0'), changed('1.1.0'), 'a version of the thief that only was uploaded prepares no other');
    t.match(await install('1.1.0'), { status: 201 });
    const { transactionId } = await device.link.command();
    await device.link.ack({ transactionId, status: 'succeeded' });
    await tenant.event();
  });

  await t.test('a file that is replaced after the call is refused at the delivery', async (t) => {
    await device.link.drop();
    const transactionId = transactionIdOf(await install('1.1.0'));
    await upload('1.1.0', THEIRS);
    t.match(await install('1.1.0'), changed('1.1.0'));
    device.link = await world.connect(device);
    t.match((await tenant.event()).data.transaction, {
      transactionId,
      status: 'failed',
      attempts: 0,
      error: { code: 'CERTIFICATE_CHANGED' },
    });
  });

  await t.test('who removes the package and registers it again is still refused', async (t) => {
    for (const version of ['1.0.0', '1.1.0', '1.2.0', '1.3.0', '2.0.0']) {
      await api.delete(`${at(version)}/distributions`);
      await api.delete(`${at(version)}/binaries`);
      t.match(await api.delete(at(version)), { status: 204 });
    }
    t.match(await api.delete(`${path}/packages/${CAMERA}`), { status: 204 });
    await upload('3.0.0', THEIRS);
    t.match(await start('3.0.0'), changed('1.1.0'));
  });

  await t.test('administration lets a new certificate in, which holds from then on', async (t) => {
    await rule('warn');
    t.match(await start('3.0.0'), { status: 201 });
    await rule('refuse');
    t.match(await install('3.0.0'), { status: 201 });
    t.match(await device.link.command(), { operation: 'installSoftware' });
    await upload('3.1.0', OURS);
    t.match(await start('3.1.0'), changed('3.0.0'));
  });
});
