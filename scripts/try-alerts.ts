// npm run try:alerts: starts the service and a Prometheus with the rules of deploy/prometheus, makes faults for real, and
// sees that the alerts fire, and end when the fault is over. It needs Debian's package prometheus (.ci/install-prometheus)
// and takes one to three minutes, so it is not part of `npm test`.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import { ADMIN_TOKEN, fixedPorts, startProcess } from '../test/flow/service-process.ts';
import { PROCESS_METRICS } from '../test/operations/known-metrics.ts';
import { openRawDevice } from '../test/raw-device.ts';

const DEPLOY = join(import.meta.dirname, '../deploy');
const DEVICE = '490154203237518';
/** Milliseconds after which the run is given up. */
const LONGEST = 180_000;

const folder = mkdtempSync(join(tmpdir(), 'lapel-alerts-'));
const dataDir = join(folder, 'data');
const ends: (() => unknown)[] = [];
const signal = AbortSignal.timeout(LONGEST);
const print = (line: string): void => void process.stdout.write(`${line}\n`);

interface Rule {
  alert?: string;
  expr: string;
  for?: string;
}
interface Configuration {
  global: object;
  alerting?: object;
  scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
}

const rulesFile = (): { groups: { rules: Rule[] }[] } =>
  parse(readFileSync(join(DEPLOY, 'prometheus/lapel.rules.yml'), 'utf8'));

/** The rules as they are, but alerts fire after a second, and a device counts as silent after five. */
function shortenedRules(): string {
  const file = rulesFile();
  for (const rule of file.groups.flatMap(({ rules }) => rules)) {
    if (rule.for !== undefined) rule.for = '1s';
    if (rule.alert === 'LapelDevicesSilent') rule.expr = rule.expr.replace(/> 300$/, '> 5');
  }
  return stringify(file);
}

/** The example of a configuration, with this service as its only target, and short intervals. */
function configuration(target: string): string {
  const example = parse(readFileSync(join(DEPLOY, 'prometheus/prometheus.yml'), 'utf8')) as Configuration;
  const { alerting: _, scrape_configs: jobs, ...rest } = example;
  const alone = jobs.filter(({ job_name: name }) => name === 'lapel');
  for (const job of alone) job.static_configs = [{ targets: [target] }];
  const global = { scrape_interval: '1s', evaluation_interval: '1s' };
  return stringify({ ...rest, global, scrape_configs: alone });
}

/** Resolves to the first result that is not undefined. */
async function until<Result>(what: string, look: () => Promise<Result | undefined>): Promise<Result> {
  for (;;) {
    const result = await look();
    if (result !== undefined) return result;
    if (signal.aborted) throw new Error(`after ${LONGEST / 1000} s: ${what}`);
    await pause(250);
  }
}

interface Answer {
  status: string;
  error?: string;
  data: { result: { metric: Record<string, string>; value: [number, string] }[] };
}

/** Starts Prometheus on a free port. `query` asks it; `alerts` returns the names of the alerts that fire. */
async function startPrometheus(target: string) {
  writeFileSync(join(folder, 'lapel.rules.yml'), shortenedRules());
  writeFileSync(join(folder, 'prometheus.yml'), configuration(target));
  const [port] = await fixedPorts(1);
  const at = `127.0.0.1:${port}`;
  const paths = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/samples`];
  const child = spawn('prometheus', [...paths, `--web.listen-address=${at}`, '--log.level=error'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  ends.push(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
  });
  async function query(expression: string): Promise<Answer> {
    const answer = await fetch(`http://${at}/api/v1/query`, {
      method: 'POST',
      body: new URLSearchParams({ query: expression }),
    });
    return (await answer.json()) as Answer;
  }
  await until('Prometheus does not answer', async () => {
    if (child.exitCode !== null) throw new Error(`prometheus ended with ${child.exitCode}`);
    return fetch(`http://${at}/-/ready`).then(
      ({ ok }) => ok || undefined,
      () => undefined,
    );
  });
  return {
    query,
    async alerts(): Promise<string[]> {
      const { data } = await query('ALERTS{alertstate="firing"}');
      return data.result.map(({ metric }) => metric['alertname'] ?? '');
    },
  };
}

type Prometheus = Awaited<ReturnType<typeof startPrometheus>>;

/** Makes a fault, sees the alert fire that did not fire before, ends the fault, and sees the alert end. */
async function tryFault(
  prometheus: Prometheus,
  { alert, fault, make, end }: { alert: string; fault: string; make(): unknown; end(): unknown },
): Promise<void> {
  if ((await prometheus.alerts()).includes(alert)) throw new Error(`${alert} fires before its fault: ${fault}`);
  const fires = async (): Promise<boolean> => (await prometheus.alerts()).includes(alert);
  const began = performance.now();
  await make();
  await until(`${alert} does not fire: ${fault}`, async () => ((await fires()) ? true : undefined));
  print(`ok  ${alert} fires ${((performance.now() - began) / 1000).toFixed(1)} s after the fault: ${fault}`);
  await end();
  await until(`${alert} does not end`, async () => ((await fires()) ? undefined : true));
  print(`ok  ${alert} ends with it`);
}

/** A receiver of webhooks on loopback, which answers with `status`. */
async function startReceiver() {
  const receiver = { status: 500, url: '' };
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(receiver.status).end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => server.close());
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return receiver;
}

