// Fills PostgreSQL with copies of rows that a node itself wrote for one device. So this code needs to know only the columns
// that it changes.
import type { Client } from 'pg';
import { deviceIdOf } from '../../bench-ids.ts';
import { createNodeDriver, nodeConfig, sharedParts } from './node-driver.ts';
import { applicationOf, type Fleet } from './orders.ts';

type Expressions = Record<string, string>;

const AT_ONCE = 100_000;
/** Devices that never connect, for each hundred that do; commands wait for each of them. */
const ABSENT_PERCENT = 5;
const WAITING_EACH = 4;
/** All fields of a status. */
const STATUS = {
  lang: 'ja',
  firmwareVersion: '4.2.0',
  managementClientVersion: '2.1.0',
  battery: { level: 80, charging: false },
  storage: { total: 32_000_000_000, free: 20_000_000_000 },
  network: { type: 'wifi', ssid: 'office', rssi: -61 },
  bluetooth: { enabled: true },
  software: ['camera', 'recorder', 'maps'].map((name) => ({
    package: `com.example.${name}`,
    version: '1.4.2',
    versionCode: 10402,
  })),
};

/** Makes the applications, and everything that a node stores of the first device: it logs in, is activated, reports and answers. */
async function makeTemplate(fleet: Fleet, receiverUrl: string): Promise<string> {
  await using driver = await createNodeDriver(nodeConfig(fleet, 'filler'), sharedParts());
  await driver.start();
  const { core } = driver;
  const { developers, applications, devices, transactions } = core;
  for (let number = 0; number < fleet.applications; number += 1) {
    const id = applicationOf(number);
    await developers.create({ developerId: id, name: id, deviceLimit: 2 * fleet.devices });
    await applications.create(id, { applicationId: id, name: id });
    await applications.issueKey(id);
    await applications.updateSettings(id, { deviceEvent: receiverUrl });
  }
  const [deviceId, applicationId] = [deviceIdOf(0), applicationOf(0)];
  await devices.register({ developerId: applicationId, deviceId, credential: fleet.credential });
  await driver.login(deviceId, fleet.credential);
  const ended = async (): Promise<void> => {
    await core.transactions.idle();
    await core.webhooks.idle();
  };
  const asked = { clientId: deviceId };
  await transactions.submit({ applicationId, deviceId, operation: 'activate', asked });
  await ended();
  await driver.report(deviceId, STATUS);
  await driver.command(applicationId, deviceId);
  await ended();
  return deviceId;
}

/** Copies rows of the first device for the others. */
function createCopying(client: Client, template: string, total: number) {
  async function columnsOf(table: string): Promise<string[]> {
    const { rows } = await client.query<{ name: string }>(
      `SELECT column_name AS name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = $1
         AND is_generated = 'NEVER' AND is_identity = 'NO'`,
      [table],
    );
    return rows.map(({ name }) => name);
  }

  /**
   * Copies the rows of the template device (`of`: more conditions) for the devices from `first` on. `n` is the number of a
   * device and `id` its identifier in the expressions of the columns that change.
   */
  return async function copy(table: string, changed: Expressions, { first = 1, of = '' } = {}): Promise<void> {
    const columns = (await columnsOf(table)).filter((name) => changed[name] !== '');
    const key = columns.includes('device_id') ? 'device_id' : 'client_id';
    const values = columns.map((name) => changed[name] ?? (name === key ? 'id' : `template.${name}`));
    for (let from = first; from < total; from += AT_ONCE)
      await client.query(
        `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${values.join(', ')} FROM filled_devices,
         (SELECT * FROM ${table} WHERE ${key} = $1 ${of}) AS template WHERE n >= $2 AND n < $3`,
        [template, from, Math.min(from + AT_ONCE, total)],
      );
  };
}

async function nameDevices(client: Client, total: number): Promise<void> {
  await client.query('CREATE TEMP TABLE filled_devices (n INTEGER PRIMARY KEY, id TEXT COLLATE "C" NOT NULL)');
  for (let from = 0; from < total; from += AT_ONCE) {
    const ids = Array.from({ length: Math.min(AT_ONCE, total - from) }, (_, index) => deviceIdOf(from + index));
    const text = `INSERT INTO filled_devices SELECT $2 + place - 1, id FROM unnest($1::text[]) WITH ORDINALITY AS given (id, place)`;
    await client.query(text, [ids, from]);
  }
  await client.query('ANALYZE filled_devices');
}

/**
 * Makes the fleet as it is after an outage: every device has a session, a status, a history, and a former node that is dead.
 * Some more devices are absent, and commands wait for them. Returns the number of devices in all.
 */
export async function fillFleet(client: Client, fleet: Fleet, receiverUrl: string): Promise<number> {
  const template = await makeTemplate(fleet, receiverUrl);
  const total = fleet.devices + Math.ceil((fleet.devices * ABSENT_PERCENT) / 100);
  await client.query('SET synchronous_commit = off');
  await nameDevices(client, total);
  const copy = createCopying(client, template, total);
  const application = `'${applicationOf(0).slice(0, -1)}' || n % ${fleet.applications}`;
  const owned = { application_id: application, developer_id: application, client_id: 'id' };
  await copy('devices', { ...owned, lot: 'floor(random() * 2147483648)' });
  await copy('device_status', { battery: 'n % 101' });
  await copy('device_software', {});
  await copy('device_presence', {});
  await copy('sessions', {});
  await copy('subscriptions', { topic: `replace(template.topic, '${template}', id)` });
  await copy('device_owners', { node_id: `'node_of_before_' || n % ${fleet.nodes}` });
  await copy('connection_log', {});
  const finished = `AND operation = 'setLanguage'`;
  await copy('transactions', { application_id: application }, { of: finished });
  const deliveryId = `'msg_0' || lpad(n::text, 11, '0')`;
  await copy(
    'deliveries',
    { application_id: application, delivery_id: deliveryId },
    { of: `AND transaction_id = (SELECT transaction_id FROM transactions WHERE device_id = $1 ${finished})` },
  );
  const waiting = { status: `'queued'`, due: '1', attempts: '0', result: 'NULL', parameters: `'{"lang":"ja"}'` };
  const never = { delivered_at: 'NULL', completed_at: 'NULL', published_at: 'NULL', delivery_id: 'NULL' };
  for (let each = 0; each < WAITING_EACH; each += 1)
    await copy(
      'transactions',
      { application_id: application, ...waiting, ...never },
      {
        first: fleet.devices,
        of: `${finished} AND transaction_id = (SELECT MAX(transaction_id) FROM transactions
          WHERE device_id = $1 ${finished})`,
      },
    );
  await client.query(
    `INSERT INTO activated_counts (application_id, activated)
     SELECT application_id, count(*) FROM devices WHERE activation = 'activated' GROUP BY application_id
     ON CONFLICT (application_id) DO UPDATE SET activated = excluded.activated`,
  );
  await client.query('DROP TABLE filled_devices');
  await client.query('VACUUM ANALYZE');
  await client.query('CHECKPOINT');
  return total;
}
