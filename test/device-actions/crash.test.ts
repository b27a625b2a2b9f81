import { setTimeout as pause } from 'node:timers/promises';
import { createRandom } from '@lapel/device-sim/random';
import type { DeviceAction, DeviceActionStart } from '@lapel/schemas/contracts/types';
import t, { type Test } from 'tap';
import { startNodesTarget } from '../cluster/nodes-target.ts';
import { startCrashTarget } from '../flow/crash-target.ts';
import { ADMIN_TOKEN, runMain } from '../flow/service-process.ts';
import { deviceIdOf } from '../world.ts';

const SEED = Number(process.env['CRASH_SEED'] ?? 1);
const DEVICES = Number(process.env['CRASH_DEVICES'] ?? 300);
/** Nodes on one database, each of which is killed in turn; 0 is the service as one process, which is killed each time. */
const NODES = Number(process.env['CRASH_NODES'] ?? 0);
const PATIENCE = 60_000;

/** The processes of the service: `killNext` kills one with SIGKILL, and starts it again. */
async function startTarget(t: Test) {
  if (NODES === 0) {
    const target = await startCrashTarget(t);
    return {
      target,
      killNext: (): Promise<void> => {
        target.kill();
        return target.restart();
      },
    };
  }
  const target = await startNodesTarget(t, { nodes: NODES });
  let node = -1;
  return {
    target,
    killNext: (): Promise<void> => {
      node = (node + 1) % NODES;
      target.kill(node);
      return target.restart(node);
    },
  };
}

// A process that ends normally writes the compile cache for those that will be killed.
t.before(() => runMain(t, ['--help']));

t.test('a device action comes to each device once, whenever the service is killed', async (t) => {
  const random = createRandom(SEED);
  const { target, killNext } = await startTarget(t);
  async function ask<Body>(method: string, to: string, body?: object | string, headers: object = {}): Promise<Body> {
    const deadline = performance.now() + PATIENCE;
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${target.admin}/admin/v1${to}`, {
        method,
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }).catch(() => undefined);
      const text = await answer?.text().catch(() => undefined);
      if (answer && text !== undefined && answer.status < 300)
        return (text.startsWith('{"') && !text.includes('}\n{') ? JSON.parse(text) : {}) as Body;
      if (performance.now() > deadline) throw new Error(`no answer to ${method} ${to}: ${answer?.status} ${text}`);
      await pause(20);
    }
  }
  await ask('POST', '/developers', { developerId: 'dev', name: 'dev' });
  const lines = Array.from({ length: DEVICES }, (_, index) => JSON.stringify({ deviceId: deviceIdOf(index) }));
  await ask('POST', '/developers/dev/devices/import', `${lines.join('\n')}\n`, {
    'content-type': 'application/x-ndjson',
  });

  /** Begins an action, and kills the service some times while it is at work. */
  async function run(json: DeviceActionStart): Promise<{ action: DeviceAction; kills: number }> {
    const { actionId } = await ask<DeviceAction>('POST', '/device-actions', json, { 'idempotency-key': json.action });
    const read = (): Promise<DeviceAction> => ask('GET', `/device-actions/${actionId}`);
    let kills = 0;
    for (;;) {
      const action = await read();
      if (action.endedAt !== null) return { action, kills };
      await pause(random() * 15);
      if (kills < 2) {
        await killNext();
        kills += 1;
      }
    }
  }

  const blocked = await run({ action: 'block', filter: { developerId: 'dev' } });
  t.match(blocked.action, {
    state: 'completed',
    devices: DEVICES,
    counts: { done: DEVICES, unchanged: 0, waiting: 0 },
  });
  const deleted = await run({ action: 'delete', filter: { blocked: true }, confirm: DEVICES });
  t.match(deleted.action, { state: 'completed', devices: DEVICES, counts: { done: DEVICES, skipped: 0, waiting: 0 } });
  t.ok(blocked.kills + deleted.kills > 1, 'it was killed while they were at work');
  t.same((await ask<{ devices: object[] }>('GET', '/devices')).devices, []);
  await target.stop();
});
