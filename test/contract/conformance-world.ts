import type { Test } from 'tap';
import { startSoftware } from '../api/software-world.ts';
import { rawRequest } from '../objects/raw-request.ts';

/** The real service with one of each resource that a row of the specification may need. */
export async function startConformance(t: Test) {
  const software = await startSoftware(t);
  const { world, tenant, other, register, upload, versionPath } = software;
  const device = await world.activatedDevice(tenant);
  const bare = await world.createTenant('bare', { deviceEvent: false });
  await world.admin().patch(`/admin/v1/devices/${device.deviceId}`, {
    json: { hardwareProperties: { macAddressWifi: 'AA:BB:CC:DD:EE:FF' } },
  });
  const firmware = { package: 'com.lapel.firmware', version: '9.2.0' };
  const made = `/admin/v1/firmware/${firmware.package}/versions/${firmware.version}`;
  await world.admin().put(made, { json: {} });
  await software.put(await world.admin().post(`${made}/binaries`), 'firmware');
  const ada = await world
    .admin()
    .post(`/admin/v1/developers/${tenant.developerId}/members`, { json: { name: 'Ada', role: 'admin' } });
  let count = 0;

  return {
    ...software,
    /** Activated for the application. */
    device,
    /** Tokens of another developer's application, and of one without deviceEvent. */
    foreign: other.api,
    bare,
    /** A client with the token of a person of the developer, who is its admin. */
    asAdmin: world.clientWith(ada.body.token),
    anonymous: world.anonymous(),
    firmware,
    /** The name of an unused package. */
    newName(): string {
      count += 1;
      return `com.example.number${count}`;
    },
    /** Registers a package with a version 1.0.0, up to the given state; returns its paths. */
    async newVersion(state: 'registered' | 'binary' | 'distributing' = 'registered') {
      count += 1;
      const name = `com.example.number${count}`;
      await register(name, '1.0.0');
      if (state !== 'registered') await upload(name, '1.0.0');
      const version = versionPath(name, '1.0.0');
      if (state === 'distributing') await tenant.api.post(`${version}/distributions`);
      return { name, package: `${tenant.path}/packages/${name}`, version };
    },
    /** Registers a device of a developer, without activation. */
    async newDevice(developerId?: string): Promise<string> {
      return (await world.registerDevice(developerId)).deviceId;
    },
    /** A transaction that waits for its device. */
    async newTransaction(): Promise<string> {
      const { body } = await tenant.api.put(`${device.path}/settings/apn`, { json: [] });
      return `${device.path}/transactions/${body.transactionId}`;
    },
    /** A message that breaks the grammar of HTTP. Operations without any input can be tested with it, too. */
    malformed: async (method: string, path: string): Promise<{ status: number }> =>
      rawRequest(world.service.addresses.http + path, { method, headers: { 'Content-Length': 'many' } }),
  };
}

export type ConformanceWorld = Awaited<ReturnType<typeof startConformance>>;
