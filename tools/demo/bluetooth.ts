import { type Camera, gets, pathOf } from './cameras.ts';
import { check } from './check.ts';
import type { Results } from './results.ts';
import type { App } from './tenant.ts';
import type { Timeline } from './timeline.ts';

interface Parts {
  app: App;
  cameras: readonly Camera[];
  results: Results;
  timeline: Timeline;
  step(text: string): Promise<void>;
}

interface Status {
  connected: boolean;
  lang: string;
  firmwareVersion: string;
  battery: { level: number };
  network: { ssid: string };
}
interface Peer {
  name: string;
  macAddress: string;
}

/** The tour's chapter about the status of a camera, and about Bluetooth. */
export async function bluetoothChapter({ app, cameras, results, timeline, step }: Parts): Promise<void> {
  const [one, two] = cameras as [Camera, Camera];
  const device = (camera: Camera, path: string): string => `${pathOf(camera)}/${path}`;
  const bluetooth = { type: 'bluetooth' };

  await step('12. The language of a camera, and its status, as the camera last reported it');
  const lang = await app.submit('PUT', device(one, 'settings/lang'), 'camera 1 settings/lang "ja"', { lang: 'ja' });
  await results.expect(lang, 'succeeded');
  const status = (await app.call('GET', device(one, 'status'), 200, (body) => {
    const { lang: now, firmwareVersion, battery, network } = body as unknown as Status;
    return `camera 1 status: ${now}, firmware ${firmwareVersion}, battery ${battery.level} %, Wi-Fi "${network.ssid}"`;
  })) as unknown as Status;
  check(status.connected && status.lang === 'ja', 'camera 1 is connected and speaks Japanese');

  await step('13. Bluetooth: switched on, listed, paired; then the earpiece goes out of range');
  const state = device(one, 'connectivity/state');
  const on = await app.submit('PUT', state, 'camera 1 connectivity/state on', { ...bluetooth, enabled: true });
  await results.expect(on, 'succeeded');
  const list = await app.submit('GET', device(one, 'connectivity/list?type=bluetooth'), 'camera 1 connectivity/list');
  await results.expect(list, 'succeeded');
  const { devices } = results.resultOf(list) as unknown as { devices: Peer[] };
  timeline.note(`camera 1 sees: ${devices.map(({ name }) => name).join(', ')}`);
  const [{ name, macAddress }] = devices as [Peer];
  const body = { macAddress };
  const pair = await app.submit('POST', device(one, 'bluetooth/devices'), `camera 1 bluetooth "${name}"`, body);
  await results.expect(pair, 'succeeded');
  const isIt = (data: Readonly<Record<string, unknown>>): boolean => data['macAddress'] === macAddress;
  await results.expectEvent('bluetooth.connected', isIt);
  one.device.movePeer();
  await results.expectEvent('bluetooth.disconnected', isIt);

  await step('14. A firmware that is too old for Bluetooth: the transaction says so, and is cancelled');
  const old = await app.submit('GET', device(two, 'connectivity/state?type=bluetooth'), 'camera 2 connectivity/state');
  await gets(two, old);
  const transaction = `${pathOf(two)}/transactions/${old}`;
  const { warning } = await app.call(
    'GET',
    transaction,
    200,
    (record) => `camera 2 transaction: ${(record['warning'] as { code: string } | null)?.code ?? 'no warning'}`,
    { transactionId: old },
  );
  check((warning as { code: string } | null)?.code === 'FIRMWARE_TOO_OLD', 'the record says why nothing comes');
  await app.call('DELETE', transaction, 204, () => 'camera 2 transaction (cancel)', { transactionId: old });
  await results.expect(old, 'cancelled');
}
