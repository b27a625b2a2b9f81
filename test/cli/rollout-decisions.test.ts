import t from 'tap';
import { startRollouts } from '../rollouts/rollout-world.ts';
import { run } from './run.ts';

t.test('lapel rollout approve names the figures that were seen', async (t) => {
  const { world, tenant, read, start, commands, answer } = await startRollouts(t, 6);
  const env = {
    LAPEL_APPLICATION: tenant.applicationId,
    LAPEL_APPLICATION_SECRET: tenant.secret,
    LAPEL_URL: world.service.addresses.http,
    NO_COLOR: '1',
  };
  const lapel = (line: string[], more: Parameters<typeof run>[1] = {}) => run(['rollout', ...line], { env, ...more });
  const rolloutId = await start({
    stages: [{ count: 4, continueWhen: { succeededPercent: 50, soakFor: 3600 }, approval: true }],
    abort: { failedPercent: 50, minimumResults: 4 },
  });
  const sent = [...(await commands())];
  for (const [deviceId, command] of sent.slice(0, 2)) await answer(deviceId, command);

  await t.test('which watch and show print with their tag', async (t) => {
    const watched = await lapel(['watch', rolloutId, '--timeout', '0']);
    t.match(
      watched.stderr,
      /stage 1 waits for an approval: succeeded 2 or more, failed 0, .*to approve it: lapel rollout approve rol_\w+ --stage 1 --seen '"1\.[\w-]+"'/,
    );
    const { stdout } = await lapel(['show', rolloutId]);
    t.match(stdout, /verdict: succeeded 2 or more, failed 0, nothing is known of their health yet\n/);
    t.match(stdout, `tag of the verdict: ${(await read(rolloutId)).stages[0]!.verdictTag}`);
    t.match(stdout, 'abort rule: 0 of 2 results failed; stops at 2 failures');
  });

  await t.test('and is refused when they have changed while the person was asked', async (t) => {
    const { code, stderr } = await lapel(['approve', rolloutId], {
      tty: true,
      async answers() {
        await answer(...sent[2]!, 'BROKEN');
        return 'yes';
      },
    });
    t.equal(code, 1);
    t.match(stderr, /stage 1: succeeded 2 or more, failed 0.*Approve stage 1\? Type yes: /s);
    t.match(
      stderr,
      /the figures have changed since you read them: failed: 0, now 1; codes: none, now BROKEN; look again/,
    );
    t.match((await read(rolloutId)).stages[0], { approved: false });
  });

  await t.test('or since they were read, with --seen', async (t) => {
    const seen = (await read(rolloutId)).stages[0]!.verdictTag!;
    await answer(...sent[3]!, 'WORN');
    const refused = await lapel(['approve', rolloutId, '--stage', '1', '--seen', seen, '--json']);
    t.equal(refused.code, 1);
    t.match(JSON.parse(refused.stdout || refused.stderr), { error: { code: 'VERDICT_CHANGED' } });
  });

  await t.test('a resume likewise', async (t) => {
    t.match(await read(rolloutId), { state: 'paused', reason: 'ABORT_RULE' });
    const no = await lapel(['resume', rolloutId], { tty: true, answers: ['no'] });
    t.match(no, { code: 1, stderr: /paused ABORT_RULE.*nothing was sent: it was not confirmed/s });
    const watched = await lapel(['watch', rolloutId]);
    const [, seen = ''] = /resume rol_\w+ --seen '("[^"]+")'/.exec(watched.stderr) ?? [];
    t.match(await lapel(['resume', rolloutId, '--seen', seen]), { code: 0, stdout: /is running/ });
  });

  await t.test('and without a terminal it shows what it names', async (t) => {
    const approved = await lapel(['approve', rolloutId]);
    t.match(approved, { code: 0, stderr: /^stage 1: succeeded 2 or more, failed 2, codes BROKEN, WORN/ });
    t.match(
      (await lapel(['show', rolloutId])).stdout,
      /approved \(stage 1\) by application; then: succeeded 2 or more/,
    );
  });
});
