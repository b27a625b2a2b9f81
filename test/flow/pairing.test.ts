import t from 'tap';
import { startWorld, type Tenant } from '../world.ts';

const HEADSET = { name: 'headset', macAddress: '12:34:56:AB:CD:EF' };

// Specification, "Facts about the connectivity operations": the pairing flow, step by step.
t.test('the pairing flow works: state, on, list, pair, and webhooks of connection and disconnection', async (t) => {
  const world = await startWorld(t);
  const tenant: Tenant = await world.createTenant();
  const { api } = tenant;
  const { link, path, deviceId } = await world.activatedDevice(tenant);

  /** Makes a request; the device carries it out with this result, which arrives at deviceEvent. */
  async function done(method: string, below: string, json: unknown, operation: string, result: object) {
    const answer = await api.request(method, `${path}/${below}`, { ...(json !== undefined && { json }) });
    t.equal(answer.status, 201, operation);
    const command = await link.command();
    t.match(command, { transactionId: answer.body.transactionId, operation });
    link.puback(command.packet);
    await link.ack({ transactionId: command.transactionId, status: 'succeeded', result });
    const { type, data } = await tenant.event();
    t.equal(type, 'transaction.succeeded');
    t.match(data, { deviceId, transaction: { transactionId: command.transactionId, operation, result } });
    return data.transaction['result'] as { enabled: boolean; devices: (typeof HEADSET)[] };
  }

  const bluetooth = { type: 'bluetooth' };
  const state = await done('GET', 'connectivity/state?type=bluetooth', undefined, 'getConnectivityState', {
    ...bluetooth,
    enabled: false,
  });
  t.equal(state.enabled, false);

  const on = { ...bluetooth, enabled: true };
  const changed = await done('PUT', 'connectivity/state', on, 'setConnectivityState', on);
  t.equal(changed.enabled, true);

  const list = await done('GET', 'connectivity/list?type=bluetooth', undefined, 'listConnectivity', {
    ...bluetooth,
    devices: [{ ...HEADSET, paired: false, connected: false }],
  });
  const { name, macAddress } = list.devices[0]!;
  t.same({ name, macAddress }, HEADSET);

  await done('POST', 'bluetooth/devices', { macAddress }, 'pairBluetooth', HEADSET);

  for (const [type, minute] of [
    ['bluetooth.connected', '31'],
    ['bluetooth.disconnected', '32'],
  ] as const) {
    const occurredAt = `2026-11-20T09:${minute}:00.000Z`;
    link.publish('events', { eventId: type, type, occurredAt, data: { macAddress, name } });
    await link.next('puback');
    const event = await tenant.event();
    t.equal(event.type, type);
    t.equal(Date.parse(event.timestamp), Date.parse(occurredAt));
    t.match(event.data, { ...HEADSET, deviceId, applicationId: tenant.applicationId, eventId: type });
  }
  t.equal(link.pending('publish').length, 0, 'nothing on the errors topic');
});
