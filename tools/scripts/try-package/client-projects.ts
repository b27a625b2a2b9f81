import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../harness/free-port.ts';
import { ROOT } from '../release/lockfile.ts';
import { run, start } from '../trial/programs.ts';
import type { Served } from './installed.ts';
import { makeProject, type Parts, STRICT, TSC } from './project.ts';

const README = join(ROOT, 'client/README.md');

/** The examples of the README of the client: calls, and a receiver. */
function examples(): [calls: string, receiver: string] {
  const [calls, receiver, ...more] = [...readFileSync(README, 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(
    ([, text = '']) => text,
  );
  if (calls === undefined || receiver === undefined || more.length > 0) throw new Error('the README has two examples');
  return [calls, receiver];
}

/** The uses of the client in a program of a project: a call, a forged webhook, and a genuine one. */
const CHECK = `
  const { LAPEL_URL: baseUrl, LAPEL_APPLICATION_SECRET: secret, LAPEL_AUTHENTICATION_KEY: authenticationKey } = process.env;
  const { Webhook } = await import('standardwebhooks');
  const lapel = createLapelClient({ baseUrl, applicationId: 'patrol', secret });
  const { devices } = await lapel.listOwnDevices({});
  const body = JSON.stringify({ type: 'test', data: { text: 'grün' } });
  const now = new Date();
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(authenticationKey).sign('msg_1', now, body),
  };
  const { event } = verifyWebhook({ body: new TextEncoder().encode(body), headers, authenticationKey });
  let refused = '';
  try { verifyWebhook({ body: body + ' ', headers, authenticationKey }); } catch (error) { refused = error.message; }
  let code = '';
  try { await lapel.readStatus({ deviceId: 'nobody' }); } catch (error) { code = error instanceof LapelError ? error.code : 'none'; }
  console.log(JSON.stringify({ devices: devices.length, type: event.type, text: event.data.text, refused, code }));
`;

function checkAnswer(stdout: string): void {
  const { refused, code, ...rest } = JSON.parse(stdout) as Record<string, unknown>;
  assert.deepEqual(rest, { devices: 1, type: 'test', text: 'grün' });
  assert.match(String(refused), /signature/i);
  assert.match(String(code), /^[A-Z_]+$/, 'the error has a code');
}

/** A test of a user with the library `lapel/sim`: a device, a command, and the webhook of its failure. */
const SIM_TEST = `import { fleet } from 'lapel/sim';

const { LAPEL_MQTT: mqtt = '', LAPEL_URL: api = '', LAPEL_ADMIN_URL: admin = '', LAPEL_ADMIN_TOKEN: adminToken = '' } = process.env;
const cameras = await fleet({ count: 1, service: { mqtt, api, admin, adminToken } });
try {
  const [camera] = cameras.devices;
  if (!camera) throw new Error('there is no camera');
  camera.on('setLanguage', () => ({ fail: 'STORAGE_FULL' }));
  await cameras.request('setLanguage', { deviceId: camera.deviceId, body: { lang: 'de' } });
  const { type } = await cameras.receiver.webhook({ deviceId: camera.deviceId, operation: 'setLanguage' });
  console.log(type);
} finally {
  await cameras[Symbol.asyncDispose]();
}
`;

/** Tries the library \`lapel/sim\` of an installed package, in a project that is checked with its types. */
export async function trySim(parts: Parts, served: Served): Promise<void> {
  const env = {
    ...parts.env,
    LAPEL_URL: served.url,
    LAPEL_ADMIN_URL: served.adminUrl,
    LAPEL_MQTT: served.mqttUrl,
    LAPEL_ADMIN_TOKEN: served.adminToken,
  };
  await parts.attempts.attempt(`${served.node}: lapel/sim in a project, with its types`, async () => {
    const { cwd, write } = await makeProject(parts, 'with-sim', 'module');
    write('main.ts', SIM_TEST);
    const compilerOptions = {
      ...STRICT,
      target: 'es2022',
      lib: ['es2022', 'esnext.disposable'],
      module: 'node16',
      outDir: 'out',
    };
    write('tsconfig.json', { compilerOptions, files: ['main.ts'] });
    await run([...TSC, '-p', 'tsconfig.json'], { env, cwd });
    assert.equal((await run(['node', 'out/main.js'], { env, cwd })).stdout, 'transaction.failed\n');
  });
}

/** Tries the package @lapel/client in three projects, against a running service. */
export async function tryClient(parts: Parts, served: Served): Promise<void> {
  const { env: base, attempts } = parts;
  const { attempt } = attempts;
  const env = {
    ...base,
    LAPEL_URL: served.url,
    LAPEL_APPLICATION_SECRET: served.secret,
    LAPEL_AUTHENTICATION_KEY: served.authenticationKey,
  };

  await attempt('@lapel/client: tsc --strict, bundler and node16, the examples of its README', async () => {
    const { cwd, write } = await makeProject(parts, 'strict', 'module');
    const [calls, receiver] = examples();
    const port = await freePort();
    assert.ok(receiver.includes('9000'));
    write('calls.ts', calls);
    write('receiver.ts', receiver.replace('9000', String(port)));
    write(
      'required.cts',
      `import client = require('@lapel/client');\nexport const make: typeof client.createLapelClient = client.createLapelClient;\n`,
    );
    const shared = { ...STRICT, target: 'es2022' };
    const bundler = { ...shared, module: 'esnext', moduleResolution: 'bundler', noEmit: true };
    write('bundler.json', { compilerOptions: bundler, files: ['calls.ts', 'receiver.ts'] });
    write('node16.json', {
      compilerOptions: { ...shared, module: 'node16', outDir: 'out' },
      files: ['calls.ts', 'receiver.ts', 'required.cts'],
    });
    for (const config of ['bundler.json', 'node16.json']) await run([...TSC, '-p', config], { env, cwd });
    await using receives = start(['node', 'out/receiver.js'], { env, cwd });
    await run([join(served.bin, 'lapel'), 'settings', 'set', '--device-event', `http://127.0.0.1:${port}/`], {
      env: { ...env, LAPEL_APPLICATION: 'patrol' },
      cwd,
    });
    const { stdout } = await run(['node', 'out/calls.js'], { env, cwd });
    assert.equal(stdout, `${served.deviceId} succeeded\n`);
    await receives.said(/^transaction\.succeeded$/m);
  });

  await attempt('@lapel/client: require in a CommonJS project', async () => {
    const { cwd, write } = await makeProject(parts, 'required', 'commonjs');
    write(
      'main.js',
      `const { createLapelClient, LapelError, verifyWebhook } = require('@lapel/client');\n(async () => {${CHECK}})();\n`,
    );
    checkAnswer((await run(['node', 'main.js'], { env, cwd })).stdout);
  });

  await attempt('@lapel/client: built for browsers by vite', async () => {
    const { cwd, write } = await makeProject(parts, 'bundled', 'module', 'vite');
    write('client.ts', `export { createLapelClient, LapelError, verifyWebhook } from '@lapel/client';\n`);
    const strict = { strict: true, target: 'es2022', lib: ['es2022', 'dom'], types: [], noEmit: true };
    write('tsconfig.json', {
      compilerOptions: { ...strict, module: 'esnext', moduleResolution: 'bundler' },
      files: ['client.ts'],
    });
    await run([...TSC, '-p', 'tsconfig.json'], { env, cwd });
    write(
      'vite.config.js',
      `export default { build: { lib: { entry: 'client.ts', formats: ['es'], fileName: 'client' } } };\n`,
    );
    const { stdout, stderr } = await run(['node', 'node_modules/vite/bin/vite.js', 'build'], { env, cwd });
    assert.doesNotMatch(stdout + stderr, /externalized|warn/i, 'browsers have everything that it uses');
    const [built = ''] = readdirSync(join(cwd, 'dist'));
    assert.doesNotMatch(readFileSync(join(cwd, 'dist', built), 'utf8'), /\b(?:from|import)\s*["']/, 'it is complete');
    write('main.js', `import { createLapelClient, LapelError, verifyWebhook } from './dist/${built}';\n${CHECK}`);
    checkAnswer((await run(['node', 'main.js'], { env, cwd })).stdout);
    return `${(readFileSync(join(cwd, 'dist', built)).length / 1024).toFixed(0)} KiB`;
  });
}
