import t from 'tap';
import { startRollouts } from '../rollouts/rollout-world.ts';

interface Entry {
  action: string;
  sentence: string;
  details: object | null;
}

t.test('the audit log says of a dry run that somebody asked, and not that something was done', async (t) => {
  const { tenant, world, start, commands, answer, act } = await startRollouts(t, 2);
  const { api, path, applicationId } = tenant;
  await start({ parameters: { lang: 'de' } });
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  world.clock.advance(1_000);
  const rolloutId = await start({ parameters: { lang: 'fr' } });
  let turn = 0;
  for (const [deviceId, command] of await commands())
    await answer(deviceId, command, turn++ === 0 ? 'REFUSED' : undefined);
  const url = tenant.receiver.url;
  const made = await api.post(`${path}/endpoints`, { json: { url } });
  t.equal(made.status, 201, JSON.stringify(made.body));
  const before = (await api.get(`${path}/audit`)).body.entries.length;

  const dryRun = true;
  const range = { since: '2020-01-01T00:00:00Z', dryRun };
  const answers = [
    await api.post(`${path}/rollouts`, {
      json: { operation: 'setLanguage', parameters: { lang: 'ja' }, devices: {}, dryRun },
    }),
    await act(rolloutId, 'revert', { dryRun }),
    await act(rolloutId, 'retry-failed', { dryRun }),
    await api.post(`${path}/webhooks/deliveries/redeliver`, { json: range }),
    await api.post(`${path}/endpoints/${made.body.endpointId}/replay`, { json: range }),
    await world.admin().post(`/admin/v1/applications/${applicationId}/deliveries/redeliver`, { json: range }),
  ];
  for (const { status, body } of answers) t.ok(status === 200 || status === 202, JSON.stringify(body));
  const entries: Entry[] = (await api.get(`${path}/audit`)).body.entries;
  const added = entries.slice(0, entries.length - before);
  t.equal(added.length, answers.length, JSON.stringify(added.map(({ sentence }) => sentence)));
  for (const { sentence, details } of added) {
    t.match(sentence, / asked what it would do to /);
    t.match(details, { dryRun });
  }
  t.match(await act(rolloutId, 'retry-failed'), { status: 200 });
  const [newest] = (await api.get(`${path}/audit`)).body.entries as Entry[];
  t.match(newest?.sentence, / let .* again|retried|failed devices/, 'the change itself is told as done');
  t.notMatch(newest?.sentence, /asked/);
});
