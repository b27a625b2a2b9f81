import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';

const ROOT = join(import.meta.dirname, '../..');
const LAPEL = join(ROOT, 'bin/lapel.mjs');
const folder = (): NodeJS.ProcessEnv => ({ PATH: process.env['PATH'], XDG_CONFIG_HOME: '/nonexistent' });
const lapel = (...args: string[]) => spawnSync(process.execPath, [LAPEL, ...args], { env: folder(), encoding: 'utf8' });

t.test('as a process: exit codes', async (t) => {
  t.match(lapel('--help'), { status: 0, stdout: /^Lapel: /, stderr: '' });
  for (const way of ['--version', '-V', 'version'])
    t.match(lapel(way), { status: 0, stdout: /^\d+\.\d+\.\d+\n$/, stderr: '' }, way);
  t.match(lapel('version', '--help'), { status: 0, stdout: /^Versions of a package/ });
  t.match(lapel('--jsno'), { status: 2, stdout: '', stderr: /^lapel: --jsno: is not an option; [^\n]*\n$/ });
  t.match(lapel('demo', 'once'), { status: 2, stdout: '', stderr: /^lapel: once: is not an option of this command\n/ });
  t.match(lapel('demo', '--help'), { status: 0, stdout: /^ {2}lapel demo --once /m, stderr: '' });
  t.match(lapel('devce'), { status: 2, stdout: '', stderr: /did you mean "device"\?/ });
  t.match(lapel('device', 'list'), { status: 2, stderr: /^lapel: --application: is needed/ });
  const args = ['device', 'list', '--application', 'a', '--url', 'http://127.0.0.1:9'];
  const nobody = lapel(...args, '--secret', '-s');
  t.match(nobody, {
    status: 1,
    stderr: /^lapel: cannot list the devices: nobody answers at http:\/\/127\.0\.0\.1:9: /,
  });
  t.notMatch(nobody.stderr, /\n {4}at /, 'no stack trace');
});

t.test('lapel serve takes values that begin with a hyphen, and suggests', async (t) => {
  t.match(lapel('serve', '--http-prot', '1'), { status: 2, stderr: /--http-prot: .*did you mean --http-port\?/ });
  t.match(lapel('serve', '--admin-token', '-short'), { status: 78, stderr: /LAPEL_ADMIN_TOKEN: cannot be an option/ });
  t.match(lapel('serve', 'now'), { status: 2, stderr: /^lapel: now: is not a setting/ });
});

t.test('Ctrl-C ends a waiting command with 130, at once, also when the terminal sends it twice', async (t) => {
  const server = createServer(() => {}).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  t.teardown(() => server.closeAllConnections());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const args = ['device', 'list', '--application', 'a', '--secret', 's', '--url', url];
  const child = spawn(process.execPath, [LAPEL, ...args], { env: folder(), stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => child.kill('SIGKILL'));
  const said = text(child.stderr);
  await once(server, 'request');
  child.kill('SIGINT');
  child.kill('SIGINT');
  t.same(await once(child, 'exit'), [130, null]);
  t.equal(await said, '');
});
