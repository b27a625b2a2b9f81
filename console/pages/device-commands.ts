import { button, type Child, div, li, p, small, span, ul, type VNode } from '../base/elements.ts';
import { addressOf, go } from '../base/place.ts';
import { type DeviceOperation, operation, send } from '../base/requests.ts';
import { mayChange } from '../base/session.ts';
import { ask, close, open, title } from '../parts/dialog.ts';
import { choice, given, textField, tick, typed } from '../parts/fields.ts';
import { termsFields, termsQuery } from '../parts/terms-fields.ts';

interface Target {
  deviceId: string;
  activation: 'deactivated' | 'activating' | 'activated';
}

interface Command {
  name: string;
  about: string;
  asked: DeviceOperation;
  fields?: Child;
  isBad?: boolean;
  /** True: the command takes the place of no older one. */
  supersedesNone?: boolean;
  body?(data: FormData): unknown;
  query?: Record<string, string>;
}

const COMMANDS: readonly Command[] = [
  {
    name: 'Set Wi-Fi',
    about: 'Sets one network and removes all others from the device.',
    asked: 'setWifi',
    fields: [
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
    fields: [
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
    fields: textField({
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
    fields: [
      textField({ name: 'package', label: 'Package', required: true }),
      textField({ name: 'version', label: 'Version', required: true }),
    ],
    body: (data) => ({ package: typed(data, 'package'), version: typed(data, 'version') }),
  },
  {
    name: 'Update firmware',
    about: 'Installs a version from the list of firmware.',
    asked: 'updateFirmware',
    fields: [
      textField({ name: 'package', label: 'Firmware', required: true }),
      textField({ name: 'version', label: 'Version', required: true }),
    ],
    body: (data) => ({ package: typed(data, 'package'), version: typed(data, 'version') }),
  },
  {
    name: 'Switch Bluetooth',
    about: 'Turns Bluetooth on or off.',
    asked: 'changeConnectivity',
    fields: tick({ name: 'enabled', label: 'On' }, true),
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
    fields: textField({
      name: 'macAddress',
      label: 'MAC address',
      required: true,
      hint: 'For example 00:1A:7D:DA:71:13.',
    }),
    body: (data) => ({ macAddress: typed(data, 'macAddress') }),
  },
  {
    name: 'Deactivate',
    about: 'Ends the activation for this application. All other unfinished transactions are cancelled.',
    asked: 'deactivate',
    supersedesNone: true,
    isBad: true,
  },
];
const ACTIVATE: Command = {
  name: 'Activate',
  about: 'Activates the device for this application.',
  asked: 'activate',
  supersedesNone: true,
  fields: textField({ name: 'clientId', label: 'clientId', hint: 'Generated when left empty.' }),
  body: (data) => given({ clientId: typed(data, 'clientId') }),
};

function askFor(
  { name, about, asked, fields, body, query, isBad = false, supersedesNone = false }: Command,
  { deviceId }: Target,
  done: () => void,
): void {
  ask({
    title: `${name}: ${deviceId}`,
    text: about,
    fields: [fields, termsFields(!supersedesNone)],
    does: isBad ? name : 'Send the command',
    isBad,
    async act(data) {
      const response = await send(operation(asked, { deviceId }), {
        ...(body && { json: body(data) }),
        query: { ...query, ...termsQuery(data) },
      });
      const { transactionId } = (await response.json()) as { transactionId: number };
      done();
      go(addressOf(['transactions', transactionId]));
    },
  });
}

const list = (target: Target, done: () => void): VNode =>
  div(
    null,
    title(`Commands for ${target.deviceId}`),
    p({ class: 'soft' }, 'A command is stored at once, and carried out when the device is connected.'),
    ul(
      { class: 'stack tight' },
      COMMANDS.map((command) =>
        li(
          { key: command.name },
          button(
            {
              type: 'button',
              class: `wide ${command.isBad ? 'bad' : ''}`,
              onClick: () => askFor(command, target, done),
            },
            span(null, command.name),
            small({ class: 'quiet' }, command.about),
          ),
        ),
      ),
    ),
    div({ class: 'ends' }, button({ type: 'button', onClick: close }, 'Back')),
  );

/** The button that opens the commands of an application to a device. */
export function commands(target: Target, done: () => void): Child {
  if (!mayChange('device')) return null;
  if (target.activation !== 'activated')
    return button({ type: 'button', class: 'main', onClick: () => askFor(ACTIVATE, target, done) }, 'Activate');
  return button({ type: 'button', class: 'main', onClick: () => open(list(target, done)) }, 'Send a command');
}