/** Sends a request, and returns the JSON of its answer; throws if it is refused. */
async function call(url: string, authorization: string, body: object, method = 'POST') {
  const headers = { authorization, 'content-type': 'application/json' };
  const request = { method, headers, body: JSON.stringify(body) };
  const answer = await fetch(url, request);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${text}`);
  return (text === '' ? {} : JSON.parse(text)) as Record<string, string>;
}

/** Registers an application with a receiver and a device, and connects the device. */
async function openFleet({ http, admin, mqtt }: { http: string; admin: string; mqtt: string }, receiver: string) {
  const asAdmin = `Bearer ${ADMIN_TOKEN}`;
  await call(`${admin}/admin/v1/developers`, asAdmin, { developerId: 'acme', name: 'Acme', deviceLimit: 10 });
  const ofAcme = `${admin}/admin/v1/developers/acme`;
  const { secret } = await call(`${ofAcme}/applications`, asAdmin, { applicationId: 'patrol', name: 'Patrol' });
  const { credential = '' } = await call(`${ofAcme}/devices`, asAdmin, { deviceId: DEVICE });
  const scopes = 'svc:application:read svc:application:write svc:device:read svc:device:write';
  const asked = await fetch(`${http}/api/v1/authenticate`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`patrol:${secret}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: scopes }),
  });
  const token = `Bearer ${((await asked.json()) as { access_token: string }).access_token}`;
  await call(`${http}/v1/applications/patrol/refresh_authkey`, token, {});
  await call(`${http}/v1/applications/patrol`, token, { deviceEvent: receiver }, 'PATCH');
  const device = await openRawDevice({ url: mqtt, deviceId: DEVICE, credential });
  ends.push(() => device.socket.destroy());
  await device.login();
  await device.subscribe(`devices/${DEVICE}/commands`);
  const activate = () => call(`${http}/v1/applications/patrol/devices/${DEVICE}`, token, {});
  return {
    /** Sends a command, which the device gets and does not acknowledge. */
    async command() {
      await activate();
      return device.command();
    },
    /** Makes the device acknowledge a command as failed, so that a webhook follows. */
    async answer({ transactionId, packet }: Awaited<ReturnType<typeof device.command>>): Promise<void> {
      device.puback(packet);
      await device.ack({ transactionId, status: 'failed' });
    },
    /** Sends all webhooks again that were not delivered. */
    redeliver: () => call(`${admin}/admin/v1/applications/patrol/deliveries/redeliver`, asAdmin, { status: 'pending' }),
  };
}

/** The expressions of all dashboards, for one service, with values in place of their variables. */
const expressionsOfDashboards = (): string[] =>
  readdirSync(join(DEPLOY, 'grafana')).flatMap((file) => {
    const { panels } = JSON.parse(readFileSync(join(DEPLOY, 'grafana', file), 'utf8')) as {
      panels: { targets: { expr: string }[] }[];
    };
    return panels.flatMap(({ targets }) =>
      targets.map(({ expr }) =>
        expr.replaceAll('$job', 'lapel').replaceAll('$instance', '.*').replaceAll('$__rate_interval', '1m'),
      ),
    );
  });

/** Asks Prometheus for everything that a dashboard shows, and looks for the metrics of the process. */
async function tryExpressions({ query }: Prometheus, admin: string): Promise<void> {
  const expressions = expressionsOfDashboards();
  for (const expression of expressions) {
    const { status, error } = await query(expression);
    if (status !== 'success') throw new Error(`${expression}: ${error}`);
  }
  const text = await (await fetch(`${admin}/metrics`)).text();
  for (const name of [...PROCESS_METRICS].filter((name) => /^(process|nodejs)_/.test(name)))
    if (!text.includes(`\n${name} `)) throw new Error(`/metrics has no ${name}`);
  if (!/^lapel_memory_limit_bytes\{kind="process"\} [1-9]/m.test(text)) throw new Error('no limit of memory is told');
  print(`ok  Prometheus answers the ${expressions.length} expressions of the dashboards`);
}

async function tryAlerts(): Promise<void> {
  const [adminPort] = await fixedPorts(1);
  const start = () =>
    startProcess({ teardown: (end) => ends.push(end) }, { LAPEL_DATA_DIR: dataDir, LAPEL_ADMIN_PORT: `${adminPort}` });
  let service = await start();
  const receiver = await startReceiver();
  const fleet = await openFleet(service.addresses, receiver.url);
  const prometheus = await startPrometheus(`127.0.0.1:${adminPort}`);
  await until('the service is not scraped', async () =>
    (await prometheus.query('up == 1')).data.result.length === 1 ? true : undefined,
  );

  let command = await fleet.command();
  await tryFault(prometheus, {
    alert: 'LapelReceiversFailing',
    fault: 'the receiver of an application answers 500',
    make: () => fleet.answer(command),
    end: () => {
      receiver.status = 204;
      return fleet.redeliver();
    },
  });
  await tryFault(prometheus, {
    alert: 'LapelDevicesSilent',
    fault: 'a device gets a command and does not acknowledge it',
    make: async () => {
      command = await fleet.command();
    },
    end: () => fleet.answer(command),
  });
  await tryFault(prometheus, {
    alert: 'LapelNotReady',
    fault: 'the data folder is gone',
    make: () => renameSync(dataDir, `${dataDir}-away`),
    end: () => renameSync(`${dataDir}-away`, dataDir),
  });
  await tryExpressions(prometheus, service.addresses.admin);
  await tryFault(prometheus, {
    alert: 'LapelDown',
    fault: 'the service is killed',
    make: () => service.signal('SIGKILL'),
    end: async () => {
      await service.closed;
      service = await start();
    },
  });
}

try {
  if (spawnSync('prometheus', ['--version']).status === 0) await tryAlerts();
  else {
    process.stderr.write('try:alerts: Prometheus is missing (.ci/install-prometheus)\n');
    process.exitCode = 2;
  }
} finally {
  for (const end of ends.reverse()) await end();
  rmSync(folder, { recursive: true, force: true });
}
