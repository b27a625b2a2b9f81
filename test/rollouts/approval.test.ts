import t from 'tap';
import { startRollouts } from './rollout-world.ts';

t.test('a stage that asks for another person', async (t) => {
  const { world, tenant, read, start, commands, answer, act } = await startRollouts(t, 2);
  const person = async (name: string) => {
    const json = { name, role: 'admin' };
    return world.clientWith((await world.admin().post('/admin/v1/developers/dev/members', { json })).body.token);
  };
  const [ann, ben] = [await person('Ann'), await person('Ben')];
  const stages = [{ count: 1, approval: { by: 'other' } }];
  const json = { operation: 'setLanguage', parameters: { lang: 'ja' }, devices: {}, stages };
  const begun = async (made: { body: { rolloutId: string } }): Promise<string> => {
    await world.idle();
    for (const [deviceId, command] of await commands()) await answer(deviceId, command);
    return made.body.rolloutId;
  };
  const path = `${tenant.path}/rollouts`;
  const rolloutId = await begun(await ann.post(path, { json }));

  await t.test('is approved neither by who started it, nor by the application', async (t) => {
    t.match(await ann.post(`${path}/${rolloutId}/approve`), {
      status: 403,
      body: { message: 'this stage must be approved by another person: Ann has started it.' },
    });
    t.match(await act(rolloutId, 'approve'), { status: 403, body: { message: /application is no person/ } });
    t.match(await read(rolloutId), { stage: 1, stages: [{ approval: true, approvalBy: 'other', approved: false }] });
  });

  await t.test('nor by who changed it last', async (t) => {
    t.equal((await ben.post(`${path}/${rolloutId}/pause`)).status, 200);
    t.equal((await ben.patch(`${path}/${rolloutId}`, { json: { ratePerMinute: 60 } })).status, 200);
    t.match(await ben.post(`${path}/${rolloutId}/approve`), { status: 403, body: { message: /Ben has changed it/ } });
    t.equal((await ann.post(`${path}/${rolloutId}/resume`)).status, 200);
  });

  await t.test('and by another person; the history says who', async (t) => {
    t.equal((await ben.post(`${path}/${rolloutId}/approve`)).status, 200, 'Ann has resumed it since');
    await world.idle();
    const { stage, history } = await read(rolloutId);
    t.equal(stage, 2);
    t.same(
      history.filter(({ person }) => person !== null).map(({ event, person }) => `${event} ${person}`),
      ['approved Ben', 'resumed Ann', 'changed Ben', 'paused Ben', 'created Ann'],
    );
    t.match(
      history.find(({ event }) => event === 'stageStarted'),
      { by: 'service', person: null },
    );
  });

  await t.test('is not approved by the resume of a stage that failed, unless another person resumes it', async (t) => {
    for (const [resumes, stage, lang] of [
      [ann, 1, 'fr'],
      [ben, 2, 'nl'],
    ] as const) {
      const made = await ann.post(path, { json: { ...json, parameters: { lang } } });
      const id: string = made.body.rolloutId;
      for (const [deviceId, command] of await commands()) await answer(deviceId, command, 'INTERNAL');
      t.match(await read(id), { state: 'paused', reason: 'STAGE_FAILED' });
      t.equal((await resumes.post(`${path}/${id}/resume`)).status, 200);
      await world.idle();
      t.match(await read(id), { state: 'running', stage });
      if (stage === 1) t.equal((await ben.post(`${path}/${id}/approve`)).status, 200);
      for (const [deviceId, command] of await commands()) await answer(deviceId, command);
      t.match(await read(id), { state: 'completed', counts: { failed: 1, succeeded: 1 } });
    }
  });

  await t.test('is approved by any person if a program has started it', async (t) => {
    const other = await begun({ body: { rolloutId: await start({ ...json, parameters: { lang: 'de' } }) } });
    await ben.post(`${path}/${other}/pause`);
    await ben.post(`${path}/${other}/resume`);
    t.match(await ben.post(`${path}/${other}/approve`), { status: 403 });
    await act(other, 'pause');
    await act(other, 'resume');
    t.equal((await ben.post(`${path}/${other}/approve`)).status, 200, 'the program has resumed it since');
  });

  await t.test('and at once if no person has touched it', async (t) => {
    const other = await begun({ body: { rolloutId: await start({ ...json, parameters: { lang: 'es' } }) } });
    t.equal((await ann.post(`${path}/${other}/approve`)).status, 200);
  });
});
