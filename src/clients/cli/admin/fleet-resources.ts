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

/** What devices are told to do, of all developers. */
export const TRANSACTIONS: Resource = {
  resource: 'transaction',
  columns: TRANSACTION_COLUMNS,
  verbs: [
    {
      verb: 'list',
      summary: 'Transactions of all developers, the newest first; unfinished ones the oldest first',
      about: 'Times are lengths: 7d, 12h, 30m, 45s.',
      method: 'GET',
      path: '/admin/v1/transactions',
      kind: 'list',
      list: 'transactions',
      first: 100,
      query: {
        unfinished: { parameter: 'unfinished', text: 'only what devices have not answered, the oldest first' },
        'older-than': { parameter: 'olderThan', value: 'TIME', text: 'only those that were made so long ago' },
        warning: { parameter: 'warning', text: 'only unfinished ones that their device will not answer' },
        status: { parameter: 'status', value: 'STATE', text: 'only those in this state' },
        operation: { parameter: 'operation', value: 'NAME', text: 'only this operation, as setWifi' },
        application: { parameter: 'applicationId', value: 'ID', text: 'only those of this application' },
        device: { parameter: 'deviceId', value: 'DEVICE', text: 'only those of this device' },
      },
      examples: [
        'lapel admin transaction list --unfinished --older-than 1h',
        'lapel admin transaction list --application patrol --status failed --limit 1000 --json',
      ],
    },
    {
      verb: 'show',
      summary: 'One transaction, what its device is told, and its webhook; without passwords',
      method: 'GET',
      path: '/admin/v1/transactions/{transactionId}',
      arguments: { TRANSACTION: 'transactionId' },
      examples: ['lapel admin transaction show 4711'],
    },
    {
      verb: 'cancel',
      summary: 'Cancels an unfinished transaction; its application is told',
      method: 'DELETE',
      path: '/admin/v1/transactions/{transactionId}',
      arguments: { TRANSACTION: 'transactionId' },
      done: 'cancelled',
      examples: ['lapel admin transaction cancel 4711'],
    },
    {
      verb: 'cancel-many',
      summary: 'Cancels the transactions of a list, each by itself',
      about: "Their numbers, out of the list of them in JSON: jq '[.transactions[].transactionId]'.",
      method: 'POST',
      path: '/admin/v1/transactions/cancel',
      fields: {
        transactions: {
          field: 'transactionIds',
          value: 'FILE',
          kind: 'json',
          file: true,
          text: 'file with their numbers as a JSON array, 1000 at most (- is standard input)',
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

/** Packages of all developers and of the service, and who has them. */
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
      summary: 'Packages of all developers and of the service',
      method: 'GET',
      path: '/admin/v1/packages',
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
      summary: 'One package: whose it is, and its newest version',
      method: 'GET',
      path: '/admin/v1/packages/{package}',
      arguments: { PACKAGE: 'package' },
      query: { line: LINE },
      examples: ['lapel admin package show com.example.camera'],
    },
    {
      verb: 'versions',
      summary: 'The versions of a package: files, and how many devices have, wait for, failed at each',
      method: 'GET',
      path: '/admin/v1/packages/{package}/versions',
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
      summary: 'The devices that have a version, wait for it, or failed at it',
      method: 'GET',
      path: '/admin/v1/packages/{package}/versions/{version}/installations',
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
        state: { parameter: 'state', value: 'STATE', text: 'only installed, waiting or failed ones' },
      },
      examples: ['lapel admin package installations com.example.camera 1.1.0 --state failed'],
    },
  ],
};

/** By its identifier or name. */
export const SEARCH: Resource = {
  resource: 'search',
  columns: [column('KIND', 'kind'), column('ID', 'id'), column('OF', 'parent')],
  verbs: [
    {
      verb: '',
      summary: 'Looks for a device, transaction, delivery, application, developer or package',
      about: 'By the beginning of a device’s identifier, a number, a delivery’s identifier, or a part of a name.',
      method: 'GET',
      path: '/admin/v1/search',
      arguments: { TEXT: 'q' },
      kind: 'list',
      list: 'results',
      whole: true,
      examples: ['lapel admin search 49015', 'lapel admin search camera'],
    },
  ],
};

/** As in effect; what is secret is not shown. */
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
      summary: 'The settings of the service as in effect',
      method: 'GET',
      path: '/admin/v1/settings',
      kind: 'list',
      list: 'settings',
      whole: true,
      examples: ['lapel admin setting list'],
    },
  ],
};
