import { spawnSync } from 'node:child_process';
import { chownSync, copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { userOfServers } from '@lapel/tools/harness/postgres-server';
import { Client } from 'pg';
import t from 'tap';
import { openPostgres } from '../../../src/platform/database/postgres/open-postgres.ts';
import { rawConnections } from '../../../src/platform/database/postgres/raw-connection.ts';
import { missing } from '../../installed.ts';
import { createDatabase, NO_POSTGRES } from '../../postgres/databases.ts';
import { until } from '../../until.ts';

t.test('sslmode means what it means to libpq', { skip: NO_POSTGRES || missing.openssl() }, async (t) => {
  const url = await createDatabase(t);
  const operator = new Client({ connectionString: url });
  await operator.connect();
  t.teardown(() => operator.end());
  const folder = join(t.testdir(), 'tls');
  mkdirSync(folder);
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  // biome-ignore format: the arguments of openssl
  const made = spawnSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=elsewhere.test',
    '-days', '2', '-keyout', key, '-out', cert]);
  t.equal(made.status, 0);
  const place = (await operator.query('SHOW data_directory')).rows[0].data_directory as string;
  const { owner } = userOfServers();
  for (const file of ['cert.pem', 'key.pem']) {
    copyFileSync(join(folder, file), join(place, file));
    if (owner) chownSync(join(place, file), owner.uid, owner.gid);
  }
  await operator.query("ALTER SYSTEM SET ssl_cert_file = 'cert.pem'");
  await operator.query("ALTER SYSTEM SET ssl_key_file = 'key.pem'");
  await operator.query('ALTER SYSTEM SET ssl = on');
  await operator.query('SELECT pg_reload_conf()');
  await until(async () => (await operator.query('SHOW ssl')).rows[0].ssl === 'on');

  const encrypted = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()';
  for (const [options, ssl] of [
    ['', false],
    ['?sslmode=disable', false],
    ['?sslmode=require', true],
    [`?sslmode=verify-ca&sslrootcert=${cert}`, true],
    [`?sslmode=require&sslrootcert=${cert}`, true],
  ] as const) {
    const database = await openPostgres({ url: `${url}${options}`, nowMicros: 0 });
    t.same(await database.read.get(encrypted), { ssl }, options);
    await database.close();
    const raw = await rawConnections(`${url}${options}`)({ name: 'x', boundMs: 5_000, onEnd: () => undefined });
    t.same(await raw.query(encrypted), [{ ssl }], `${options}, the lease`);
    raw.close();
  }
  for (const [options, message] of [
    ['?sslmode=verify-full', /the certificate of PostgreSQL is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\)/],
    ['?sslrootcert=system', /the certificate of PostgreSQL is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\)/],
    ['?sslmode=require&sslrootcert=system', /sslrootcert=system needs sslmode=verify-full$/],
    [`?sslmode=verify-full&sslrootcert=${cert}`, /the certificate of PostgreSQL is for another host name$/],
    ['?sslmode=verify-ca', /sslmode=verify-ca needs sslrootcert=FILE with the CA of the server; or write verify-full$/],
    [
      '?sslmode=prefer',
      /sslmode=prefer is not supported: write disable, require \(encrypts\), verify-ca, or verify-full$/,
    ],
    ['?sslmode=require&sslrootcert=/nowhere', /sslrootcert=\/nowhere cannot be read: it must name the file of a CA$/],
  ] as const) {
    const opening = openPostgres({ url: `${url}${options}`, nowMicros: 0, waitMs: 60_000 });
    const error = await opening.catch((cause: unknown) => cause as Error);
    t.match(error, { code: 'SETTING_INVALID', message }, options);
    t.notMatch(
      JSON.stringify(error, Object.getOwnPropertyNames(error)),
      /elsewhere\.test|BEGIN CERT/,
      'no certificate',
    );
  }
});
