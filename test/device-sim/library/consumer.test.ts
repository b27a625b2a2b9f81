import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { createFakeClock } from '../../fake-clock.ts';
import { startWorld } from '../../world.ts';

const ROOT = join(import.meta.dirname, '../../..');
const run = promisify(execFile);
const section = readFileSync(join(ROOT, 'docs/qa.md'), 'utf8')
  .split('\n## Devices in your own tests\n')[1]
  ?.split('\n## ')[0];
const EXAMPLES = [...(section ?? '').matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = '']) => code);

/** The strictest settings of a program that uses the library, without those that Lapel itself needs. */
const COMPILER = {
  target: 'es2024',
  lib: ['es2024', 'esnext.disposable'],
  module: 'nodenext',
  types: ['node'],
  noEmit: true,
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitReturns: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
};

t.test('the examples of the documents run in a project that has Lapel as a dependency', async (t) => {
  t.equal(EXAMPLES.length, 2);
  const project = t.testdir({ 'package.json': '{ "type": "module" }' });
  const clock = createFakeClock(Date.now() * 1000);
  const world = await startWorld(t, { clock, dataDir: join(project, 'data') });
  const { admin, http, mqtt } = world.service.addresses;
  const ports = { '1883': new URL(mqtt).port, '8080': new URL(http).port, '8081': new URL(admin).port };

  mkdirSync(join(project, 'node_modules', '@types'), { recursive: true });
  symlinkSync(ROOT, join(project, 'node_modules', 'lapel'));
  for (const name of ['node', '../undici-types'])
    symlinkSync(join(ROOT, 'node_modules/@types', name), join(project, 'node_modules/@types', name));
  const files = EXAMPLES.map((code, index) => {
    const elsewhere = code
      .replaceAll(/\b(1883|8080)\b/g, (port) => ports[port as keyof typeof ports])
      .replace('fleet({ count', `fleet({ service: { mqtt: '${mqtt}', api: '${http}', admin: '${admin}' }, count`);
    const file = `example-${index}.test.ts`;
    writeFileSync(join(project, file), elsewhere);
    return file;
  });
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: COMPILER, files }));

  const tenant = await world.createTenant();
  const { deviceId, link, credential } = await world.activatedDevice(tenant);
  link.socket.destroy();
  const { clientId } = (await tenant.api.get(`${tenant.path}/devices/${deviceId}`)).body;
  const env = {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], // both examples load the same code
    LAPEL_ADMIN_TOKEN: world.service.adminToken,
    DEVICE_ID: deviceId,
    CREDENTIAL: credential,
    APPLICATION_ID: tenant.applicationId,
    CLIENT_ID: clientId,
    SECRET: tenant.secret,
  };
  const [tested, compiled] = await Promise.all([
    run(process.execPath, ['--test', ...files], { cwd: project, env }),
    run(process.execPath, [join(ROOT, 'node_modules/typescript/lib/tsc.js')], { cwd: project }),
  ]).catch((error: Error & { stdout?: string }) => {
    t.fail(error.stdout || error.message);
    return [];
  });
  t.match(tested?.stdout, /pass 2\n.*fail 0\n/s);
  t.equal(compiled?.stdout, '');
});
