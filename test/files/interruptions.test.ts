import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { startWorld, type World } from '../world.ts';
import { type Cut, createCuttingFront } from './cutting-front.ts';
import { type Stand, standIn } from './stand.ts';

const APKS = join(import.meta.dirname, '../../tools/demo/apks');

const files = (name: string) => ({
  'all.yaml': `settings:
  deviceEvent: https://events.example/${name}
endpoints:
  - { description: shared, url: 'https://one.example/', secretTo: secrets/shared }
  - { description: paired, url: 'https://two.example/', signatures: [v1a] }
  - { description: by-hand, absent: true }
packages:
  - package: com.example.${name}
    versions:
      - { version: 1.0.0, file: camera.apk, distributed: true }
tags:
  - { name: ring, devices: { tags: { site: osaka } }, tags: { ring: canary } }
rollouts:
  - label: language
    operation: setLanguage
    parameters: { lang: en-GB }
    devices: {}
    replace: true
administration:
  developers:
    - developerId: ${name}
      deviceLimit: 77
      members: [{ name: Ann, role: reader, tokenTo: secrets/ann }]
      enrolmentBatches:
        - { name: spring, expiresAt: '2027-03-01T00:00:00Z', mostDevices: 5, codeTo: secrets/spring }
    - developerId: ${name}-other
      name: Other
      applications: [{ applicationId: ${name}-new, name: New, secretTo: secrets/new }]
  people: [{ personId: ${name}-bob, name: Bob, role: reader, disabled: true }]
`,
});

const MAKES_A_SECRET = /^POST .*\/(endpoints|members|applications|enrolment-batches)$/;

/** A tenant whose objects differ from the files in each way. */
async function prepared(t: Test, world: World, name: string): Promise<Stand> {
  const tenant = await world.createTenant(name);
  const stand = standIn(t, world, tenant);
  const device = await world.activatedDevice(tenant);
  await stand.lapel(`device tag ${device.deviceId} site=osaka`);
  await stand.lapel('endpoint add https://three.example/ --description by-hand');
  await stand.lapel('rollout start --language ja --continuous --all --label language');
  copyFileSync(join(APKS, 'camera-1.0.0.apk'), join(stand.folder, 'camera.apk'));
  stand.write(files(name));
  return stand;
}

/** What is there in the end, without the ids and times that differ from run to run. */
async function endOf({ tenant, world, folder }: Stand): Promise<object> {
  const name = tenant.developerId;
  const { api, path } = tenant;
  const admin = world.admin();
  const { endpoints } = (await api.get(`${path}/endpoints`)).body;
  const { rollouts } = (await api.get(`${path}/rollouts`)).body;
  const { members } = (await admin.get(`/admin/v1/developers/${name}/members`)).body;
  const { batches } = (await admin.get(`/admin/v1/developers/${name}/enrolment-batches`)).body;
  const binary = await api.get(`${path}/packages/com.example.${name}/versions/1.0.0/binaries`);
  const atWork = rollouts.filter(({ state }: { state: string }) => state !== 'cancelled');
  const open = batches.filter(({ state }: { state: string }) => state === 'open');
  return {
    settings: (await api.get(path)).body.deviceEvent,
    endpoints: endpoints.map(({ description, url }: Record<string, string>) => [description, url]).sort(),
    sha256: binary.body.sha256,
    tags: (await api.get(`${path}/devices`)).body.devices.map(({ tags }: { tags: object }) => tags),
    rollouts: atWork.map(({ label, subject }: Record<string, string>) => [label, subject]),
    limit: (await admin.get(`/admin/v1/developers/${name}`)).body.deviceLimit,
    members: members.map((one: Record<string, string>) => [one['name'], one['role']]),
    batches: open.map((one: Record<string, string>) => [one['name'], one['mostDevices']]),
    application: (await admin.get(`/admin/v1/applications/${name}-new`)).body.name,
    person: (await admin.get(`/admin/v1/people/${name}-bob`)).body.disabled,
    secrets: readdirSync(join(folder, 'secrets')).sort(),
  };
}

t.test('an apply that is cut anywhere is finished by the next one, and nothing is made twice', async (t) => {
  const world = await startWorld(t);
  const whole = await prepared(t, world, 'whole');
  const front = await createCuttingFront(t, world.service.addresses.http);
  const adminFront = await createCuttingFront(t, world.service.addresses.admin);
  const env = { LAPEL_URL: front.url, LAPEL_ADMIN_URL: adminFront.url };
  const applied = await whole.apply({ env });
  t.equal(applied.code, 0, applied.stderr);
  const writes = { http: [...front.writes], admin: [...adminFront.writes] };
  t.ok(writes.http.length >= 11 && writes.admin.length >= 6, `${String(writes.http)} ${String(writes.admin)}`);
  const wanted = JSON.parse(JSON.stringify(await endOf(whole)).replaceAll('whole', 'NAME'));

  let tried = 0;
  const one = async (at: 'http' | 'admin', number: number, where: Cut): Promise<void> => {
    tried += 1;
    const name = `cut${tried}`;
    const stand = await prepared(t, world, name);
    const cutting = at === 'http' ? front : adminFront;
    front.cutAt(Number.POSITIVE_INFINITY, 'before');
    adminFront.cutAt(Number.POSITIVE_INFINITY, 'before');
    cutting.cutAt(number, where);
    const first = await stand.apply({ env });
    const about = `${at} request ${number}, cut ${where}: ${cutting.writes.at(number - 1)}`;
    t.not(first.code, 0, `${about}: the command fails`);
    const second = await stand.apply();
    t.equal(second.code, 0, `${about}: ${second.stderr}`);
    t.match(await stand.plan(), { code: 0, steps: [] }, about);
    t.same(JSON.parse(JSON.stringify(await endOf(stand)).replaceAll(name, 'NAME')), wanted, about);
  };
  for (const [at, requests] of Object.entries(writes) as ['http' | 'admin', string[]][]) {
    for (const [index, request] of requests.entries()) {
      await one(at, index + 1, 'after');
      // A cut before a request leaves what a cut after the former one leaves, but for the mark of a secret.
      if (MAKES_A_SECRET.test(request)) await one(at, index + 1, 'before');
    }
  }
  t.comment(`${tried} cuts`);
});
