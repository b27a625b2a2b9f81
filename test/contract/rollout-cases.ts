import { type Case, type Cases, PLAIN } from './cases.ts';
import type { ConformanceWorld } from './conformance-world.ts';

const SCHEDULED = {
  operation: 'setLanguage',
  parameters: { lang: 'ja' },
  devices: {},
  startAt: '2030-01-01T00:00:00Z',
};

/** Makes a rollout that has not started; returns its path. */
async function newRollout({ api, path }: ConformanceWorld): Promise<string> {
  const { body } = await api.post(`${path}/rollouts`, { json: SCHEDULED });
  return `${path}/rollouts/${body.rolloutId}`;
}

async function cancelled(world: ConformanceWorld): Promise<string> {
  const rollout = await newRollout(world);
  await world.api.delete(rollout);
  return rollout;
}

const UNKNOWN = `rollouts/rol_${'0'.repeat(32)}`;

/** The cases of an action on a rollout: on a scheduled one, on an unknown one, and on a cancelled one. */
function action(
  method: string,
  suffix: string,
  {
    json,
    before = async () => undefined,
  }: { json?: object; before?: (world: ConformanceWorld, rollout: string) => Promise<unknown> } = {},
): Cases {
  const ask = (world: ConformanceWorld, rollout: string) =>
    world.api.request(method, `${rollout}${suffix}`, json ? { json } : {});
  return {
    200: {
      title: 'a rollout that allows it',
      async run(world) {
        const rollout = await newRollout(world);
        await before(world, rollout);
        return ask(world, rollout);
      },
    },
    404: { title: 'rollout not found', run: (world) => ask(world, `${world.path}/${UNKNOWN}`) },
    409: { title: 'the rollout is cancelled', run: async (world) => ask(world, await cancelled(world)) },
  };
}

const found = (suffix: string): Case => ({
  title: 'a rollout of the application',
  run: async (world) => world.api.get(`${await newRollout(world)}${suffix}`),
});
const unknown = (suffix: string): Case => ({
  title: 'rollout not found',
  run: ({ api, path }) => api.get(`${path}/${UNKNOWN}${suffix}`),
});

const pause = (world: ConformanceWorld, rollout: string) => world.api.post(`${rollout}/pause`);

/** The cases of the operations on rollouts. */
export const ROLLOUTS: Record<string, Cases> = {
  rollouts: { 200: PLAIN('rollouts', 'the rollouts of the application') },
  'rollout start': { 201: PLAIN('rollout start', 'all devices of the application') },
  rollout: { 200: found(''), 404: unknown('') },
  'rollout change': action('PATCH', '', { json: { label: 'a' } }),
  'rollout cancel': action('DELETE', ''),
  'rollout pause': action('POST', '/pause'),
  'rollout resume': action('POST', '/resume', { before: pause }),
  'rollout approval': {
    ...action('POST', '/approve'),
    200: {
      title: 'a rollout whose present stage asks for an approval',
      async run({ api, path, world }) {
        const stages = [{ percent: 10, approval: true }];
        const json = { ...SCHEDULED, startAt: undefined, devices: { percent: 0 }, continuous: true, stages };
        const { body } = await api.post(`${path}/rollouts`, { json });
        await world.idle();
        return api.post(`${path}/rollouts/${body.rolloutId}/approve`, { json: { stage: 1 } });
      },
    },
  },
  'rollout retry': action('POST', '/retry-failed', { json: {}, before: pause }),
  'rollout devices': { 200: found('/devices'), 404: unknown('/devices') },
};
