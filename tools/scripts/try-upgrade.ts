// npm run try -- upgrade [-- COMMIT]: makes the release of a commit (by default the one before this) and that of this checkout,
// with a migration more, installs both from their tarballs, and replaces three nodes of the former one by the new one, one
// by one, while simulated devices and callers work. No call may fail. Then the same with one process on SQLite. It takes
// some minutes and needs PostgreSQL, so it is not part of `npm test`.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fleet as makeFleet } from '@lapel/device-sim/library/sim';
import { ADMIN_TOKEN } from '../../test/flow/service-process.ts';
import { startBalancer } from '../harness/balancer.ts';
import { freePorts } from '../harness/free-port.ts';
import { startObjectStore } from '../harness/object-store.ts';
import { startPostgres } from '../harness/postgres-server.ts';
import { createAttempts } from './trial/attempts.ts';
import { trialFolder } from './trial/folder.ts';
import { run, start } from './trial/programs.ts';
import { startLoad } from './try-upgrade/load.ts';
import { commitOf, type Installed, installRelease } from './try-upgrade/releases.ts';

const NODES = 3;
const DEVICES = 30;
/** Milliseconds of load before, between and after the replacements. */
const STAY_MS = 4_000;
const LONGEST_MS = 20 * 60_000;

const [given = 'HEAD~1'] = process.argv.slice(2);
const folder = trialFolder('upgrade', LONGEST_MS);

const attempts = createAttempts();
const { attempt } = attempts;

interface Ports {
  http: number;
  admin: number;
  mqtt: number;
  objects: number;
}

const settingsOf = (name: string, ports: Ports): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  LAPEL_DATA_DIR: join(folder, name),
  LAPEL_HTTP_PORT: String(ports.http),
  LAPEL_ADMIN_PORT: String(ports.admin),
  LAPEL_MQTT_PORT: String(ports.mqtt),
  LAPEL_OBJECTS_PORT: String(ports.objects),
  LAPEL_ADMIN_TOKEN: ADMIN_TOKEN,
  LAPEL_WEBHOOK_ALLOW_PRIVATE: 'true',
  LAPEL_RATE_LIMIT: '0',
});

async function portsOf(): Promise<Ports> {
  const [http = 0, admin = 0, mqtt = 0, objects = 0] = await freePorts(4);
  return { http, admin, mqtt, objects };
}

/** Starts a release, and waits until it is ready. */
async function startNode({ bin }: Installed, env: Record<string, string>) {
  const node = start([join(bin, 'lapel'), 'serve'], { env, cwd: folder });
  await node.said(/"msg":"listening"/);
  const admin = `http://127.0.0.1:${env['LAPEL_ADMIN_PORT']}`;
  while (!(await fetch(`${admin}/readyz`).then(({ ok }) => ok))) await pause(50);
  return node;
}

type Fleet = Awaited<ReturnType<typeof makeFleet>>;
type Load = Awaited<ReturnType<typeof startLoad>>;

/** Counts the webhooks of each transaction, without those that were sent again. The receiver keeps the latest 1000. */
function followWebhooks(fleet: Fleet) {
  const ids = new Set<string>();
  const told = new Map<number, number>();
  function look(): Map<number, number> {
    for (const { webhookId, data } of fleet.receiver.webhooks) {
      const id = data.transaction?.transactionId;
      if (id === undefined || ids.has(webhookId)) continue;
      ids.add(webhookId);
      told.set(id, (told.get(id) ?? 0) + 1);
    }
    return told;
  }
  const timer = setInterval(look, 500);
  timer.unref();
  return look;
}

/** Nothing was lost and nothing came twice: each command, each device, each webhook. Returns the counts. */
async function checkAll(fleet: Fleet, load: Load, told: () => Map<number, number>): Promise<string> {
  await load.end();
  await fleet.idle();
  const untold = (): number[] => load.transactions.filter((id) => !told().has(id));
  for (let tries = 0; tries < 600 && untold().length > 0; tries += 1) await pause(50);
  assert.deepEqual(untold(), [], 'transactions without a webhook');
  assert.deepEqual(
    load.transactions.filter((id) => told().get(id) !== 1),
    [],
    'transactions that were told twice',
  );
  assert.deepEqual(fleet.troubles, [], 'troubles of devices');
  const { violations, connected, losses } = fleet.counts();
  assert.equal(violations, 0);
  assert.equal(connected, DEVICES);
  const slowest = Math.ceil(load.slowestMs());
  return `${load.transactions.length} commands, ${load.calls()} calls, slowest ${slowest} ms, ${losses} connections ended`;
}

