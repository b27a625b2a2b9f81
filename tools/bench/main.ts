// npm run bench: compares Lapel with the same libraries without its rules, in one run. The absolute figures depend on the
// machine and the day; the ratios count. Prints Markdown.
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { runBeside, runVersions } from './beside.ts';
import { runEndpoints } from './endpoints.ts';
import type { Options } from './measure.ts';
import { runNodes } from './nodes.ts';
import { writeBenchmark } from './peers/document.ts';
import { readPeers, runPeers } from './peers/run-peers.ts';
import { makeReport, type Report, type Table, toMarkdown } from './report.ts';
import { runRing } from './ring.ts';
import { ROUTES, type Route } from './routes.ts';
import { runBacklog } from './scale/backlog.ts';
import { runFanOut } from './scale/fan-out.ts';
import { runGrowth } from './scale/growth.ts';
import { runRollouts } from './scale/rollouts.ts';
import { runSimulator } from './scale/simulator.ts';
import { runStorm } from './scale/storm.ts';
import { runYear } from './scale/year.ts';

const SCALE: Record<string, (options: Options) => Promise<Table | Table[]>> = {
  backlog: runBacklog,
  growth: runGrowth,
  'fan-out': runFanOut,
  rollouts: runRollouts,
  simulator: runSimulator,
  storm: runStorm,
  year: runYear,
};

const HELP = `npm run bench -- [options]

  --seconds N      duration of each measurement (4)
  --rounds N       measurements of each figure; the median counts (3)
  --devices N      connected devices (200)
  --callers LIST   numbers of callers, each measured by itself (1,8,64)
  --beside DIR     measures the loop of another checkout instead of the floor, in turns with that of this one
  --mqtt-5         measures the loop of devices that speak MQTT 5 instead, in turns with such that speak 3.1.1
  --scale[=LIST]   measures growth with time and with the fleet instead: ${Object.keys(SCALE).join(', ')}
  --database postgres
                   measures the loop on PostgreSQL (which must be installed), beside the embedded database
  --nodes LIST     numbers of nodes on PostgreSQL, each measured by itself (1)
  --routes LIST    how calls get to nodes, in turns: ${ROUTES.join(', ')} (spread)
  --peers[=LIST]   measures the loop beside services of other libraries instead, and kills their parts and those of Lapel:
                   bullmq-always, bullmq-everysec, pg-boss, dbos, restate (--seconds is 2 then, --rounds 0 measures no loops)
  --endpoints[=N]  measures N endpoints instead (64): beside such that hang, and in the order of devices
  --hanging N      with --endpoints: how many of them take a request and never answer (16)
  --kills N        with --peers: kills of each part (20; 0: none)
  --write          with --endpoints, or with --peers for all of them: writes the tables into docs/benchmark.md
  --rows N         rows with which --scale fills the database (1000000)
  --fleet N        devices of a storm, or of the simulator (4000)
  --json FILE      writes the report as JSON, too
  --compare FILE   prints the change since a report that was written with --json
  --profile DIR    writes a profile of the service's processor time there (.cpuprofile)
`;

const flags = process.argv
  .slice(2)
  .map((argument) => (/^--(?:scale|peers|endpoints)$/.test(argument) ? `${argument}=` : argument));
const { values } = parseArgs({
  args: flags,
  options: {
    seconds: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    devices: { type: 'string', default: '200' },
    callers: { type: 'string', default: '1,8,64' },
    beside: { type: 'string' },
    'mqtt-5': { type: 'boolean', default: false },
    scale: { type: 'string' },
    database: { type: 'string', default: 'sqlite' },
    nodes: { type: 'string', default: '1' },
    routes: { type: 'string', default: 'spread' },
    peers: { type: 'string' },
    endpoints: { type: 'string' },
    hanging: { type: 'string', default: '16' },
    kills: { type: 'string', default: '20' },
    write: { type: 'boolean', default: false },
    rows: { type: 'string', default: '1000000' },
    fleet: { type: 'string', default: '4000' },
    json: { type: 'string' },
    compare: { type: 'string' },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const options: Options = {
  seconds: Number(values.seconds ?? (values.peers === undefined ? 4 : 2)),
  rounds: Number(values.rounds),
  devices: Number(values.devices),
  callers: values.callers.split(',').map(Number),
  rows: Number(values.rows),
  fleet: Number(values.fleet),
  profile: values.profile,
};

function routeOf(name: string): Route {
  const route = ROUTES.find((one) => one === name);
  if (!route) throw new Error(`--routes knows ${ROUTES.join(', ')}, not ${name}`);
  return route;
}

async function measured(): Promise<Table[]> {
  if (values.peers !== undefined)
    return runPeers({ ...options, peers: readPeers(values.peers), kills: Number(values.kills) });
  if (values.endpoints !== undefined)
    return runEndpoints({ ...options, endpoints: Number(values.endpoints || 64), hanging: Number(values.hanging) });
  if (values.database === 'postgres') {
    const routes = values.routes.split(',').map(routeOf);
    return [await runNodes({ ...options, nodes: values.nodes.split(',').map(Number), routes })];
  }
  if (values.database !== 'sqlite') throw new Error(`--database knows sqlite and postgres, not ${values.database}`);
  if (values['mqtt-5']) return [await runVersions(options)];
  if (values.beside !== undefined) return [await runBeside({ ...options, beside: values.beside })];
  if (values.scale === undefined) return [await runRing(options)];
  const names = values.scale === '' ? Object.keys(SCALE) : values.scale.split(',');
  const tables: Table[] = [];
  for (const name of names) {
    const run = SCALE[name];
    if (!run) throw new Error(`--scale knows ${Object.keys(SCALE).join(', ')}, not ${name}`);
    tables.push(...[await run(options)].flat());
  }
  return tables;
}

if (values.write && values.peers !== '' && values.endpoints === undefined)
  throw new Error('--write belongs to --endpoints, or to --peers without a list');
if (values.help) process.stdout.write(HELP);
else {
  const before = values.compare && (JSON.parse(readFileSync(values.compare, 'utf8')) as Report);
  const report = makeReport(await measured());
  if (values.json) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
  if (values.write) writeBenchmark(report);
  process.stdout.write(`${toMarkdown(report, before || undefined)}\n`);
}
