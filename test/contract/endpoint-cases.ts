import { until } from '../until.ts';
import { type Cases, PLAIN } from './cases.ts';
import type { ConformanceWorld } from './conformance-world.ts';

type Answer = Awaited<ReturnType<ConformanceWorld['api']['get']>>;

/** Nobody listens there. */
const REFUSES = 'http://127.0.0.1:9/lapel';

/** Runs `work` with the path of an endpoint that is there only meanwhile: an application may have few of them. */
async function meanwhile(
  { api, path }: ConformanceWorld,
  work: (at: string) => Promise<Answer>,
  terms: object = {},
): Promise<Answer> {
  const made = await api.post(`${path}/endpoints`, { json: { url: REFUSES, ...terms } });
  const at = `${path}/endpoints/${made.body.endpointId}`;
  const answer = await work(at);
  await api.delete(at);
  return answer;
}

/** Sends test events to an endpoint, and waits until each was refused; with five of them it is down. */
async function refused({ api }: ConformanceWorld, at: string, events: number): Promise<Answer> {
  for (let sent = 0; sent < events; sent += 1) await api.post(`${at}/test`);
  let list: Answer | undefined;
  await until(async () => {
    const [endpoint, deliveries] = [await api.get(at), await api.get(`${at}/deliveries`)];
    const rows: { sequence: number; attempts: number }[] = deliveries.body.deliveries;
    list = deliveries;
    // One that is down takes further events later.
    return endpoint.body.after >= rows.at(-1)!.sequence && rows.every(({ attempts }) => attempts > 0);
  });
  return list!;
}

/** Runs `work` while a replay is running: nothing is sent again to an endpoint that is down. */
const duringReplay = (world: ConformanceWorld, work: (replay: string) => Promise<Answer>): Promise<Answer> =>
  meanwhile(world, async (at) => {
    await refused(world, at, 5);
    await world.api.post(`${at}/replay`, { json: {} });
    return work(`${at}/replay`);
  });

const STALE = { headers: { 'if-match': '"stale"' } };
const UNKNOWN = 'endpoint not found';

/** The cases of the rows about endpoints. */
export const ENDPOINTS: Record<string, Cases> = {
  endpoints: { 200: PLAIN('endpoints', 'the endpoints of the application') },
  'new endpoint': {
    201: {
      title: 'a new endpoint',
      async run({ api, path }) {
        const made = await api.post(`${path}/endpoints`, { json: { url: REFUSES } });
        await api.delete(`${path}/endpoints/${made.body.endpointId}`);
        return made;
      },
    },
    409: {
      title: 'an application with 16 endpoints',
      async run({ api, path }) {
        const made: Answer[] = [];
        do made.push(await api.post(`${path}/endpoints`, { json: { url: REFUSES, enabled: false } }));
        while (made.at(-1)?.status === 201);
        for (const { body } of made.slice(0, -1)) await api.delete(`${path}/endpoints/${body.endpointId}`);
        return made.at(-1)!;
      },
    },
  },
  'an endpoint': {
    200: { title: 'an endpoint of the application', run: (world) => meanwhile(world, (at) => world.api.get(at)) },
    404: PLAIN('an endpoint', UNKNOWN),
  },
  'change of an endpoint': {
    200: {
      title: 'an endpoint of the application',
      run: (world) => meanwhile(world, (at) => world.api.patch(at, { json: { ratePerSecond: 10 } })),
    },
    404: PLAIN('change of an endpoint', UNKNOWN),
    412: {
      title: 'somebody else has changed the endpoint',
      run: (world) => meanwhile(world, (at) => world.api.patch(at, { json: { ratePerSecond: 10 }, ...STALE })),
    },
  },
  'removal of an endpoint': {
    204: { title: 'an endpoint of the application', run: (world) => meanwhile(world, (at) => world.api.delete(at)) },
    404: PLAIN('removal of an endpoint', UNKNOWN),
    412: {
      title: 'somebody else has changed the endpoint',
      run: (world) => meanwhile(world, (at) => world.api.delete(at, STALE)),
    },
  },
  'secret of an endpoint': {
    201: {
      title: 'an endpoint of the application',
      run: (world) => meanwhile(world, (at) => world.api.post(`${at}/secret`, { json: {} })),
    },
    404: PLAIN('secret of an endpoint', UNKNOWN),
  },
  'test of an endpoint': {
    202: {
      title: 'an endpoint of the application',
      run: (world) => meanwhile(world, (at) => world.api.post(`${at}/test`)),
    },
    404: PLAIN('test of an endpoint', UNKNOWN),
    409: {
      title: 'the endpoint is disabled',
      run: (world) => meanwhile(world, (at) => world.api.post(`${at}/test`), { enabled: false }),
    },
  },
  'deliveries to an endpoint': {
    200: {
      title: 'an endpoint of the application',
      run: (world) => meanwhile(world, (at) => world.api.get(`${at}/deliveries`)),
    },
    404: PLAIN('deliveries to an endpoint', UNKNOWN),
  },
  'skip of a delivery': {
    204: {
      title: 'a delivery that waits for its next attempt',
      run: (world) =>
        meanwhile(world, async (at) => {
          const { sequence } = (await refused(world, at, 1)).body.deliveries[0];
          return world.api.post(`${at}/deliveries/${sequence}/skip`);
        }),
    },
    404: {
      title: 'no such delivery',
      run: (world) => meanwhile(world, (at) => world.api.post(`${at}/deliveries/1/skip`)),
    },
  },
  'replay to an endpoint': {
    202: {
      title: 'all events that are kept',
      run: (world) => meanwhile(world, (at) => world.api.post(`${at}/replay`, { json: {} })),
    },
    404: PLAIN('replay to an endpoint', UNKNOWN),
    409: {
      title: 'a replay is running',
      run: (world) => duringReplay(world, (replay) => world.api.post(replay, { json: {} })),
    },
  },
  'end of a replay': {
    204: {
      title: 'a replay that is running',
      run: (world) => duringReplay(world, (replay) => world.api.delete(replay)),
    },
    404: {
      title: 'no replay is running',
      run: (world) => meanwhile(world, (at) => world.api.delete(`${at}/replay`)),
    },
  },
};
