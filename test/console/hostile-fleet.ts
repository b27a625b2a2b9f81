import { transactionIdOf, WIFI, type World } from '../world.ts';

/** Texts that devices, customers and files may contain: each must be shown as text. */
export const HOSTILE = {
  script: '<script>window.owned = 1</script>',
  image: '"><img src=x onerror="window.owned = 1">',
  link: 'javascript:window.owned=1',
  turned: 'abc\u202Efed',
  long: `long ${'x'.repeat(250)}`,
} as const;

/** A fleet in which every name, text and report is hostile. */
export async function createHostileFleet(world: World) {
  const tenant = await world.createTenant();
  const { receiver } = tenant;
  const admin = world.admin();
  await admin.patch('/admin/v1/developers/dev', { json: { name: HOSTILE.image } });
  await admin.post('/admin/v1/developers', { json: { developerId: 'long', name: HOSTILE.long } });
  await admin.post('/admin/v1/developers/dev/applications', { json: { applicationId: 'spare', name: HOSTILE.script } });
  await tenant.api.patch(tenant.path, { json: { callEvent: receiver.url } });
  const packageName = 'com.example.camera';
  await tenant.api.post(`${tenant.path}/packages`, {
    json: { package: packageName, displayName: HOSTILE.script },
  });
  await tenant.api.post(`${tenant.path}/packages/${packageName}/versions`, {
    json: { version: '1.0.0', description: HOSTILE.image },
  });
  const device = await world.activatedDevice(tenant);
  for (const text of [`${HOSTILE.script}\n${HOSTILE.turned}`, `${HOSTILE.link} ${'x'.repeat(1_900)}`])
    await tenant.api.post(`${device.path}/notes`, { json: { text } });
  await admin.post(`/admin/v1/devices/${device.deviceId}/notes`, { json: { text: HOSTILE.image } });
  const quiet = await world.registerDevice();
  const old = await world.activatedDevice(tenant);
  old.link.publish('status', { firmwareVersion: `8 ${HOSTILE.script}` });
  await old.link.next('puback');
  const warned = transactionIdOf(await tenant.api.get(`${old.path}/connectivity/state?type=bluetooth`));
  device.link.publish('status', {
    firmwareVersion: HOSTILE.image,
    lang: 'en',
    battery: { level: 42, charging: false },
    software: [{ package: packageName, version: '1.0.0', versionCode: 1 }],
  });
  await device.link.next('puback');
  receiver.answer({ status: 500, body: HOSTILE.image });
  const transactionId = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
  device.link.puback((await device.link.command()).packet);
  await device.link.ack({
    transactionId,
    status: 'failed',
    error: { code: 'X', message: `${HOSTILE.script} ${HOSTILE.link} ${HOSTILE.turned}` },
  });
  const { headers } = await receiver.next();
  receiver.answer({ status: 200 });
  const waiting = transactionIdOf(await tenant.api.put(`${device.path}/settings/lang`, { json: { lang: 'ja' } }));
  return {
    tenant,
    device,
    deviceId: device.deviceId,
    quiet,
    transactionId,
    deliveryId: String(headers['webhook-id']),
    waiting,
    /** The transaction of a command that the device's firmware may be too old to answer. */
    warned,
    packageName,
    applicationId: tenant.applicationId,
  };
}
