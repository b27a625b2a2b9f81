import type { RolloutCreate, RolloutDryRun } from '@lapel/schemas/contracts/types';
import t from 'tap';
import { LANG, startRollouts } from './rollout-world.ts';

const codesOf = ({ warnings }: Pick<RolloutDryRun, 'warnings'>): string[] => warnings.map(({ code }) => code);

t.test('a dry run says what a rollout would be, and makes nothing', async (t) => {
  const { world, tenant, devices, start, commands } = await startRollouts(t, 25);
  const ask = async (more: Partial<RolloutCreate>, status = 200) => {
    const answer = await tenant.api.post(`${tenant.path}/rollouts`, { json: { ...LANG, ...more, dryRun: true } });
    t.equal(answer.status, status, JSON.stringify(answer.body));
    return answer.body as RolloutDryRun;
  };
  devices[0]!.link.publish('status', { firmwareVersion: '9.1.0' });
  await devices[0]!.link.next('puback');
  await devices[1]!.link.drop();
  await world.idle();
  const stages = [{ percent: 10 }, { count: 20 }];
  const found = await ask({ stages, abort: { failedPercent: 10, minimumResults: 30, codes: ['NO_ANSWER'] } });
  t.match(found, { devices: 25, connected: 24, stages: [3, 20, 2], maxUnfinished: 100, estimate: false, overlaps: [] });
  t.same(codesOf(found), ['ABORT_RULE_OUT_OF_REACH', 'CODE_NEVER_COMES', 'SMALL_FIRST_STAGE']);
  t.equal(
    found.firmwareVersions.reduce((sum, one) => sum + one.devices, 0),
    25,
  );
  t.same(codesOf(await ask({ devices: { connected: false } })), ['NOBODY_CONNECTED', 'NO_ABORT_RULE']);
  t.same(codesOf(await ask({ devices: { tags: { no: 'such' } } })), ['NO_DEVICES', 'NO_ABORT_RULE']);
  await ask({ operation: 'installSoftware', parameters: { package: 'com.example.no', version: '1.0.0' } }, 404);
  await ask({ stages: [{ percent: 60 }, { percent: 60 }] }, 400);
  await world.idle();
  t.same((await tenant.api.get(`${tenant.path}/rollouts`)).body.rollouts, []);
  t.equal((await commands()).size, 0);

  await t.test(
    'it names other rollouts at work that change the same, and so does the answer to a new one',
    async (t) => {
      const three = { devices: devices.slice(0, 3).map(({ deviceId }) => deviceId) };
      const other = await start({ label: 'German', parameters: { lang: 'de' }, devices: three });
      const overlapping = await ask({});
      t.same(overlapping.overlaps, [{ rolloutId: other, label: 'German', state: 'running', devices: 3 }]);
      const made = await tenant.api.post(`${tenant.path}/rollouts`, { json: LANG });
      t.match(made, { status: 201 });
      const { message } = made.body.warnings.find(({ code }: { code: string }) => code === 'OVERLAP');
      t.equal(message, `Rollout ${other} (German) is running and changes the same on 3 of the devices.`);
      await tenant.api.delete(`${tenant.path}/rollouts/${other}`);
      await tenant.api.delete(`${tenant.path}/rollouts/${made.body.rolloutId}`);
      await world.idle();
      t.same((await ask({})).overlaps, [], 'ended ones are no overlaps');
    },
  );
});
