import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLapelClient, type LapelClient } from '@lapel/client/lapel-client';
import t, { type Test } from 'tap';
import { run } from '../cli/run.ts';
import { until } from '../until.ts';
import { type Shown, send, startStream } from './stream-world.ts';

/** A proxy at an address that stays over restarts of the service; `refuses` lets it answer nothing. */
async function startProxy(t: Test, target: () => string) {
  let refuses = false;
  const server = createServer((request, response) => {
    if (refuses) return void request.socket.destroy();
    const { method = '', url = '', headers } = request;
    const upstream = forward(target() + url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    upstream.once('error', () => response.destroy());
    response.once('close', () => upstream.destroy());
    request.pipe(upstream);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.teardown(() => server.close());
  t.teardown(() => server.closeAllConnections());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refuse(wanted: boolean): void {
      refuses = wanted;
      if (wanted) server.closeAllConnections();
    },
  };
}

/** The names that devices gave to events. */
const named = (events: readonly Pick<Shown, 'data'>[]): unknown[] => events.map(({ data }) => data['eventId']);

t.test('programs that read the stream', async (t) => {
  const { world, tenant, device, events, waiting } = await startStream(t);
  const proxy = await startProxy(t, () => world.service.addresses.http);
  const { applicationId, secret } = tenant;
  const open = (): LapelClient =>
    createLapelClient({
      baseUrl: proxy.url,
      applicationId,
      secret,
      attempts: 1,
      pause: () => new Promise((resolve) => void setTimeout(resolve, 5)),
    });
  const placeOf = async (name: string): Promise<number> =>
    (await tenant.api.get(`${events}/consumers/${name}`)).body.after;
  let { link } = device;

  await t.test('a consumer gets each event once, over a loss of the connection and a restart', async (t) => {
    const wanted: string[] = [];
    const got: Shown[] = [];
    let troubles = 0;
    const stop = new AbortController();
    const input = { consumer: 'all', types: ['custom.*'], signal: stop.signal, onTrouble: () => (troubles += 1) };
    const reading = (async () => {
      for await (const event of open().events(input)) got.push(event as Shown);
    })();
    for (let count = 0; count < 3; count += 1) wanted.push(await send(link));
    await until(() => got.length === 3);
    await until(async () => (await waiting()) === 1);
    proxy.refuse(true);
    wanted.push(await send(link));
    await until(() => troubles > 1);
    proxy.refuse(false);
    await until(() => got.length === 4);
    await world.restart(() => until(() => troubles > 4));
    await tenant.renew();
    link = await world.connect(device);
    wanted.push(await send(link));
    await until(() => got.length === 5);
    await until(async () => (await placeOf('all')) >= (got[4]?.sequence ?? 0));
    t.same(named(got), wanted);
    stop.abort();
    await t.rejects(reading, { name: 'AbortError' });
  });

  await t.test(
    'a program that ends in the middle of a page goes on behind the last event that it handled',
    async (t) => {
      const lapel = open();
      const all: Shown[] = [];
      for await (const event of lapel.events({ follow: false })) all.push(event as Shown);
      t.ok(all.length > 5);
      const first: Shown[] = [];
      for await (const event of lapel.events({ consumer: 'halves' })) {
        first.push(event as Shown);
        if (first.length === 3) break;
      }
      t.equal(await placeOf('halves'), all[1]?.sequence, 'the event at which it broke off was not handled to its end');
      const rest: Shown[] = [];
      for await (const event of lapel.events({ consumer: 'halves', follow: false })) rest.push(event as Shown);
      t.same(rest, all.slice(2));
      t.equal(await placeOf('halves'), all.at(-1)?.sequence);
    },
  );

  await t.test('of two programs with one consumer, the one that is behind ends', async (t) => {
    const lapel = open();
    const slow = lapel.events({ consumer: 'two', follow: false });
    await slow.next();
    for await (const _ of lapel.events({ consumer: 'two', follow: false }));
    await slow.next();
    await t.rejects(
      slow.return(undefined).then(() => lapel.moveConsumer({ consumer: 'two', body: { after: 1 } })),
      {
        code: 'CONSUMER_AHEAD',
      },
    );
  });

  await t.test('a new consumer begins at the oldest event, or behind the newest one', async (t) => {
    const lapel = open();
    await lapel.events({ consumer: 'late', from: 'latest', follow: false }).next();
    const { next } = await lapel.listEvents({ query: { from: 'latest' } });
    t.equal(await placeOf('late'), next);
  });

  await t.test('the command line shows events, follows them, and keeps the place of a consumer', async (t) => {
    const env = {
      LAPEL_APPLICATION: applicationId,
      LAPEL_APPLICATION_SECRET: secret,
      LAPEL_URL: proxy.url,
      NO_COLOR: '1',
    };
    const lapel = (line: string, more: Parameters<typeof run>[1] = {}) => run(line.split(' '), { env, ...more });
    const shown = await lapel('events --type custom.* --limit 2 --json');
    t.equal(shown.code, 0);
    const lines = shown.stdout.trim().split('\n');
    t.equal(lines.length, 2);
    t.match(JSON.parse(lines[1] ?? ''), { type: 'custom.sos', deviceSequence: Number });
    t.match((await lapel('events --type custom.none')).stderr, /There are none/);
    t.match(await lapel(`events --device ${device.deviceId} --limit 1`), {
      code: 0,
      stdout: new RegExp(`transaction\\.succeeded {2}${device.deviceId} #1 {2}activate \\d+`),
    });

    const stop = new AbortController();
    let text = '';
    const following = lapel('events --follow --consumer watch --type custom.*', {
      interrupted: stop.signal,
      onWrite(piece) {
        text += piece;
      },
    });
    await until(async () => (await waiting()) === 1);
    await send(link, 'custom.low_battery');
    await until(() => text.includes('custom.low_battery'));
    await until(async () => (await waiting()) === 1); // it has stored its place
    stop.abort();
    t.equal((await following).code, 130);
    t.match((await lapel('consumer list')).stdout, /CONSUMER +AFTER +BEHIND[\s\S]*watch +\d+ +0 .* current /);
    t.match(await lapel('consumer move watch 1'), { code: 1, stderr: /already; going back needs/ });
    t.match(await lapel('consumer move watch x'), { code: 2, stderr: /AFTER/ });
    const pair = (await lapel('events --consumer pairs --limit 2 --json')).stdout.trim().split('\n');
    t.equal(await placeOf('pairs'), JSON.parse(pair[1] ?? '').sequence, 'all that were shown were handled');
    t.match(await lapel('consumer delete watch'), { code: 0, stdout: 'deleted: watch\n' });
    t.match(await lapel('consumer move watch 1'), { code: 0, stdout: /after +1\n/ });
  });
});
