import { deriveSeed, type Random } from '../random.ts';

/** A Bluetooth device that a device can be paired with. */
export interface Peer {
  readonly name: string;
  readonly macAddress: string;
}

/**
 * The Bluetooth state of a device, with the addresses of its peers in capital letters. A connected peer is always
 * paired.
 */
export interface Bluetooth {
  readonly enabled: boolean;
  readonly paired: readonly string[];
  readonly connected: readonly string[];
}

/** A peer that comes or goes. */
interface PeerChange {
  readonly type: 'bluetooth.connected' | 'bluetooth.disconnected';
  readonly peer: Peer;
}

export const plainBluetooth: Bluetooth = { enabled: false, paired: [], connected: [] };

const NAMES = ['Earpiece', 'Push-to-talk button', 'Body sensor'];

/** The peers around a device: the same ones whenever the same device is simulated. */
export function peersOf(deviceId: string): readonly Peer[] {
  const own = deriveSeed(Number(deviceId.slice(0, 8)), Number(deviceId.slice(8)));
  const middle = own.toString(16).padStart(8, '0').match(/../g)!;
  // The prefix 0A is assigned to nobody (IEEE 802, locally administered).
  return NAMES.map((name, index) => ({
    name,
    macAddress: ['0a', ...middle, `0${index + 1}`].join(':').toUpperCase(),
  }));
}

/** Switches Bluetooth. Off: all peers are disconnected. On: the paired peers come back. */
export const switched = ({ paired }: Bluetooth, enabled: boolean): Bluetooth => ({
  enabled,
  paired,
  connected: enabled ? paired : [],
});

/** A newly paired peer is connected. */
export function pairedWith({ enabled, paired, connected }: Bluetooth, macAddress: string): Bluetooth {
  const others = (addresses: readonly string[]): string[] => addresses.filter((address) => address !== macAddress);
  return { enabled, paired: [...others(paired), macAddress], connected: [...others(connected), macAddress] };
}

/** One of the paired peers goes out of reach or comes back. */
export function wandered(bluetooth: Bluetooth, random: Random): Bluetooth {
  const { enabled, paired, connected } = bluetooth;
  const address = paired[Math.floor(random() * paired.length)];
  if (!enabled || address === undefined) return bluetooth;
  const rest = connected.filter((other) => other !== address);
  return { enabled, paired, connected: rest.length < connected.length ? rest : [...connected, address] };
}

/** The changes from one state to another that the device must report; peers that go come first. */
export function peerChanges(before: Bluetooth, after: Bluetooth, peers: readonly Peer[]): PeerChange[] {
  if (before.connected === after.connected) return [];
  const only = (some: Bluetooth, others: Bluetooth): Peer[] =>
    peers.filter(({ macAddress }) => some.connected.includes(macAddress) && !others.connected.includes(macAddress));
  return [
    ...only(before, after).map((peer): PeerChange => ({ type: 'bluetooth.disconnected', peer })),
    ...only(after, before).map((peer): PeerChange => ({ type: 'bluetooth.connected', peer })),
  ];
}
