import type { DomainError } from '@lapel/schemas/contracts/errors';
import t from 'tap';
import type { StoredObject } from '../../src/core/software/object-store.ts';
import { createQuotas } from '../../src/core/software/quotas.ts';
import { createSoftware } from '../../src/core/software/software.ts';
import { createMetrics } from '../../src/metrics.ts';
import { randomIds } from '../../src/runtime/ids.ts';
import { createLog } from '../../src/runtime/log.ts';
import { openTestDatabase } from '../applications/tenant.ts';

const NAME = { package: 'com.example.camera', version: '1.0.0' };
const MINE = { developerId: 'mine', applicationId: 'mine-app' };

t.test('the software part of an install', async (t) => {
  const { database, clock } = openTestDatabase(t);
  const stored = new Map<string, StoredObject>();
  const objects = {
    uploadUrl: () => Promise.reject(new Error('not asked for here')),
    downloadUrl: async (key: string, { expiresIn }: { expiresIn: number }) => ({
      url: `https://objects.example/${key}`,
      expiresAt: clock.now() + expiresIn * 1_000_000,
    }),
    head: async (key: string) => stored.get(key),
    remove: async (key: string) => void stored.delete(key),
    read: () => Promise.reject(new Error('not asked for here')),
    async *stream() {
      yield Buffer.from('content');
    },
    async *list() {
      yield [];
    },
  };
  const log = createLog({ level: 'silent' });
  const metrics = createMetrics();
  const software = createSoftware({
    unavailable: () => undefined,
    log,
    database,
    clock,
    ids: randomIds,
    objects,
    metrics,
    quotas: createQuotas({ database, metrics, limits: { packages: 0, versions: 0, storedBytes: 0 } }),
    reservedPrefix: 'com.lapel.',
  });
  const { installs } = software;
  for (const developerId of ['mine', 'theirs']) {
    const text = 'INSERT INTO developers (developer_id, name, created_at) VALUES (?, ?, 0)';
    await database.transact((unit) => unit.run(text, developerId, developerId));
  }
  const codeOf = (work: Promise<unknown>) =>
    work.then(() => null).catch((error: unknown) => (error as DomainError).code);

  t.test('a version is found by its developer’s applications only', async (t) => {
    const find = (developerId: string) => installs.findInstallable(database.read, developerId, NAME);
    t.equal(await codeOf(find('mine')), 'PACKAGE_NOT_FOUND');
    await software.packages.register('mine', { package: NAME.package });
    t.equal(await codeOf(find('mine')), 'VERSION_NOT_FOUND');
    await software.versions.register('mine', NAME.package, NAME);
    t.match(await find('mine'), { distributionStartedAt: null });
    t.equal(await codeOf(find('theirs')), 'PACKAGE_NOT_FOUND');
    await software.distributions.start(MINE, NAME);
    t.match(await find('mine'), { distributionStartedAt: clock.now() });
  });

  t.test('a download URL is made for the present binary, or not at all', async (t) => {
    const current = await installs.findCurrent('software', NAME, 'mine');
    t.ok(current);
    if (!current) return;
    t.equal((await installs.obstacle(current))?.code, 'BINARY_MISSING');
    t.equal(await installs.download(current, { expiresIn: 60, waits: true }), undefined);
    stored.set(current.objectKey, { size: 7, uploadedAt: 0, etag: '"x"' });
    t.equal(await installs.obstacle(current), undefined);
    t.same(await installs.download(current, { expiresIn: 60, waits: true }), {
      url: `https://objects.example/${current.objectKey}`,
      expiresAt: clock.now() + 60_000_000,
      size: 7,
      sha256: 'ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73',
    });
  });

  t.test('a caller that does not wait for a digest learns that it is being made, and gets it later', async (t) => {
    const current = (await installs.findCurrent('software', NAME, 'mine'))!;
    const asked = { expiresIn: 60, waits: false };
    stored.set(current.objectKey, { size: 7, uploadedAt: 0, etag: '"another"' });
    t.equal(await installs.download(current, asked), 'preparing');
    await software.digests.idle();
    t.match(await installs.download(current, asked), { sha256: /^ed70/ });
    stored.set(current.objectKey, { size: 7, uploadedAt: 0, etag: '"x"', sha256: 'of the store itself' });
    t.match(await installs.download(current, asked), { sha256: 'of the store itself' });
  });

  t.test('a name that another developer has now is unknown to the first one', async (t) => {
    await software.binaries.remove('mine', NAME);
    await software.distributions.stop('mine', NAME);
    await software.versions.remove('mine', NAME);
    t.equal(await installs.findCurrent('software', NAME, 'mine'), undefined);
    await software.packages.remove('mine', NAME.package);
    await software.packages.register('theirs', { package: NAME.package });
    await software.versions.register('theirs', NAME.package, NAME);
    t.ok(await installs.findCurrent('software', NAME, 'theirs'));
    t.equal(await installs.findCurrent('software', NAME, 'mine'), undefined);
  });

  t.test('system packages are for every developer, and firmware is separate', async (t) => {
    const own = { package: 'com.lapel.client', version: '1.0.0' };
    await software.systemPackages.put(own, {});
    t.match(await installs.findInstallable(database.read, 'mine', own), { distributionStartedAt: clock.now() });
    t.ok(await installs.findCurrent('software', own, 'theirs'));
    t.equal(await codeOf(installs.findFirmware(database.read, own)), 'PACKAGE_NOT_FOUND');
    await software.firmware.put(own, {});
    t.match(await installs.findFirmware(database.read, own), { distributionStartedAt: clock.now() });
    t.equal(await codeOf(installs.findFirmware(database.read, { ...own, version: '2.0.0' })), 'VERSION_NOT_FOUND');
  });
});
