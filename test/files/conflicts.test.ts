import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { standOf } from './stand.ts';

const FILE = `settings: { callEvent: 'https://calls.example/wanted' }
endpoints:
  - { description: one, url: 'https://one.example/wanted' }
  - { description: two, url: 'https://two.example/wanted' }
packages:
  - { package: com.example.camera, displayName: Wanted }
tags:
  - { name: ring, devices: { tags: { site: osaka } }, tags: { ring: canary } }
rollouts:
  - { label: language, operation: setLanguage, parameters: { lang: en-GB }, devices: {}, ratePerMinute: 5 }
administration:
  developers: [{ developerId: dev, deviceLimit: 7 }]
  people: [{ personId: bob, name: Robert }]
`;

t.test('a change by hand between plan and apply stops the apply, and is not overwritten', async (t) => {
  const stand = await standOf(t);
  const { tenant, world, lapel, folder } = stand;
  const admin = world.admin();
  const { api, path } = tenant;
  const device = await world.activatedDevice(tenant);
  const jsonOf = async (line: string) => JSON.parse((await lapel(`${line} --json`)).stdout);
  const [one, two] = [
    await jsonOf('endpoint add https://one.example/ --description one'),
    await jsonOf('endpoint add https://two.example/ --description two'),
  ];
  await api.post(`${path}/packages`, { json: { package: 'com.example.camera' } });
  await lapel(`device tag ${device.deviceId} site=osaka`);
  const rollout = await jsonOf('rollout start --language en-GB --continuous --all --label language --rate 4');
  await lapel(`rollout pause ${rollout.rolloutId}`);
  await admin.post('/admin/v1/people', { json: { personId: 'bob', name: 'Bob', role: 'reader' } });
  stand.write({ 'all.yaml': FILE });

  /** Changes something by hand while the apply asks, and gives what the command says. */
  const changedMeanwhile = (change: () => Promise<unknown>) =>
    lapel(`apply -f ${folder}`, {
      answers: async () => {
        await change();
        return 'y';
      },
    });
  const cases: [name: string, change: () => Promise<unknown>, read: () => Promise<unknown>][] = [
    [
      'developer dev',
      () => admin.patch('/admin/v1/developers/dev', { json: { name: 'By Hand' } }),
      async () => (await admin.get('/admin/v1/developers/dev')).body.deviceLimit,
    ],
    [
      'person bob',
      () => admin.patch('/admin/v1/people/bob', { json: { role: 'support' } }),
      async () => (await admin.get('/admin/v1/people/bob')).body.name,
    ],
    [
      'settings',
      () => api.patch(path, { json: { callFileSendEvent: 'https://by-hand.example/' } }),
      async () => (await api.get(path)).body.callEvent,
    ],
    [
      'endpoint one',
      () => lapel(`endpoint change ${one.endpointId} --rate 9`),
      async () => (await api.get(`${path}/endpoints/${one.endpointId}`)).body.url,
    ],
    [
      'endpoint two',
      () => lapel(`endpoint delete ${two.endpointId}`),
      async () => (await api.get(`${path}/endpoints/${two.endpointId}`)).status,
    ],
    [
      'package com.example.camera',
      () => api.patch(`${path}/packages/com.example.camera`, { json: { displayName: 'By hand' } }),
      async () => (await api.get(`${path}/packages`)).body.packages[0].displayName,
    ],
    [
      'tags ring',
      () => lapel(`device tag ${device.deviceId} ring=by-hand`),
      async () => (await api.get(`${path}/devices/${device.deviceId}/tags`)).body.ring,
    ],
    [
      'rollout language',
      () => api.patch(`${path}/rollouts/${rollout.rolloutId}`, { json: { maxUnfinished: 3 } }),
      async () => (await api.get(`${path}/rollouts/${rollout.rolloutId}`)).body.rules.ratePerMinute,
    ],
  ];
  for (const [name, change, read] of cases) {
    await t.test(name, async (t) => {
      let after: unknown;
      const { code, stderr } = await changedMeanwhile(async () => {
        await change();
        after = await read();
      });
      t.equal(code, 1);
      t.match(
        stderr,
        new RegExp(`lapel: ${name}: it was (changed|removed) after the plan had read it; nothing of it was changed`),
      );
      // The audit log has no changes of tags.
      if (name !== 'tags ring') t.match(stderr, /the latest change: 2026-11-20T\S+: .+/, 'it says who has changed it');
      t.same(await read(), after, 'nothing of it was overwritten');
      if (name === 'endpoint two') stand.write({ 'all.yaml': FILE.replace(/\n.*description: two.*/, '') });
      const again = await stand.apply();
      t.equal(again.code, 0, 'a second apply, which has read the change, goes on');
      if (name === 'endpoint two') stand.write({ 'all.yaml': FILE.replace(/\n.*description: two.*/, '') });
      // The next case needs differences again.
      await admin.patch('/admin/v1/developers/dev', { json: { deviceLimit: 100 } });
      await admin.patch('/admin/v1/people/bob', { json: { name: 'Bob' } });
      await api.patch(path, { json: { callEvent: null } });
      await api.patch(`${path}/endpoints/${one.endpointId}`, { json: { url: 'https://one.example/' } });
      await api.patch(`${path}/endpoints/${two.endpointId}`, { json: { url: 'https://two.example/' } });
      await api.patch(`${path}/packages/com.example.camera`, { json: { displayName: null } });
      await lapel(`device tag ${device.deviceId} --remove ring`);
      await api.patch(`${path}/rollouts/${rollout.rolloutId}`, { json: { ratePerMinute: 4 } });
    });
  }

  await t.test('an object that somebody makes meanwhile is not made a second time', async (t) => {
    stand.write({ 'all.yaml': "endpoints: [{ description: new, url: 'https://new.example/', signatures: [v1a] }]\n" });
    const { code, stderr } = await changedMeanwhile(() =>
      lapel('endpoint add https://by-hand.example/ --description new'),
    );
    t.equal(code, 1);
    t.match(stderr, /endpoint new: it was made after the plan had read the endpoints/);
    const { endpoints } = (await api.get(`${path}/endpoints`)).body;
    t.same(
      endpoints.flatMap(({ description, url }: Record<string, string>) => (description === 'new' ? [url] : [])),
      ['https://by-hand.example/'],
    );
  });

  await t.test('a plan in a file is refused when the files, or what is there, have changed', async (t) => {
    const file = join(folder, 'plan.json');
    stand.write({ 'all.yaml': "settings: { callEvent: 'https://calls.example/a' }\n" });
    t.match(await lapel(`plan -f ${folder} --out ${file}`), { code: 3 });
    t.match(JSON.parse(readFileSync(file, 'utf8')), { format: 'lapel-plan-1', steps: [{ kind: 'settings' }] });
    stand.write({ 'all.yaml': "settings: { callEvent: 'https://calls.example/b' }\n" });
    const refused = { code: 1, stderr: /the plan is not the one in .*plan\.json any more; nothing was changed/ };
    t.match(await lapel(`apply -f ${folder} --plan ${file} --yes`), refused);
    stand.write({ 'all.yaml': "# a comment moves lines\nsettings: { callEvent: 'https://calls.example/a' }\n" });
    await api.patch(path, { json: { callEvent: 'https://by-hand.example/' } });
    t.match(await lapel(`apply -f ${folder} --plan ${file} --yes`), refused);
    await api.patch(path, { json: { callEvent: null } });
    t.match(await lapel(`apply -f ${folder} --plan ${file} --yes`), { code: 0 });
    writeFileSync(file, '{}');
    t.match(await lapel(`apply -f ${folder} --plan ${file} --yes`), {
      code: 2,
      stderr: /was not written by lapel plan/,
    });
  });

  await t.test('Ctrl-C ends an apply between two changes', async (t) => {
    stand.write({
      'all.yaml': "settings: { callEvent: 'https://calls.example/c' }\npackages: [{ package: com.example.later }]\n",
    });
    const interrupt = new AbortController();
    const ended = await lapel(`apply -f ${folder} --yes`, {
      interrupted: interrupt.signal,
      onWrite: (text) => {
        if (text.startsWith('changed settings')) interrupt.abort();
      },
    });
    t.match(ended, { code: 130, stderr: /interrupted after 1 of 2 changes\nlapel plan shows what is left to do\n$/ });
    t.match((await stand.plan()).steps, [{ kind: 'package' }]);
    t.match(await stand.apply(), { code: 0 });
  });
});
