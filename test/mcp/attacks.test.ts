import t from 'tap';
import { tokensOf } from '../../src/edge/mcp/tokens.ts';
import { startRollouts } from '../rollouts/rollout-world.ts';
import { openAssistant } from './assistant.ts';
import { ATTACKS, faultsOf } from './attacks.ts';
import { proposalIn } from './proposals.ts';

const MARK = /(?:ATK|FOE)\d{4}/;
const BUDGET = 2_000;

t.test('texts of strangers change no tool, stay marked as data, and leave no tenant', async (t) => {
  const { world, tenant, devices } = await startRollouts(t, 3);
  const { api, path, applicationId } = tenant;
  const [device, second, third] = devices;
  if (!device || !second || !third) throw new Error('too few devices');
  const foe = await world.createTenant('foe');
  const foeDevice = await world.activatedDevice(foe);
  const url = world.service.addresses.http;
  const token = await world.tokenOf(applicationId, tenant.secret);
  const assistant = await openAssistant(t, { url, token });
  const before = JSON.stringify(await assistant.tools());
  const mostly = (status: number): boolean => status < 300;
  const table = new Map<string, { sent: number; stored: number }>();
  let number = 0;

  /** Sends each attack to a place; a place may refuse what its schema forbids. */
  async function attack(
    place: string,
    send: (text: string, at: number) => Promise<boolean>,
    most = 2_000,
  ): Promise<void> {
    const row = { sent: 0, stored: 0 };
    for (const [at, text] of ATTACKS.entries()) {
      number += 1;
      row.sent += 1;
      const mark = `ATK${String(number).padStart(4, '0')}`;
      if (await send(Array.from(text.replace('{mark}', mark)).slice(0, most).join(''), at)) row.stored += 1;
    }
    table.set(place, row);
  }
  const failWith = async (error: object): Promise<boolean> => {
    const answer = await api.put(`${path}/devices/${device.deviceId}/settings/lang`, { json: { lang: 'de' } });
    const { transactionId, packet } = await device.link.command();
    device.link.puback(packet);
    await device.link.ack({ transactionId, status: 'failed', error });
    return mostly(answer.status);
  };

  await attack('note on a device', async (text) =>
    mostly((await api.post(`${path}/devices/${device.deviceId}/notes`, { json: { text } })).status),
  );
  await attack(
    'value of a tag',
    async (text, at) =>
      mostly((await api.patch(`${path}/devices/${second.deviceId}/tags`, { json: { [`k${at}`]: text } })).status),
    64,
  );
  await attack('error message of a device', (message) => failWith({ code: 'INTERNAL', message }), 500);
  await attack('error code of a device', (code) => failWith({ code, message: 'x' }), 64);
  await attack('event of a device', async (text, at) => {
    const occurredAt = new Date(world.clock.now() / 1000).toISOString();
    device.link.publish('events', { eventId: `e${at}`, type: 'custom.note', occurredAt, data: { text, [text]: 1 } });
    await device.link.next('puback');
    return true;
  });
  await attack('reported status of a device', async (text, at) => {
    const link = at % 2 === 0 ? second.link : third.link;
    link.publish('status', {
      firmwareVersion: text,
      lang: text,
      network: { type: text, ssid: text, rssi: -50 },
      software: [{ package: text, version: text, versionCode: 1 }],
    });
    await link.next('puback');
    return true;
  });
  await attack(
    'label of a rollout',
    async (label) =>
      mostly(
        (
          await api.post(`${path}/rollouts`, {
            json: {
              label,
              operation: 'setLanguage',
              parameters: { lang: 'de' },
              devices: { devices: [third.deviceId] },
              startAt: '2030-01-01T00:00:00Z',
            },
          })
        ).status,
      ),
    120,
  );
  await attack(
    'name of a package',
    async (displayName, at) =>
      mostly((await api.post(`${path}/packages`, { json: { package: `com.example.a${at}`, displayName } })).status),
    200,
  );
  tenant.receiver.answer(({ body }) => {
    const at = JSON.parse(body.toString()).data?.data?.at;
    return { status: 500, body: typeof at === 'string' ? at : 'FOE no' };
  });
  await attack('answer of a receiver', async (text, at) => {
    const occurredAt = new Date(world.clock.now() / 1000).toISOString();
    third.link.publish('events', { eventId: `r${at}`, type: 'custom.back', occurredAt, data: { at: text } });
    await third.link.next('puback');
    return true;
  });
  await world.idle();

  // The other tenant has things of the same kinds.
  for (const text of ATTACKS.slice(0, 5)) {
    const said = text.replace('{mark}', 'FOE0001');
    await foe.api.post(`${foe.path}/devices/${foeDevice.deviceId}/notes`, { json: { text: said } });
    await foe.api.post(`${foe.path}/rollouts`, {
      json: {
        label: said,
        operation: 'setLanguage',
        parameters: { lang: 'de' },
        devices: {},
        startAt: '2030-01-01T00:00:00Z',
      },
    });
  }
  const foeRollout = (await foe.api.get(`${foe.path}/rollouts?limit=1`)).body.rollouts[0].rolloutId;
  const foeCommand = (await foe.api.get(`${foe.path}/transactions?limit=1`)).body.transactions[0].transactionId;
  const foeDelivery = (await foe.api.get(`${foe.path}/webhooks/deliveries?limit=1`)).body.deliveries[0].deliveryId;

  const state = async () => {
    const [transactions, rollouts, tags] = [
      await api.get(`${path}/transactions?limit=1000`),
      await api.get(`${path}/rollouts?limit=1000`),
      await api.get(`${path}/devices?limit=100`),
    ];
    return JSON.stringify([
      transactions.body.transactions.map(({ transactionId }: { transactionId: number }) => transactionId),
      rollouts.body.rollouts.map(({ rolloutId, state: of }: { rolloutId: string; state: string }) => [rolloutId, of]),
      tags.body.devices.map(({ tags: own }: { tags: object }) => own),
    ]);
  };
  const was = await state();
  const seen = new Set<string>();
  let calls = 0;

  async function ask(tool: string, given: Record<string, unknown> = {}, pages = 30): Promise<string> {
    let text = '';
    let cursor: string | undefined;
    for (let page = 0; page < pages; page += 1) {
      const said = await assistant.call(tool, cursor === undefined ? given : { ...given, cursor });
      calls += 1;
      text += said.text;
      t.ok(tokensOf(said.text) <= BUDGET, `${tool}: ${tokensOf(said.text)} tokens`);
      t.same(faultsOf(said.text, MARK), [], tool);
      t.notMatch(said.text, 'FOE0001', `${tool} shows nothing of another tenant`);
      for (const [mark] of said.text.matchAll(/ATK\d{4}/g)) seen.add(mark);
      cursor = /^more: cursor=(\S+)$/m.exec(said.text)?.[1];
      if (cursor === undefined) break;
    }
    return text;
  }

  const { deliveries } = (await api.get(`${path}/webhooks/deliveries?limit=60`)).body;
  const listed = (await api.get(`${path}/transactions?limit=200`)).body.transactions;
  const rollouts = (await api.get(`${path}/rollouts?limit=100`)).body.rollouts;
  for (const tool of [
    'access',
    'health',
    'find_devices',
    'commands',
    'failures',
    'webhooks',
    'events',
    'rollouts',
    'software',
    'changes',
  ])
    await ask(tool);
  for (const { deviceId } of devices) {
    await ask('device', { deviceId });
    await ask('why_no_command', { deviceId });
  }
  for (const { deliveryId } of deliveries) await ask('delivery', { deliveryId });
  for (const { transactionId } of listed) await ask('commands', { transactionId });
  for (const { rolloutId } of rollouts) await ask('rollout', { rolloutId });
  for (const text of ATTACKS) {
    const said = text.replace('{mark}', 'ATK9999');
    await ask('explain_error', { code: Array.from(said).slice(0, 60).join('') });
    await ask('search_documents', { question: said }, 1);
  }
  t.equal(await state(), was, 'nothing was changed by reading');
  t.equal(JSON.stringify(await assistant.tools()), before, 'no tool is described in another way');
  t.ok(seen.size > 100, `${seen.size} of the texts were shown, as data`);

  const foreign: [string, Record<string, unknown>][] = [
    ['device', { deviceId: foeDevice.deviceId }],
    ['why_no_command', { deviceId: foeDevice.deviceId }],
    ['commands', { transactionId: foeCommand }],
    ['commands', { deviceId: foeDevice.deviceId }],
    ['events', { deviceId: foeDevice.deviceId }],
    ['delivery', { deliveryId: foeDelivery }],
    ['rollout', { rolloutId: foeRollout }],
    ['health', { applicationId: foe.applicationId }],
    ['find_devices', { applicationId: foe.applicationId }],
    ['find_devices', { applicationId: '../foe-app' }],
    ['rollout', { rolloutId: `../../${foe.applicationId}/rollouts/${foeRollout}` }],
    ['software', { package: '..', version: '..' }],
    ['change_tags', { deviceId: foeDevice.deviceId, tags: { a: 'b' } }],
    ['send_command', { deviceId: foeDevice.deviceId, operation: 'setLanguage', lang: 'de' }],
    ['pause_rollout', { rolloutId: foeRollout }],
    ['redeliver', { deliveryId: foeDelivery }],
  ];
  for (const [tool, given] of foreign) {
    const said = await assistant.call(tool, given);
    const isEmpty = /^No (command|event)/.test(said.text);
    t.ok(said.isError || isEmpty, `${tool}: ${said.text}`);
    t.notMatch(said.text, /FOE0001|proposal=/);
  }
  const stolen = await openAssistant(t, { url, token: await world.tokenOf(foe.applicationId, foe.secret) });
  const given = { deviceId: device.deviceId, tags: { a: 'b' } };
  const proposal = proposalIn((await assistant.call('change_tags', given)).text);
  t.ok((await stolen.call('change_tags', { ...given, proposal })).isError, 'a proposal of another tenant is refused');
  t.equal(await state(), was);

  const sum = [...table.values()].reduce((all, { sent }) => all + sent, 0);
  t.ok(sum >= 200, `${sum} attacks`);
  for (const [place, { sent, stored }] of table) t.comment(`| ${place} | ${sent} | ${stored} | 0 |`);
  t.comment(`${calls} calls, ${seen.size} texts shown, ${foreign.length + 1} tries at another tenant`);
});
