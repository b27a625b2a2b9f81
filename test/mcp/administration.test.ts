import t from 'tap';
import { startWorld } from '../world.ts';
import { openAssistant } from './assistant.ts';
import { proposalIn } from './proposals.ts';

const ALLOWED = { LAPEL_ADMIN_ASSISTANTS: 'true' };

t.test('assistants of administration are off until a setting allows them', async (t) => {
  const world = await startWorld(t);
  const json = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const answer = await world.admin().post('/mcp', { json });
  t.equal(answer.status, 403);
  t.equal(answer.headers['lapel-error-code'], 'ASSISTANTS_OFF');
  const off = await startWorld(t, { env: { LAPEL_ASSISTANTS: 'false' } });
  const tenant = await off.createTenant();
  t.equal((await tenant.api.post('/mcp', { json })).status, 403);
  t.equal((await off.anonymous().get('/.well-known/oauth-protected-resource/mcp')).status, 403);
});

t.test('an operator asks about the service, all customers, and pauses a rollout with the role for it', async (t) => {
  const world = await startWorld(t, { env: ALLOWED });
  const { admin: url } = world.service.addresses;
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const { deviceId } = device;
  const tokenOf = async (personId: string, role: string): Promise<string> => {
    await world.admin().post('/admin/v1/people', { json: { personId, name: personId, role } });
    const made = await world.admin().post(`/admin/v1/people/${personId}/tokens`, { json: { name: 'assistant' } });
    return made.body.token;
  };
  const reader = await openAssistant(t, { url, token: await tokenOf('rita', 'reader') });
  const support = await openAssistant(t, { url, token: await tokenOf('sam', 'support') });
  const questions: [string, Record<string, unknown>, RegExp][] = [
    ['access', {}, /person rita .*\nRole: reader/],
    ['health', {}, /1 devices, 1 activated, 1 connected/],
    ['ends_soon', {}, /Signing key/],
    ['search', { text: deviceId.slice(0, 14) }, new RegExp(deviceId)],
    ['find_devices', { connected: true }, new RegExp(deviceId)],
    ['device', { deviceId }, /not blocked[\s\S]*Connected since[\s\S]*registered the device/],
    ['why_no_command', { deviceId }, /no unfinished command/],
    ['commands', { deviceId }, /activate .*: succeeded/],
    ['failures', {}, /0 of \d commands failed/],
    ['webhooks', {}, /No receiver is failing/],
    ['webhooks', { applicationId: tenant.applicationId }, /delivered/],
    ['rollouts', {}, /No rollout/],
    ['changes', {}, /created/],
    ['explain_error', { code: 'NO_ANSWER' }, /no final result/],
  ];
  for (const [tool, given, wanted] of questions) {
    const { text, isError } = await reader.call(tool, given);
    t.notOk(isError, `${tool}: ${text}`);
    t.match(text, wanted, tool);
  }
  const json = { operation: 'setLanguage', parameters: { lang: 'de' }, devices: {}, startAt: '2030-01-01T00:00:00Z' };
  const { rolloutId } = (await tenant.api.post(`${tenant.path}/rollouts`, { json })).body;
  t.match(await reader.call('pause_rollout', { rolloutId }), { isError: true, text: /lacks the right support/ });
  const { text } = await support.call('pause_rollout', { rolloutId });
  const done = await support.call('pause_rollout', { rolloutId, proposal: proposalIn(text) });
  t.notOk(done.isError, `${text}\n${done.text}`);
  const { entries } = (await world.admin().get('/admin/v1/audit?limit=1')).body;
  t.match(entries[0], {
    action: 'POST /admin/v1/rollouts/{rolloutId}/pause',
    actor: { personId: 'sam' },
    details: { via: { assistant: 'Test assistant', tool: 'pause_rollout' } },
  });
});

t.test('a session of the console is no way in for an assistant', async (t) => {
  const world = await startWorld(t, { env: ALLOWED });
  const client = world.anonymousAdmin();
  const headers = { 'x-lapel-console': '1' };
  const login = await client.post('/console/session', { headers, json: { token: world.service.adminToken } });
  const cookie = String(login.headers['set-cookie']).split(';')[0] ?? '';
  const json = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const answer = await client.post('/mcp', { headers: { ...headers, cookie }, json });
  t.equal(answer.status, 401);
});
