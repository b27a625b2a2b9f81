// npm run try -- recovery: loses a PostgreSQL server in each way that docs/operations.md describes, under the load of callers
// and devices, goes back as it says there, and counts what is lost. It needs Debian's package postgresql and takes about a
// minute, so it is not part of `npm test`.

import { chownSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startProcess } from '../../test/flow/service-process.ts';
import { freePort, freePorts } from '../harness/free-port.ts';
import { createAttempts } from './trial/attempts.ts';
import { type Outcome, startLoad } from './try-recovery/load.ts';
import { createServer, makeFolder, run, type Server } from './try-recovery/server.ts';

const folder = mkdtempSync(join(tmpdir(), 'lapel-recovery-'));
const ends: (() => unknown)[] = [];
const { attempt, conclude } = createAttempts();

/** Milliseconds of load before and after the moment that a recovery goes back to. */
const LOAD_MS = 2000;

let made = 0;
/** A folder that the user of PostgreSQL can use, in one that it can enter. */
function newFolder(name: string): string {
  made += 1;
  return makeFolder(join(folder, `${made}-${name}`));
}

async function newServer(name: string, data = newFolder(name)): Promise<Server> {
  const port = await freePort();
  const server = createServer(data, port);
  ends.push(() => server.isRunning() && server.stop('immediate'));
  return server;
}

