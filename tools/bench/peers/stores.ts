import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { freePort } from '../../harness/free-port.ts';
import { type Program, startProgram } from './program.ts';

/** Where Debian puts programs that are not on every user's path. */
const FURTHER = ['/usr/sbin', '/usr/local/sbin'];

/** The path of a program; undefined when it is not installed. */
export const findProgram = (name: string): string | undefined =>
  [...(process.env['PATH'] ?? '').split(delimiter), ...FURTHER]
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));

function found(name: string): string {
  const file = findProgram(name);
  if (file === undefined) throw new Error(`${name} is not installed (.ci/install-peers)`);
  return file;
}

/**
 * When Redis writes its append-only file through to the disk: before it answers, or once a second. BullMQ's documents
 * recommend the append-only file and `noeviction` (docs.bullmq.io, "Going to production"); those of Redis call `always` the
 * only setting that loses nothing, and `everysec` the usual one (redis.io, "Redis persistence").
 */
export type Fsync = 'always' | 'everysec';

export async function startRedis(folder: string, fsync: Fsync): Promise<Program> {
  const port = await freePort();
  const data = join(folder, 'redis');
  mkdirSync(data, { recursive: true });
  const settings = {
    port: String(port),
    bind: '127.0.0.1',
    dir: data,
    save: '',
    appendonly: 'yes',
    appendfsync: fsync,
    'maxmemory-policy': 'noeviction',
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  return startProgram({ command: [found('redis-server'), ...flags], port, log: join(folder, 'redis.log') });
}

/** The program of Restate's server; npm has it for each system in a package of its own. */
const RESTATE = `restate/node_modules/@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`;

/**
 * Starts Restate's server as it is installed: its log and its metadata are written through to the disk before it answers.
 * The service listens at `endpoint` for its calls.
 */
export async function startRestate(folder: string): Promise<{ server: Program; url: string }> {
  const [ingress, admin, node, endpoint] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const address = (port: number): string => `bind-address = "127.0.0.1:${port}"`;
  const file = join(folder, 'restate.toml');
  const settings = [
    `base-dir = "${join(folder, 'restate')}"`,
    'node-name = "bench"',
    'listen-mode = "tcp"',
    'disable-telemetry = true',
    address(node),
    `[ingress]\n${address(ingress)}`,
    `[admin]\n${address(admin)}\ndisable-web-ui = true`,
  ];
  writeFileSync(file, `${settings.join('\n')}\n`);
  const command = [join(import.meta.dirname, RESTATE), '--no-logo', '--config-file', file];
  const server = await startProgram({ command, port: ingress, log: join(folder, 'restate.log') });
  return { server, url: `http://127.0.0.1:${ingress}/?admin=${admin}&endpoint=${endpoint}` };
}

/**
 * Starts Mosquitto, which keeps sessions and messages in memory and saves all of them from time to time: here each second,
 * which is the shortest time that does not save them for every message (mosquitto.conf(5), `autosave_interval`).
 */
export async function startMosquitto(folder: string): Promise<Program> {
  const port = await freePort();
  const data = join(folder, 'mosquitto');
  mkdirSync(data, { recursive: true });
  const settings = [
    `listener ${port} 127.0.0.1`,
    'allow_anonymous true',
    'persistence true',
    `persistence_location ${data}/`,
    'autosave_interval 1',
    'max_queued_messages 100000',
    'set_tcp_nodelay true',
    'log_type error',
  ];
  if (process.getuid?.() === 0) settings.push('user root'); // otherwise it takes a user that cannot write into the folder
  const file = join(folder, 'mosquitto.conf');
  writeFileSync(file, `${settings.join('\n')}\n`);
  return startProgram({ command: [found('mosquitto'), '-c', file], port, log: join(folder, 'mosquitto.log') });
}
