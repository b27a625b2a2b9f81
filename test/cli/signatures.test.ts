import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createKeyPair, sha256Of, signatureOf } from '../software/signing.ts';
import { startWorld } from '../world.ts';
import { run } from './run.ts';

const FILE = join(import.meta.dirname, '../../tools/demo/apks/camera-1.0.0.apk');
const CAMERA = { package: 'com.example.camera', version: '1.0.0' };

t.test('software is signed and keys are kept on the command line', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const key = createKeyPair();
  const place = (name: string, text: string): string => {
    const path = join(world.dataDir, name);
    writeFileSync(path, text);
    return path;
  };
  const [publicPath, privatePath] = [place('release.pub.pem', key.publicKey), place('release.pem', key.privateKey)];
  const { adminToken, addresses } = world.service;
  const env = { LAPEL_ADMIN_TOKEN: adminToken, LAPEL_ADMIN_URL: addresses.admin };
  const administer = (...args: string[]) => run(['admin', ...args, '--json'], { env });
  const { applicationId, secret } = tenant;
  const call = (...args: string[]) =>
    run([...args, '--application', applicationId, '--secret', secret, '--url', addresses.http, '--json']);
  const sign = (...args: string[]) => call('app', 'sign', FILE, ...args);

  await t.test('administration adds and lists a key, and requires signatures', async (t) => {
    const add = ['software-key', 'add', '--developer', 'dev', '--name', 'release', '--public-key'];
    t.match(await administer(...add, publicPath), { code: 0, stdout: new RegExp(key.keyId) });
    t.match(await administer(...add, privatePath), { code: 1 }, 'a private key is refused');
    const { stdout } = await administer('software-key', 'list', '--developer', 'dev');
    t.match(JSON.parse(stdout), { keys: [{ keyId: key.keyId, name: 'release' }], total: 1 });
    t.match(await call('app', 'keys'), {
      code: 0,
      stdout: new RegExp(`"softwareSignatures":"optional".*${key.keyId}`),
    });
    const rules = ['--signatures', 'required', '--certificate-change', 'refuse'];
    t.match(JSON.parse((await administer('developer', 'update', 'dev', ...rules)).stdout), {
      softwareSignatures: 'required',
      certificateChange: 'refuse',
    });
  });

  await t.test('app sign signs what is in the file, and the version can be distributed', async (t) => {
    t.match(await call('app', 'upload', FILE, '--no-distribute'), { code: 0 });
    const early = await call('version', 'distribute', CAMERA.package, CAMERA.version);
    t.match(early, { code: 1, stdout: /SIGNATURE_MISSING/ });
    t.match(early.stderr, /sign it: lapel app sign FILE\.apk --key PRIVATE\.pem/);
    const offline = await sign('--key', privatePath, '--no-upload', '--url', 'http://127.0.0.1:9');
    const expected = { ...CAMERA, ...signatureOf(key, CAMERA, sha256Of(readFileSync(FILE))) };
    t.same(JSON.parse(offline.stdout), { ok: true, ...expected }, 'without a service');
    const { code, stdout, stderr } = await sign('--key', privatePath);
    t.equal(code, 0, stderr);
    t.match(JSON.parse(stdout), { ok: true, ...expected, problem: null });
    t.match(await call('version', 'distribute', CAMERA.package, CAMERA.version), { code: 0 });
    const shown = await call('version', 'signature', CAMERA.package, CAMERA.version);
    t.match(JSON.parse(shown.stdout), { keyId: key.keyId, problem: null });
  });

  await t.test('a key that cannot sign is refused before anything is sent, and its text is not shown', async (t) => {
    const rsa = generateKeyPairSync('rsa', {
      modulusLength: 1024,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    }).privateKey;
    const locked = generateKeyPairSync('ed25519', {
      privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'a passphrase' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    }).privateKey;
    const secretText = 'no key but a secret';
    const wrong: [string[], RegExp][] = [
      [[], /^lapel: --key: is needed/],
      [['--key', join(world.dataDir, 'none.pem')], /^lapel: --key: there is no file/],
      [['--key', place('rsa.pem', rsa)], /is a key of rsa; ed25519 is needed/],
      [['--key', place('locked.pem', locked)], /locked\.pem is encrypted; decrypt it to standard input/],
      [['--key', publicPath], /has no private key in PEM/],
      [['--key', place('text.pem', secretText)], /has no private key in PEM/],
    ];
    for (const [args, message] of wrong) {
      const { code, stderr } = await sign(...args);
      t.equal(code, 2);
      t.match(stderr, message);
      t.notOk(stderr.includes(secretText));
    }
  });

  await t.test('what was signed with a revoked key does not verify', async (t) => {
    t.match(await administer('software-key', 'revoke', key.keyId, '--developer', 'dev'), { code: 0 });
    const shown = await call('version', 'signature', CAMERA.package, CAMERA.version);
    t.match(JSON.parse(shown.stdout), { problem: `its key ${key.keyId} is not a key of the developer` });
    t.match(await sign('--key', privatePath), { code: 1, stdout: /keyId/ });
    t.match(await call('version', 'remove-signature', CAMERA.package, CAMERA.version), { code: 0 });
    t.match(await call('version', 'signature', CAMERA.package, CAMERA.version), { stdout: /SIGNATURE_NOT_FOUND/ });
  });
});
