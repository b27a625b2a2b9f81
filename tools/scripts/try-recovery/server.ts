import { execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { findPostgres, userOfServers } from '../../harness/postgres-server.ts';

/** The folder of all programs of PostgreSQL; Debian links only a few of them elsewhere. */
function programs(): string {
  const listed = findPostgres();
  if (listed === undefined) throw new Error('PostgreSQL is not installed (Debian: apt-get install postgresql)');
  const found = [listed, execFileSync(join(listed, 'pg_ctl'), ['--version'], { encoding: 'utf8' })];
  const version = /\) (\d+)/.exec(found[1] ?? '')?.[1] ?? '';
  return [listed, `/usr/lib/postgresql/${version}/bin`].find((one) => existsSync(join(one, 'pg_basebackup'))) ?? listed;
}

const PROGRAMS = programs();
const { as, owner: USER } = userOfServers();

/** Runs a program of PostgreSQL as the user of its servers. Throws its output when it fails. */
export function run(program: string, ...args: string[]): void {
  const [command = '', ...rest] = [...as, join(PROGRAMS, program), ...args];
  execFileSync(command, rest, { cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Makes a folder that the servers can use. */
export function makeFolder(path: string): string {
  mkdirSync(path, { mode: 0o700 });
  if (USER) chownSync(path, USER.uid, USER.gid);
  return path;
}

const isThere = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** A server with its data in a folder that exists: `initdb`, or `pg_basebackup`, made it. */
export function createServer(data: string, port: number) {
  const url = (database: string): string => `postgres://lapel@127.0.0.1:${port}/${database}`;
  const pidOf = (): number => Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);

  async function query(text: string, database = 'postgres'): Promise<Record<string, unknown>[]> {
    const client = new Client({ connectionString: url(database) });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end();
    }
  }

  return {
    data,
    port,
    url,
    query,
    /** Adds lines to postgresql.conf. */
    configure(...lines: string[]): void {
      writeFileSync(join(data, 'postgresql.conf'), `${lines.join('\n')}\n`, { flag: 'a' });
    },
    /** Starts it; resolves when it answers, also as a standby. */
    async start(): Promise<void> {
      const settings = ['-c', `port=${port}`, '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='];
      const [command = '', ...rest] = [...as, join(PROGRAMS, 'postgres'), '-D', data, ...settings];
      spawn(command, rest, { cwd: '/', stdio: 'ignore', detached: true }).unref();
      for (let tries = 0; ; tries += 1) {
        try {
          await query('SELECT 1');
          return;
        } catch (cause) {
          if (tries > 300) throw new Error(`the server of ${data} does not start`, { cause });
          await pause(50);
        }
      }
    },
    /** Makes the next start replay the archive (`restore_command`). */
    recover(): void {
      const file = join(data, 'recovery.signal');
      writeFileSync(file, '');
      if (USER) chownSync(file, USER.uid, USER.gid);
    },
    /** Ends it: `immediate` is a power failure. */
    stop: (mode: 'fast' | 'immediate'): void => run('pg_ctl', 'stop', '-D', data, '-m', mode, '-w'),
    promote: (): void => run('pg_ctl', 'promote', '-D', data, '-w'),
    isRunning: (): boolean => existsSync(join(data, 'postmaster.pid')) && isThere(pidOf()),
  };
}

export type Server = ReturnType<typeof createServer>;
