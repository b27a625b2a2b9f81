import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { chown, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { freePort } from './free-port.ts';

const run = promisify(execFile);

/** The folder of Debian's packages, with one folder for each version. */
const DEBIAN = '/usr/lib/postgresql';

/** A folder in memory, on Linux. Data are kept there, unless the caller wants them on the disk. */
const MEMORY = '/dev/shm';
/** Bytes that must be free in the folder in memory. */
const ROOM = 1024 * 1024 * 1024;

// fsync stays on, because the service refuses a server without it.
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  max_connections: '200',
  shared_buffers: '64MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  log_min_messages: 'fatal',
};

export interface PostgresServer extends AsyncDisposable {
  readonly port: number;
  /** Seconds of processor time that the server has used, with all its processes; NaN if the kernel does not tell. */
  cpuSeconds(): number;
  /** The URL of one of its databases. */
  url(database: string): string;
  /** Creates a database, as a copy of `template` when that is given; returns its URL. */
  createDatabase(name?: string, template?: string): Promise<string>;
  dropDatabase(name: string): Promise<void>;
  /** SIGKILL to the server and all its processes. */
  kill(): Promise<void>;
  /** Stops the server as `pg_ctl stop` does; `immediate` waits for nothing, as in a power failure. */
  stop(mode: 'fast' | 'immediate'): Promise<void>;
  /** Starts the server again, with the same data and port. */
  start(): Promise<void>;
  /** Halts the server's processes, or lets them go on. */
  freeze(frozen: boolean): Promise<void>;
}

/** The folder of PostgreSQL's programs; undefined when it is not installed. */
export function findPostgres(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...versions.map((name) => join(DEBIAN, name, 'bin')),
  ];
  return folders.find((folder) => existsSync(join(folder, 'postgres')) && existsSync(join(folder, 'initdb')));
}

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize > ROOM;
  } catch {
    return false; // the folder does not exist
  }
}

/** Whether every user can reach the folder's content; false for a folder that does not exist. */
function isOpen(folder: string): boolean {
  try {
    const parent = dirname(folder);
    return (statSync(folder).mode & 0o001) !== 0 && (parent === folder || isOpen(parent));
  } catch {
    return false;
  }
}

/**
 * The folder for a server's data. A server that runs as another user must be able to reach it, and TMPDIR may be private.
 */
function dataFolder({ onDisk, asOther }: { onDisk: boolean; asOther: boolean }): string {
  if (!onDisk && hasRoom(MEMORY)) return MEMORY;
  const folders = [tmpdir(), '/tmp', '/var/tmp'];
  return (asOther ? folders.find((folder) => isOpen(resolve(folder))) : undefined) ?? tmpdir();
}

const isRoot = (): boolean => process.getuid?.() === 0;

