import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createDatabase, NO_POSTGRES as skip } from '../postgres/databases.ts';
import { until } from '../until.ts';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';

t.test('new connections log in to the database as its file says by now', { skip }, async (t) => {
  const folder = t.testdir({ data: {} });
  const file = join(folder, 'database-url');
  const url = await createDatabase(t);
  const as = (user: string, database = new URL(url).pathname): string =>
    Object.assign(new URL(url), { username: user, password: 'a new password', pathname: database }).href;
  writeFileSync(file, `${url}\n`);
  const world = await startWorld(t, {
    dataDir: join(folder, 'data'),
    database: 'sqlite', // the file names a PostgreSQL database
    env: { LAPEL_DATABASE_URL_FILE: file },
  });
  const raw = await world.raw();
  const user = 'lapel_with_a_new_password';
  await raw.exec(`CREATE ROLE ${user} LOGIN SUPERUSER`); // the server ends with the tests
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const users = async (): Promise<string[]> =>
    (
      await raw.all<{ usename: string }>(
        `SELECT usename FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'lapel%'`,
      )
    ).map(({ usename }) => usename);
  const cut = (): Promise<void> =>
    raw.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'lapel%'`);

  await t.test('a file with another database, other options, or nothing, changes nothing', async (t) => {
    for (const content of ['', 'no URL\n', `${as(user, '/another')}\n`, `${as(user)}?sslmode=disable\n`]) {
      writeFileSync(file, content);
      await cut();
      await until(async () => (await users()).length > 2);
      t.notOk((await users()).includes(user));
    }
  });

  await t.test('user and password of the file are used, for units of work, reads, leases and hints', async (t) => {
    writeFileSync(file, `${as(user)}\n`);
    await until(async () => {
      const found = await users();
      // A connection that began before the file was written may still have the former user.
      if (found.some((name) => name !== user)) await cut();
      return found.length > 2 && found.every((name) => name === user);
    });
    await until(async () => (await tenant.api.get(tenant.path)).status === 200);
    const put = async () => tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
    let answer = await put();
    while (answer.status === 503) answer = await put();
    t.ok(transactionIdOf(answer) > 0);
  });
});
