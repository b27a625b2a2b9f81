import t from 'tap';
import { MOST_DEVICES } from '../../src/core/rollouts/joining.ts';
import { startWorld } from '../world.ts';
import { LANG } from './rollout-world.ts';

t.test('a rollout that would have more devices than one may have is refused, and leaves nothing', async (t) => {
  const world = await startWorld(t);
  const { api, path, applicationId } = await world.createTenant();
  const raw = await world.raw();
  await raw.exec(
    `WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${MOST_DEVICES})
     INSERT INTO devices (device_id, developer_id, credential_hash, activation, application_id, created_at)
     SELECT '35' || (1000000000000 + n), 'dev', CAST('' AS ${world.databaseUrl === null ? 'BLOB' : 'BYTEA'}), 'activated', '${applicationId}', 0 FROM numbers`,
  );
  await raw.exec(`INSERT INTO activated_counts VALUES ('${applicationId}', ${MOST_DEVICES + 1})`);
  t.match(await api.post(`${path}/rollouts`, { json: LANG }), {
    status: 409,
    headers: { 'lapel-error-code': 'ROLLOUT_TOO_LARGE' },
    body: { message: `the selector matches more than ${MOST_DEVICES} devices.` },
  });
  t.same(await raw.all('SELECT device_id FROM rollout_members'), []);
});
