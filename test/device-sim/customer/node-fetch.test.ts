import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createNodeFetch } from '@lapel/device-sim/customer/node-fetch';
import t from 'tap';

t.test('calls take turns at the nodes, and a node that does not answer is avoided for a second', async (t) => {
  const servers = await Promise.all(
    ['a', 'b'].map(async (name) => {
      const server = createServer((request, response) => response.end(name + request.url)).listen(0, '127.0.0.1');
      await once(server, 'listening');
      t.teardown(() => server.close());
      return server;
    }),
  );
  const urls = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  let now = 0;
  const call = createNodeFetch(urls, () => now);
  const ask = async (): Promise<string> =>
    (await call(`${urls[0]}/x?y=1`, { headers: { connection: 'close' } })).text();
  t.strictSame([await ask(), await ask(), await ask()], ['a/x?y=1', 'b/x?y=1', 'a/x?y=1']);
  servers[1]?.close();
  servers[1]?.closeAllConnections();
  await t.rejects(ask(), { message: 'fetch failed' });
  t.strictSame([await ask(), await ask()], ['a/x?y=1', 'a/x?y=1']);
  now += 1001;
  await t.rejects(ask(), { message: 'fetch failed' }, 'after a second it is tried again');
  servers[0]?.closeAllConnections();
});
