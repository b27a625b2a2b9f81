import t from 'tap';
import { MOST_STREAMS_OF_APPLICATION } from '../../src/edge/feed/feed.ts';
import { open } from '../console/feed-client.ts';
import { startWorld } from '../world.ts';

t.test('a stream more than an application may have is refused', async (t) => {
  const world = await startWorld(t);
  const { api, path, applicationId, secret } = await world.createTenant();
  const authorization = `Bearer ${await world.tokenOf(applicationId, secret)}`;
  const target = `${path}/feed?topics=transactions`;
  const feeds = [];
  for (let count = 0; count < MOST_STREAMS_OF_APPLICATION; count += 1)
    feeds.push(await open(t, `${world.service.addresses.http}${target}`, { authorization }));
  for (const { status } of feeds) t.equal(status, 200);
  t.match(await api.get(target), { status: 429, headers: { 'lapel-error-code': 'FEEDS_IN_USE', 'retry-after': '10' } });
  for (const feed of feeds) feed.stop();
});
