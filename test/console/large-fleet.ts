// npm run try -- console: the console at full size, in a real browser, against the service as a separate process. It
// takes a minute or two and measures times, so it is not part of npm test: 100,000 devices; a device at its limit of
// messages; 200 MB uploaded; a CSV of 10,000 lines; SIGKILL while somebody looks.

import { closeSync, ftruncateSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fill } from '@lapel/tools/bench/scale/fill';
import { freePorts } from '@lapel/tools/harness/free-port';
import t, { type Test } from 'tap';
import { request } from 'undici';
import { ADMIN_TOKEN, type ServiceProcess, startProcess } from '../flow/service-process.ts';
import { openRawDevice } from '../raw-device.ts';
import { deviceIdOf } from '../world.ts';
import { openBrowser, openPage, NO_BROWSER as skip } from './browser.ts';

const DEVICES = 100_000;
const UPLOADED = 200 * 1024 ** 2;
const SECOND = 1000;
/** The metric of the event loop shows so many milliseconds when nothing blocks the loop. */
const RESOLUTION = 10;

t.setTimeout(600_000);

/** Each measurement has a goal, and is printed whether or not it meets the goal. */
function measured(t: Test, what: string, value: number, goal: number, isAtLeast = false): void {
  const isGood = isAtLeast ? value >= goal : value <= goal;
  t.ok(
    isGood,
    `${what}: ${value < 10 ? value.toFixed(2) : Math.round(value)} (goal: ${isAtLeast ? '>=' : '<='} ${goal})`,
  );
}

