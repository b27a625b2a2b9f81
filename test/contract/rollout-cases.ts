import { type Case, type Cases, PLAIN } from './cases.ts';
import type { ConformanceWorld } from './conformance-world.ts';

const SCHEDULED = {
  operation: 'setLanguage',
  parameters: { lang: 'ja' },
  devices: {},
  startAt: '2030-01-01T00:00:00Z',
};

/** Makes a rollout that has not started, or one with other members; returns its path. */
async function newRollout({ api, path }: ConformanceWorld, json: object = SCHEDULED): Promise<string> {
  const { body } = await api.post(`${path}/rollouts`, { json });
  return `${path}/rollouts/${body.rolloutId}`;
}

/** Makes a rollout whose first stage waits for an approval; returns its path. */
async function waitingForApproval(conformance: ConformanceWorld): Promise<string> {
  const { startAt: _, ...now } = SCHEDULED;
  const rollout = await newRollout(conformance, { ...now, stages: [{ count: 1, approval: true }] });
  await conformance.world.idle();
  return rollout;
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
    made = newRollout,
    before = async () => undefined,
  }: {
    json?: object;
    made?: (world: ConformanceWorld) => Promise<string>;
    before?: (world: ConformanceWorld, rollout: string) => Promise<unknown>;
  } = {},
): Cases {
  const ask = (world: ConformanceWorld, rollout: string) =>
    world.api.request(method, `${rollout}${suffix}`, json ? { json } : {});
  return {
    200: {
      title: 'a rollout that allows it',
      async run(world) {
        const rollout = await made(world);
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

/** Reverts a rollout whose command was published, to another version. */
async function revertOfSoftware(conformance: ConformanceWorld): Promise<{ status: number }> {
  const { api, path, world, newVersion, upload, versionPath } = conformance;
  const { name } = await newVersion('distributing');
  await api.post(`${path}/packages/${name}/versions`, { json: { version: '1.0.1' } });
  await upload(name, '1.0.1');
  await api.post(`${versionPath(name, '1.0.1')}/distributions`);
  const parameters = { package: name, version: '1.0.0' };
  const rollout = await newRollout(conformance, { operation: 'installSoftware', parameters, devices: {} });
  await world.idle();
  return api.post(`${rollout}/revert`, { json: { version: '1.0.1' } });
}

const withoutSuccess = (cases: Cases): Cases =>
  Object.fromEntries(Object.entries(cases).filter(([status]) => status !== '200'));

const pause = (world: ConformanceWorld, rollout: string) => world.api.post(`${rollout}/pause`);

/** The cases of the operations on rollouts. */
export const ROLLOUTS: Record<string, Cases> = {
  rollouts: { 200: PLAIN('rollouts', 'the rollouts of the application') },
  'rollout start': {
    200: {
      title: 'a dry run',
      run: ({ api, path }) =>
        api.post(`${path}/rollouts`, {
          json: { operation: 'setLanguage', parameters: { lang: 'ja' }, devices: {}, dryRun: true },
        }),
    },
    201: PLAIN('rollout start', 'all devices of the application'),
    404: {
      title: 'package not found',
      run({ api, path, newName }) {
        const parameters = { package: newName(), version: '1.0.0' };
        return api.post(`${path}/rollouts`, { json: { operation: 'installSoftware', parameters, devices: {} } });
      },
    },
  },
  rollout: { 200: found(''), 404: unknown('') },
  'rollout change': {
    ...action('PATCH', '', { json: { label: 'a' } }),
    412: {
      title: 'a rollout that was changed after it was read',
      run: async (world) =>
        world.api.patch(await newRollout(world), { json: { label: 'a' }, headers: { 'if-match': '"old"' } }),
    },
  },
  'rollout cancel': action('DELETE', ''),
  'rollout pause': action('POST', '/pause'),
  'rollout resume': action('POST', '/resume', { before: pause }),
  'rollout approval': action('POST', '/approve', { json: { stage: 1 }, made: waitingForApproval }),
  'rollout retry': action('POST', '/retry-failed', { json: {}, before: pause }),
  'rollout revert': {
    ...withoutSuccess(action('POST', '/revert', { json: {} })),
    201: { title: 'a rollout of software, with a version to go back to', run: revertOfSoftware },
  },
  'rollout results': { 200: found('/results'), 404: unknown('/results') },
  'rollout devices': { 200: found('/devices'), 404: unknown('/devices') },
};
