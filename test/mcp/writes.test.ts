import t, { type Test } from 'tap';
import { startWorld } from '../world.ts';
import { type Assistant, openAssistant } from './assistant.ts';
import { proposalIn } from './proposals.ts';

const READING = 'svc:application:read svc:device:read';

async function start(t: Test) {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const url = world.service.addresses.http;
  const assistantOf = async (scope?: string): Promise<Assistant> =>
    openAssistant(t, { url, token: await world.tokenOf(tenant.applicationId, tenant.secret, scope) });
  return { world, tenant, url, assistantOf, assistant: await assistantOf() };
}

/** Asks for a proposal, and confirms it. */
async function twice(assistant: Assistant, tool: string, given: Record<string, unknown>) {
  const first = await assistant.call(tool, given);
  const proposal = proposalIn(first.text);
  return { first, proposal, confirm: () => assistant.call(tool, { ...given, proposal }) };
}

t.test('a change takes a proposal and a confirmation, and the audit log says for whom, with what', async (t) => {
  const { world, tenant, assistant } = await start(t);
  const device = await world.activatedDevice(tenant);
  const { deviceId } = device;
  const given = { deviceId, tags: { site: 'north' } };
  const { first, confirm } = await twice(assistant, 'change_tags', given);
  t.match(first.text, 'Proposal, nothing was changed');
  t.match(first.text, 'Effect: devices 1, changedTags 1.');
  t.same((await tenant.api.get(`${device.path}/tags`)).body, {}, 'a proposal changes nothing');
  const done = await confirm();
  t.notOk(done.isError, done.text);
  t.match(done.text, 'Done');
  t.same((await tenant.api.get(`${device.path}/tags`)).body, { site: 'north' });
  const [entry] = (await tenant.api.get(`${tenant.path}/audit?limit=1`)).body.entries;
  t.match(entry, {
    action: 'PATCH /v1/applications/{applicationId}/devices/{deviceId}/tags',
    by: 'application',
    status: 200,
    address: '127.0.0.1',
    details: { via: { assistant: 'Test assistant', tool: 'change_tags' } },
  });
  const { text } = await assistant.call('changes');
  t.match(text, /change_tags/);
});

t.test('a proposal is confirmed once, however often and at how many places at once', async (t) => {
  const { world, tenant, assistant, assistantOf } = await start(t);
  const device = await world.activatedDevice(tenant);
  const given = { deviceId: device.deviceId, operation: 'setLanguage', lang: 'ja-JP' };
  const { confirm, first } = await twice(assistant, 'send_command', given);
  t.match(first.text, 'unfinishedOfThisOperation 0');
  const answers = await Promise.all([confirm(), confirm(), confirm()]);
  for (const { text, isError } of answers) t.notOk(isError, text);
  const command = await device.link.command();
  t.equal(command.operation, 'setLanguage');
  const listed = await tenant.api.get(`${device.path}/transactions?operation=setLanguage`);
  t.equal(listed.body.transactions.length, 1, 'one command was made');
  t.match((await confirm()).text, 'is done once');
  const other = await assistantOf();
  t.match(await other.call('send_command', { ...given, proposal: 'a.b.c.d' }), { isError: true });
});

t.test('a proposal is no good with another token, tool, device or argument, nor after five minutes', async (t) => {
  const { world, tenant, assistant, assistantOf } = await start(t);
  const [one, two] = [await world.activatedDevice(tenant), await world.activatedDevice(tenant)];
  const given = { deviceId: one.deviceId, tags: { site: 'north' } };
  const { proposal, confirm } = await twice(assistant, 'change_tags', given);
  world.clock.advance(1_000); // so that the next token is another one
  const other = await assistantOf();
  const refused = async (who: Assistant, tool: string, asked: Record<string, unknown>, why: RegExp) => {
    const { text, isError } = await who.call(tool, { ...asked, proposal });
    t.ok(isError, tool);
    t.match(text, why);
  };
  await refused(other, 'change_tags', given, /not of this token/);
  await refused(assistant, 'change_tags', { ...given, deviceId: two.deviceId }, /exactly these arguments/);
  await refused(assistant, 'change_tags', { ...given, tags: { site: 'south' } }, /exactly these arguments/);
  await refused(
    assistant,
    'send_command',
    { deviceId: one.deviceId, operation: 'setLanguage', lang: 'de' },
    /this tool/,
  );
  world.clock.advance(300_000);
  const late = await confirm();
  t.ok(late.isError);
  t.match(late.text, 'older than 5 minutes');
  t.same((await tenant.api.get(`${one.path}/tags`)).body, {}, 'nothing was changed');
});

t.test('a confirmation is refused when the effect is another one by then, and says both numbers', async (t) => {
  const { world, tenant, assistant } = await start(t);
  await world.activatedDevice(tenant);
  const given = { devices: {}, tags: { site: 'north' } };
  const { confirm } = await twice(assistant, 'change_tags', given);
  await world.activatedDevice(tenant);
  const { text, isError } = await confirm();
  t.ok(isError);
  t.match(text, 'In the proposal: devices 1, changed 1. Now: devices 2, changed 2.');
});

