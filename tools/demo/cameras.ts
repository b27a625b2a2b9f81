import { once } from 'node:events';
import { createChances } from '@lapel/device-sim/faults/chances';
import type { OwnFile } from '@lapel/device-sim/files/uploader';
import type { DeviceAccount } from '@lapel/device-sim/fleet/member';
import { createDevice, type Device, type DeviceOptions } from '@lapel/device-sim/model/device';
import { OLD_FIRMWARE } from '@lapel/device-sim/model/firmware-versions';
import type { Command } from '@lapel/device-sim/mqtt/messages';
import { createPackageLink } from '@lapel/device-sim/mqtt/package-link';
import { promised } from './check.ts';
import type { Timeline } from './timeline.ts';

export interface Camera {
  readonly name: string;
  readonly device: Device;
  /** The transactions whose command has reached the camera. */
  readonly delivered: ReadonlySet<number>;
  /** The identifiers of the camera's events that were sent to the service. */
  readonly happened: readonly string[];
  /** The files that it has uploaded to the customer's store, by name. */
  readonly uploaded: ReadonlyMap<string, OwnFile>;
  /** The faults of the service that the camera has noticed; empty unless something is wrong. */
  readonly complaints: readonly string[];
}

/** What is special about each of the five cameras. All answer after a moment, as if they carried the command out. */
const MANNERS: Pick<DeviceOptions, 'chances' | 'behaviour' | 'equipment'>[] = [
  {},
  { behaviour: { silentOperations: new Set(['setApn']) }, equipment: OLD_FIRMWARE },
  {
    chances: createChances({
      seed: 1,
      device: 3,
      rules: [{ fault: 'fails', probability: 1, operations: ['setWifi'] }],
    }),
  },
  {},
  {},
];
export const CAMERAS = MANNERS.length;

export const pathOf = ({ device }: Camera): string => `/devices/${device.deviceId}`;

const ssids = ({ parameters }: Command): string =>
  (parameters['networks'] as { ssid: string }[]).map(({ ssid }) => `"${ssid}"`).join(', ');

/** The parameter of a command that the timeline shows: the network, version, language, peer or state. */
function subject(command: Command): string {
  if (command.operation === 'setWifi') return ` ${ssids(command)}`;
  const { version, lang, macAddress, enabled } = command.parameters;
  const state = enabled === undefined ? undefined : enabled === true ? 'on' : 'off';
  return [version, lang, macAddress, state]
    .filter((word) => typeof word === 'string')
    .map((word) => ` ${word}`)
    .join('');
}

const words = (command: Command): string => {
  const what = `${command.operation}${subject(command)}`;
  return command.attempt > 1 && command.operation !== 'cancel' ? `${what} (attempt ${command.attempt})` : what;
};

/** Makes a simulated camera that reports to the timeline. It starts offline. */
export function createCamera(index: number, account: DeviceAccount, url: string, timeline: Timeline): Camera {
  const name = `camera ${index + 1}`;
  const manners = MANNERS[index];
  const device = createDevice({
    ...account,
    url,
    // The widely used MQTT client, which is not the simulator's own.
    createLink: createPackageLink,
    ...(index % 2 === 1 && { level: 5 as const }),
    reconnect: { min: 100, max: 2000 },
    seed: index + 1,
    ...manners,
    behaviour: { latency: { min: 20, max: 80 }, fileSize: { min: 40_000, max: 400_000 }, ...manners?.behaviour },
  });
  const delivered = new Set<number>();
  const complaints: string[] = [];
  const happened: string[] = [];
  const uploaded = new Map<string, OwnFile>();
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
  device.events.on('event', ({ eventId, type, data }) => {
    happened.push(eventId);
    const about = data['name'] ?? (data['connections'] === undefined ? undefined : 'each side is uploaded');
    const text = typeof about === 'string' ? `${type}: ${about}` : type;
    timeline.arrow({ from: name, to: 'lapel', text, good: !type.endsWith('.failed') });
  });
  device.events.on('upload', (file) => {
    uploaded.set(file.name, file);
    timeline.arrow({ from: name, to: 'store', text: `has uploaded ${file.size} bytes` });
  });
  device.events.on('violation', (fault) => complaints.push(fault));
  device.events.on('complaint', ({ reason }) => complaints.push(`complaint from the service: ${reason}`));
  device.events.on('refused', (error) => complaints.push(error.message));
  return { name, device, delivered, happened, uploaded, complaints };
}

/** Resolves when the camera has lost its connection and is connected again. */
export async function comesBack({ device }: Camera): Promise<void> {
  await once(device.events, 'offline');
  if (!device.online) await once(device.events, 'online');
}

/** Resolves when the camera has received the command of a transaction. */
export async function gets({ name, device, delivered }: Camera, transactionId: number): Promise<void> {
  const what = `${name} gets the command of transaction ${transactionId}`;
  while (!delivered.has(transactionId)) await promised(once(device.events, 'command'), what);
}
