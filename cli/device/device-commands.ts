import type { Operations } from '@lapel/client/operations';
import { APPLICATION_OPTIONS, openApplication } from '../account/access.ts';
import type { Command } from '../line/command.ts';
import { type Given, readWhole } from '../line/command-line.ts';
import { DEVICE, kebab, type Options } from '../line/options.ts';
import { readJson } from '../line/read-json.ts';
import { UsageError } from '../line/usage-error.ts';
import { oneLine } from '../show/plain-text.ts';
import { fieldText, table } from '../show/table.ts';
import type { Terminal } from '../show/terminal.ts';
import { yesNo } from './device-texts.ts';
import { REVERT_OPTION, readRevertAfter } from './terms-options.ts';
import { type TransactionRow, transactionCommand } from './transaction-command.ts';

type Wifi = Operations['setWifi']['input']['body'];
type Apn = Operations['setApn']['input']['body'];

const LIST_OPTIONS = (thing: string): Options => ({
  file: {
    value: 'FILE',
    file: true,
    text: `file with all ${thing} as a JSON array, as in the REST API (- is standard input)`,
  },
  none: { text: `remove all ${thing} from the device` },
});
// The fields of an APN entry whose values are numbers; all others are texts.
const APN_NUMBERS = ['authType', 'bearer', 'bearerBitmask'];
// biome-ignore format: a list of words
export const APN_FIELDS: readonly string[] = [
  'name', 'apn', 'proxy', 'port', 'user', 'server', 'password', 'mmsc', 'mcc', 'mnc', 'mmsproxy', 'mmsport',
  'type', 'protocol', 'carrierEnabled', 'roamingProtocol', 'mvnoType', 'mvnoMatchData',
  ...APN_NUMBERS,
];

/**
 * Reads the list that a command sets on the device (APN entries, Wi-Fi networks): the entries of a file (`--file`), no
 * entries (`--none`), or the one entry that `one` makes of the other options. Exactly one of these ways must be used.
 */
async function entries(given: Given, terminal: Terminal, one: () => object | null): Promise<unknown> {
  const file = given.text('file');
  const entry = one();
  const ways = [file !== undefined, given.flag('none'), entry !== null].filter(Boolean).length;
  if (ways !== 1) throw new UsageError('--file', 'give either --file, or --none, or the options of one entry');
  if (file !== undefined) return readJson('--file', file, terminal);
  return entry === null ? [] : [entry];
}

function wifiEntry(given: Given): object | null {
  const [ssid, password] = [given.text('ssid'), given.text('password')];
  if (ssid === undefined) {
    if (password !== undefined) throw new UsageError('--password', 'needs --ssid');
    return null;
  }
  const security = given.text('security') ?? (password === undefined ? 'OPEN' : 'WPA2');
  return { ssid, security, ...(password !== undefined && { password }) };
}

function apnEntry(given: Given): object | null {
  const pairs = APN_FIELDS.flatMap((field) => {
    const text = given.text(kebab(field));
    return text === undefined
      ? []
      : [[field, APN_NUMBERS.includes(field) ? readWhole(kebab(field), text) : text] as const];
  });
  return pairs.length === 0 ? null : Object.fromEntries(pairs);
}

const asState = ({ enabled }: Record<string, unknown>) => `Bluetooth is ${enabled === true ? 'on' : 'off'}\n`;

/** A list in the result of a device, which may have sent anything: what is no object has no row. */
const rowsOf = (list: unknown): Record<string, unknown>[] =>
  Array.isArray(list) ? list.filter((one) => typeof one === 'object' && one !== null) : [];

const PEERS = (result: Record<string, unknown>) =>
  table(
    [
      { head: 'MAC ADDRESS', cell: ({ macAddress }) => fieldText(macAddress) },
      { head: 'PAIRED', cell: ({ paired }) => yesNo(paired === true), state: true },
      { head: 'CONNECTED', cell: ({ connected }) => yesNo(connected === true), state: true },
      { head: 'NAME', cell: ({ name }) => fieldText(name), flexible: true },
    ],
    rowsOf(result['devices']),
    'The device sees no Bluetooth device.',
  );
const DIAGNOSTICS = ['logs', 'status', 'network'] as const;
const OLD_FIRMWARE = `Devices with firmware older than 9.001.0 accept the command but never answer. Their transaction shows the warning
FIRMWARE_TOO_OLD; cancel it.`;
const bluetooth = { type: 'bluetooth' } as const;

