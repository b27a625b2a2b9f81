import t from 'tap';
import { usualDatabase } from '../postgres/databases.ts';
import { openRawDevice } from '../raw-device.ts';
import { deviceIdOf, startWorld } from '../world.ts';

const DEVICES = 20;
const ROUNDS = usualDatabase === 'sqlite' ? 6 : 1;

t.test('a device that is registered again does not get the session of the removed one', async (t) => {
  const world = await startWorld(t);
  await world.createTenant('dev');
  const admin = world.admin();
  const register = async (deviceId: string): Promise<string> => {
    const { status, body } = await admin.post('/admin/v1/developers/dev/devices', { json: { deviceId } });
    t.equal(status, 201);
    return body.credential;
  };
  const remove = (deviceId: string) => admin.delete(`/admin/v1/devices/${deviceId}?force=true`);
  const connect = (deviceId: string, credential: string) =>
    openRawDevice({ url: world.service.addresses.mqtt, deviceId, credential, connect: { clean: false } });

  let overtaken = 0;
  async function comeTwice(place: number): Promise<void> {
    const deviceId = deviceIdOf(5000 + place);
    const first = await connect(deviceId, await register(deviceId));
    // The device is removed while its login is checked, at another moment for each device.
    const login = first.login().then(
      ({ returnCode }) => returnCode === 0,
      () => false,
    );
    for (let turn = 0; turn < place % 7; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    await remove(deviceId);
    const credential = await register(deviceId);
    first.socket.destroy();
    if (!(await login)) overtaken += 1;

    const second = await connect(deviceId, credential);
    // With a session present the device would not subscribe, and would never get a command [MQTT-3.2.2-2].
    t.match(await second.login(), { returnCode: 0, sessionPresent: false });
    second.socket.destroy();
    await remove(deviceId);
  }
  for (let round = 0; round < ROUNDS; round += 1)
    await Promise.all(Array.from({ length: DEVICES }, (_, place) => comeTwice(place)));
  // On PostgreSQL a login is quicker than a removal.
  if (usualDatabase === 'sqlite') t.ok(overtaken > 10, `${overtaken} logins were overtaken by the removal`);
});

t.test(
  'a new session begins without subscriptions and messages of QoS 2, whatever an earlier one has left',
  async (t) => {
    const world = await startWorld(t);
    await world.createTenant('dev');
    const { deviceId, credential } = await world.registerDevice('dev');
    const database = await world.raw();
    await database.exec(
      `INSERT INTO subscriptions (client_id, topic, qos) VALUES ('${deviceId}', 'devices/${deviceId}/commands', 0)`,
    );
    await database.exec(
      `INSERT INTO incoming_packets (client_id, message_id, packet) VALUES ('${deviceId}', 7, '{"fields":{},"isText":false}')`,
    );
    const link = await openRawDevice({
      url: world.service.addresses.mqtt,
      deviceId,
      credential,
      connect: { clean: false },
    });
    t.match(await link.login(), { returnCode: 0, sessionPresent: false });
    t.same(await database.all('SELECT topic FROM subscriptions'), []);
    t.same(await database.all('SELECT message_id FROM incoming_packets'), []);
    link.socket.destroy();
  },
);
