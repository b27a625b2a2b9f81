import t from 'tap';
import { readConfig } from '../../src/config.ts';
import { fingerprintOf, lackingSettings } from '../../src/platform/cluster/fingerprint.ts';
import { createDatabase, NO_POSTGRES as skip } from '../postgres/databases.ts';
import { startWorld } from '../world.ts';
import { twoNodes } from './nodes-world.ts';

t.test('a second node without a required common setting does not start, and names the setting', { skip }, async (t) => {
  const LAPEL_DATABASE_URL = await createDatabase(t);
  const lease = { renewMs: 50, validMs: 400 };
  await startWorld(t, { env: { LAPEL_DATABASE_URL }, cluster: () => ({ lease }) });
  const dataDir = t.testdir({ other: {} });
  await t.rejects(startWorld(t, { env: { LAPEL_DATABASE_URL }, dataDir, cluster: () => ({ lease }) }), {
    code: 'SETTING_INVALID',
    message: 'LAPEL_ADMIN_TOKEN: is needed, because another node runs on this database',
  });
});

t.test('the settings that a node shows contain no secrets', async (t) => {
  const secret = 'a secret of thirty-two characters';
  const env = {
    LAPEL_ADMIN_TOKEN: secret,
    LAPEL_PUBLIC_URL: 'https://a.test',
    LAPEL_DATABASE_URL: 'postgres://u:pass@h/d',
  };
  const config = readConfig({ env });
  const shown = fingerprintOf(config, '1.0.0');
  t.notMatch(shown, /secret|pass/);
  t.match(JSON.parse(shown), { release: '1.0.0', LAPEL_PUBLIC_URL: 'https://a.test', LAPEL_RATE_LIMIT: 200 });
  t.same(lackingSettings(config), ['LAPEL_S3_ENDPOINT']);
  t.not(fingerprintOf(readConfig({ env: { ...env, LAPEL_ADMIN_TOKEN: secret.toUpperCase() } }), '1.0.0'), shown);
});

t.test('nodes share limits, see one another’s changes, and one of them removes old rows', { skip }, async (t) => {
  const { world, tenant, elsewhere } = await twoNodes(t, { env: { LAPEL_RATE_LIMIT: '4' } });
  const { headers } = await elsewhere.get(tenant.path);
  t.match(headers['ratelimit-policy'], /q=4;/, 'half of what one alone would let through at once');

  await elsewhere.patch(tenant.path, { json: { callEvent: tenant.receiver.url } });
  world.clock.advance(1_000);
  t.match((await tenant.api.get(tenant.path)).body, { callEvent: tenant.receiver.url });

  world.clock.advance(60_000);
  await world.idle();
  const [first = 0, second = 0] = await Promise.all(
    world.nodes.map(async ({ metrics }) =>
      Math.max(...(await metrics.retentionSwept.get()).values.map(({ value }) => value)),
    ),
  );
  t.ok(first - second >= 60, 'the first one does it; the time of the other one is that of its start');
});

t.test('a limit is divided by use: the unused share of a node goes to the others', { skip }, async (t) => {
  const LIMIT = 20;
  const { world, tenant, elsewhere } = await twoNodes(t, { env: { LAPEL_RATE_LIMIT: String(LIMIT) } });
  /** The number of requests that are accepted at once. */
  async function drain(api: typeof elsewhere): Promise<number> {
    for (let count = 0; ; count += 1) if ((await api.get(tenant.path)).status === 429) return count;
  }
  // The nodes report their use to each other with the next renewal of their leases.
  const told = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 150));
  /**
   * The number of requests that each of these nodes accepts in a second under full load, when the nodes know each
   * other's use.
   */
  async function until(apis: (typeof elsewhere)[], fits: (counts: number[]) => boolean): Promise<number[]> {
    let counts: number[] = [];
    for (let tries = 0; tries < 20; tries += 1) {
      world.clock.advance(1_000);
      await told();
      counts = [];
      for (const api of apis) counts.push(await drain(api));
      if (fits(counts)) break;
    }
    return counts;
  }
  await drain(tenant.api);
  t.same(await until([tenant.api], ([one = 0]) => one >= LIMIT - 1), [LIMIT], 'one node alone lets all of it through');
  const both = await until(
    [tenant.api, elsewhere],
    (counts) => Math.min(...counts) >= LIMIT / 2 - 1 && counts[0]! < LIMIT,
  );
  t.ok(both[0]! + both[1]! <= LIMIT + 2, `both: ${both.join(', ')}`);
  t.ok(Math.min(...both) >= LIMIT / 2 - 1, 'and each has its part');
});

t.test('a node shows its state in the cluster', { skip }, async (t) => {
  const { world } = await twoNodes(t);
  t.equal((await world.anonymousAdmin().get('/readyz')).status, 200);
  const { body } = await world.admin().get('/metrics');
  t.match(String(body), /^lapel_cluster_nodes 2$/m);
  t.match(String(body), /^lapel_cluster_lease_seconds \d+\.\d+$/m);
  t.match(String(body), /^lapel_cluster_hints_total\{kind="wake|close|due|partitions",outcome="sent"\} \d+$/m);
});
