import { type Column, fieldText } from '../show/table.ts';
import { column, date, flexible, type Resource, type Row } from './admin-resource.ts';

const ALL = Number.POSITIVE_INFINITY;

const codeOf = (one: unknown): string | undefined => (one as { code?: string } | null)?.code;

export const TRANSACTION_COLUMNS: readonly Column<Row>[] = [
  column('TRANSACTION', 'transactionId'),
  column('DEVICE', 'deviceId'),
  column('APPLICATION', 'applicationId'),
  column('OPERATION', 'operation'),
  { ...column('STATUS', 'status'), state: true },
  date('CREATED (UTC)', 'createdAt'),
  column('ATTEMPTS', 'attempts'),
  flexible('SUBJECT', 'subject'),
  { head: 'ERROR', cell: ({ error, warning }) => codeOf(error) ?? codeOf(warning), flexible: true },
];

/** The transactions of all developers. */
export const TRANSACTIONS: Resource = {
  resource: 'transaction',
  columns: TRANSACTION_COLUMNS,
  verbs: [
    {
      verb: 'list',
      summary: 'Lists transactions of all developers, the newest first; with --unfinished the oldest first',
      about: 'A DURATION is a number with a unit: 7d, 12h, 30m, 45s.',
      operation: 'listFleetTransactions',
      kind: 'list',
      list: 'transactions',
      first: 100,
      query: {
        unfinished: { parameter: 'unfinished', text: 'only unfinished transactions, the oldest first' },
        since: {
          parameter: 'since',
          value: 'TIME',
          text: 'only transactions from this time on, in UTC: 2026-11-20T08:30:00Z; with --error or --status failed, those that failed since then',
        },
        until: { parameter: 'until', value: 'TIME', text: 'only transactions before this time' },
        error: { parameter: 'errorCode', value: 'CODE', text: 'only transactions that ended with this error code' },
        package: { parameter: 'package', value: 'NAME', text: 'only installations of this package' },
        version: { parameter: 'version', value: 'V', text: 'only installations of this version', needs: 'package' },
        'older-than': { parameter: 'olderThan', value: 'DURATION', text: 'only transactions older than this' },
        warning: {
          parameter: 'warning',
          text: 'only unfinished transactions that the firmware of the device is too old for',
        },
        status: { parameter: 'status', value: 'STATE', text: 'only transactions in this state' },
        operation: {
          parameter: 'operation',
          value: 'NAME',
          text: 'only transactions of this operation, for example setWifi',
        },
        application: { parameter: 'applicationId', value: 'ID', text: 'only transactions of this application' },
        device: { parameter: 'deviceId', value: 'DEVICE', text: 'only transactions of this device' },
        rollout: { parameter: 'rolloutId', value: 'ROLLOUT', text: 'only transactions of this rollout' },
        sort: {
          parameter: 'sort',
          value: 'ORDER',
          text: 'sort by createdAt for the oldest first, or -createdAt for the newest first; failures come by their ends',
        },
      },
      examples: [
        'lapel admin transaction list --since 2026-11-20T08:30:00Z --sort createdAt',
        'lapel admin transaction list --unfinished --older-than 1h',
        'lapel admin transaction list --application patrol --status failed --limit 1000 --json',
      ],
    },
    {
      verb: 'show',
      summary: 'Shows a transaction, its command and its webhook, without passwords',
      operation: 'readFleetTransaction',
      arguments: { TRANSACTION: 'transactionId' },
      examples: ['lapel admin transaction show 4711'],
    },
    {
      verb: 'cancel',
      summary: 'Cancels an unfinished transaction; the application gets a webhook',
      operation: 'cancelFleetTransaction',
      arguments: { TRANSACTION: 'transactionId' },
      done: 'cancelled',
      examples: ['lapel admin transaction cancel 4711'],
    },
    {
      verb: 'cancel-many',
      summary: 'Cancels several transactions, each independently of the others',
      about: "The file is made from lapel admin transaction list --json with jq '[.transactions[].transactionId]'.",
      operation: 'cancelFleetTransactions',
      fields: {
        transactions: {
          field: 'transactionIds',
          value: 'FILE',
          kind: 'json',
          file: true,
          text: 'file with a JSON array of at most 1000 transactionIds (- is standard input)',
        },
      },
      examples: ['lapel admin transaction cancel-many --transactions stuck.json'],
    },
  ],
};

const LINE = { parameter: 'line', value: 'LINE', text: 'software (by default) or firmware' };
const devicesOf =
  (state: string) =>
  ({ devices }: Row): string =>
    fieldText((devices as Record<string, number> | undefined)?.[state]);
