import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import type { World } from '../world.ts';
import type { Watched } from './browser.ts';

/** A page on another port of this host gets the cookie of the session, and can do nothing with it. */
export async function strangerPage(t: Test, { world, watched }: { world: World; watched: Watched }): Promise<void> {
  const { admin } = world.service.addresses;
  const seen: (string | undefined)[] = [];
  const stranger = createServer((request, response) => {
    seen.push(request.headers.cookie);
    response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>stranger</title>');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => stranger.once('listening', resolve));
  t.teardown(() => stranger.close());
  const other = await watched.context.newPage();
  await other.goto(`http://127.0.0.1:${(stranger.address() as AddressInfo).port}/`);
  t.match(seen[0], /__Host-lapel=/, 'the browser sends the cookie to any port: that is why');
  const statuses: number[] = [];
  other.on('response', (response) => {
    if (response.url().startsWith(admin)) statuses.push(response.status());
  });
  const attempts = await other.evaluate(`Promise.all([
    ['POST', '/admin/v1/developers', { 'content-type': 'text/plain' }, '{"developerId":"forged","name":"x"}'],
    ['POST', '/admin/v1/developers', { 'content-type': 'application/json', 'x-lapel-console': '1' }, '{"developerId":"forged","name":"x"}'],
    ['DELETE', '/console/session', {}],
    ['GET', '/admin/v1/developers', {}],
    ['GET', '/admin/v1/feed?topics=transactions', {}],
  ].map(async ([method, path, headers, body]) => {
    const modes = await Promise.all(['cors', 'no-cors'].map((mode) =>
      fetch('${admin}' + path, { method, headers, body, mode, credentials: 'include' }).then(
        async (answer) => answer.type + ':' + (await answer.text()), () => 'refused')));
    return modes;
  }))`);
  t.ok(
    (attempts as string[][]).flat().every((one) => one === 'refused' || one === 'opaque:'),
    'nothing can be read',
  );
  t.ok(statuses.length > 0 && statuses.every((status) => status === 403), `refused: ${statuses.join()}`);
  t.equal((await world.admin().get('/admin/v1/developers/forged')).status, 404);
  await other.close();
  await watched.visit('/console/devices');
  await watched.page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor();
}
