import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createDatabase, NO_POSTGRES } from '../../postgres/databases.ts';
import { until } from '../../until.ts';
import { startWorld, transactionIdOf, WIFI } from '../../world.ts';

/** A Bind message of the protocol for a portal without a name: PostgreSQL's manual, 55.7. */
const BIND = /B[\s\S]{4}\0(s\d+)\0/g;

/** A connection to the server that breaks when a certain statement is sent, once for each statement. */
async function breakable(t: Test, url: string) {
  const target = new URL(url);
  const port = Number(target.port);
  const broken = new Set<string>();
  let isOn = false;
  const proxy = createServer({ noDelay: true }, (client) => {
    const server = connect({ port, host: '127.0.0.1', noDelay: true });
    const both: Socket[] = [client, server];
    const end = (): void => {
      for (const socket of both) socket.destroy();
    };
    for (const socket of both) socket.on('error', () => undefined).on('close', end);
    server.pipe(client);
    client.on('data', (data) => {
      const names = [...data.toString('latin1').matchAll(BIND)].map(([, name]) => name as string);
      const next = isOn ? names.find((name) => !broken.has(name)) : undefined;
      if (next === undefined) return void server.write(data);
      broken.add(next);
      end();
    });
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.teardown(() => proxy.close());
  target.port = String((proxy.address() as AddressInfo).port);
  return {
    url: target.href,
    /** From now on each statement breaks its connection once. */
    begin(): void {
      isOn = true;
    },
    /** The number of broken statements. */
    count: (): number => broken.size,
  };
}

t.test('each statement of the hot units fails once, and the process lives on', { skip: NO_POSTGRES }, async (t) => {
  const way = await breakable(t, await createDatabase(t));
  const floating: unknown[] = [];
  const noted = (cause: unknown): void => void floating.push(cause);
  process.on('unhandledRejection', noted);
  t.teardown(() => process.off('unhandledRejection', noted));
  const world = await startWorld(t, { env: { LAPEL_DATABASE_URL: way.url } });
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const finished = new Set<number>();
  const attempts = new Map<string, number>();
  tenant.receiver.answer(({ headers, body }) => {
    const id = String(headers['webhook-id']);
    attempts.set(id, (attempts.get(id) ?? 0) + 1);
    if (attempts.get(id) === 1) return { status: 500, body: 'not the first time' };
    finished.add(JSON.parse(String(body)).data.transaction?.transactionId);
    return {};
  });
  way.begin();

  const accepted = async (ask: () => Promise<{ status: number }>): Promise<{ status: number; body: never }> => {
    for (;;) {
      const answer = await ask();
      if (answer.status < 500) return answer as never;
      await turn();
    }
  };
  let over = false;
  const time = (async () => {
    for (; !over; await turn()) world.clock.advance(50);
  })();
  let { link } = device;
  const living = (async () => {
    while (!over) {
      try {
        const { transactionId, operation, packet } = await link.command();
        link.puback(packet);
        if (operation === 'cancel') continue;
        for (const status of ['processing', 'succeeded']) link.publish('acks', { transactionId, status });
        link.publish('status', { lang: 'ja', software: [{ package: 'a', version: String(transactionId) }] });
        link.publish('events', {
          eventId: `e${transactionId}`,
          type: 'custom.x',
          occurredAt: '2026-11-20T09:30:00Z',
          data: {},
        });
      } catch {
        const next = await world.open(device);
        if (over || (await next.login().catch(() => undefined))?.returnCode !== 0) continue;
        await next.subscribe(`devices/${device.deviceId}/commands`).catch(() => undefined);
        link = next;
      }
    }
  })();

  const wanted: number[] = [];
  for (let last = -1; last < way.count(); ) {
    last = way.count();
    for (let i = 0; i < 3; i += 1) {
      const put = await accepted(() => tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
      wanted.push(transactionIdOf(put as never));
      await accepted(() => tenant.api.delete(`${device.path}/transactions/${wanted.at(-1)}`));
    }
    await until(() => !wanted.some((id) => !finished.has(id)));
  }
  over = true;
  link.socket.destroy();
  await Promise.all([time, living]);
  t.comment(`${way.count()} statements`);
  t.ok(way.count() > 20);
  t.same(floating, [], 'no promise was left alone');
});
