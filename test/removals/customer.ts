import { makeApk, signedApk } from '@lapel/device-sim/files/make-apk';
import type { Test } from 'tap';
import { createKeyPair, sha256Of, signatureOf } from '../software/signing.ts';
import { until } from '../until.ts';
import { createTestReceiver } from '../webhooks/test-receiver.ts';
import { deviceIdOf, type Tenant, transactionIdOf, WIFI, type World } from '../world.ts';

const OCCURRED = '2026-11-20T09:29:59.000000Z';
const FILE = { fileId: 'f1', name: 'a.txt', size: 1, contentType: 'text/plain' };

/**
 * A developer who has rows in every table that can have any: an application with devices, commands, rollouts, webhooks that
 * fail, software with a binary, and whatever devices store.
 */
export async function createCustomer(t: Test, world: World, name: string) {
  const tenant: Tenant = await world.createTenant(name);
  const { api, path, applicationId } = tenant;
  const failing = await createTestReceiver(t);
  failing.answer({ status: 500 });
  const settings = { callEvent: failing.url, fileUploadGetUrl: failing.url };
  await api.patch(path, { json: settings });

  const device = await world.activatedDevice(tenant);
  const asleep = await world.activatedDevice(tenant);
  const idle = await world.registerDevice(name);
  await asleep.link.drop();
  const will = { topic: `devices/${idle.deviceId}/events`, payload: Buffer.from('{}'), qos: 1, retain: false };
  const idleLink = await world.connect({ ...idle, connect: { will } });
  // An unfinished delivery of a message with QoS 2.
  idleLink.publish('status', { battery: { level: 5 } }, { qos: 2, messageId: 99 });
  await idleLink.next('pubrec');

  await api.patch(`${device.path}/tags`, { json: { site: name } });
  for (const one of [device, asleep]) await api.post(`${one.path}/notes`, { json: { text: `sent to ${name}` } });
  device.link.publish('status', {
    lang: 'ja',
    software: [{ package: 'com.example.camera', version: '1.0.0', versionCode: 1 }],
  });
  await device.link.next('puback');
  await world
    .raw()
    .then((raw) =>
      raw.all(`INSERT INTO device_samples (device_id, hour, battery) VALUES ('${device.deviceId}', 1, 50)`),
    );
  device.link.publish('events', { eventId: 'e1', type: 'custom.sos', occurredAt: OCCURRED, data: {} });
  await device.link.next('puback');
  await tenant.event();
  device.link.publish('events', { eventId: 'e2', type: 'call.started', occurredAt: OCCURRED, data: { callId: 'c' } });
  await device.link.next('puback');
  device.link.publish('requests', { requestId: 'r1', type: 'fileUploadUrl', data: FILE });
  await device.link.next('puback');

  const wifi = `${asleep.path}/settings/wifi`;
  const waiting = transactionIdOf(
    await api.put(wifi, { json: WIFI, headers: { 'idempotency-key': `key of ${name}` } }),
  );
  const language = { operation: 'setLanguage', parameters: { lang: 'en' } };
  const rollout = await api.post(`${path}/rollouts`, {
    json: { ...language, devices: { devices: [device.deviceId] } },
  });
  let command = await device.link.command();
  while (command.operation !== 'setLanguage') command = await device.link.command(); // answers of requests come, too
  const { transactionId, packet } = command;
  device.link.puback(packet);
  await device.link.ack({ transactionId, status: 'succeeded' });
  // One that keeps what its device took before it.
  await api.post(`${path}/rollouts`, { json: { ...language, devices: { devices: [device.deviceId] } } });
  // One that runs: its command waits for a device.
  await api.post(`${path}/rollouts`, { json: { ...language, devices: { devices: [asleep.deviceId] } } });
  const later = await api.post(`${path}/rollouts`, {
    json: { ...language, devices: {}, startAt: '2030-01-01T00:00:00Z' },
  });

  const newcomer = deviceIdOf(9_000 + name.length);
  const batch = await world.admin().post(`/admin/v1/developers/${name}/enrolment-batches`, {
    json: { name: 'a batch', expiresAt: '2027-01-01T00:00:00Z', mostDevices: 10, approval: 'manual' },
  });
  const asked = { deviceId: newcomer, code: batch.body.code, nonce: 'a secret that the device keeps' };
  await world.anonymous().post('/v1/enrolments', { json: asked });

  const raw = await world.raw();
  await raw.all(
    `INSERT INTO device_authorities (authority_id, developer_id, name, certificate, private_key, expires_at, created_at)
     VALUES ('dca_${name}', '${name}', 'a CA', '', '', 0, 0)`,
  );

  await raw.all(
    `INSERT INTO rollout_watch (rollout_id, device_id, is_control, stage, since, status_at, level_at, drained,
       drained_micros, free_first_at, free_last_at)
     VALUES ('${later.body.rolloutId}', '${device.deviceId}', 1, 0, 0, 0, 0, 0, 0, 0, 0)`,
  );
  await raw.all(
    `INSERT INTO rollout_health (rollout_id, figures, looks, observed)
     VALUES ('${rollout.body.rolloutId}', '{"at":0,"stages":[],"rules":[],"judged":0}', 0, 0)`,
  );
  await world.admin().post(`/admin/v1/developers/${name}/members`, { json: { name: 'Ada', role: 'admin' } });

  const packageName = `com.example.${name}`;
  await api.post(`${path}/packages`, { json: { package: packageName } });
  const attributes = [{ name: 'package', value: packageName }];
  const binary = signedApk(makeApk({ attributes }), name);
  const upload = await api.post(`${path}/apps`, {
    json: { package: packageName, version: '1.0.0', fileSize: binary.length },
  });
  const uploadUrl: string = upload.body.urlList[0].uploadUrl;
  const put = (): Promise<Response> => fetch(uploadUrl, { method: 'PUT', body: new Uint8Array(binary) });
  await put();
  await api.get(`${path}/packages/${packageName}/versions/1.0.0/binaries`);
  const key = createKeyPair();
  const { publicKey } = key;
  await world.admin().post(`/admin/v1/developers/${name}/software-keys`, { json: { name: 'release', publicKey } });
  await api.put(`${path}/packages/${packageName}/versions/1.0.0/signature`, {
    json: signatureOf(key, { package: packageName, version: '1.0.0' }, sha256Of(binary)),
  });
  await api.post(`${path}/packages/${packageName}/versions/1.0.0/distributions`);
  await api.post(`${path}/packages`, { json: { package: `${packageName}.empty` } });
  await world.idle();
  world.clock.advance(11_000);
  await until(() => failing.requests.length > 0);
  await world.idle();
  await api.put(`${path}/events/consumers/billing`, { json: { after: 0 } });
  const endpoint = await api.post(`${path}/endpoints`, { json: { url: failing.url } });
  await api.post(`${path}/endpoints/${endpoint.body.endpointId}/test`);
  await api.post(`${path}/endpoints/${endpoint.body.endpointId}/replay`, { json: {} });
  await api.post(`${path}/webhooks/deliveries/redeliver`, { json: { setting: 'deviceEvent' } });
  return {
    ...tenant,
    name,
    device,
    asleep,
    idle,
    idleLink,
    waiting,
    failing,
    packageName,
    storedBytes: binary.length,
    put,
    /** The identifiers by which rows of the customer are found. */
    ids: [
      name,
      applicationId,
      device.deviceId,
      asleep.deviceId,
      idle.deviceId,
      newcomer,
      rollout.body.rolloutId as string,
      packageName,
    ],
  };
}

