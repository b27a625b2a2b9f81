import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { open } from '../console/feed-client.ts';
import { until } from '../until.ts';
import { startWorld } from '../world.ts';
import { signIn } from './people-world.ts';

const [FIRST = '', SECOND = '', THIRD = ''] = ['first', 'second', 'third'].map((name) => `${name}${'x'.repeat(32)}`);

for (const place of ['a file of the settings', 'the data folder'])
  t.test(`the administrator token in ${place} changes without a restart`, async (t) => {
    const folder = t.testdir({ data: {} });
    const isSetting = place === 'a file of the settings';
    const dataDir = join(folder, 'data');
    const file = isSetting ? join(folder, 'token') : join(dataDir, 'admin-token');
    // A change that is seen whole, as credentials and secrets of containers are replaced.
    const write = (content: string): void => {
      writeFileSync(`${file}.new`, content);
      renameSync(`${file}.new`, file);
    };
    write(`${FIRST}\n`);
    const world = await startWorld(t, {
      dataDir,
      database: 'sqlite',
      env: isSetting ? { LAPEL_ADMIN_TOKEN_FILE: file } : {},
    });
    const base = world.service.addresses.admin;
    const statusOf = async (token: string) => (await world.anonymousAdmin().get('/admin/v1/me', { token })).status;
    const becomes = (token: string, status: number): Promise<void> =>
      until(async () => {
        world.clock.advance(1_000);
        return (await statusOf(token)) === status;
      });
    const feed = `${base}/admin/v1/feed?topics=transactions`;
    const streamOf = (token: string) => open(t, feed, { authorization: `Bearer ${token}` });
    t.equal(await statusOf(FIRST), 200);
    const cookie = await signIn(t, base, FIRST);
    const page = { cookie, 'sec-fetch-site': 'same-origin' };
    const [ofToken, ofSession] = [await streamOf(FIRST), await open(t, feed, page)];
    for (const stream of [ofToken, ofSession]) await stream.next('snapshot');

    write(`${SECOND}\n${FIRST}\n`);
    await becomes(SECOND, 200);
    t.equal(await statusOf(FIRST), 200, 'both are accepted while the file has both');
    t.match(await ofSession.next('bye'), { reason: 'session' }, 'sessions of the former one end');
    t.equal((await open(t, feed, page)).status, 401);

    for (const wrong of ['', 'short\n', `${SECOND}\n${FIRST}\n${THIRD}\n`]) {
      write(wrong);
      world.clock.advance(2_000);
      t.same([await statusOf(SECOND), await statusOf(FIRST)], [200, 200], 'a file that cannot be used changes nothing');
    }

    write(`${SECOND}\n`);
    await becomes(FIRST, 401);
    t.match(await ofToken.next('bye'), { reason: 'session' }, 'and so does its stream');
    t.equal(await statusOf(SECOND), 200);
  });