t.test('a token that only reads is refused at the first step', async (t) => {
  const { world, tenant, assistantOf } = await start(t);
  const { deviceId } = await world.activatedDevice(tenant);
  const reader = await assistantOf(READING);
  const writes: [string, Record<string, unknown>][] = [
    ['change_tags', { deviceId, tags: { a: 'b' } }],
    ['send_command', { deviceId, operation: 'setLanguage', lang: 'de' }],
    ['pause_rollout', { rolloutId: 'rol_1' }],
    ['approve_rollout', { rolloutId: 'rol_1' }],
    ['start_rollout', { rollout: { operation: 'setLanguage', parameters: { lang: 'de' }, devices: {} } }],
    ['redeliver', { since: '2026-01-01T00:00:00Z' }],
  ];
  for (const [tool, given] of writes) {
    const { text, isError } = await reader.call(tool, given);
    t.ok(isError, tool);
    t.match(text, /lacks the right svc:/, tool);
  }
  const named = (await reader.tools()).filter(({ annotations }) => annotations?.readOnlyHint === false);
  t.same(named.map(({ name }) => name).sort(), writes.map(([tool]) => tool).sort(), 'these are all tools that write');
});

t.test('a rollout is tried dry, started once, approved and paused', async (t) => {
  const { world, tenant, assistant } = await start(t);
  const devices = [await world.activatedDevice(tenant), await world.activatedDevice(tenant)];
  const rollout = {
    label: 'languages',
    operation: 'setLanguage',
    parameters: { lang: 'ja-JP' },
    devices: {},
    stages: [{ count: 1, approval: true }, { percent: 100 }],
  };
  const begun = await twice(assistant, 'start_rollout', { rollout });
  t.match(begun.first.text, 'Effect: devices 2, stages 2, devicesOfFirstStage 1.');
  t.match(begun.first.text, 'Warning ');
  t.same((await tenant.api.get(`${tenant.path}/rollouts`)).body.rollouts, [], 'a dry run starts nothing');
  const [{ text }] = await Promise.all([begun.confirm(), begun.confirm()]);
  const rolloutId = /the rollout (\S+) has 2 devices/.exec(text)?.[1] ?? '';
  t.equal((await tenant.api.get(`${tenant.path}/rollouts`)).body.rollouts.length, 1, text);
  await world.idle();
  const [first] = (await tenant.api.get(`${tenant.path}/transactions?rolloutId=${rolloutId}`)).body.transactions;
  const device = devices.find(({ deviceId }) => deviceId === first.deviceId)!;
  const command = await device.link.command();
  device.link.puback(command.packet);
  await device.link.ack({ transactionId: command.transactionId, status: 'succeeded' });
  await world.idle();
  t.match((await assistant.call('rollout', { rolloutId })).text, 'it waits for: approval');
  const approval = await twice(assistant, 'approve_rollout', { rolloutId });
  t.match(approval.first.text, 'devicesOfNextStage 1');
  t.match((await approval.confirm()).text, 'stage 1 is approved');
  await world.idle();
  const paused = await twice(assistant, 'pause_rollout', { rolloutId });
  t.match((await paused.confirm()).text, 'Done: the rollout is paused');
  const again = await assistant.call('approve_rollout', { rolloutId });
  t.ok(again.isError);
  t.match(again.text, 'does not permit approve');
});

t.test('webhooks that were given up are sent again', async (t) => {
  const { world, tenant, assistant } = await start(t);
  const device = await world.activatedDevice(tenant);
  await world.idle();
  const listed = await tenant.api.get(`${tenant.path}/webhooks/deliveries`);
  const [{ deliveryId }] = listed.body.deliveries;
  const { first, confirm } = await twice(assistant, 'redeliver', { deliveryId });
  t.match(first.text, 'Effect: deliveries 1, attemptsSoFar 1.');
  const done = await confirm();
  t.notOk(done.isError, done.text);
  t.equal((await tenant.event()).data.deviceId, device.deviceId);
  const range = await twice(assistant, 'redeliver', { status: 'delivered', since: '2020-01-01T00:00:00Z' });
  t.match(range.first.text, 'Effect: deliveries 1.');
  t.match((await range.confirm()).text, '1 webhooks are sent again');
});

t.test('an application that is removed between the two steps changes nothing', async (t) => {
  const { world, tenant, assistant } = await start(t);
  const device = await world.activatedDevice(tenant);
  const given = { deviceId: device.deviceId, operation: 'setLanguage', lang: 'ja-JP' };
  const { confirm } = await twice(assistant, 'send_command', given);
  const contents = await world.admin().get(`/admin/v1/applications/${tenant.applicationId}/contents`);
  t.equal(contents.status, 200);
  const gone = await world.admin().post(`/admin/v1/applications/${tenant.applicationId}/removal`, {
    json: { confirmation: tenant.applicationId },
  });
  t.equal(gone.status, 202, JSON.stringify(gone.body));
  await t.rejects(confirm(), 'the token is good for nothing any more');
});