const ROWS: readonly TransactionRow[] = [
  {
    name: 'activate',
    supersedesNone: true,
    summary: 'Activates a device for the application',
    options: { 'client-id': { value: 'ID', text: 'clientId of the device; by default the service generates one' } },
    examples: ['lapel device activate 490154203237518', 'lapel device activate 490154203237518 --client-id glasses-7'],
    prepare(given, { deviceId }) {
      const clientId = given.text('client-id');
      return (lapel, query) => lapel.activate({ deviceId, body: clientId === undefined ? {} : { clientId }, query });
    },
  },
  {
    name: 'deactivate',
    supersedesNone: true,
    summary: 'Deactivates a device, and then cancels its other unfinished transactions',
    examples: ['lapel device deactivate 490154203237518'],
    prepare:
      (_given, { deviceId }) =>
      (lapel, query) =>
        lapel.deactivate({ deviceId, query }),
  },
  {
    name: 'wifi',
    summary: 'Sets all Wi-Fi networks of a device',
    about:
      'The networks that the device had before are replaced. To set several networks, use a file: [{ "ssid", "password", "security" }, ...].',
    options: {
      ssid: { value: 'NAME', text: 'name of the network' },
      password: { value: 'P', text: 'password of the network' },
      security: {
        value: 'S',
        choices: ['OPEN', 'WEP', 'WPA2', 'WPA3', 'WPA2_WPA3'],
        text: 'security of the network; by default WPA2 with a password, else OPEN',
      },
      ...LIST_OPTIONS('Wi-Fi networks'),
      ...REVERT_OPTION,
    },
    examples: [
      "lapel device wifi 490154203237518 --ssid office --password 'correct horse'",
      'lapel device wifi 490154203237518 --file networks.json --wait',
      'lapel device wifi 490154203237518 --file networks.json --expire-in 2h --supersede',
      'lapel device wifi 490154203237518 --file networks.json --revert-after 5m --wait',
    ],
    async prepare(given, { deviceId }, terminal) {
      const body = (await entries(given, terminal, () => wifiEntry(given))) as Wifi;
      const tried = readRevertAfter(given);
      return (lapel, query) => lapel.setWifi({ deviceId, body, query: { ...query, ...tried } });
    },
  },
  {
    name: 'apn',
    summary: 'Sets all access point names of a device',
    about:
      'The entries that the device had before are replaced. To set several entries, use a file: [{ "name", "apn", ... }, ...].',
    options: {
      ...Object.fromEntries(
        APN_FIELDS.map((field) => [kebab(field), { value: 'V', text: `the field ${field} of the entry` }]),
      ),
      ...LIST_OPTIONS('access point names'),
      ...REVERT_OPTION,
    },
    examples: [
      'lapel device apn 490154203237518 --name Office --apn internet.example --mcc 440 --mnc 10',
      'lapel device apn 490154203237518 --none',
    ],
    async prepare(given, { deviceId }, terminal) {
      const body = (await entries(given, terminal, () => apnEntry(given))) as Apn;
      const tried = readRevertAfter(given);
      return (lapel, query) => lapel.setApn({ deviceId, body, query: { ...query, ...tried } });
    },
  },
  {
    name: 'language',
    summary: 'Sets the language of a device',
    arguments: [{ name: 'LANGUAGE' }],
    examples: ['lapel device language 490154203237518 ja-JP'],
    prepare:
      (_given, { deviceId, rest: [lang = ''] }) =>
      (lapel, query) =>
        lapel.setLanguage({ deviceId, body: { lang }, query }),
  },
  {
    name: 'bluetooth state',
    summary: 'Asks a device whether Bluetooth is on',
    about: OLD_FIRMWARE,
    examples: ['lapel device bluetooth state 490154203237518 --wait'],
    prepare:
      (_given, { deviceId }) =>
      (lapel, query) =>
        lapel.readConnectivity({ deviceId, query: { ...bluetooth, ...query } }),
    show: asState,
  },
  ...[true, false].map(
    (enabled): TransactionRow => ({
      name: `bluetooth ${enabled ? 'on' : 'off'}`,
      summary: `Turns Bluetooth of a device ${enabled ? 'on' : 'off'}`,
      about: OLD_FIRMWARE,
      examples: [`lapel device bluetooth ${enabled ? 'on' : 'off'} 490154203237518`],
      prepare:
        (_given, { deviceId }) =>
        (lapel, query) =>
          lapel.changeConnectivity({ deviceId, body: { ...bluetooth, enabled }, query }),
      show: asState,
    }),
  ),
  {
    name: 'bluetooth list',
    summary: 'Asks a device for the Bluetooth devices that it sees',
    about: OLD_FIRMWARE,
    examples: ['lapel device bluetooth list 490154203237518 --wait'],
    prepare:
      (_given, { deviceId }) =>
      (lapel, query) =>
        lapel.listConnectivity({ deviceId, query: { ...bluetooth, ...query } }),
    show: PEERS,
  },
  {
    name: 'bluetooth pair',
    summary: 'Pairs a device with a Bluetooth device',
    about: OLD_FIRMWARE,
    arguments: [{ name: 'MAC' }],
    examples: ['lapel device bluetooth pair 490154203237518 AA:BB:CC:DD:EE:FF --wait'],
    prepare:
      (_given, { deviceId, rest: [macAddress = ''] }) =>
      (lapel, query) =>
        lapel.pairBluetooth({ deviceId, body: { macAddress }, query }),
    show: ({ name, macAddress }) =>
      `${oneLine(`paired with ${fieldText(macAddress)}${name ? ` (${fieldText(name)})` : ''}`)}\n`,
  },
  {
    name: 'diagnose',
    summary: 'Asks a device for its logs, which it uploads to your own store',
    about: `The settings fileUploadGetUrl and fileUploadEvent say where the files go. Without --kind the device collects all
kinds.`,
    options: {
      kind: { value: 'KIND', many: true, choices: [...DIAGNOSTICS], text: 'logs, status or network; may be repeated' },
      note: { value: 'TEXT', text: 'why somebody asks, for the history of the device' },
    },
    examples: ["lapel device diagnose 490154203237518 --kind logs --note 'loses its connection' --wait"],
    prepare: (given, { deviceId }) => {
      const kinds = given.list('kind');
      const note = given.text('note');
      const body = {
        kinds: (kinds.length > 0 ? kinds : DIAGNOSTICS) as (typeof DIAGNOSTICS)[number][],
        ...(note !== undefined && { note }),
      };
      return (lapel, query) => lapel.collectDiagnostics({ deviceId, body, query });
    },
    show: ({ files }) =>
      table(
        [
          { head: 'KIND', cell: ({ kind }) => fieldText(kind) },
          { head: 'BYTES', cell: ({ size }) => fieldText(size) },
          { head: 'SHA-256', cell: ({ sha256 }) => fieldText(sha256) },
          { head: 'FILE', cell: ({ name }) => fieldText(name), flexible: true },
        ],
        rowsOf(files),
        'The device uploaded no file.',
      ),
  },
  {
    name: 'install',
    summary: 'Installs a distributed version on a device',
    about: 'One command uploads a file and installs it: lapel app upload FILE.apk --install DEVICE',
    arguments: [{ name: 'PACKAGE' }, { name: 'VERSION' }],
    examples: [
      'lapel device install 490154203237518 com.example.camera 1.1.0',
      'lapel device install 490154203237518 com.example.camera@1.1.0 --wait',
    ],
    prepare: (_given, { deviceId, rest: [name = '', version = ''] }) => {
      const body = { package: name, version };
      return (lapel, query) => lapel.installSoftware({ deviceId, body, query });
    },
  },
  {
    name: 'firmware update',
    summary: 'Updates the firmware of a device to a version from the list of firmware',
    arguments: [{ name: 'PACKAGE' }, { name: 'VERSION' }],
    examples: ['lapel device firmware update 490154203237518 com.lapel.firmware 9.2.0'],
    prepare: (_given, { deviceId, rest: [name = '', version = ''] }) => {
      const body = { package: name, version };
      return (lapel, query) => lapel.updateFirmware({ deviceId, body, query });
    },
  },
];

const cancel: Command = {
  name: 'device cancel',
  arguments: [DEVICE, { name: 'TRANSACTION' }],
  summary: 'Cancels a transaction that is not finished',
  options: APPLICATION_OPTIONS,
  examples: ['lapel device cancel 490154203237518 17'],
  async run(given, terminal) {
    const [deviceId = '', text = ''] = given.positionals;
    if (!/^[1-9]\d{0,15}$/.test(text)) throw new UsageError('TRANSACTION', `"${text}" is not a transactionId`);
    const transactionId = Number(text);
    const application = await openApplication(given, terminal);
    await application.call(`cancel transaction ${text}`, (lapel) =>
      lapel.cancelTransaction({ deviceId, transactionId }),
    );
    return { json: { ok: true, deviceId, transactionId }, text: `cancelled: transaction ${text} of ${deviceId}\n` };
  },
};

/** The commands to devices: each creates a transaction, or cancels one. */
export const DEVICE_COMMANDS: readonly Command[] = [...ROWS.map(transactionCommand), cancel];
