import t from 'tap';
import { NO_POSTGRES } from '../postgres/databases.ts';
import { startWorld } from '../world.ts';
import { openAssistant } from './assistant.ts';
import { proposalIn } from './proposals.ts';

t.test('a proposal is good after a restart, and done once', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_PUBLIC_URL: 'http://lapel.test' } });
  const tenant = await world.createTenant();
  const { deviceId } = await world.activatedDevice(tenant);
  const token = await world.tokenOf(tenant.applicationId, tenant.secret);
  const open = () => openAssistant(t, { url: world.service.addresses.http, token });
  const given = { deviceId, operation: 'setLanguage', lang: 'ja-JP' };
  const proposal = proposalIn((await (await open()).call('send_command', given)).text);
  await world.restart();
  const after = await open();
  const done = await after.call('send_command', { ...given, proposal });
  t.notOk(done.isError, done.text);
  await world.restart();
  const again = await (await open()).call('send_command', { ...given, proposal });
  t.match(again.text, /unfinishedOfThisOperation 0.*unfinishedOfThisOperation 1/, 'the effect is another one by then');
  const { body } = await world.clientWith(token).get(`${tenant.path}/transactions?operation=setLanguage`);
  t.equal(body.transactions.length, 1);
});

t.test('a proposal that is confirmed at two nodes at once is done once', { skip: NO_POSTGRES }, async (t) => {
  const world = await startWorld(t, { nodes: 2, database: 'postgres' });
  const tenant = await world.createTenant();
  const { deviceId } = await world.activatedDevice(tenant);
  const token = await world.tokenOf(tenant.applicationId, tenant.secret);
  const [one, two] = await Promise.all(
    world.nodes.map(({ addresses }) => openAssistant(t, { url: addresses.http, token })),
  );
  if (!one || !two) throw new Error('there are two nodes');
  for (let times = 0; times < 5; times += 1) {
    const given = { deviceId, operation: 'setLanguage', lang: 'ja-JP' };
    const proposal = proposalIn((await one.call('send_command', given)).text);
    t.ok(proposal, 'the proposal of one node');
    const answers = await Promise.all(
      [one, two, one, two].map((node) => node.call('send_command', { ...given, proposal })),
    );
    t.ok(
      answers.some(({ isError }) => !isError),
      answers.map(({ text }) => text).join('\n'),
    );
    const { body } = await tenant.api.get(`${tenant.path}/transactions?operation=setLanguage`);
    t.equal(body.transactions.length, times + 1, 'one command more');
  }
});
