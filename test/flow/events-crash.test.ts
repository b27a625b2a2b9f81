import t from 'tap';
import { type CheckedClient, createClient } from '../contract/checked-client.ts';
import { checkWebhook } from '../contract/checked-messages.ts';
import { openRawDevice } from '../raw-device.ts';
import { createTestReceiver } from '../webhooks/test-receiver.ts';
import { ALL_SCOPES, deviceIdOf } from '../world.ts';
import { ADMIN_TOKEN, type Addresses, startProcess } from './service-process.ts';

const EVENTS = 60;
/** The service is killed after the device has got so many PUBACKs. */
const KILLS = [10, 23];

/** A developer, an application whose events go to `url`, and a registered device. */
async function prepare(
  { http, admin }: Addresses,
  url: string,
  clientOf: (base: string, token?: string) => CheckedClient,
) {
  const console = clientOf(admin, ADMIN_TOKEN);
  const deviceId = deviceIdOf(1);
  await console.post('/admin/v1/developers', { json: { developerId: 'dev', name: 'dev', deviceLimit: 1 } });
  const made = await console.post('/admin/v1/developers/dev/applications', {
    json: { applicationId: 'app', name: 'a' },
  });
  const registered = await console.post('/admin/v1/developers/dev/devices', { json: { deviceId } });
  const token = await clientOf(http).post('/api/v1/authenticate', {
    headers: { authorization: `Basic ${Buffer.from(`app:${made.body.secret}`).toString('base64')}` },
    form: { grant_type: 'client_credentials', scope: ALL_SCOPES },
  });
  const api = clientOf(http, token.body.access_token);
  await api.post('/v1/applications/app/refresh_authkey');
  await api.patch('/v1/applications/app', { json: { deviceEvent: url, callEvent: url } });
  const activate = () => api.post(`/v1/applications/app/devices/${deviceId}`, { json: {} });
  return { device: { deviceId, credential: String(registered.body.credential) }, activate };
}

t.test('no event is lost or doubled when the service is killed while a device sends them', async (t) => {
  const receiver = await createTestReceiver(t);
  const clients: CheckedClient[] = [];
  t.teardown(() => Promise.all(clients.map((client) => client[Symbol.asyncDispose]())));
  const clientOf = (baseUrl: string, token?: string): CheckedClient => {
    const client = createClient({ baseUrl, ...(token !== undefined && { token }) });
    clients.push(client);
    return client;
  };
  const env = { LAPEL_DATA_DIR: t.testdir() };
  let service = await startProcess(t, env);
  const { device, activate } = await prepare(service.addresses, receiver.url, clientOf);
  const connect = async () => {
    const link = await openRawDevice({ url: service.addresses.mqtt, ...device });
    t.teardown(() => link.socket.destroy());
    await link.login();
    return link;
  };
  let link = await connect();
  await link.subscribe(`devices/${device.deviceId}/commands`);
  await activate();
  const { transactionId } = await link.command();
  await link.ack({ transactionId, status: 'succeeded' });

  const open = new Set(Array.from({ length: EVENTS }, (_, index) => `e-${index}`));
  /** Sends the events without PUBACK, eight at a time, until the connection ends or so many PUBACKs have arrived. */
  async function sendOpen(count: number): Promise<void> {
    const sent = new Map<number | undefined, string>();
    const waiting = [...open];
    for (let acknowledged = 0; acknowledged < count && open.size > 0; acknowledged += 1) {
      while (sent.size < 8 && waiting.length > 0) {
        const eventId = waiting.shift() ?? '';
        const occurredAt = '2026-11-20T09:30:00Z';
        sent.set(link.publish('events', { eventId, type: 'call.started', occurredAt, data: { callId: 'c' } }), eventId);
      }
      const { messageId } = await link.next('puback');
      open.delete(sent.get(messageId) ?? '');
      sent.delete(messageId);
    }
  }
  for (const count of KILLS) {
    await sendOpen(count);
    service.signal('SIGKILL');
    await service.closed;
    service = await startProcess(t, env);
    link = await connect();
  }
  await sendOpen(Number.POSITIVE_INFINITY);

  const webhooks = new Map<string, Set<string>>();
  while (webhooks.size < EVENTS) {
    const { body, headers } = await receiver.next();
    const { type, data } = checkWebhook(body) as { type: string; data: { eventId: string } };
    if (type !== 'call.started') continue;
    const ids = webhooks.get(data.eventId) ?? new Set();
    webhooks.set(data.eventId, ids.add(String(headers['webhook-id'])));
  }
  service.signal('SIGTERM');
  await service.closed;
  for (const { body, headers } of receiver.requests) {
    const { data } = JSON.parse(body.toString()) as { data: { eventId?: string } };
    if (data.eventId !== undefined) webhooks.get(data.eventId)?.add(String(headers['webhook-id']));
  }
  t.same(
    [...webhooks].filter(([, ids]) => ids.size !== 1),
    [],
    'each event has one webhook, which may come again under its id',
  );
});
