import t from 'tap';
import { startWorld } from '../world.ts';

/** A body without the history of a rollout, which grows with each change. */
const rules = (body: object): object => ({ ...body, history: undefined });

t.test('If-Match refuses to change what has changed since it was read', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const admin = world.admin();
  const site = 'https://hooks.example.com';
  const { rolloutId } = (
    await tenant.api.post(`${tenant.path}/rollouts`, {
      json: { operation: 'setLanguage', parameters: { lang: 'ja' }, devices: {}, startAt: '2030-01-01T00:00:00Z' },
    })
  ).body;
  const cases = {
    'the contract of a developer': {
      client: admin,
      path: '/admin/v1/developers/dev',
      json: (round: number) => ({ deviceLimit: round }),
      undo: { deviceLimit: 1 },
    },
    'the settings of an application': {
      client: tenant.api,
      path: tenant.path,
      json: (round: number) => ({ callEvent: `${site}/${round}` }),
      undo: { callEvent: `${site}/1` },
    },
    'the tags of a device': {
      client: tenant.api,
      path: `${device.path}/tags`,
      json: (round: number) => ({ site: `s${round}`, floor: '1' }),
      undo: { site: 's1' },
    },
    'the rules of a rollout': {
      client: tenant.api,
      path: `${tenant.path}/rollouts/${rolloutId}`,
      json: (round: number) => ({ ratePerMinute: round, abort: { failedPercent: 5, minimumResults: round } }),
      undo: { ratePerMinute: 1, abort: { failedPercent: 5, minimumResults: 1 } },
    },
  };
  for (const [name, { client, path, json, undo }] of Object.entries(cases)) {
    await t.test(name, async (t) => {
      const change = (body: object, tag?: string) =>
        client.patch(path, { json: body, ...(tag !== undefined && { headers: { 'if-match': tag } }) });
      const first = await change(json(1));
      const tag = String(first.headers['etag']);
      t.match(tag, /^"[\w-]{22}"$/);
      t.equal((await client.get(path)).headers['etag'], tag, 'the answer of a change has the tag of a read');
      const seen = rules((await client.get(path)).body);

      t.equal((await change(json(2))).status, 200, 'without the header every state is changed');
      const late = await change(json(3), tag);
      t.match(late, { status: 412, headers: { 'lapel-error-code': 'PRECONDITION_FAILED' } });
      for (const wrong of ['"other"', `W/${tag}`, '"', 'x', ',', `"a", W/${tag}`])
        t.equal((await change(json(3), wrong)).status, 412, wrong);

      t.equal((await change(undo)).status, 200);
      t.same(rules((await client.get(path)).body), seen, 'it is as it was');
      t.equal((await change(json(4), `W/${tag}`)).status, 412, 'a weak tag matches no state');
      t.equal((await change(json(4), `"other", ${tag}`)).status, 200, 'the same state has the same tag; one of a list');
      t.equal((await change(json(5), '*')).status, 200, 'any state');
    });
  }
});
