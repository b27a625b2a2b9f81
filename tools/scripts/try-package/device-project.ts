import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../release/lockfile.ts';
import { run, start } from '../trial/programs.ts';
import type { Served } from './installed.ts';
import { makeProject, type Parts, STRICT, TSC } from './project.ts';

const DEVICE = '356938035643809';

/** The camera at the beginning of docs/devices.md. */
function camera(): string {
  const page = readFileSync(join(ROOT, 'docs/devices.md'), 'utf8');
  const [, program] = /^## With the library\n[\s\S]*?^```ts\n([\s\S]*?)^```$/m.exec(page) ?? [];
  if (program === undefined) throw new Error('docs/devices.md has no camera');
  return program;
}

/** Tries the package @lapel/device: the camera of the documents, checked with its types, carries out a command. */
export async function tryDevice(parts: Parts, served: Served): Promise<void> {
  await parts.attempts.attempt('@lapel/device: tsc --strict, and the camera of docs/devices.md', async () => {
    const { cwd, write } = await makeProject(parts, 'camera', 'module');
    write('camera.ts', camera());
    const compilerOptions = { ...STRICT, target: 'es2022', module: 'node16', outDir: 'out' };
    write('tsconfig.json', { compilerOptions, files: ['camera.ts'] });
    await run([...TSC, '-p', 'tsconfig.json'], { env: parts.env, cwd });
    const env = {
      ...parts.env,
      LAPEL_URL: served.url,
      LAPEL_ADMIN_URL: served.adminUrl,
      LAPEL_ADMIN_TOKEN: served.adminToken,
      LAPEL_APPLICATION: 'patrol',
      LAPEL_APPLICATION_SECRET: served.secret,
    };
    const lapel = async (...args: string[]): Promise<Record<string, string>> =>
      JSON.parse((await run([join(served.bin, 'lapel'), ...args, '--json'], { env, cwd })).stdout);
    const { credential = '' } = await lapel('admin', 'device', 'register', DEVICE, '--developer', 'acme');
    const { hostname, port } = new URL(served.mqttUrl);
    const program = ['node', 'out/camera.js', hostname, port, DEVICE, join(cwd, 'state')];
    await using _device = start(program, { env: { ...parts.env, LAPEL_CREDENTIAL: credential }, cwd });
    await lapel('device', 'activate', DEVICE, '--wait');
    const { status } = await lapel('device', 'language', DEVICE, 'ja', '--wait');
    assert.equal(status, 'succeeded');
  });
}
