import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { until } from '../until.ts';
import { startWorld, transactionIdOf } from '../world.ts';
import { DOCUMENTED } from './documented-devices.ts';

const wifi = (ssid: string) => [{ ssid, security: 'WPA2', password: 'correct horse' }];

/** The network of a device: its new connections lead to the service, or nowhere. */
async function startNetwork(t: Test, port: number) {
  const sockets = new Set<Socket>();
  const network = { port: 0, connections: 0, refused: 0, isGood: true };
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {});
    if (!network.isGood) {
      network.refused += 1;
      socket.destroy();
      return;
    }
    network.connections += 1;
    sockets.add(socket);
    const service = connect({ port, host: '127.0.0.1', noDelay: true });
    service.on('error', () => {});
    socket.pipe(service).pipe(socket);
    socket.once('close', () => service.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  network.port = (server.address() as AddressInfo).port;
  return network;
}

for (const { language, skip, make } of DOCUMENTED)
  t.test(`the device in ${language} keeps a list that leads to the service, and no other`, { skip }, async (t) => {
    t.setTimeout(60_000);
    const folder = t.testdir({ data: {}, device: {} });
    const [command = '', ...program] = await make(join(folder, 'device'));
    const world = await startWorld(t, { dataDir: join(folder, 'data') });
    const tenant = await world.createTenant();
    const { deviceId, credential } = await world.registerDevice();
    const network = await startNetwork(t, Number(new URL(world.service.addresses.mqtt).port));
    const file = join(folder, 'device', 'state.json');
    const state = () => JSON.parse(readFileSync(file, 'utf8'));
    let running: ChildProcess | undefined;
    const start = () => {
      running = spawn(command, [...program, '127.0.0.1', String(network.port), deviceId, file], {
        env: { PATH: process.env['PATH'], LAPEL_CREDENTIAL: credential },
        stdio: ['pipe', 'ignore', 'inherit'],
      });
    };
    async function cutPower(): Promise<void> {
      if (!running || running.exitCode !== null || running.signalCode !== null) return;
      running.kill('SIGKILL');
      await once(running, 'exit');
    }
    t.teardown(cutPower);
    const path = `${tenant.path}/devices/${deviceId}`;
    const tries = (list: readonly object[], kind = 'wifi') =>
      tenant.api.put(`${path}/settings/${kind}?revertAfter=3600`, { json: list }).then(transactionIdOf);
    const result = async () => (await tenant.event()).data.transaction;

    start();
    await tenant.api.post(path, { json: {} });
    t.match(await result(), { operation: 'activate', status: 'succeeded' });

    for (const [kind, list] of [
      ['wifi', wifi('good')],
      ['apn', [{ name: 'a', apn: 'b' }]],
    ] as const) {
      const { connections } = network;
      const transactionId = await tries(list, kind);
      t.match(await result(), { transactionId, status: 'succeeded' });
      t.equal(network.connections, connections + 1, 'over a new connection');
    }

    for (const [about, change] of [
      // A second is enough for this test; the device counts anew after its start.
      ['also if it loses its power meanwhile', { seconds: 1 }],
      ['also if it restarts again and again', { restarts: 4 }],
    ] as const)
      await t.test(about, async (t) => {
        network.isGood = false; // the present connection stays: the command goes over it
        const { refused } = network;
        const transactionId = await tries(wifi('nowhere'));
        await until(() => network.refused > refused);
        const former = { former: wifi('good'), seconds: 3600, restarts: 0 };
        t.match(state(), { networks: wifi('nowhere'), trial: former });
        await cutPower();
        start();
        await until(() => state().trial.restarts === 1);
        await cutPower();
        const before = state();
        writeFileSync(file, JSON.stringify({ ...before, trial: { ...before.trial, ...change } }));
        start();
        await until(() => state().trial === undefined);
        network.isGood = true;
        t.match(await result(), { transactionId, status: 'failed', error: { code: 'REVERTED' } });
        t.match(state().networks, wifi('good'));
        t.equal(state().networks.length, 1);
        await tenant.api.put(`${path}/settings/lang`, { json: { lang: 'ja' } });
        t.match(await result(), { operation: 'setLanguage', status: 'succeeded' }, 'it goes on');
      });
  });