t.test('the console at its size', { skip }, async (t) => {
  const folder = t.testdir();
  const [http = 0, admin = 0, mqtt = 0, objects = 0] = await freePorts(4);
  const env = {
    LAPEL_DATA_DIR: folder,
    LAPEL_HTTP_PORT: String(http),
    LAPEL_ADMIN_PORT: String(admin),
    LAPEL_MQTT_PORT: String(mqtt),
    LAPEL_OBJECTS_PORT: String(objects),
  };
  const base = `http://127.0.0.1:${admin}`;
  async function rest(method: string, path: string, json?: unknown) {
    const answer = await request(`${base}/admin/v1${path}`, {
      method: method as 'GET',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
      body: json === undefined ? null : JSON.stringify(json),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode}`);
    return text === '' ? {} : JSON.parse(text);
  }
  /** The delay of the service's event loop in milliseconds, 99th percentile since the last call. */
  async function loopDelay(): Promise<number> {
    const text = await (await request(`${base}/metrics`)).body.text();
    return Number(/^nodejs_eventloop_lag_p99_seconds (\S+)/m.exec(text)?.[1]) * SECOND;
  }

  let service: ServiceProcess = await startProcess(t, env);
  await rest('POST', '/developers', { developerId: 'dev', name: 'Dev', deviceLimit: 1_000_000 });
  const deviceId = deviceIdOf(1);
  const { credential } = await rest('POST', '/developers/dev/devices', { deviceId });
  const device = { url: `mqtt://127.0.0.1:${mqtt}`, deviceId, credential };
  const first = await openRawDevice(device);
  await first.login();
  first.publish('status', { firmwareVersion: '9.1.0', battery: { level: 80, charging: false } });
  await first.next('puback');
  first.socket.destroy();
  service.signal('SIGTERM');
  await service.closed;
  fill(folder, ({ copy }) => {
    const number = 'CAST(n AS INTEGER)';
    const name = `'36' || substr('0000000000000' || ${number}, -13)`;
    copy('devices', DEVICES, { device_id: name });
    copy('device_status', DEVICES, {
      device_id: name,
      battery: `${number} % 101`,
      firmware: `'9.' || (${number} % 40) || '.0'`,
    });
    copy('device_presence', DEVICES, { device_id: name, last_seen_at: 'template.last_seen_at - n * 1000000' });
  });
  service = await startProcess(t, env);

  const browser = await openBrowser(t);
  const operator = await openPage(browser, base);
  operator.allow(`http://127.0.0.1:${objects}`);
  const { page } = operator;
  page.setDefaultTimeout(60_000);
  await page.goto('/console/');
  await page.getByLabel('Administrator token').fill(ADMIN_TOKEN);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await operator.settled();

  await t.test('lists of 100,000 devices', async (t) => {
    const rows = page.getByRole('row');
    const timed = async (path: string): Promise<number> => {
      const began = performance.now();
      await page.goto(`/console/${path}`);
      await rows.nth(5).waitFor();
      return performance.now() - began;
    };
    await timed('devices');
    const firstPage = await timed('devices');
    measured(t, 'first rows, ms', firstPage, SECOND);
    measured(t, 'elements of the page', await page.evaluate('document.querySelectorAll("*").length'), 1_500);
    // The last page: sixty deviceIds follow the one in the address.
    const lastPage = await timed(`devices?after=36${'0'.repeat(8)}99940`);
    measured(t, 'the last page beside the first', lastPage / firstPage, 2);
    for (const query of ['sort=-lastSeen', 'batteryBelow=5', 'firmware=9.7.0', 'notSeenFor=12h', 'connected=false'])
      measured(t, `${query}, ms`, await timed(`devices?${query}`), SECOND);
    // Without the browser, which uses the same two cores: the cost of the pages' queries for the service.
    await page.goto('about:blank');
    await loopDelay();
    const asks = ['fleet/summary', 'devices?firmware=9.7.0', 'devices?sort=-lastSeen', 'devices?notSeenFor=12h'];
    const groups = ['firmware', 'battery', 'developer', 'activation'].map((by) => `fleet/breakdown?by=${by}`);
    for (let round = 0; round < 20; round += 1) for (const path of [...asks, ...groups]) await rest('GET', `/${path}`);
    measured(t, 'delay of the service’s event loop, p99, ms', (await loopDelay()) - RESOLUTION, 10);
  });

  await t.test('a device at its limit of messages', async (t) => {
    const link = await openRawDevice(device);
    await link.login();
    await page.goto(`/console/devices/${deviceId}`);
    await page.getByText('Live', { exact: true }).first().waitFor();
    let running = true;
    const flood = (async () => {
      for (let number = 0; running; number += 1) {
        link.publish('status', { lang: number % 2 ? 'en' : 'ja' });
        await link.next('puback');
        if (number % 9 === 8) await new Promise((resolve) => setTimeout(resolve, 100));
      }
    })();
    await page.getByRole('log', { name: 'Messages' }).waitFor();
    const frames: number = await page.evaluate(`new Promise((resolve) => {
      let frames = 0;
      const end = performance.now() + 3000;
      const count = () => { frames += 1; performance.now() < end ? requestAnimationFrame(count) : resolve(frames / 3); };
      requestAnimationFrame(count);
    })`);
    measured(t, 'frames a second', frames, 30, true);
    await page
      .getByText(/messages are left out/)
      .first()
      .waitFor();
    running = false;
    await flood;
    link.socket.destroy();
  });

  await t.test('a CSV of 10,000 lines, three of them wrong', async () => {
    const lines = Array.from({ length: 10_000 }, (_, index) => deviceIdOf(500_000 + index));
    for (const at of [10, 5_000, 9_990]) lines[at] = 'no device';
    const file = join(folder, 'devices.csv');
    writeFileSync(file, ['deviceId', ...lines, ''].join('\n'));
    await page.goto('/console/developers/dev');
    await page.getByRole('button', { name: /Import/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('input[type=file]').setInputFiles(file);
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await dialog.getByRole('button', { name: 'I have the file: import' }).click();
    await dialog.getByText(/9,?997 devices registered, 3 faulty lines/).waitFor();
    for (const line of [12, 5_002, 9_992]) await dialog.getByText(`line ${line}`, { exact: true }).waitFor();
  });

  await t.test('200 MB go straight to the object store, in percent', async (t) => {
    await rest('PUT', '/firmware/com.lapel.firmware/versions/9.9.0', {});
    const file = join(folder, 'firmware.img');
    const descriptor = openSync(file, 'w');
    ftruncateSync(descriptor, UPLOADED);
    closeSync(descriptor);
    await page.goto('/console/software/com.lapel.firmware?line=firmware');
    await page
      .getByRole('button', { name: /^(Upload|Replace)$/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('input[type=file]').setInputFiles(file);
    await dialog.getByRole('button', { name: 'Upload' }).click();
    const seen = new Set<string>();
    while (await dialog.isVisible()) {
      const text = await dialog
        .getByRole('status')
        .innerText({ timeout: 200 })
        .catch(() => '');
      if (text) seen.add(text);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    measured(t, 'different percentages that were seen', seen.size, 3, true);
    const { versions } = await rest('GET', '/packages/com.lapel.firmware/versions?line=firmware');
    t.equal(versions[0].binary.sizeBytes, UPLOADED);
  });

  await t.test('SIGKILL while somebody looks: the page is live again by itself', async (t) => {
    await page.goto(`/console/devices?prefix=${deviceId}`);
    const live = page.getByText('Live', { exact: true }).first();
    await live.waitFor();
    operator.faults.length = 0;
    service.signal('SIGKILL');
    await service.closed;
    await page
      .getByText(/trying again/)
      .first()
      .waitFor();
    service = await startProcess(t, env);
    const began = performance.now();
    await live.waitFor();
    measured(t, 'live again after the service is ready, ms', performance.now() - began, 3 * SECOND);
    const link = await openRawDevice(device);
    await link.login();
    await page
      .getByRole('row', { name: deviceId })
      .getByText('connected', { exact: true })
      .waitFor({ timeout: 2 * SECOND });
    link.socket.destroy();
    operator.expected(/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|Failed to load/);
  });
  t.same(operator.faults, []);
});
