import { type Cases, PLAIN } from './cases.ts';
import type { ConformanceWorld } from './conformance-world.ts';

const at = (path: string, name: string): string => `${path}/events/consumers/${name}`;

/** Makes a consumer at the newest event, and returns the number of that event. */
async function atNewest({ api, path }: ConformanceWorld, name: string): Promise<number> {
  const { next } = (await api.get(`${path}/events?from=latest`)).body;
  await api.put(at(path, name), { json: { after: next } });
  return next;
}

/** The cases of the rows about the stream of events. */
export const STREAM: Record<string, Cases> = {
  'stream of events': {
    200: PLAIN('stream of events', 'the events of the application'),
    410: {
      title: 'events behind `after` were removed',
      async run({ api, path, world, tenant }) {
        const raw = await world.raw();
        await raw.exec(
          `INSERT INTO event_counts (application_id, device_id, last) VALUES ('${tenant.applicationId}', '', 2)`,
        );
        return api.get(`${path}/events?after=1`);
      },
    },
  },
  'consumers of the stream': { 200: PLAIN('consumers of the stream', 'the consumers of the application') },
  'a consumer of the stream': {
    200: {
      title: 'a consumer of the application',
      async run(world) {
        await atNewest(world, 'one');
        return world.api.get(at(world.path, 'one'));
      },
    },
    404: { title: 'consumer not found', run: ({ api, path }) => api.get(at(path, 'nobody')) },
  },
  'move of a consumer': {
    200: { title: 'a new consumer', run: ({ api, path }) => api.put(at(path, 'new'), { json: { after: 0 } }) },
    404: {
      title: 'the name has another form',
      run: ({ api, path }) => api.put(at(path, 'No'), { json: { after: 0 } }),
    },
    409: {
      title: 'the consumer is further already',
      async run(world) {
        await atNewest(world, 'further');
        return world.api.put(at(world.path, 'further'), { json: { after: 0 } });
      },
    },
    412: {
      title: 'another worker has moved the consumer',
      async run({ api, path }) {
        const headers = { 'if-match': '"stale"' };
        return api.put(at(path, 'shared'), { json: { after: 0 }, headers });
      },
    },
  },
  'deletion of a consumer': {
    204: {
      title: 'a consumer of the application',
      async run(world) {
        await atNewest(world, 'gone');
        return world.api.delete(at(world.path, 'gone'));
      },
    },
    404: { title: 'consumer not found', run: ({ api, path }) => api.delete(at(path, 'nobody')) },
  },
};
