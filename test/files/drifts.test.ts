import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DRIFTS, FILES, type Hand } from './drifts.ts';
import { standOf } from './stand.ts';

const APKS = join(import.meta.dirname, '../../tools/demo/apks');

t.test('each change by hand is found and named, and an apply takes it back', async (t) => {
  const stand = await standOf(t);
  const { tenant, world, folder } = stand;
  const { api, path } = tenant;
  const admin = world.admin();
  const { deviceId } = await world.activatedDevice(tenant);
  const binary = join(folder, 'camera.apk');
  copyFileSync(join(APKS, 'camera-1.0.0.apk'), binary);

  const good = (answer: { status: number }): void => {
    t.ok(answer.status < 300, `the change by hand is made: ${answer.status}`);
  };
  const hand: Hand = {
    device: deviceId,
    async lapel(line) {
      const { code, stderr } = await stand.lapel(line.replace('OTHER.apk', join(APKS, 'camera-1.1.0.apk')));
      t.equal(code, 0, stderr);
    },
    async api(method, at, json) {
      const call = { PATCH: api.patch, POST: api.post, DELETE: api.delete }[method];
      good(await call(path + at, json ? { json } : {}));
    },
    async admin(method, at, json) {
      const call = { PATCH: admin.patch, POST: admin.post, DELETE: admin.delete }[method];
      good(await call(`/admin/v1${at}`, json ? { json } : {}));
    },
    async endpoint(description) {
      const { endpoints } = (await api.get(`${path}/endpoints`)).body;
      return endpoints.find((one: { description: string }) => one.description === description).endpointId;
    },
    async rollout() {
      const { rollouts } = (await api.get(`${path}/rollouts`)).body;
      return rollouts.find(({ state }: { state: string }) => state !== 'cancelled').rolloutId;
    },
    member: async () => (await admin.get('/admin/v1/developers/dev/members')).body.members[0].memberId,
    async batch() {
      const { batches } = (await admin.get('/admin/v1/developers/dev/enrolment-batches')).body;
      return batches.find(({ state }: { state: string }) => state === 'open').batchId;
    },
  };
  let made = 0;
  /** Writes the files. A secret that is made again needs another file each time. */
  const write = (): void => {
    made += 1;
    const texts = Object.entries(FILES).map(([name, text]) => [
      name,
      text.replaceAll('new/', `secrets${made}/`).replaceAll('DEVICE', deviceId),
    ]);
    stand.write(Object.fromEntries(texts));
  };

  write();
  const first = await stand.apply();
  t.equal(first.code, 0, first.stderr);
  t.match(await stand.plan(), { code: 0, steps: [], refused: [] });
  for (const { by, make, found, field, refused, lasts } of DRIFTS) {
    await t.test(`somebody ${by}`, async (t) => {
      await make(hand);
      write();
      const plan = await stand.plan();
      if (refused !== undefined) {
        t.equal(plan.code, 1);
        t.match(plan.refused, [{ reason: refused }]);
        t.equal(`${plan.refused[0]?.kind} ${plan.refused[0]?.name}`, found);
        await hand.api('DELETE', '/packages/com.example.camera/versions/1.0.0/binaries');
      } else {
        t.equal(plan.code, 3);
        t.same(
          plan.steps.map(({ action, kind, name }) => `${action} ${kind} ${name}`),
          [found],
        );
        t.ok(
          plan.steps[0]?.changes.some((one) => one.field === field),
          `${field} is named`,
        );
      }
      const applied = await stand.apply();
      if (lasts !== undefined) {
        t.match(applied, { code: 1, stderr: lasts });
        return;
      }
      t.equal(applied.code, 0, applied.stderr);
      t.match(await stand.plan(), { code: 0, steps: [], refused: [] });
    });
  }
  t.ok(DRIFTS.length >= 20, `${DRIFTS.length} drifts`);
});
