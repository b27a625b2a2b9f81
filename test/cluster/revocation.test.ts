import t from 'tap';
import { open } from '../console/feed-client.ts';
import { createPerson, signIn } from '../people/people-world.ts';
import { NO_POSTGRES as skip } from '../postgres/databases.ts';
import { startWorld } from '../world.ts';

// The clock stands still, so no regular check ends a stream, and no cached row becomes old: the hint of the node that
// makes the change does it.
t.test('what a secret has opened ends with it, on every node', { skip }, async (t) => {
  const world = await startWorld(t, { nodes: 2 });
  const admin = world.admin();
  const tenant = await world.createTenant();
  const { applicationId, path } = tenant;
  const [nodes, admins] = [
    world.nodes.map(({ addresses }) => addresses.http),
    world.nodes.map(({ addresses }) => addresses.admin),
  ];
  const own = `/admin/v1/applications/${applicationId}`;
  let { secret } = tenant;
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  /** The headers of a caller, and the change that ends what the caller has opened. */
  interface Kind {
    at: readonly string[];
    feed: string;
    headers: Record<string, string>;
    end(): Promise<{ status: number }>;
  }
  const kinds: Record<string, () => Promise<Kind>> = {
    'the secret of an application, replaced': async () => ({
      at: nodes,
      feed: `${path}/feed`,
      headers: bearer(await world.tokenOf(applicationId, secret)),
      async end() {
        const replaced = await admin.post(`${own}/secret`);
        secret = replaced.body.secret;
        return replaced;
      },
    }),
    'one of two secrets of an application, ended': async () => {
      const headers = bearer(await world.tokenOf(applicationId, secret));
      const added = await admin.post(`${own}/secrets`);
      const [, former] = (await admin.get(`${own}/secrets`)).body.secrets as { secretId: string }[];
      secret = added.body.secret;
      const end = () => admin.delete(`${own}/secrets/${former?.secretId}`);
      return { at: nodes, feed: `${path}/feed`, headers, end };
    },
    'the signing key, renewed at once': async () => ({
      at: nodes,
      feed: `${path}/feed`,
      headers: bearer(await world.tokenOf(applicationId, secret)),
      end: () => admin.post('/admin/v1/signing-keys', { json: { atOnce: true } }),
    }),
    'the token of a person of a developer, revoked': async () => {
      const json = { name: 'Eve', role: 'reader' };
      const { token, memberId } = (await admin.post('/admin/v1/developers/dev/members', { json })).body;
      const end = () => admin.delete(`/admin/v1/developers/dev/members/${memberId}`);
      return { at: nodes, feed: `${path}/feed`, headers: bearer(token), end };
    },
    'the token of a person, revoked': async () => {
      const { token, tokenId } = await createPerson(world, { personId: 'eve', role: 'operator' });
      const end = () => admin.delete(`/admin/v1/people/eve/tokens/${tokenId}`);
      return { at: admins, feed: '/admin/v1/feed', headers: bearer(token), end };
    },
    'the session of a person, whose token was revoked': async () => {
      const { token, tokenId } = await createPerson(world, { personId: 'sam', role: 'operator' });
      const cookie = await signIn(t, admins[1] ?? '', token);
      const end = () => admin.delete(`/admin/v1/people/sam/tokens/${tokenId}`);
      return { at: admins, feed: '/admin/v1/feed', headers: { cookie, 'sec-fetch-site': 'same-origin' }, end };
    },
  };
  for (const [kind, begin] of Object.entries(kinds))
    await t.test(kind, async (t) => {
      const { at, feed, headers, end } = await begin();
      const streams = await Promise.all(at.map((base) => open(t, `${base}${feed}?topics=transactions`, headers)));
      for (const stream of streams) await stream.next('snapshot');
      t.ok((await end()).status < 300);
      for (const stream of streams) t.match(await stream.next('bye'), { reason: 'session' });
      for (const base of at) t.equal((await open(t, `${base}${feed}?topics=transactions`, headers)).status, 401);
    });

  await t.test('a new token goes on at both nodes', async (t) => {
    const headers = bearer(await world.tokenOf(applicationId, secret));
    for (const base of nodes) {
      const stream = await open(t, `${base}${path}/feed?topics=transactions`, headers);
      await stream.next('snapshot');
    }
  });

  await t.test('the credential of a device, replaced', async (t) => {
    for (const node of [0, 1]) {
      const device = await world.registerDevice();
      const link = await world.connect({ ...device, node });
      const closed = new Promise((resolve) => link.socket.once('close', resolve));
      const path = `/admin/v1/devices/${device.deviceId}/credential`;
      t.match(await world.admin({ node: 1 - node }).post(path), { status: 201 });
      await closed;
      for (const other of [0, 1])
        t.match(await (await world.open({ ...device, node: other })).login(), { returnCode: 4 });
    }
  });

  await t.test('the code of a batch, revoked', async (t) => {
    const made = await admin.post('/admin/v1/developers/dev/enrolment-batches', {
      json: { name: 'a batch', expiresAt: '2027-01-01T00:00:00Z', mostDevices: 10 },
    });
    t.ok((await admin.post(`/admin/v1/enrolment-batches/${made.body.batchId}/revoke`)).status < 300);
    for (const base of nodes) {
      const body = { deviceId: '490154203237518', code: made.body.code, nonce: 'a secret that the device keeps' };
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${base}/v1/enrolments`, { method: 'POST', headers, body: JSON.stringify(body) });
      t.equal(answer.status, 403);
    }
  });
});
