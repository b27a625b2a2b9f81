import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { createBoundedFetch, LONGEST_PROVIDER_ANSWER } from '../../src/edge/admin/sign-in/bounded-fetch.ts';
import { createFakeClock } from '../fake-clock.ts';

t.test('the log can say why a provider gave no answer', async (t) => {
  const server = createServer((request, response) => {
    if (request.url === '/long') response.end('x'.repeat(LONGEST_PROVIDER_ANSWER + 1));
    else if (request.url === '/broken') response.writeHead(502).end();
    else if (request.url === '/away') request.socket.destroy();
    else server.emit('hangs');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const clock = createFakeClock();
  const fetchBounded = createBoundedFetch({ clock, stopped: new AbortController().signal });
  const ask = (path: string) => fetchBounded(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, {});
  await t.rejects(ask('/long'), { name: 'ProviderAway', message: 'the answer is longer than 256 KiB' });
  await t.rejects(ask('/broken'), { name: 'ProviderAway', message: '/broken was answered 502' });
  await t.rejects(ask('/away'), { name: 'ProviderAway', message: 'no answer' });
  const hangs = once(server, 'hangs');
  const late = t.rejects(ask('/slow'), { name: 'ProviderAway', message: 'no answer within 5 s' });
  await hangs;
  clock.advance(5_000);
  await late;
});
