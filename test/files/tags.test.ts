import t from 'tap';
import { standOf } from './stand.ts';

t.test('tags of all devices that a selector matches come from files', async (t) => {
  const stand = await standOf(t);
  const { tenant, world, lapel } = stand;
  const devices: string[] = [];
  for (let made = 0; made < 4; made += 1) devices.push((await world.activatedDevice(tenant)).deviceId);
  const [one = '', two = '', three = '', four = ''] = devices;
  for (const deviceId of [one, two, three]) await lapel(`device tag ${deviceId} site=osaka ring=late`);
  await lapel(`device tag ${four} ring=canary`);
  const tagsOf = async (deviceId: string) => (await tenant.api.get(`${tenant.path}/devices/${deviceId}/tags`)).body;

  const files = (more = '') => ({
    'tags.yaml': `tags:
  - name: canary ring
    devices: { tags: { site: [osaka, kyoto] } }
    tags: { ring: canary, retired: null }
${more}`,
  });

  await t.test('a plan says how many devices match, and how many are changed', async (t) => {
    stand.write(files());
    const { code, stdout } = await lapel(`plan -f ${stand.folder}`);
    t.equal(code, 3);
    t.match(
      stdout,
      /change {2}tags canary ring .*\n {10}ring: 3 of 3 matching devices -> canary\n {10}\(devices that match: 3; devices that are changed: 3\)/,
    );
    t.match(await tagsOf(one), { ring: 'late' });
  });

  await t.test('an exclusive entry takes its tags from devices that do not match', async (t) => {
    stand.write(files('    exclusive: true\n'));
    t.match((await stand.plan()).steps, [
      {
        changes: [
          { field: 'ring', before: '3 of 3 matching devices', after: 'canary' },
          { field: 'ring', before: '1 of the devices that do not match', after: 'no tag' },
        ],
      },
    ]);
    t.match(await stand.apply(), { code: 0 });
    t.same(await tagsOf(one), { site: 'osaka', ring: 'canary' });
    t.same(await tagsOf(four), {});
    t.match(await stand.plan(), { code: 0, unchanged: 1 });
  });

  await t.test('a change of more devices than permitted is refused', async (t) => {
    await lapel('device tags ring=late --all');
    stand.write(files('    mostDevices: 2\n'));
    t.match(await stand.plan(), { code: 1, refused: [{ reason: /would change 3 devices, and mostDevices is 2/ }] });
    stand.write(files('    mostDevices: 3\n'));
    t.match(await stand.plan(), { code: 3 });
  });

  await t.test('a device that would have more than 32 tags is refused before anything is changed', async (t) => {
    const many = Array.from({ length: 31 }, (_, index) => `k${index}=v`).join(' ');
    await lapel(`device tag ${four} --remove ring site`);
    await lapel(`device tag ${four} ${many}`);
    stand.write({
      'tags.yaml': `tags:\n  - { name: x, devices: { devices: ['${four}'] }, tags: { a: '1', b: '2' } }\n`,
    });
    t.match(await stand.plan(), { code: 1, refused: [{ reason: `${four} would have more than 32 tags` }] });
    stand.write({
      'tags.yaml': `tags:\n  - { name: x, devices: { devices: ['${four}'] }, tags: { a: '1', k0: null } }\n`,
    });
    t.match(await stand.apply(), { code: 0 });
  });

  await t.test('two values for one device, and selectors of tags that the files change, are refused', async (t) => {
    stand.write(files(`  - name: other\n    devices: { devices: ['${one}'] }\n    tags: { ring: stable }\n`));
    t.match(await stand.plan(), {
      refused: [{ name: 'other', reason: `"canary ring" gives the tag ring of ${one} another value` }],
    });
    stand.write(files('  - name: other\n    devices: { tags: { ring: canary } }\n    tags: { plan: b }\n'));
    t.match(await stand.plan(), {
      refused: [{ name: 'other', reason: /its selector names a tag that "canary ring" changes/ }],
    });
  });

  await t.test(
    'devices by id, by their share and by their connection are those that the service selects',
    async (t) => {
      for (const selector of [
        `{ devices: ['${one}', '${two}'] }`,
        '{ percent: 50, salt: a }',
        '{ connected: true }',
        '{ tags: { site: null } }',
        '{}',
      ]) {
        stand.write({
          'tags.yaml': `tags:\n  - name: x\n    devices: ${selector}\n    tags: { mark: '${selector.length}' }\n`,
        });
        const { steps } = await stand.plan();
        const body = {
          devices: JSON.parse(
            selector
              .replaceAll(/(\w+): /g, '"$1": ')
              .replaceAll(/: a /g, ': "a" ')
              .replaceAll("'", '"'),
          ),
        };
        const counted = await tenant.api.post(`${tenant.path}/devices/count`, { json: body });
        t.match(
          steps[0]?.changes[0]?.before,
          `${counted.body.matching} of ${counted.body.matching} matching`,
          selector,
        );
      }
    },
  );
});