/** A new primary with its WAL archived, and the database of the service. */
async function newPrimary(): Promise<{ primary: Server; archive: string }> {
  const primary = await newServer('primary');
  const archive = newFolder('archive');
  run('initdb', '-D', primary.data, '-U', 'lapel', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8');
  primary.configure(
    'archive_mode = on',
    `archive_command = 'test ! -f ${archive}/%f && cp %p ${archive}/%f'`,
    'archive_timeout = 60',
    'synchronous_commit = on',
  );
  await primary.start();
  await primary.query('CREATE DATABASE lapel');
  return { primary, archive };
}

/** A standby of a primary, made by a base backup. */
async function newStandby(primary: Server): Promise<Server> {
  const data = newFolder('standby');
  const from = `host=127.0.0.1 port=${primary.port} user=lapel application_name=standby`;
  run('pg_basebackup', '-d', from, '-D', data, '-R', '-X', 'stream', '--checkpoint=fast');
  const standby = await newServer('standby', data);
  await standby.start();
  return standby;
}

const hosts = (...servers: Server[]): string =>
  `postgres://lapel@${servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}/lapel`;

/** The service on fixed ports, with the load on it. */
async function startLoaded() {
  const [http = 0, admin = 0, mqtt = 0] = await freePorts(3);
  const stops: (() => unknown)[] = [];
  const start = (databaseUrl: string, more: Record<string, string> = {}) =>
    startProcess({ teardown: (stop: () => unknown) => void stops.push(stop) } as Parameters<typeof startProcess>[0], {
      LAPEL_DATA_DIR: join(folder, `service-${http}`),
      LAPEL_DATABASE_URL: databaseUrl,
      LAPEL_HTTP_PORT: String(http),
      LAPEL_ADMIN_PORT: String(admin),
      LAPEL_MQTT_PORT: String(mqtt),
      LAPEL_LOG_LEVEL: 'error',
      ...more,
    });
  ends.push(() => stops.map((stop) => stop()));
  return { start, load: () => startLoad({ http, admin, mqtt }) };
}

const told = ({ accepted, lost, twice, doubled, open }: Outcome): string =>
  `${accepted} commands answered 201, ${lost} lost, ${twice} numbers given twice, ${doubled} carried out twice, ${open} without a result`;

function judge(outcome: Outcome, mayLose: boolean): string {
  const { lost, twice, doubled, open } = outcome;
  if (twice > 0 || doubled > 0 || open > 0 || (!mayLose && lost > 0)) throw new Error(told(outcome));
  if (mayLose && lost === 0) throw new Error(`nothing was lost, so the attempt shows nothing: ${told(outcome)}`);
  return told(outcome);
}

async function pointInTime(): Promise<string> {
  const { primary, archive } = await newPrimary();
  const loaded = await startLoaded();
  const service = await loaded.start(primary.url('lapel'));
  const load = await loaded.load();
  ends.push(load.stop);
  const base = newFolder('base');
  load.begin();
  run('pg_basebackup', '-d', primary.url('postgres'), '-D', base, '-X', 'stream', '--checkpoint=fast');
  await pause(LOAD_MS);
  const before = load.accepted();
  const [moment] = await primary.query(`SELECT to_char(clock_timestamp(), 'YYYY-MM-DD HH24:MI:SS.USOF') AS at`);
  await pause(LOAD_MS);
  await load.end();
  await primary.query('SELECT pg_switch_wal()');
  service.signal('SIGTERM');
  await service.closed;
  primary.stop('immediate');

  run('pg_verifybackup', base);
  const restored = await newServer('restored', base);
  restored.configure(
    `restore_command = 'cp ${archive}/%f %p'`,
    `recovery_target_time = '${String(moment?.['at'])}'`,
    `recovery_target_action = 'promote'`,
  );
  restored.recover();
  await restored.start();
  while ((await restored.query('SELECT pg_is_in_recovery() AS yes'))[0]?.['yes'] === true) await pause(50);

  const held = await loaded.start(restored.url('lapel'), { LAPEL_WEBHOOKS_HELD: 'true' });
  held.signal('SIGTERM');
  await held.closed;
  const again = await loaded.start(restored.url('lapel'));
  load.begin();
  await pause(LOAD_MS);
  await load.end();
  const outcome = await load.outcome();
  again.signal('SIGTERM');
  await again.closed;
  load.stop();
  if (outcome.lost > outcome.accepted - before) throw new Error(`more than the lost time is lost: ${told(outcome)}`);
  return judge(outcome, true);
}

/** Loads a service on a primary and its standby, makes something happen to the primary, and lets the standby take over. */
async function takeOver(
  happens: (primary: Server, standby: Server) => Promise<void>,
  mayLose: boolean,
): Promise<string> {
  const { primary } = await newPrimary();
  const standby = await newStandby(primary);
  const loaded = await startLoaded();
  const service = await loaded.start(hosts(primary, standby));
  const load = await loaded.load();
  ends.push(load.stop);
  load.begin();
  await pause(LOAD_MS);
  await happens(primary, standby);
  standby.promote();
  await pause(LOAD_MS);
  await load.end();
  const outcome = await load.outcome();
  service.signal('SIGTERM');
  await service.closed;
  load.stop();
  return judge(outcome, mayLose);
}

/** The primary stops in order: it sends all of its log to the standby before it ends. */
const inOrder = async (primary: Server): Promise<void> => primary.stop('fast');

/** From now on a commit waits for the standby; then the primary loses its power. */
async function synchronous(primary: Server): Promise<void> {
  primary.configure(`synchronous_standby_names = 'standby'`);
  run('pg_ctl', 'reload', '-D', primary.data);
  const text = `SELECT count(*)::int AS n FROM pg_stat_replication WHERE sync_state = 'sync'`;
  while ((await primary.query(text))[0]?.['n'] !== 1) await pause(50);
  await pause(LOAD_MS / 2);
  primary.stop('immediate');
}

/** The standby receives nothing for a while; then the primary loses its power. */
async function lagging(primary: Server, standby: Server): Promise<void> {
  const text = `SELECT count(*)::int AS n FROM pg_stat_replication WHERE state = 'streaming'`;
  while ((await primary.query(text))[0]?.['n'] !== 1) await pause(50);
  await standby.query(`ALTER SYSTEM SET primary_conninfo = ''`);
  await standby.query('SELECT pg_reload_conf()');
  await pause(LOAD_MS / 2);
  primary.stop('immediate');
}

// The user of PostgreSQL must be able to enter the folder.
const { uid, gid } = statSync(newFolder('owner'));
chownSync(folder, uid, gid);
try {
  await attempt('back to a point in time: base backup and archive', pointInTime);
  await attempt('a standby takes over in order', () => takeOver(inOrder, false));
  await attempt('the primary dies, a synchronous standby takes over', () => takeOver(synchronous, false));
  await attempt('the primary dies, an asynchronous standby that lags takes over', () => takeOver(lagging, true));
  process.exitCode = conclude() ? 0 : 1;
} finally {
  for (const end of ends.toReversed()) await end();
  rmSync(folder, { recursive: true, force: true });
}
