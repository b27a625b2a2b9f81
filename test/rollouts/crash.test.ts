import { setTimeout as pause } from 'node:timers/promises';
import { createRandom } from '@lapel/device-sim/random';
import t, { type Test } from 'tap';
import { startNodesTarget } from '../cluster/nodes-target.ts';
import { startCrashTarget } from '../flow/crash-target.ts';
import { actAt, type Moments, startCrashWorld } from '../flow/crash-world.ts';
import { runMain } from '../flow/service-process.ts';

const SEED = Number(process.env['CRASH_SEED'] ?? 1);
const DEVICES = Number(process.env['CRASH_DEVICES'] ?? 24);
/** Nodes on one database, each of which is killed once; 0 is the service as one process, which is killed each time. */
const NODES = Number(process.env['CRASH_NODES'] ?? 0);
const PATIENCE = 20_000 + DEVICES * 50;
const PAGE = 1_000;

type Answer = { status: number; next: string | undefined; body: { [name: string]: never } };

/** The processes of the service: `killNext` kills one with SIGKILL; `restart` starts it again. */
async function startTarget(t: Test) {
  if (NODES === 0) {
    const target = await startCrashTarget(t);
    return { target, killNext: target.kill, restart: target.restart };
  }
  const target = await startNodesTarget(t, { nodes: NODES });
  let node = -1;
  return {
    target,
    killNext(): void {
      node = (node + 1) % NODES;
      target.kill(node);
    },
    restart: () => target.restart(node),
  };
}

t.setTimeout(300_000 + DEVICES * 200);
// A process that ends normally writes the compile cache for those that will be killed.
t.before(() => runMain(t, ['--help']));

t.test('a rollout gives each device its command once, whenever the service is killed', async (t) => {
  const random = createRandom(SEED);
  const { target, killNext, restart } = await startTarget(t);
  const world = await startCrashWorld(t, target, { devices: DEVICES, latency: { min: 0, max: 6 } });
  const { port, path, token } = world.application;
  const ask = async (method: string, to: string, body?: object, headers: object = {}): Promise<Answer> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}${to}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    const next = /[?&](after=[^&>]+)/.exec(answer.headers.get('link') ?? '')?.[1];
    return { status: answer.status, next, body: (await answer.json()) as Answer['body'] };
  };
  /** Repeats a request until the service has answered it. */
  async function insist(...request: Parameters<typeof ask>): Promise<Answer> {
    const deadline = performance.now() + PATIENCE;
    for (;;) {
      const answer = await ask(...request).catch(() => undefined);
      if (answer && answer.status < 500 && answer.status !== 409) return answer;
      if (performance.now() > deadline) throw new Error(`no answer to ${request[0]} ${request[1]}`);
      await pause(50);
    }
  }
  /** Reads a list to its end. */
  async function all<Row>(list: string, name: string): Promise<Row[]> {
    const rows: Row[] = [];
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page: Answer = await insist('GET', `${list}limit=${PAGE}&${after}`);
      rows.push(...(page.body[name] as unknown as Row[]));
      after = page.next;
    }
    return rows;
  }
  const killAt = (moment: keyof Moments, most: number): Promise<void> =>
    actAt(world.moments, { moment, nth: 1 + Math.floor(random() * most), delay: random() * 4 }, killNext).then(restart);

  const body = {
    operation: 'setLanguage',
    parameters: { lang: 'ja' },
    devices: {},
    stages: [{ percent: 20 }, { percent: 30, continueWhen: { succeededPercent: 60 } }],
  };
  // The first kill comes while the devices of the rollout are stored, or soon after.
  const first = pause(random() * 20).then(() => {
    killNext();
    return restart();
  });
  const started = insist('POST', '/rollouts', body, { 'idempotency-key': 'rollout' });
  await first;
  const { rolloutId, devices } = (await started).body as unknown as { rolloutId: string; devices: number };
  t.equal(devices, DEVICES);
  for (const moment of ['command', 'settled', 'webhook'] as const) await killAt(moment, Math.floor(DEVICES / 8));

  let shown: { state: string; counts: Record<string, number> };
  const deadline = performance.now() + PATIENCE;
  do {
    await pause(50);
    shown = (await insist('GET', `/rollouts/${rolloutId}`)).body as unknown as typeof shown;
  } while (shown.state !== 'completed' && performance.now() < deadline);
  t.match(shown, { state: 'completed', counts: { succeeded: DEVICES, waiting: 0, unfinished: 0 } });
  const members = await all<{ deviceId: string; state: string; attempts: number }>(
    `/rollouts/${rolloutId}/devices?`,
    'devices',
  );
  t.same(
    members.map(({ state, attempts }) => `${state} ${attempts}`),
    Array.from({ length: DEVICES }, () => 'succeeded 1'),
    'the counts are those of the rows',
  );
  const list = await all<{ transactionId: number; deviceId: string }>(
    `/transactions?rolloutId=${rolloutId}&`,
    'transactions',
  );
  t.same(list.map(({ deviceId }) => deviceId).sort(), members.map(({ deviceId }) => deviceId).sort(), 'one each');
  const own = new Set(list.map(({ transactionId }) => transactionId));
  for (const { deviceId, executions } of world.devices)
    t.same(
      [...executions].filter(([transactionId]) => own.has(transactionId)).map(([, times]) => times),
      [1],
      `${deviceId} has carried it out once`,
    );
  t.equal((await all('/rollouts?', 'rollouts')).length, 1, 'the request that was repeated started one rollout');
  await target.stop();
});
