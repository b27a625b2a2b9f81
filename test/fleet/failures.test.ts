import t from 'tap';
import { pagesOf } from '../pages.ts';
import { startWorld, type World } from '../world.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;
const PACKAGE = 'com.example.camera';

interface Row {
  transactionId: number;
  deviceId: string;
  error: { code: string } | null;
  subject: string;
}

const time = (world: World): string => new Date(world.clock.now() / 1000).toISOString();

t.test('installations that fail', async (t) => {
  const world = await startWorld(t);
  const { clock } = world;
  const tenant = await world.createTenant();
  const other = await world.createTenant('other');
  const admin = world.admin();

  await tenant.api.post(`${tenant.path}/packages`, { json: { package: PACKAGE } });
  await tenant.api.post(`${tenant.path}/packages/${PACKAGE}/versions`, { json: { version: '2.0.0' } });
  const file = await world.raw();
  /** Stores an installation that has ended, as the service stores it. */
  async function ended(
    deviceId: string,
    version: string,
    code: string | null,
    { applicationId = tenant.applicationId, name = PACKAGE } = {},
  ): Promise<void> {
    const at = clock.now();
    const status = code === null ? 'succeeded' : 'failed';
    const [error, message] = code === null ? ['NULL', 'NULL'] : [`'${code}'`, `''`];
    await file.all(
      `INSERT INTO transactions (device_id, application_id, operation, subject, status, due, attempts, created_at, updated_at,
         completed_at, error_code, error_message)
       VALUES ('${deviceId}', '${applicationId}', 'installSoftware', '${name}@${version}', '${status}', 0, 1,
         ${at - 5_000_000}, ${at}, ${at}, ${error}, ${message})`,
    );
  }
  const { deviceId: first } = await world.registerDevice();
  const { deviceId: second } = await world.registerDevice();
  await ended(first, '1.0.0', 'STORAGE_FULL'); // in the day before
  clock.advance(24 * HOUR);
  const midnight = time(world);
  clock.advance(MINUTE);
  for (const code of ['DOWNLOAD_FAILED', 'DOWNLOAD_FAILED', null, null]) await ended(first, '2.0.0', code);
  clock.advance(HOUR);
  const later = time(world);
  await ended(second, '2.0.0', 'STORAGE_FULL');
  await ended(second, '1.0.0', null);
  await ended(second, '9.0.0', 'DOWNLOAD_FAILED', { applicationId: other.applicationId, name: 'com.example.cameraX' });
  clock.advance(MINUTE);

  const list = async (query: string, limit = 100): Promise<Row[]> =>
    (await pagesOf<Row>(admin, `/admin/v1/transactions?${query}&limit=${limit}`, 'transactions')).flat();
  const inShort = ({ subject, error }: Row): string => `${subject} ${error?.code}`;

  await t.test('are listed by time, error code, package and version, the last failure first', async (t) => {
    t.same((await list(`status=failed&since=${midnight}`)).map(inShort), [
      'com.example.cameraX@9.0.0 DOWNLOAD_FAILED',
      `${PACKAGE}@2.0.0 STORAGE_FULL`,
      `${PACKAGE}@2.0.0 DOWNLOAD_FAILED`,
      `${PACKAGE}@2.0.0 DOWNLOAD_FAILED`,
    ]);
    t.equal((await list(`status=failed&package=${PACKAGE}&version=2.0.0`)).length, 3);
    t.equal((await list(`status=failed&package=${PACKAGE}`)).length, 4, 'not those of a package with a longer name');
    t.same(
      (await list('errorCode=STORAGE_FULL')).map(({ deviceId }) => deviceId),
      [second, first],
    );
    t.same(
      (await list(`errorCode=STORAGE_FULL&since=${midnight}&until=${later}`)).map(({ deviceId }) => deviceId),
      [],
    );
    t.same((await list(`status=failed&applicationId=${other.applicationId}`)).length, 1);
    t.equal((await list(`package=${PACKAGE}&since=${midnight}`)).length, 6, 'with those that succeeded');
  });

  await t.test('pages of any length have the same rows, each once', async (t) => {
    for (const query of [
      `status=failed`,
      `errorCode=DOWNLOAD_FAILED`,
      `status=failed&package=${PACKAGE}`,
      `since=${midnight}`,
    ]) {
      const all = await list(query);
      t.ok(all.length > 1);
      for (const limit of [1, 2]) t.same(await list(query, limit), all, query);
    }
    const gone = await admin.get(`/admin/v1/transactions?status=failed&after=1`);
    t.match(gone, { body: { transactions: [] } }, 'a page after a transaction that was removed does not begin anew');
  });

  await t.test('are counted by hour, version and error code, beside the period before', async (t) => {
    const { body } = await admin.get(`/admin/v1/fleet/failures?since=${midnight}&package=${PACKAGE}`);
    t.match(body, {
      total: { finished: 6, failed: 3, finishedBefore: 0, failedBefore: 0 },
      versions: [
        { package: PACKAGE, version: '2.0.0', finished: 5, failed: 3 },
        { package: PACKAGE, version: '1.0.0', finished: 1, failed: 0 },
      ],
      errors: [
        { code: 'DOWNLOAD_FAILED', failed: 2, failedBefore: 0 },
        { code: 'STORAGE_FULL', failed: 1, failedBefore: 0 },
      ],
    });
    t.same(
      body.hours.map(({ finished, failed }: { finished: number; failed: number }) => [finished, failed]),
      [
        [4, 2],
        [2, 1],
      ],
    );
    const whole = (await admin.get('/admin/v1/fleet/failures')).body;
    t.match(whole.total, { finished: 7, failed: 4, finishedBefore: 1, failedBefore: 1 });
    const longest = (await admin.get('/admin/v1/fleet/failures?since=2020-01-01T00:00:00Z')).body;
    t.equal(Date.parse(longest.until) - Date.parse(longest.since), 31 * 24 * HOUR, 'at most 31 days');
    t.match((await admin.get('/admin/v1/fleet/failures?version=1.0.0')).status, 400, 'a version needs its package');
  });

  await t.test('each count leads to as many rows', async (t) => {
    const { since, until, versions, errors } = (await admin.get(`/admin/v1/fleet/failures?since=${midnight}`)).body;
    const period = `status=failed&since=${since}&until=${until}`;
    for (const { package: name, version, failed } of versions)
      t.equal((await list(`${period}&package=${name}&version=${version}`)).length, failed, `${name}@${version}`);
    for (const { code, failed } of errors) t.equal((await list(`${period}&errorCode=${code}`)).length, failed, code);
    const ofOther = `since=${midnight}&applicationId=${other.applicationId}`;
    const { total, versions: theirs } = (await admin.get(`/admin/v1/fleet/failures?${ofOther}`)).body;
    t.match(total, { finished: 1, failed: 1 });
    t.match(theirs, [{ package: 'com.example.cameraX', version: '9.0.0' }]);
    t.equal(theirs.length, 1, 'of one application there are no others');
  });

  await t.test('the devices of a version are listed by error code and time', async (t) => {
    const at = `/admin/v1/packages/${PACKAGE}/versions/2.0.0/installations`;
    const of = async (query: string): Promise<string[]> =>
      (await admin.get(`${at}?${query}`)).body.devices.map(({ deviceId }: Row) => deviceId);
    t.same(await of('state=failed'), [first, second].sort());
    t.same(await of('errorCode=STORAGE_FULL'), [second]);
    t.same(await of(`since=${later}`), [second]);
    t.same(await of(`state=failed&until=${later}`), [first]);
  });
});
