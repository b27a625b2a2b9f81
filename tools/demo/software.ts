import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServiceClient, unexpected } from '@lapel/device-sim/customer/service-client';
import type { Camera } from './cameras.ts';
import { check, promised } from './check.ts';
import type { Results } from './results.ts';
import type { App } from './tenant.ts';
import type { Timeline } from './timeline.ts';

/** The folder of the demo's APK files, which are real and signed. */
export const APKS = join(import.meta.dirname, 'apks');
const PACKAGE = 'com.example.camera';
const FIRMWARE = { package: 'com.lapel.firmware', version: '9.2.0' };

interface Parts {
  app: App;
  /** The administration API. */
  admin: { url: string; token: string };
  cameras: readonly Camera[];
  results: Results;
  timeline: Timeline;
  step(text: string): Promise<void>;
  connect(camera: Camera): Promise<void>;
}

/** Sends a file with PUT to the URL that the service made; the file goes directly to the object store. */
async function putFile(answer: Readonly<Record<string, unknown>>, file: Buffer): Promise<void> {
  const [{ uploadUrl } = { uploadUrl: '' }] = answer['urlList'] as { uploadUrl: string }[];
  const { ok, status } = await fetch(uploadUrl, { method: 'PUT', body: new Uint8Array(file) });
  check(ok, `the object store takes the file, but it answers ${status}`);
}

/** The tour's chapter about software. Throws as soon as the service does not do what was promised. */
export async function softwareChapter({ app, admin, cameras, results, timeline, step, connect }: Parts): Promise<void> {
  const [one, , , four] = cameras as [Camera, Camera, Camera, Camera];

  async function distribute(version: string, name: string): Promise<void> {
    const file = readFileSync(join(APKS, name));
    const body = { package: PACKAGE, version, fileSize: file.length };
    const registered = await app.call('POST', '/apps', 200, () => `apps ${version}: an upload URL`, { body });
    await putFile(registered, file);
    timeline.arrow({ from: 'app', to: 'store', text: `PUT ${name}, ${file.length} bytes` });
    const path = `/packages/${PACKAGE}/versions/${version}/distributions`;
    await app.call('POST', path, 201, () => `${version} distributions (start)`);
  }
  const install = (camera: Camera, version: string): Promise<number> => {
    const path = `/devices/${camera.device.deviceId}/apps`;
    return app.submit('PUT', path, `${camera.name} apps ${version}`, { package: PACKAGE, version });
  };
  const installed = ({ device }: Camera): string | undefined => device.state.software[PACKAGE]?.version;
  const failsWith = async (transactionId: number, code: string): Promise<void> => {
    const error = await results.expect(transactionId, 'failed');
    check(error === code, `transaction ${transactionId} fails with ${code}, not ${error}`);
  };

  await step('8. Software: an APK file is uploaded, distributed, and installed on a camera and on one that is offline');
  await distribute('1.0.0', 'camera-1.0.0.apk');
  await four.device.drop();
  timeline.note('camera 4 has lost its connection');
  const waiting = await install(four, '1.0.0');
  await results.expect(await install(one, '1.0.0'), 'succeeded');
  check(installed(one) === '1.0.0', 'camera 1 has 1.0.0');
  check(installed(four) === undefined && !results.has(waiting), 'the installation on camera 4 waits');
  timeline.note('camera 4 gets a fresh download URL when it connects, however long it was offline');
  await connect(four);
  await results.expect(waiting, 'succeeded');
  check(installed(four) === '1.0.0', 'camera 4 has 1.0.0');

  await step('9. An upgrade, and a downgrade that the camera refuses');
  await distribute('1.1.0', 'camera-1.1.0.apk');
  await results.expect(await install(one, '1.1.0'), 'succeeded');
  await failsWith(await install(one, '1.0.0'), 'VERSION_CODE_NOT_HIGHER');
  check(installed(one) === '1.1.0', 'camera 1 still has 1.1.0');

  await step('10. A file with another version than its registration: it is installed, and the difference is reported');
  await distribute('1.2.0', 'camera-claims-1.2.0-embeds-9.9.9.apk');
  await failsWith(await install(four, '1.2.0'), 'VERSION_NAME_MISMATCH');
  check(installed(four) === '9.9.9', 'camera 4 has what the file says');

  await step('11. Firmware: the service’s own list');
  const request = createServiceClient({ baseUrl: admin.url, token: admin.token });
  const path = `/admin/v1/firmware/${FIRMWARE.package}/versions/${FIRMWARE.version}`;
  const put = await request('PUT', path, {});
  if (put.status !== 200) throw unexpected(`PUT ${path}`, put);
  const ticket = await request('POST', `${path}/binaries`);
  if (ticket.status !== 200) throw unexpected(`POST ${path}/binaries`, ticket);
  await putFile(ticket.body, Buffer.alloc(100_000, 'firmware '));
  timeline.arrow({ from: 'console', to: 'lapel', text: `firmware ${FIRMWARE.version}, with its file` });
  await app.call('GET', '/firmware', 200, (body) => {
    const versions = body['firmwareVersions'] as { version: string }[];
    return `firmware: ${versions.map(({ version }) => version).join(', ')}`;
  });
  const device = `/devices/${one.device.deviceId}/firmware`;
  const update = await app.submit('PUT', device, `camera 1 firmware ${FIRMWARE.version}`, FIRMWARE);
  await results.expect(update, 'succeeded');
  check(one.device.state.firmwareVersion === FIRMWARE.version, 'camera 1 runs the new firmware');
  await promised(one.device.idle(), 'camera 1 has reported its firmware');
}
