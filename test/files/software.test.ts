import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { standOf } from './stand.ts';

const APKS = join(import.meta.dirname, '../../tools/demo/apks');
const CAMERA = 'com.example.camera';

const PACKAGES = `packages:
  - package: ${CAMERA}
    displayName: Camera
    versions:
      - version: 1.0.0
        description: the first
        file: camera-1.0.0.apk
        signature: camera-1.0.0.json
        distributed: true
      - version: 1.1.0
        file: camera-1.1.0.apk
        requires: { firmwareVersion: '>=9' }
        revertOf: 1.0.0
`;

t.test('packages and versions come from files, with binaries and signatures', async (t) => {
  const stand = await standOf(t);
  const { tenant, lapel, folder, world } = stand;
  const at = `${tenant.path}/packages/${CAMERA}`;
  for (const name of ['camera-1.0.0.apk', 'camera-1.1.0.apk']) copyFileSync(join(APKS, name), join(folder, name));
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  writeFileSync(join(folder, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const pem = String(publicKey.export({ type: 'spki', format: 'pem' }));
  const added = await world
    .admin()
    .post('/admin/v1/developers/dev/software-keys', { json: { name: 'release', publicKey: pem } });
  t.equal(added.status, 201);
  const signed = await lapel(
    `app sign ${join(folder, 'camera-1.0.0.apk')} --key ${join(folder, 'key.pem')} --no-upload --json`,
  );
  stand.write({ 'packages.yaml': PACKAGES, 'camera-1.0.0.json': signed.stdout });

  await t.test('an apply registers, uploads, signs and distributes; then the plan is empty', async (t) => {
    const { steps, code } = await stand.plan();
    t.equal(code, 3);
    t.same(
      steps.map(({ kind, name, action, changes }) => [kind, name, action, changes.map(({ field }) => field).join()]),
      [
        ['package', CAMERA, 'create', 'package,displayName'],
        ['version', `${CAMERA}@1.0.0`, 'create', 'description'],
        ['version', `${CAMERA}@1.1.0`, 'create', 'requires'],
        ['version', `${CAMERA}@1.0.0`, 'change', 'file'],
        ['version', `${CAMERA}@1.0.0`, 'change', 'signature'],
        ['version', `${CAMERA}@1.0.0`, 'change', 'distributed'],
        ['version', `${CAMERA}@1.1.0`, 'change', 'revertOf'],
        ['version', `${CAMERA}@1.1.0`, 'change', 'file'],
      ],
    );
    const applied = await stand.apply();
    t.equal(applied.code, 0, applied.stderr);
    t.notMatch(applied.stdout + applied.stderr, /X-Amz/);
    t.match((await tenant.api.get(`${at}/versions/1.0.0/binaries`)).body, {
      appFileExists: true,
      signature: 'valid',
      sha256: /^[0-9a-f]{64}$/,
    });
    t.match((await tenant.api.get(`${at}/versions/1.0.0/distributions`)).body, { distributable: true });
    t.match(await stand.plan(), { code: 0, steps: [], refused: [], unchanged: 3 });
    t.match(await stand.apply(), { code: 0, stdout: /nothing to change/ });
  });

  await t.test('a version with other bytes is refused, and never overwritten', async (t) => {
    const digest = async () => (await tenant.api.get(`${at}/versions/1.1.0/binaries`)).body.sha256;
    const before = await digest();
    copyFileSync(join(APKS, 'camera-1.0.0.apk'), join(folder, 'camera-1.1.0.apk'));
    const { refused, steps, code } = await stand.plan();
    t.equal(code, 1);
    t.same(steps, []);
    t.match(refused, [
      { name: `${CAMERA}@1.1.0`, reason: /its binary is [0-9a-f]{64}, and not [0-9a-f]{64} of camera-1\.1/ },
    ]);
    t.match(await stand.apply(), { code: 1, stderr: /differences that an apply cannot make; nothing was changed/ });
    t.equal(await digest(), before);
    copyFileSync(join(APKS, 'camera-1.1.0.apk'), join(folder, 'camera-1.1.0.apk'));
  });

  await t.test('a binary that is not here is not compared, and removes nothing', async (t) => {
    execFileSync('rm', [join(folder, 'camera-1.1.0.apk')]);
    t.match(await stand.plan(), {
      code: 0,
      notCompared: [{ field: 'file', reason: 'there is no camera-1.1.0.apk here' }],
    });
    t.match((await tenant.api.get(`${at}/versions/1.1.0/binaries`)).body, { appFileExists: true });
    copyFileSync(join(APKS, 'camera-1.1.0.apk'), join(folder, 'camera-1.1.0.apk'));
  });

  await t.test('an export makes files whose plan is empty', async (t) => {
    const other = join(folder, 'exported');
    t.match(await lapel(`export -f ${other}`), { code: 0, stdout: /Binaries and signatures are not downloaded/ });
    const planned = await lapel(`plan -f ${other}`);
    t.match(planned, { code: 0, stdout: /nothing to change; 4 as the files say/ }, planned.stdout + planned.stderr);
  });

  await t.test('absent versions and packages are removed, and others are named first', async (t) => {
    stand.write({ 'packages.yaml': `packages:\n  - package: ${CAMERA}\n    absent: true\n` });
    t.match(await stand.plan(), {
      refused: [{ reason: /it has versions; name each as absent: 1\.[01]\.0, 1\.[01]\.0/ }],
    });
    stand.write({
      'packages.yaml': `packages:
  - package: ${CAMERA}
    absent: true
    versions:
      - { version: 1.0.0, absent: true }
      - { version: 1.1.0, absent: true }
`,
    });
    t.match(await stand.apply(), { code: 0, stdout: 'applied: 3 to remove; 0 as the files say\n' });
    t.match((await tenant.api.get(`${tenant.path}/packages`)).body, { packages: [] });
    t.match(await stand.plan(), { code: 0, steps: [] });
  });
});
