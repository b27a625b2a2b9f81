import t from 'tap';
import { FORGERIES } from '../software/forgeries.ts';
import { createKeyPair, sha256Of, signatureOf } from '../software/signing.ts';
import { startWorld, transactionIdOf } from '../world.ts';

const CAMERA = 'com.example.camera';

t.test('only software with a signature that verifies is distributed', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { api, path } = tenant;
  const admin = world.admin();
  const device = await world.activatedDevice(tenant);
  const second = await world.activatedDevice(tenant);
  const own = `/admin/v1/developers/${tenant.developerId}`;
  const key = createKeyPair();
  const versionPath = (version: string): string => `${path}/packages/${CAMERA}/versions/${version}`;

  async function upload(version: string, file = `the file of ${version}`): Promise<string> {
    const json = { package: CAMERA, version, fileSize: Buffer.byteLength(file) };
    const { body } = await api.post(`${path}/apps`, { json });
    const answer = await fetch(body.urlList[0].uploadUrl, { method: 'PUT', body: file });
    t.equal(answer.status, 200, 'uploaded');
    return sha256Of(file);
  }
  const signed = (version: string, sha256: string) => signatureOf(key, { package: CAMERA, version }, sha256);
  const sign = (version: string, json: object) => api.put(`${versionPath(version)}/signature`, { json });
  const start = (version: string) => api.post(`${versionPath(version)}/distributions`);
  const install = (version: string, { path: at } = device) =>
    api.put(`${at}/apps`, { json: { package: CAMERA, version } });
  /** A version with a good signature that is distributed. */
  async function release(version: string): Promise<string> {
    const sha256 = await upload(version);
    t.match(await sign(version, signed(version, sha256)), { status: 200 });
    t.match(await start(version), { status: 201 });
    return sha256;
  }
  const refused = (code: string, reason: RegExp) => ({
    status: 400,
    headers: { 'lapel-error-code': code },
    body: { reason },
  });
  async function ends(count: number) {
    const results: Record<string, unknown>[] = [];
    while (results.length < count) {
      const { type, data } = await tenant.event();
      if (type.startsWith('transaction.')) results.push(data.transaction);
    }
    return results.sort((a, b) => Number(a['transactionId']) - Number(b['transactionId']));
  }

  await t.test('administration keeps the keys, and an application reads them only', async (t) => {
    const post = (publicKey: string) => admin.post(`${own}/software-keys`, { json: { name: 'release', publicKey } });
    const wrong = (text: string) => ({ status: 400, body: { details: [{ loc: ['body', 'publicKey'], msg: text }] } });
    const NO_KEY = 'Value should be a public key of ed25519 in PEM';
    t.match(await post(key.privateKey), wrong(NO_KEY), 'a private key is refused, not kept');
    t.match(await post('-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n'), wrong(NO_KEY));
    t.match(await post(`${key.publicKey.replaceAll('\n', '\r\n')}\n`), {
      status: 201,
      body: { keyId: key.keyId, publicKey: key.publicKey },
    });
    t.match(await post(key.publicKey), { status: 409, headers: { 'lapel-error-code': 'SOFTWARE_KEY_EXISTS' } });
    t.match((await admin.get(`${own}/software-keys`)).body.keys, [{ keyId: key.keyId, name: 'release' }]);
    t.match((await api.get(`${path}/software-keys`)).body, {
      softwareSignatures: 'optional',
      certificateChange: 'warn',
      keys: [{ keyId: key.keyId, publicKey: key.publicKey }],
    });
    const another = await world.createTenant('other');
    t.same((await another.api.get(`${another.path}/software-keys`)).body.keys, [], 'keys belong to one developer');
    const all = '/admin/v1/developers/other/software-keys';
    const nobody = await admin.delete(`/admin/v1/developers/nobody/software-keys/${key.keyId}`);
    t.match(nobody, { status: 404, headers: { 'lapel-error-code': 'DEVELOPER_NOT_FOUND' } });
    const keys = await Promise.all(
      Array.from({ length: 21 }, () => admin.post(all, { json: { name: 'k', publicKey: createKeyPair().publicKey } })),
    );
    t.equal(keys.filter(({ status }) => status === 201).length, 20);
    t.match(keys.find(({ status }) => status !== 201)?.body, {
      message: 'the developer has 20 software keys and may not have more; revoke one first.',
    });
  });

  await t.test('a signature may come before the file, and is handed to the device', async (t) => {
    t.match(await api.get(`${versionPath('1.0.0')}/signature`), { status: 404 });
    await api.post(`${path}/packages`, { json: { package: CAMERA } });
    await api.post(`${path}/packages/${CAMERA}/versions`, { json: { version: '1.0.0' } });
    t.match(await api.get(`${versionPath('1.0.0')}/signature`), { status: 404, body: { reason: /no signature/ } });
    const given = signed('1.0.0', sha256Of('the file of 1.0.0'));
    t.match((await sign('1.0.0', given)).body, { ...given, problem: null });
    t.match((await api.get(`${versionPath('1.0.0')}/binaries`)).body, { signature: 'unchecked' });
    await upload('1.0.0');
    t.match((await api.get(`${versionPath('1.0.0')}/binaries`)).body, { signature: 'valid' });
    t.match(await start('1.0.0'), { status: 201 });
    const { keyId: signatureKeyId, signature, sha256 } = given;
    await install('1.0.0');
    const { parameters, transactionId } = await device.link.command();
    t.match(parameters, { signatureKeyId, signature, sha256 });
    device.link.publish('requests', { requestId: 'r', type: 'softwareDownloadUrl', data: { transactionId } });
    await device.link.next('puback');
    const { data } = JSON.parse((await device.link.next('publish')).payload.toString());
    t.match(data, { signatureKeyId, signature, sha256 }, 'and comes with a fresh URL');
    await device.link.ack({ transactionId, status: 'succeeded' });
    await ends(1);
  });

  await t.test('a version without a signature is distributed as long as none is required', async (t) => {
    await upload('1.0.1');
    t.match((await api.get(`${versionPath('1.0.1')}/binaries`)).body, { signature: 'none' });
    t.match(await start('1.0.1'), { status: 201 });
    await install('1.0.1');
    const { parameters, transactionId } = await device.link.command();
    t.notOk('signature' in parameters || 'signatureKeyId' in parameters);
    await device.link.ack({ transactionId, status: 'succeeded' });
    await ends(1);
    t.match(await admin.patch(own, { json: { softwareSignatures: 'required' } }), { status: 200 });
    t.match(await install('1.0.1'), refused('SIGNATURE_MISSING', /not signed, and its developer requires/));
    t.match(await api.delete(`${versionPath('1.0.1')}/distributions`), { status: 204 });
    t.match(await start('1.0.1'), refused('SIGNATURE_MISSING', /not signed/));
  });

  await t.test(
    'the rule is about software of the developer: what the operator puts there is delivered unsigned',
    async (t) => {
      for (const [line, name, where] of [
        ['system-packages', 'com.lapel.launcher', '/apps'],
        ['firmware', 'com.lapel.firmware', '/firmware'],
      ] as const) {
        const version = '9.9.0';
        const at = `/admin/v1/${line}/${name}/versions/${version}`;
        await admin.put(at, { json: {} });
        const { body } = await admin.post(`${at}/binaries`);
        await fetch(body.urlList[0].uploadUrl, { method: 'PUT', body: 'of the operator' });
        const asked = await api.put(`${device.path}${where}`, { json: { package: name, version } });
        t.equal(asked.status, 201, JSON.stringify(asked.body));
        const { parameters, transactionId } = await device.link.command();
        t.match(parameters, { package: name, sha256: sha256Of('of the operator') });
        t.notOk('signature' in parameters, line);
        await device.link.ack({ transactionId, status: 'succeeded' });
        await ends(1);
      }
    },
  );

  await t.test('whatever is forged, swapped, downgraded or stripped is refused at each place', async (t) => {
    const raw = await world.raw();
    await device.link.drop();
    const waiting: { title: string; transactionId: number; version: string; code: string }[] = [];
    for (const [index, { title, field, forge }] of FORGERIES.entries()) {
      const version = `2.${index}.0`;
      const sha256 = await release(version);
      const transactionId = transactionIdOf(await install(version));
      const forged = forge({ key, package: CAMERA, version, sha256 });
      const code = forged ? 'SIGNATURE_INVALID' : 'SIGNATURE_MISSING';
      waiting.push({ title, transactionId, version, code });
      if (forged) {
        const answer = await sign(version, forged);
        t.match(answer, { status: 400, body: { details: [{ loc: ['body', field] }] } }, `${title}: at the API`);
      }
      // Somebody who can write to the database puts it there.
      const [row] = await raw.all<{ id: string }>(
        'SELECT binary_id AS id FROM versions WHERE package = ? AND version = ?',
        CAMERA,
        version,
      );
      await raw.all('DELETE FROM version_signatures WHERE binary_id = ?', row!.id);
      if (forged)
        await raw.all(
          'INSERT INTO version_signatures (binary_id, key_id, sha256, signature, signed_at) VALUES (?, ?, ?, ?, 0)',
          row!.id,
          forged.keyId,
          forged.sha256,
          forged.signature,
        );
      t.match(await install(version), refused(code, /sign/), `${title}: not installed`);
      if (forged) t.match((await api.get(`${versionPath(version)}/signature`)).body, { problem: /./ }, title);
    }
    device.link = await world.connect(device);
    const results = await ends(waiting.length);
    for (const [index, { title, transactionId, version, code }] of waiting.entries()) {
      const failed = { transactionId, status: 'failed', attempts: 0, error: { code, message: /sign/ } };
      t.match(results[index], failed, `${title}: not delivered`);
      await api.delete(`${versionPath(version)}/distributions`);
      t.match(await start(version), refused(code, /sign/), `${title}: not distributed`);
    }
  });

  await t.test('a file that is replaced after signing is refused; a key that is revoked, too', async (t) => {
    await release('3.0.0');
    await device.link.drop();
    const replaced = transactionIdOf(await install('3.0.0'));
    await upload('3.0.0', 'a file of somebody else');
    t.match(await install('3.0.0'), refused('SIGNATURE_INVALID', /the file is not the one that was signed/));
    t.match((await api.get(`${versionPath('3.0.0')}/binaries`)).body, { signature: 'invalid' });

    await release('3.1.0');
    const running = transactionIdOf(await install('3.1.0', second));
    t.match(await second.link.command(), { transactionId: running }, 'delivered while the key is good');
    const revoked = transactionIdOf(await install('3.1.0'));
    const rollout = { operation: 'installSoftware', parameters: { package: CAMERA, version: '3.1.0' } };
    const devices = { devices: [device.deviceId] };
    const { body: begun } = await api.post(`${path}/rollouts`, { json: { ...rollout, devices } });
    await world.idle();
    t.match(await admin.delete(`${own}/software-keys/${key.keyId}`), { status: 204 });
    await world.idle();
    t.match((await api.get(`${path}/rollouts/${begun.rolloutId}`)).body, {
      state: 'paused',
      reason: 'SIGNATURE_INVALID',
    });
    t.match(await install('3.1.0'), refused('SIGNATURE_INVALID', /its key [0-9a-f]{16} is not a key of the developer/));
    second.link.publish('requests', { requestId: 'q', type: 'softwareDownloadUrl', data: { transactionId: running } });
    await second.link.next('puback');
    const answer = JSON.parse((await second.link.next('publish')).payload.toString());
    const error = { code: 'SIGNATURE_INVALID', message: /key/ };
    t.match(answer, { error }, 'a device that is downloading gets no further URL, and the reason');
    device.link = await world.connect(device);
    const of = (transactionId: number) => ({ transactionId, status: 'failed', error: { code: 'SIGNATURE_INVALID' } });
    t.match(await ends(2), [of(replaced), of(revoked)]);
    t.match(await api.delete(`${versionPath('3.1.0')}/signature`), { status: 204 });
    t.match(await install('3.1.0'), refused('SIGNATURE_MISSING', /not signed/));
  });

  await t.test('each signature of an application is in the audit log, with its key and the hash', async (t) => {
    const { entries } = (await admin.get('/admin/v1/audit?limit=1000')).body;
    const signatures = entries.filter(({ action }: { action: string }) => action.endsWith('/signature'));
    const put = signatures.filter(
      ({ action, status }: { action: string; status: number }) => action.startsWith('PUT ') && status === 200,
    );
    t.ok(put.length > 0);
    for (const { details } of put) t.match(details, { keyId: key.keyId, sha256: /^[0-9a-f]{64}$/ });
    t.ok(
      signatures.some(({ action }: { action: string }) => action.startsWith('DELETE ')),
      'and its removal',
    );
  });
});

t.test('a key of low order, which accepts signatures of everybody, is no software key', async (t) => {
  const world = await startWorld(t);
  const { developerId } = await world.createTenant();
  const prefix = Buffer.from('302a300506032b6570032100', 'hex');
  for (const hex of [
    `01${'00'.repeat(31)}`,
    '00'.repeat(32),
    `ec${'ff'.repeat(30)}7f`,
    `ee${'ff'.repeat(31)}`,
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
  ]) {
    const der = Buffer.concat([prefix, Buffer.from(hex, 'hex')]).toString('base64');
    const json = { name: 'low', publicKey: `-----BEGIN PUBLIC KEY-----\n${der}\n-----END PUBLIC KEY-----\n` };
    const answer = await world.admin().post(`/admin/v1/developers/${developerId}/software-keys`, { json });
    t.match(answer, { status: 400, body: { details: [{ loc: ['body', 'publicKey'] }] } }, hex);
  }
});
