import { tagsText } from '../device/device-texts.ts';
import { PERCENT_OPTION, SELECTOR_TEXTS, TAG_OPTION } from '../device/selector-options.ts';
import { fieldText } from '../show/table.ts';
import { column, date, type Field, type Resource, SHOWN_ONCE, type Verb } from './admin-resource.ts';
import { TRANSACTION_COLUMNS } from './fleet-resources.ts';
import { STORY_COLUMNS } from './story-columns.ts';

const CREDENTIAL: Field = {
  field: 'credential',
  value: 'C',
  text: 'credential of 32 characters or more; by default the service generates one',
};
const HARDWARE: Field = {
  field: 'hardwareProperties',
  value: 'FILE',
  kind: 'json',
  file: true,
  text: 'file with the hardware properties as JSON (- is standard input)',
};

/** The options that select devices of all developers, each with the parameter of the list that it becomes. */
export const FILTER_OPTIONS = {
  developer: { parameter: 'developerId', value: 'ID', text: 'only devices of this developer' },
  application: {
    parameter: 'applicationId',
    value: 'ID',
    text: 'only devices that are activated for this application',
  },
  prefix: { parameter: 'prefix', value: 'DIGITS', text: 'only devices whose deviceId begins with these digits' },
  activation: {
    parameter: 'activation',
    value: 'STATE',
    text: 'only devices in this state: activated, activating or deactivated',
  },
  blocked: {
    parameter: 'blocked',
    value: 'true|false',
    text: 'only blocked devices, or only those that are not blocked',
  },
  connected: {
    parameter: 'connected',
    value: 'true|false',
    text: 'only connected devices, or only disconnected ones',
  },
  firmware: { parameter: 'firmware', value: 'V', text: 'only devices that reported this firmware version' },
  tag: { parameter: 'tag', ...TAG_OPTION },
  ...SELECTOR_TEXTS,
  percent: { parameter: 'percent', ...PERCENT_OPTION },
  'battery-below': {
    parameter: 'batteryBelow',
    value: 'PERCENT',
    text: 'only devices whose battery is below this percentage',
  },
  'battery-from': {
    parameter: 'batteryFrom',
    value: 'PERCENT',
    text: 'only devices whose battery is at this percentage or above',
  },
  'not-seen-for': {
    parameter: 'notSeenFor',
    value: 'DURATION',
    text: 'only devices that were not seen for this long',
  },
  'last-seen-within': {
    parameter: 'lastSeenWithin',
    value: 'SECONDS',
    text: 'only devices that sent something within this many seconds',
  },
} satisfies Verb['query'];

