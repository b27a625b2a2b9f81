import type { Child } from '../base/elements.ts';
import type { DeviceOperation } from '../base/requests.ts';
import type { RolloutRow } from '../base/rows.ts';
import { given, typed } from '../base/typed.ts';
import { choice, textField, tick } from './fields.ts';

/** A command as the user chooses it: its fields, and the request that is made from them. */
export interface Command {
  name: string;
  about: string;
  asked: DeviceOperation;
  /** The name of the operation of rollouts that does the same for many devices. */
  rollout?: RolloutRow['operation'];
  /** Makes the fields; `known`: the values that are known beforehand. */
  fields?(known: Readonly<Record<string, string | undefined>>): Child;
  isBad?: boolean;
  /** True: the command takes the place of no older one. */
  supersedesNone?: boolean;
  body?(data: FormData): unknown;
  query?: Record<string, string>;
}

export const COMMANDS: readonly Command[] = [
  {
    name: 'Set Wi-Fi',
    about: 'Sets one network and removes all others from the device.',
    asked: 'setWifi',
    rollout: 'setWifi',
    fields: () => [
      textField({ name: 'ssid', label: 'Network name', required: true }),
      choice(
        { name: 'security', label: 'Security', value: 'WPA2' },
        ['WPA2', 'WPA3', 'WPA2_WPA3', 'WEP', 'OPEN'].map((one) => [one, one] as const),
      ),
      textField(
        { name: 'password', label: 'Password', hint: 'Deleted from the transaction when it ends.' },
        { type: 'password', autoComplete: 'off' },
      ),
    ],
    body: (data) => [
      given({ ssid: typed(data, 'ssid'), security: typed(data, 'security'), password: typed(data, 'password') }),
    ],
  },
  {
    name: 'Set APN',
    about: 'Sets one access point of the mobile network and removes all others from the device.',
    asked: 'setApn',
    rollout: 'setApn',
    fields: () => [
      textField({ name: 'name', label: 'Name', required: true }),
      textField({ name: 'apn', label: 'APN', required: true }),
      textField({ name: 'user', label: 'User' }),
      textField({ name: 'password', label: 'Password' }, { type: 'password', autoComplete: 'off' }),
      textField({ name: 'mcc', label: 'Mobile country code' }),
      textField({ name: 'mnc', label: 'Mobile network code' }),
    ],
    body: (data) => [
      given(
        Object.fromEntries(['name', 'apn', 'user', 'password', 'mcc', 'mnc'].map((name) => [name, typed(data, name)])),
      ),
    ],
  },
  {
    name: 'Set language',
    about: 'Sets the language of the screen and of the voice.',
    asked: 'setLanguage',
    rollout: 'setLanguage',
    fields: () =>
      textField({
        name: 'lang',
        label: 'Language tag',
        required: true,
        hint: 'A BCP 47 tag, for example ja-JP or en-GB.',
      }),
    body: (data) => ({ lang: typed(data, 'lang') }),
  },
  {
    name: 'Install software',
    about: 'Installs a distributed version of a package.',
    asked: 'installSoftware',
    rollout: 'installSoftware',
    fields: ({ package: name = '', version = '' }) => [
      textField({ name: 'package', label: 'Package', value: name, required: true }),
      textField({ name: 'version', label: 'Version', value: version, required: true }),
    ],
    body: (data) => ({ package: typed(data, 'package'), version: typed(data, 'version') }),
  },
  {
    name: 'Update firmware',
    about: 'Installs a version from the list of firmware.',
    asked: 'updateFirmware',
    rollout: 'updateFirmware',
    fields: ({ package: name = '', version = '' }) => [
      textField({ name: 'package', label: 'Firmware', value: name, required: true }),
      textField({ name: 'version', label: 'Version', value: version, required: true }),
    ],
    body: (data) => ({ package: typed(data, 'package'), version: typed(data, 'version') }),
  },
  {
    name: 'Switch Bluetooth',
    about: 'Turns Bluetooth on or off.',
    asked: 'changeConnectivity',
    rollout: 'setConnectivityState',
    fields: () => tick({ name: 'enabled', label: 'On' }, true),
    body: (data) => ({ type: 'bluetooth', enabled: data.has('enabled') }),
  },
  {
    name: 'Read Bluetooth',
    about: 'Asks whether Bluetooth is on.',
    asked: 'readConnectivity',
    query: { type: 'bluetooth' },
  },
  {
    name: 'List Bluetooth devices',
    about: 'Asks which Bluetooth devices are near the device.',
    asked: 'listConnectivity',
    query: { type: 'bluetooth' },
  },
  {
    name: 'Pair Bluetooth',
    about: 'Pairs the device with a button, a headset or the like.',
    asked: 'pairBluetooth',
    fields: () =>
      textField({
        name: 'macAddress',
        label: 'MAC address',
        required: true,
        hint: 'For example 00:1A:7D:DA:71:13.',
      }),
    body: (data) => ({ macAddress: typed(data, 'macAddress') }),
  },
  {
    name: 'Collect diagnostics',
    about: 'The device uploads its log, its status or its network to the store of the customer.',
    asked: 'collectDiagnostics',
    rollout: 'collectDiagnostics',
    fields: () => [
      tick({ name: 'logs', label: 'Log' }, true),
      tick({ name: 'status', label: 'Status' }, true),
      tick({ name: 'network', label: 'Network' }, true),
      textField({ name: 'note', label: 'Why', hint: 'For people who read the history of the device.' }),
    ],
    body: (data) =>
      given({ kinds: ['logs', 'status', 'network'].filter((kind) => data.has(kind)), note: typed(data, 'note') }),
  },
  {
    name: 'Deactivate',
    about: 'Ends the activation for this application. All other unfinished transactions are cancelled.',
    asked: 'deactivate',
    supersedesNone: true,
    isBad: true,
  },
];
