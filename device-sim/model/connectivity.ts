import type { Failure } from '../mqtt/messages.ts';
import { type Peer, pairedWith, switched } from './bluetooth.ts';
import type { Operation, Parameters } from './operation.ts';

const MAC_ADDRESS = /^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$/;

const typeFault = ({ type }: Parameters): string | undefined =>
  type === 'bluetooth' ? undefined : 'type is not bluetooth';

const find = (peers: readonly Peer[], { macAddress }: Parameters): Peer | undefined =>
  peers.find((peer) => peer.macAddress === String(macAddress).toUpperCase());

function pairingHindrance(enabled: boolean, peer: Peer | undefined, parameters: Parameters): Failure | undefined {
  if (!enabled) return { code: 'UNSUPPORTED', message: 'Bluetooth is off; switch it on before pairing' };
  const message = `no Bluetooth device ${String(parameters['macAddress'])} is in range`;
  return peer ? undefined : { code: 'INVALID_PARAMETERS', message };
}

/** The Bluetooth operations. */
export const connectivityOperations: readonly [string, Operation][] = [
  [
    'getConnectivityState',
    { fault: typeFault, apply: ({ bluetooth: { enabled } }) => ({ type: 'bluetooth', enabled }) },
  ],
  [
    'setConnectivityState',
    {
      fault: (parameters) =>
        typeFault(parameters) ?? (typeof parameters['enabled'] === 'boolean' ? undefined : 'enabled is not a boolean'),
      apply(state, { enabled }) {
        if (state.bluetooth.enabled !== enabled) state.bluetooth = switched(state.bluetooth, enabled as boolean);
        return { type: 'bluetooth', enabled };
      },
    },
  ],
  [
    'listConnectivity',
    {
      fault: typeFault,
      apply({ bluetooth: { enabled, paired, connected } }, _parameters, peers) {
        const devices = peers.map(({ name, macAddress }) => ({
          name,
          macAddress,
          paired: paired.includes(macAddress),
          connected: connected.includes(macAddress),
        }));
        // While Bluetooth is off the device sees no peers, but still knows the paired ones.
        return { type: 'bluetooth', devices: enabled ? devices : devices.filter((device) => device.paired) };
      },
    },
  ],
  [
    'pairBluetooth',
    {
      fault: ({ macAddress }) =>
        typeof macAddress === 'string' && MAC_ADDRESS.test(macAddress) ? undefined : 'macAddress is none',
      hindrance: ({ bluetooth: { enabled } }, parameters, peers) =>
        pairingHindrance(enabled, find(peers, parameters), parameters),
      apply(state, parameters, peers) {
        const { name, macAddress } = find(peers, parameters)!;
        state.bluetooth = pairedWith(state.bluetooth, macAddress);
        return { name, macAddress };
      },
    },
  ],
];