export const DEVICES: Resource = {
  resource: 'device',
  columns: [
    column('DEVICE', 'deviceId'),
    column('DEVELOPER', 'developerId'),
    { ...column('ACTIVATION', 'activation'), state: true },
    column('APPLICATION', 'applicationId'),
    { head: 'CONNECTED', cell: ({ connected }) => (connected ? 'connected' : ''), state: true },
    date('LAST SEEN (UTC)', 'lastSeenAt'),
    column('FIRMWARE', 'firmware'),
    { head: 'BATTERY', cell: ({ battery }) => (battery === null ? '' : `${fieldText(battery)} %`) },
    column('UNFINISHED', 'unfinished'),
    { head: 'TAGS', cell: ({ tags }) => tagsText((tags ?? {}) as Record<string, string>), flexible: true },
    { head: 'BLOCKED', cell: ({ blocked }) => (blocked ? 'blocked' : '') },
  ],
  verbs: [
    {
      verb: 'register',
      summary: 'Registers a device of a developer, and shows its credential',
      operation: 'registerDevice',
      arguments: { DEVICE: 'deviceId' },
      fields: { hardware: HARDWARE, credential: CREDENTIAL },
      note: 'The credential is the MQTT password of the device. It is shown only now, and never again.',
      examples: [
        'lapel admin device register 490154203237518 --developer acme',
        'lapel admin device register 490154203237518 --developer acme --hardware camera.json',
      ],
    },
    {
      verb: 'list',
      summary: 'Lists devices of all developers, with filters; times are in UTC',
      about: 'A DURATION is a number with a unit: 7d, 12h, 30m, 45s.',
      operation: 'listFleetDevices',
      kind: 'list',
      list: 'devices',
      first: Number.POSITIVE_INFINITY,
      query: {
        ...FILTER_OPTIONS,
        sort: {
          parameter: 'sort',
          value: 'ORDER',
          text: 'sort by deviceId, lastSeen, or -lastSeen for the newest first',
        },
      },
      examples: [
        'lapel admin device list --not-seen-for 7d',
        'lapel admin device list --developer acme --connected false --sort lastSeen --limit 20',
        "lapel admin device list --application patrol --tag site=osaka --tag '!retired'",
      ],
    },
    {
      verb: 'show',
      summary: 'Shows a device and its activation',
      operation: 'readDevice',
      arguments: { DEVICE: 'deviceId' },
      examples: ['lapel admin device show 490154203237518'],
    },
    {
      verb: 'status',
      isNoun: true,
      summary: 'Shows the last reported status of a device, and its installed software',
      operation: 'readFleetDeviceStatus',
      arguments: { DEVICE: 'deviceId' },
      examples: ['lapel admin device status 490154203237518 --json'],
    },
    {
      verb: 'connection',
      isNoun: true,
      summary: 'Shows the connection and the session of a device',
      operation: 'readConnection',
      arguments: { DEVICE: 'deviceId' },
      examples: ['lapel admin device connection 490154203237518'],
    },
    {
      verb: 'transactions',
      isNoun: true,
      summary: 'Lists the transactions of a device for all applications, the newest first',
      operation: 'listFleetDeviceTransactions',
      arguments: { DEVICE: 'deviceId' },
      kind: 'list',
      list: 'transactions',
      columns: TRANSACTION_COLUMNS,
      first: 100,
      query: {
        unfinished: { parameter: 'unfinished', text: 'only unfinished transactions, in the order of delivery' },
      },
      examples: ['lapel admin device transactions 490154203237518 --unfinished'],
    },
    {
      verb: 'story',
      isNoun: true,
      summary: 'Shows what happened to a device, the newest first; times are in UTC',
      about:
        'The story has the connections of the device and why each ended, refused logins, commands, events, and changes by people. Facts about connections are kept for 30 days, or as long as LAPEL_CONNECTION_RETENTION_DAYS of the service says.',
      operation: 'readDeviceStory',
      arguments: { DEVICE: 'deviceId' },
      kind: 'list',
      list: 'entries',
      columns: STORY_COLUMNS,
      first: 100,
      query: {
        since: {
          parameter: 'since',
          value: 'TIME',
          text: 'only what happened from this time on, in UTC: 2026-11-20T08:30:00Z',
        },
        until: { parameter: 'until', value: 'TIME', text: 'only what happened before this time' },
      },
      examples: [
        'lapel admin device story 490154203237518',
        'lapel admin device story 490154203237518 --since 2026-11-20T00:00:00Z --json',
      ],
    },
    {
      verb: 'samples',
      isNoun: true,
      summary: 'Shows what a device reported over time, and when it was connected; times are in UTC',
      about: 'Without --since the last day is shown. Needs LAPEL_SAMPLE_RETENTION_DAYS.',
      operation: 'readDeviceSamples',
      arguments: { DEVICE: 'deviceId' },
      kind: 'list',
      list: 'points',
      whole: true,
      columns: [
        date('TIME (UTC)', 'at'),
        column('BATTERY', 'battery'),
        column('CHARGING', 'isCharging'),
        column('SIGNAL DBM', 'rssi'),
        column('FREE BYTES', 'freeBytes'),
        column('CONNECTED', 'connectedShare'),
      ],
      query: {
        since: { parameter: 'since', value: 'TIME', text: 'the beginning of the period, in UTC: 2026-11-20T08:30:00Z' },
        step: { parameter: 'step', value: 'SECONDS', text: 'the distance of two points: 3600 or more' },
      },
      examples: [
        'lapel admin device samples 490154203237518',
        'lapel admin device samples 490154203237518 --since 2026-11-01T00:00:00Z --step 86400 --json',
      ],
    },
    {
      verb: 'disconnect',
      summary: 'Closes the connection of a device, which may reconnect at once',
      operation: 'closeConnection',
      arguments: { DEVICE: 'deviceId' },
      done: 'disconnected',
      examples: ['lapel admin device disconnect 490154203237518'],
    },
    {
      verb: 'update',
      summary: 'Replaces the hardware properties of a device, or moves it to another developer',
      operation: 'updateDevice',
      arguments: { DEVICE: 'deviceId' },
      fields: {
        hardware: { ...HARDWARE, none: 'remove the hardware properties of the device' },
        developer: { field: 'developerId', value: 'ID', text: 'move the device to this developer' },
      },
      examples: [
        'lapel admin device update 490154203237518 --hardware camera.json',
        'lapel admin device update 490154203237518 --developer globex',
      ],
    },
    {
      verb: 'delete',
      summary: 'Deletes a device that is not activated; with --force any device',
      about:
        'With --force the application for which the device is activated gets webhooks for the deactivation and for each cancelled transaction.',
      operation: 'deleteDevice',
      arguments: { DEVICE: 'deviceId' },
      flags: { force: { text: 'delete an activated device, too, and cancel its unfinished transactions' } },
      done: 'deleted',
      examples: ['lapel admin device delete 490154203237518', 'lapel admin device delete 490154203237518 --force'],
    },
    {
      verb: 'block',
      summary: 'Closes the connection of a device and refuses new ones; its commands stay in the queue',
      operation: 'updateDevice',
      arguments: { DEVICE: 'deviceId' },
      body: { blocked: true },
      examples: ['lapel admin device block 490154203237518'],
    },
    {
      verb: 'unblock',
      summary: 'Lets a blocked device connect again',
      operation: 'updateDevice',
      arguments: { DEVICE: 'deviceId' },
      body: { blocked: false },
      examples: ['lapel admin device unblock 490154203237518'],
    },
    {
      verb: 'credential',
      isNoun: true,
      summary: 'Replaces the credential of a device, and closes its connection; or offers another one',
      about: 'Client certificates of the device become invalid, too, except the one that --certificate names.',
      operation: 'replaceCredential',
      arguments: { DEVICE: 'deviceId' },
      fields: {
        credential: CREDENTIAL,
        certificate: {
          field: 'certificateFingerprint',
          value: 'SHA256',
          text: 'fingerprint of the only client certificate that the device may log in with from now on; by default none',
        },
        'keep-former': {
          field: 'keepsFormer',
          kind: 'flag',
          text: 'offer it: the present one stays valid until the device logs in with the new one',
        },
      },
      note: SHOWN_ONCE,
      examples: [
        'lapel admin device credential 490154203237518',
        'lapel admin device credential 490154203237518 --keep-former',
      ],
    },
  ],
};
