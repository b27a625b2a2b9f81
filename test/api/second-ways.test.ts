import t from 'tap';
import { request } from 'undici';
import { open as openFeed } from '../console/feed-client.ts';
import { ALL_SCOPES, startWorld } from '../world.ts';

t.test('every way to the same data needs the same scope', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { deviceId } = await world.activatedDevice(tenant);
  await tenant.api.post(`${tenant.path}/packages`, { json: { package: 'com.example.camera' } });
  await tenant.api.post(`${tenant.path}/packages/com.example.camera/versions`, { json: { version: '1.0.0' } });
  const { http } = world.service.addresses;
  const scopes = ALL_SCOPES.split(' ');

  const statusOf = async (path: string, token: string): Promise<number> => {
    const answer = await request(`${http}${tenant.path}${path}`, { headers: { authorization: `Bearer ${token}` } });
    answer.body.on('error', () => undefined);
    answer.body.destroy();
    return answer.statusCode;
  };

  /** Each topic of the feed, and the operations with the same content. */
  const topics: Record<string, readonly string[]> = {
    [`devices:${deviceId}`]: ['/devices'],
    [`device:${deviceId}`]: [`/devices/${deviceId}/status`, `/devices/${deviceId}/transactions`],
    transactions: ['/transactions'],
    'transactions:1': ['/transactions/1'],
    receivers: ['/webhooks/deliveries', ''],
    'software:com.example.camera%401.0.0': ['/packages/com.example.camera/versions/1.0.0/installations'],
  };
  // Every set of scopes that a token may have.
  for (let set = 1; set < 2 ** scopes.length; set += 1) {
    const held = scopes.filter((_, index) => (set & (2 ** index)) !== 0);
    const token = await world.tokenOf(tenant.applicationId, tenant.secret, held.join(' '));
    for (const [topic, ways] of Object.entries(topics)) {
      const status = await statusOf(`/feed?topics=${topic}`, token);
      const first = await Promise.all(ways.map((way) => statusOf(way, token)));
      if (status === 200)
        t.same(
          first,
          ways.map(() => 200),
          `${held.join()}: ${topic} tells what its lists tell`,
        );
      else t.equal(status, 403, `${held.join()}: ${topic}`);
      if (held.includes('svc:device:read') && first.every((one) => one === 200)) t.equal(status, 200, topic);
    }
  }
  const token = await world.tokenOf(tenant.applicationId, tenant.secret, 'svc:device:read');
  t.equal(await statusOf(`/feed?topics=devices:${deviceId},receivers`, token), 403, 'one of several topics');

  await t.test(
    'the replacement of a secret ends its tokens and streams at once; so does the deletion of its application',
    async (t) => {
      const read = async (): Promise<number> => (await tenant.api.get(tenant.path)).status;
      t.equal(await read(), 200);
      const headers = { authorization: `Bearer ${await world.tokenOf(tenant.applicationId, tenant.secret)}` };
      const feed = await openFeed(t, `${http}${tenant.path}/feed?topics=transactions`, headers);
      await feed.next('snapshot');
      const path = `/admin/v1/applications/${tenant.applicationId}`;
      const replaced = await world.admin().post(`${path}/secret`);
      t.same(await feed.next('bye'), { reason: 'session' });
      t.equal(await read(), 401);
      t.match((await tenant.api.get(tenant.path)).headers, { 'lapel-error-code': 'TOKEN_INVALID' });
      const fresh = await world.clientOf(tenant.applicationId, replaced.body.secret);
      t.equal((await fresh.get(tenant.path)).status, 200);

      const made = await world.admin().post('/admin/v1/developers/dev/applications', { json: { name: 'short' } });
      const { applicationId, secret } = made.body;
      const other = { authorization: `Bearer ${await world.tokenOf(applicationId, secret)}` };
      const last = await openFeed(t, `${http}/v1/applications/${applicationId}/feed?topics=transactions`, other);
      await last.next('snapshot');
      await world.admin().delete(`/admin/v1/applications/${applicationId}`);
      t.same(await last.next('bye'), { reason: 'session' });
    },
  );
});
