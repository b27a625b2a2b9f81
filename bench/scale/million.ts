import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { startPostgres } from '../../harness/postgres-server.ts';
import { createReceiver } from '../closed-loop.ts';
import type { Options } from '../measure.ts';
import type { Row, Table } from '../report.ts';
import { fillFleet } from './million/fill.ts';
import { startNodeProcesses } from './million/node-processes.ts';
import type { LoadPart } from './million/orders.ts';
import { createPhases, type Phase } from './million/phases.ts';
import { vacuumsInLog } from './million/server-figures.ts';

/** The calls a second of a million devices: docs/scale.md, "The load of ten million devices", divided by ten. */
const PER_MILLION: Record<LoadPart, number> = { status: 1_667, keepAlive: 3_333, commands: 116 };
const MILLION = 1_000_000;
const DEVICES_PER_NODE = 10_000;
const FEWEST_NODES = 3;
const CONNECTIONS_PER_NODE = 17;
const MEBIBYTE = 1024 ** 2;
/** A rate is held when so much of it was done. */
const HELD = 0.99;
/** How many parts are halved, one after another, when the rates of all together are not held. */
const MOST_HALVED = 2;

/** The settings that docs/operations.md recommends, and a log of what autovacuum does. */
const settingsFor = (nodes: number): Record<string, string> => ({
  max_connections: String(CONNECTIONS_PER_NODE * nodes + 20),
  shared_buffers: nodes > FEWEST_NODES ? '2GB' : '64MB',
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  wal_compression: 'on',
  wal_level: 'replica',
  autovacuum: 'on',
  autovacuum_vacuum_cost_limit: '2000',
  log_autovacuum_min_duration: '0',
  log_min_messages: 'log',
  logging_collector: 'on',
});

/** The growth of the tables that changed in a phase. */
function growthRows(phase: Phase, vacuums: Awaited<ReturnType<typeof vacuumsInLog>>): Row[] {
  const mebibytes = (bytes: number): number => Number((bytes / MEBIBYTE).toFixed(1));
  return [...phase.after.tables.values()]
    .map((now) => ({ now, before: phase.before.tables.get(now.name) ?? now }))
    .map(({ now, before }) => ({
      table: now.name,
      inserted: now.inserted - before.inserted,
      updated: now.updated - before.updated,
      'HOT %': Math.round((100 * (now.hot - before.hot)) / Math.max(1, now.updated - before.updated)),
      deleted: now.deleted - before.deleted,
      'dead rows at the end': now.dead,
      'table MiB before': mebibytes(before.heapBytes),
      'table MiB': mebibytes(now.heapBytes),
      'indexes MiB before': mebibytes(before.indexBytes),
      'indexes MiB': mebibytes(now.indexBytes),
      'autovacuum runs': now.vacuums - before.vacuums,
      's in all runs so far': Math.round(vacuums.get(now.name)?.seconds ?? 0),
    }))
    .filter(({ inserted, updated, deleted }) => inserted + updated + deleted > 0);
}

/**
 * Sends one PostgreSQL what the nodes of a fleet send, at the rates of docs/scale.md: 100 nodes for a million devices. Nodes
 * are the product's own without sockets, in one process for each processor.
 */
export async function runMillion({ rows: devices, minutes }: Options): Promise<Table[]> {
  const nodes = Math.max(FEWEST_NODES, Math.round(devices / DEVICES_PER_NODE));
  const seconds = minutes * 60;
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'lapel-million-'));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const receiver = stack.adopt(await createReceiver(), (made) => made.close());
  const server = stack.use(await startPostgres({ onDisk: true, settings: settingsFor(nodes) }));
  const databaseUrl = await server.createDatabase('million');
  const applications = Math.min(100, devices);
  const fleet = { databaseUrl, folder, devices, nodes, applications, credential: 'credential of every device' };
  const client = stack.adopt(new Client({ connectionString: databaseUrl, application_name: 'bench' }), (made) =>
    made.end(),
  );
  await client.connect();
  const log = (text: string): void => void process.stderr.write(`${new Date().toISOString()} ${text}\n`);

  log(`filling ${devices} devices`);
  const inAll = await fillFleet(client, fleet, receiver.url);
  const processes = stack.use(startNodeProcesses(fleet, Math.min(nodes, availableParallelism())));
  const phases = createPhases({ client, server, processes, log });
  log(`starting ${nodes} nodes`);
  await processes.order({ kind: 'join' });
  const alone = Math.min(60, seconds / 10);
  await phases.run('leases alone', { kind: 'load', seconds: alone, perSecond: {} });
  await processes.order({ kind: 'start' });
  const storm = await phases.run('all devices log in', { kind: 'storm', seconds: seconds / 2 });
  await processes.order({ kind: 'adopt' });
  await phases.run('leases and healing', { kind: 'load', seconds: alone, perSecond: {} });

  const rates = Object.fromEntries(
    Object.entries(PER_MILLION).map(([part, perSecond]) => [part, (perSecond * devices) / MILLION]),
  ) as Record<LoadPart, number>;
  const weights = new Map<LoadPart, number>();
  for (const part of Object.keys(rates) as LoadPart[]) {
    const order = { kind: 'load', seconds: alone, perSecond: { [part]: rates[part] } } as const;
    weights.set(part, (await phases.run(`${part} alone`, order)).databaseCores);
  }
  const everything = await phases.run('everything', { kind: 'load', seconds, perSecond: rates });
  const vacuums = await vacuumsInLog(client);
  const heaviest = [...weights].sort(([, a], [, b]) => b - a).map(([part]) => part);
  const broken = [everything];
  for (const part of heaviest.slice(0, MOST_HALVED)) {
    if ((broken.at(-1) as Phase).held >= HELD) break;
    rates[part] /= 2;
    const order = { kind: 'load', seconds: seconds / 5, perSecond: { ...rates } } as const;
    broken.push(await phases.run(`${broken.at(-1)?.name}, ${part} halved`, order));
  }
  await processes.order({ kind: 'stop' });

  const logins = storm.answer.parts['logins']?.done ?? 0;
  const rate = logins / storm.seconds;
  const notHeld = broken
    .filter(({ held }) => held < HELD)
    .map(({ name, held }) => `${name} (${Math.round(held * 100)} %)`);
  return [
    {
      name: 'Calls of a fleet',
      about: `${devices} devices on ${nodes} nodes, ${inAll - devices} more that are absent. ${Math.round(rate)} logins a second, so a million take ${Math.round(MILLION / rate / 60)} minutes. Rates that were not held: ${notHeld.join(', ') || 'none'}.`,
      rows: phases.callRows(),
    },
    {
      name: 'Processor and log of PostgreSQL',
      about:
        'Cores in use on average, those of PostgreSQL by the purpose of the connection. "driver": the processes of the nodes; "others": other programs of this machine.',
      rows: phases.serverRows(),
    },
    {
      name: 'Tables while everything runs',
      about: `Changes in ${Math.round(everything.seconds)} s; sizes before and after.`,
      rows: growthRows(everything, vacuums),
    },
  ];
}