const VERSION_COLUMNS: readonly Column<Row>[] = [
  column('VERSION', 'version'),
  { head: 'DISTRIBUTING', cell: ({ distributing }) => (distributing ? 'distributing' : ''), state: true },
  { head: 'BYTES', cell: ({ binary }) => fieldText((binary as { sizeBytes?: number } | null)?.sizeBytes) },
  { head: 'INSTALLED', cell: devicesOf('installed') },
  { head: 'WAITING', cell: devicesOf('waiting') },
  { head: 'FAILED', cell: devicesOf('failed') },
  date('UPDATED (UTC)', 'updatedAt'),
  flexible('WARNING', 'warning'),
];

/** Packages of all developers and of the service, and the devices that have them. */
export const PACKAGES: Resource = {
  resource: 'package',
  columns: [
    column('LINE', 'line'),
    column('PACKAGE', 'package'),
    column('DEVELOPER', 'developerId'),
    column('VERSIONS', 'versions'),
    column('NEWEST', 'newest'),
    date('UPDATED (UTC)', 'updatedAt'),
    flexible('NAME', 'displayName'),
  ],
  verbs: [
    {
      verb: 'list',
      summary: 'Lists the packages of all developers and of the service',
      operation: 'listAllPackages',
      kind: 'list',
      list: 'packages',
      first: ALL,
      query: {
        line: { parameter: 'line', value: 'LINE', text: 'only software, or only firmware' },
        developer: { parameter: 'developerId', value: 'ID', text: 'only packages of this developer' },
      },
      examples: ['lapel admin package list', 'lapel admin package list --developer acme'],
    },
    {
      verb: 'show',
      summary: 'Shows a package with its developer and newest version',
      operation: 'readAnyPackage',
      arguments: { PACKAGE: 'package' },
      query: { line: LINE },
      examples: ['lapel admin package show com.example.camera'],
    },
    {
      verb: 'versions',
      isNoun: true,
      summary: 'Lists the versions of a package with their files and numbers of devices',
      operation: 'listAnyVersions',
      arguments: { PACKAGE: 'package' },
      kind: 'list',
      list: 'versions',
      columns: VERSION_COLUMNS,
      first: ALL,
      query: { line: LINE },
      examples: ['lapel admin package versions com.example.camera'],
    },
    {
      verb: 'installations',
      isNoun: true,
      summary: 'Lists the devices that have a version installed, wait for it, or failed to install it',
      operation: 'listAnyInstallations',
      arguments: { PACKAGE: 'package', VERSION: 'version' },
      kind: 'list',
      list: 'devices',
      columns: [
        column('DEVICE', 'deviceId'),
        { ...column('STATE', 'state'), state: true },
        column('ERROR', 'errorCode'),
        date('SINCE (UTC)', 'since'),
      ],
      first: ALL,
      query: {
        line: LINE,
        state: { parameter: 'state', value: 'STATE', text: 'only devices in this state: installed, waiting or failed' },
      },
      examples: ['lapel admin package installations com.example.camera 1.1.0 --state failed'],
    },
  ],
};

/** `lapel admin search`: finds anything by its identifier or name. */
export const SEARCH: Resource = {
  resource: 'search',
  columns: [column('KIND', 'kind'), column('ID', 'id'), column('OF', 'parent')],
  verbs: [
    {
      verb: '',
      summary: 'Searches devices, transactions, deliveries, applications, developers and packages',
      about: 'TEXT is the beginning of a deviceId, a transactionId, a deliveryId, or a part of a name.',
      operation: 'search',
      arguments: { TEXT: 'q' },
      kind: 'list',
      list: 'results',
      whole: true,
      examples: ['lapel admin search 49015', 'lapel admin search camera'],
    },
  ],
};

/** The settings in effect, without secrets. */
export const SETTINGS: Resource = {
  resource: 'setting',
  columns: [
    column('SETTING', 'name'),
    { head: 'VALUE', cell: ({ value }) => fieldText(value), flexible: true },
    { head: 'SET', cell: ({ isSet }) => (isSet ? 'set' : '') },
    flexible('DESCRIPTION', 'description'),
  ],
  verbs: [
    {
      verb: 'list',
      summary: 'Lists the settings of the service in effect',
      operation: 'listSettings',
      kind: 'list',
      list: 'settings',
      whole: true,
      examples: ['lapel admin setting list'],
    },
  ],
};
