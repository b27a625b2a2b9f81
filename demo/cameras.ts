import { once } from 'node:events';
import { createDevice, type Device, type DeviceOptions } from '../device-sim/device.ts';
import type { DeviceAccount } from '../device-sim/fleet.ts';
import type { Command } from '../device-sim/messages.ts';
import type { Timeline } from './timeline.ts';

export interface Camera {
  readonly name: string;
  readonly device: Device;
  /** The transactions whose command reached it. */
  readonly delivered: ReadonlySet<number>;
  /** What it has to say against the service: nothing, or something is wrong. */
  readonly complaints: readonly string[];
}

/** How each of the five behaves. They answer in a moment, as if they did something. */
const MANNERS: Pick<DeviceOptions, 'seed' | 'behaviour'>[] = [
  {},
  { behaviour: { silentOperations: new Set(['setApn']) } },
  // Does about half of what it is told; with this seed the second command is the first to fail.
  { behaviour: { failureRate: 0.5 }, seed: 36 },
  {},
  {},
];
export const CAMERAS = MANNERS.length;

const ssids = ({ parameters }: Command): string =>
  (parameters['networks'] as { ssid: string }[]).map(({ ssid }) => `"${ssid}"`).join(', ');

/** What a command is about, where its name does not say enough. */
function subject(command: Command): string {
  if (command.operation === 'setWifi') return ` ${ssids(command)}`;
  const { version } = command.parameters;
  return typeof version === 'string' ? ` ${version}` : '';
}

const words = (command: Command): string => {
  const what = `${command.operation}${subject(command)}`;
  return command.attempt > 1 && command.operation !== 'cancel' ? `${what} (attempt ${command.attempt})` : what;
};

/** A simulated camera that tells the timeline what it gets and does. It starts offline. */
export function createCamera(index: number, account: DeviceAccount, url: string, timeline: Timeline): Camera {
  const name = `camera ${index + 1}`;
  const manners = MANNERS[index];
  const device = createDevice({
    ...account,
    url,
    reconnect: { min: 100, max: 2000 },
    ...manners,
    behaviour: { latency: { min: 20, max: 80 }, ...manners?.behaviour },
  });
  const delivered = new Set<number>();
  const complaints: string[] = [];
  device.events.on('command', (command) => {
    delivered.add(command.transactionId);
    timeline.arrow({ from: 'lapel', to: name, text: words(command), transactionId: command.transactionId });
  });
  device.events.on('answer', ({ transactionId, status, error }) => {
    const code = error && error.code !== 'INTERNAL' ? `${error.code}, ` : '';
    const text = error ? `${status}: ${code}${error.message}` : status;
    timeline.arrow({ from: name, to: 'lapel', text, transactionId, good: status === 'succeeded' });
  });
  device.events.on('download', ({ bytes }) => {
    timeline.arrow({ from: name, to: 'store', text: `has downloaded ${bytes} bytes` });
  });
  device.events.on('violation', (fault) => complaints.push(fault));
  device.events.on('complaint', ({ reason }) => complaints.push(`told off by the service: ${reason}`));
  device.events.on('refused', (error) => complaints.push(error.message));
  return { name, device, delivered, complaints };
}

/** Resolves when the camera has lost its connection and is connected again. */
export async function comesBack({ device }: Camera): Promise<void> {
  await once(device.events, 'offline');
  if (!device.online) await once(device.events, 'online');
}