/** The beginning of each command for a server, and the owner of its files: PostgreSQL refuses to run as root. */
export function userOfServers(): { as: string[]; owner?: { uid: number; gid: number } } {
  if (!isRoot()) return { as: [] };
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  const owner = { uid: idOf('-u'), gid: idOf('-g') };
  return { as: ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'], owner };
}

/** The kernel's numbers of a process, from its state on (proc_pid_stat(5), field 3); undefined when it has ended. */
function statOf(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** The processes whose parent is this one. */
function childrenOf(pid: number): number[] {
  const processes = existsSync('/proc') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : [];
  return processes.map(Number).filter((one) => Number(statOf(one)?.[1]) === pid);
}

// The kernel's clock tick: 100 per second on every Linux that Node runs on.
const TICKS_PER_SECOND = 100;
/** The fields utime and stime, of the process itself and of its children that have ended. */
const OWN = [11, 12];
const OF_CHILDREN = [13, 14];

function secondsOf(pid: number, fields: readonly number[]): number {
  const stat = statOf(pid);
  return fields.reduce((sum, field) => sum + Number(stat?.[field] ?? 0), 0) / TICKS_PER_SECOND;
}

const isThere = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const signal = (pid: number, name: NodeJS.Signals): void => {
  if (isThere(pid)) process.kill(pid, name);
};

/** Keeps a copy of a new data folder. When several processes do so at once, one wins, and none sees an incomplete copy. */
async function keep(data: string, kept: string): Promise<void> {
  const copy = `${kept}-${process.pid}`;
  await mkdir(dirname(kept), { recursive: true });
  await run('cp', ['-a', data, copy]);
  await rename(copy, kept).catch(() => rm(copy, { recursive: true, force: true }));
}

/**
 * Starts a PostgreSQL server on loopback, with data of its own in a temporary folder. When it is disposed of, or when this
 * process ends in any way, the server ends and the folder is removed. Throws when PostgreSQL is not installed.
 */
export async function startPostgres({
  port: wanted,
  onDisk = false,
  settings: more = {},
  kept,
  env = {},
}: {
  port?: number;
  /** Keeps its data on the disk, for a server that is measured. */
  onDisk?: boolean;
  /** Settings in addition to the usual ones. */
  settings?: Record<string, string>;
  /** A folder that keeps new data, from which later servers copy them, because initdb takes half a second. */
  kept?: string;
  /** Variables of the server's environment. */
  env?: Record<string, string>;
} = {}): Promise<PostgresServer> {
  const programs = findPostgres();
  if (!programs) throw new Error('PostgreSQL is not installed on this machine (Debian: apt-get install postgresql)');
  let port = wanted ?? (await freePort());
  const asOther = isRoot();
  const folder = await mkdtemp(join(dataFolder({ onDisk, asOther }), 'lapel-postgres-'));
  const data = join(folder, 'data');
  const { as, owner } = userOfServers();
  if (owner) await chown(folder, owner.uid, owner.gid);
  if (kept !== undefined && existsSync(kept)) await run('cp', ['-a', kept, data]);
  else {
    const [first, ...rest] = [...as, join(programs, 'initdb')];
    const options = ['-U', 'lapel', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync', '--no-instructions'];
    await run(first, [...rest, '-D', data, ...options], { cwd: folder });
    if (kept !== undefined) await keep(data, kept);
  }

  let guard: ChildProcess | undefined;
  let main = 0; // the process identifier of the server's first process
  let hasStarted = false;
  let lastDatabase = 0;

  async function admin(text: string): Promise<Record<string, string>[]> {
    const client = new Client({ connectionString: url('postgres') });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Record<string, string>>(text)).rows;
    } finally {
      await client.end();
    }
  }

  const url = (database: string): string => `postgres://lapel@127.0.0.1:${port}/${database}`;

  /** Copies files, which takes half the time of the copy by the log. PostgreSQL 14 knows no other way, and no name for it. */
  let strategy: string | undefined;
  async function strategyOf(): Promise<string> {
    const [version] = await admin('SHOW server_version_num');
    return Number(version?.['server_version_num']) >= 150_000 ? 'STRATEGY file_copy' : '';
  }

  /** Starts the server's process, which tries to listen at `port`. */
  function launch(): void {
    const settings = {
      ...SETTINGS,
      unix_socket_directories: '',
      port: String(port),
      ...more,
    };
    const server = [...as, join(programs as string, 'postgres'), '-D', data];
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    // A shell stands between: when this process ends, the shell's standard input closes, and it ends the server and removes
    // the folder.
    const script = '"$@" & cat >/dev/null; kill -CONT $!; kill -QUIT $!; wait $!; rm -rf "$FOLDER"';
    guard = spawn('sh', ['-c', script, 'sh', ...server, ...flags], {
      cwd: folder,
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { ...process.env, ...env, FOLDER: folder },
    });
    guard.unref();
    (guard.stdin as unknown as { unref(): void }).unref();
  }

  const pidInFile = (): number => Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);

  /** Whether the process that `postmaster.pid` names is alive: a server that was killed leaves the file. */
  function isRunning(): boolean {
    try {
      return isThere(pidInFile());
    } catch {
      return false;
    }
  }

  async function start(): Promise<void> {
    launch();
    for (let tries = 0; ; tries += 1) {
      try {
        await admin('SELECT 1');
        main = pidInFile();
        hasStarted = true;
        return;
      } catch (cause) {
        if (tries > 500) throw new Error('PostgreSQL does not start', { cause });
        // Another process may have taken the free port meanwhile, or a child process that was forked during a kill may still
        // hold the shared memory. Then the server has ended.
        if (tries % 100 === 99 && !isRunning()) {
          guard?.kill('SIGKILL');
          guard?.stdin?.destroy();
          if (wanted === undefined && !hasStarted) port = await freePort();
          launch();
        }
        await pause(20);
      }
    }
  }

  async function haveEnded(pids: readonly number[]): Promise<void> {
    while (pids.some(isThere)) await pause(5);
  }

  const processes = (): number[] => (main === 0 ? [] : [main, ...childrenOf(main)]);

  async function end(name: NodeJS.Signals): Promise<void> {
    const all = processes();
    for (const pid of name === 'SIGKILL' ? all : all.slice(0, 1)) signal(pid, name);
    await haveEnded(all);
    main = 0;
    guard?.kill('SIGKILL'); // the shell has nothing left to guard, and must not remove the data
    guard?.stdin?.destroy();
  }

  await start();
  return {
    get port() {
      return port;
    },
    url,
    cpuSeconds() {
      if (!existsSync('/proc')) return Number.NaN;
      const children = childrenOf(main).reduce((sum, pid) => sum + secondsOf(pid, OWN), 0);
      return secondsOf(main, [...OWN, ...OF_CHILDREN]) + children;
    },
    async createDatabase(name, template = 'template1') {
      lastDatabase += 1;
      const database = name ?? `d${process.pid}_${lastDatabase}`;
      strategy ??= await strategyOf();
      await admin(`CREATE DATABASE ${database} TEMPLATE ${template} ${strategy}`);
      return url(database);
    },
    async dropDatabase(name) {
      await admin(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
    kill: () => end('SIGKILL'),
    stop: (mode) => end(mode === 'fast' ? 'SIGINT' : 'SIGQUIT'),
    start,
    async freeze(frozen) {
      for (const pid of processes()) signal(pid, frozen ? 'SIGSTOP' : 'SIGCONT');
    },
    async [Symbol.asyncDispose]() {
      for (const pid of processes()) signal(pid, 'SIGCONT');
      await end('SIGQUIT');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