type Raw = Awaited<ReturnType<World['raw']>>;

const ON_POSTGRES = `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
  WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position`;
const ON_SQLITE = `SELECT m.name AS "table", c.name AS "column" FROM sqlite_master m JOIN pragma_table_info(m.name) c
  WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`;

/** All columns of the database, by table. */
export async function columnsOf(world: World, raw: Raw): Promise<Map<string, string[]>> {
  const rows = await raw.all<{ table: string; column: string }>(world.databaseUrl === null ? ON_SQLITE : ON_POSTGRES);
  const found = new Map<string, string[]>();
  for (const { table, column } of rows) found.set(table, [...(found.get(table) ?? []), column]);
  return found;
}

/** The number of rows, by table, in which any column holds one of these identifiers; tables without such a row are left out. */
export async function rowsWith(world: World, raw: Raw, ids: readonly string[]): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const [table, columns] of await columnsOf(world, raw)) {
    const conditions = columns.flatMap((column) =>
      ids.map((id) =>
        world.databaseUrl === null
          ? `instr(CAST(${column} AS TEXT), '${id}') > 0`
          : `position('${id}' IN CAST(${column} AS TEXT)) > 0`,
      ),
    );
    const [row] = await raw.all<{ count: number }>(
      `SELECT count(*) AS count FROM ${table} WHERE ${conditions.join(' OR ')}`,
    );
    if (row && row.count > 0) found[table] = row.count;
  }
  return found;
}

/** Lets the time pass until a removal has ended; returns it. */
export async function ended(world: World, removalId: string) {
  const admin = world.admin();
  let body = (await admin.get(`/admin/v1/removals/${removalId}`)).body;
  await until(async () => {
    world.clock.advance(1_000);
    body = (await admin.get(`/admin/v1/removals/${removalId}`)).body;
    return body.state === 'ended';
  });
  return body;
}