async function tryNodes(former: Installed, next: Installed): Promise<void> {
  await using postgres = await startPostgres();
  await using store = await startObjectStore(folder);
  const ports = [await portsOf(), await portsOf(), await portsOf()];
  const common = { ...store.env, LAPEL_DATABASE_URL: await postgres.createDatabase() };
  await using http = await startBalancer(ports.map(({ http: port }) => ({ port })));
  await using admin = await startBalancer(ports.map(({ admin: port }) => ({ port })));
  await using mqtt = await startBalancer(ports.map(({ mqtt: port }) => ({ port })));
  const api = `http://127.0.0.1:${http.port}`;
  const environments = ports.map((own, index) => ({
    ...settingsOf(`node-${index}`, own),
    ...common,
    LAPEL_PUBLIC_URL: api,
  }));
  const nodes: Awaited<ReturnType<typeof startNode>>[] = [];
  for (const env of environments) nodes.push(await startNode(former, env));
  await using fleet = await makeFleet({
    count: DEVICES,
    service: {
      api,
      admin: `http://127.0.0.1:${admin.port}`,
      mqtt: `mqtt://127.0.0.1:${mqtt.port}`,
      adminToken: ADMIN_TOKEN,
    },
  });
  const load = await startLoad(fleet, api);
  const told = followWebhooks(fleet);
  await pause(STAY_MS);
  for (const [index, env] of environments.entries()) {
    await attempt(`node ${index + 1} of ${NODES} is replaced`, async () => {
      const since = load.seconds();
      const began = performance.now();
      assert.equal(await nodes[index]?.end(), 0, 'exit code after SIGTERM');
      const ended = performance.now();
      nodes[index] = await startNode(next, env);
      return `from second ${since}: stopped in ${Math.ceil(ended - began)} ms, ready after ${Math.ceil(performance.now() - ended)} ms`;
    });
    if (index === 0)
      await attempt('a node of the former release does not start again on the new schema', async () => {
        const own = { ...settingsOf('late', await portsOf()), ...common, LAPEL_PUBLIC_URL: api };
        const serve = (code: number) => run([join(former.bin, 'lapel'), 'serve'], { env: own, cwd: folder }, code);
        const { stderr } = await serve(78).catch(() => serve(70)); // 70: of the first releases
        assert.match(stderr, /newer Lapel/);
      });
    await pause(STAY_MS);
  }
  await attempt('every command came once, and its result was told', () => checkAll(fleet, load, told));
  await attempt('no call failed', async () => assert.deepEqual(load.failures, []));
  await fleet.close();
  for (const node of nodes) await node.end();
}

async function tryOne(former: Installed, next: Installed): Promise<void> {
  const env = settingsOf('alone', await portsOf());
  const at = (name: string): string => `127.0.0.1:${env[name]}`;
  let node = await startNode(former, env);
  const api = `http://${at('LAPEL_HTTP_PORT')}`;
  const mqtt = `mqtt://${at('LAPEL_MQTT_PORT')}`;
  await using fleet = await makeFleet({
    count: DEVICES,
    service: { api, admin: `http://${at('LAPEL_ADMIN_PORT')}`, mqtt, adminToken: ADMIN_TOKEN },
  });
  const load = await startLoad(fleet, api);
  const told = followWebhooks(fleet);
  await pause(STAY_MS);
  await attempt('one process on SQLite is replaced', async () => {
    const began = performance.now();
    assert.equal(await node.end(), 0, 'exit code after SIGTERM');
    const place = { env, cwd: folder };
    const { stdout } = await run([join(next.bin, 'lapel'), 'migrate', '--dry-run'], place);
    node = await startNode(next, env);
    return `away for ${Math.ceil(performance.now() - began)} ms; ${stdout.split('\n')[0]}`;
  });
  await pause(STAY_MS);
  await attempt('nothing that was accepted was lost', () => checkAll(fleet, load, told));
  await fleet.close();
  await node.end();
}

let releases: Installed[] = [];
const areMade = await attempt('both releases are made and installed from their tarballs', async () => {
  const commit = commitOf(given);
  releases = [
    await installRelease(join(folder, 'former'), commit, false),
    await installRelease(join(folder, 'next'), commitOf('HEAD'), true),
  ];
  const [former, next] = releases;
  return `${commit.slice(0, 10)} with schema ${former?.schema}, then schema ${next?.schema}`;
});
const [former, next] = releases;
if (areMade && former && next) {
  await attempt('three nodes', () => tryNodes(former, next));
  await attempt('one process', () => tryOne(former, next));
}
process.exit(attempts.conclude() ? 0 : 1);
