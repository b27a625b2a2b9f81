/** A folder of source files: what is in it, and the libraries that only it may import. */
export interface Room {
  about: string;
  owns?: readonly string[];
}

/** Rooms from top to bottom: each may import those below it. */
export type Storeys = Readonly<Record<string, Room>>;

/** A wing of src/: what is in it, and its rooms from top to bottom; without rooms, the files are in the wing itself. */
export interface Wing {
  about: string;
  rooms: Storeys;
}

/**
 * The wings of src/ from top to bottom. A file may import its own room, the rooms below it in its wing, and every wing
 * below that. `structure.test.ts` holds the code against this, and `npm run generate` writes it into docs/architecture.md.
 */
export const WINGS: Readonly<Record<string, Wing>> = {
  edge: {
    about: 'takes what comes in from outside, and answers it',
    rooms: {
      api: { about: 'the REST API of customer applications: `routes.ts` is all of it on one page' },
      admin: { about: 'administration, metrics and probes; the operator’s sessions' },
      mqtt: {
        about: 'MQTT: login, access rules, inbound and outbound messages, bounds of connections',
        owns: ['aedes', 'ws'],
      },
      feed: { about: 'the stream of changes that the console follows' },
      pages: { about: 'the files of the console' },
      docs: {
        about: 'the documents of the API in one piece, and the reference in the browser',
        owns: ['swagger-ui-dist'],
      },
      http: {
        about: 'what the HTTP edges share: route table, bodies, errors, sockets',
        owns: ['koa', '@koa/router', 'koa-body'],
      },
    },
  },
  views: { about: 'answers that are read and decide nothing: lists, figures, history, each with its SQL', rooms: {} },
  core: {
    about: 'decides, and keeps the promises',
    rooms: {
      transactions: { about: 'the state machine of commands: submission, settlement, cancel' },
      events: { about: 'events of devices; upload URLs that devices ask customers for' },
      requests: { about: 'requests of devices: stored before their PUBACK, answered until the device has the answer' },
      software: { about: 'packages, versions, binaries, distributions, system packages, firmware' },
      outbox: { about: 'the commands that are due for connected devices, in order' },
      webhooks: {
        about: 'deliveries, attempts, signature, retry schedule, address guard',
        owns: ['undici', 'ipaddr.js'],
      },
      sessions: { about: 'MQTT sessions, subscriptions and wills; when devices were last heard of' },
      devices: { about: 'devices, credentials, activation, status' },
      applications: { about: 'developers, applications, settings, signing keys, access tokens', owns: ['jose'] },
      audit: { about: 'who changed what, and when' },
      retention: { about: 'deletes rows that have served their time, in small steps' },
    },
  },
  platform: {
    about: 'the ground that the core stands on; it knows no device and no application',
    rooms: {
      cluster: { about: 'several processes at one database: leases, hints, who has a device, who sends to a receiver' },
      database: {
        about: 'the Sql port; SQLite with the lock of its data folder, PostgreSQL; group commit and migrations',
        owns: ['better-sqlite3', 'pg'],
      },
      objects: {
        about: 'the object store: S3 client and presigner, the embedded S3-compatible store',
        owns: ['@aws-sdk', '@smithy'],
      },
      contracts: { about: 'the schemas, compiled; the types generated from them', owns: ['ajv', 'yaml'] },
      apk: { about: 'the manifest of an uploaded file, by ranged reads', owns: ['yauzl'] },
      imports: { about: 'the lines of a file of devices', owns: ['csv-parse'] },
    },
  },
  runtime: { about: 'time, randomness, the log, queues: one subject a file', rooms: {} },
};

/** The files directly in src/, besides main.ts and service.ts: each wing may import them, but for the runtime. */
export const PAGES: readonly string[] = ['config', 'errors', 'metrics'];

/** Programs that speak with the service from outside. They import one another, these rooms, and the runtime. */
export const CLIENTS: Readonly<Record<string, Room>> = {
  cli: { about: 'the command line', owns: ['string-width'] },
  client: { about: 'the typed client of the REST API; verification of webhooks', owns: ['standardwebhooks'] },
};
export const CLIENTS_KNOW: readonly string[] = ['platform/contracts', 'platform/apk', 'platform/imports', 'runtime'];

/** Imports against the rules, each with its reason. One that is not there any more fails the test. */
export const EXCEPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'clients/cli/line/service-commands.ts': { 'config.ts': '`lapel serve --help` shows every setting' },
  'runtime/data-folder.ts': { 'errors.ts': 'says which setting names a folder that cannot be used' },
  'runtime/listening.ts': { 'errors.ts': 'says which setting names an address that cannot be used' },
};

/** The rooms of the command line; the files above them put the commands together. */
export const CLI_ROOMS: Storeys = {
  admin: { about: 'administration: a table of resources and their verbs' },
  software: { about: 'packages, versions, uploads, installations' },
  import: { about: 'many devices from a file, in flat memory' },
  webhook: { about: 'the receiver for development, deliveries, the settings that say where webhooks go' },
  device: { about: 'devices of an application, transactions and how they ended' },
  account: { about: 'credentials, profiles and the address of the service; login' },
  line: { about: 'a command and its options; reading arguments, help, suggestions, completion' },
  show: { about: 'tables, records, colours, progress and failures, as people see them' },
};

/** The rooms of the simulator; its files outside of rooms are for all of them. */
export const SIMULATOR_ROOMS: Storeys = {
  scenario: {
    about: 'scenarios: reading them, playing them, their expectations at the end',
    owns: ['ajv', 'yaml'],
  },
  report: { about: 'the record of a run; the page, the table, JUnit, the display while it goes on' },
  customer: {
    about:
      'the customer beside the devices: registration, actions, a receiver that verifies, books of every transaction',
  },
  fleet: { about: 'many devices: their numbers and their lives, when they are away' },
  model: { about: 'one device: its state and its memory, its behaviour, its answers' },
  faults: { about: 'faults that a device can have, decided by seed and occasion' },
  files: { about: 'downloads, uploads and movies; the manifest of an APK file' },
  mqtt: { about: 'a connection that comes back, topics and messages' },
};
export const SIMULATOR_LEAVES: readonly string[] = [
  'back-off',
  'bounded-map',
  'histogram',
  'plain-text',
  'random',
  'show',
  'timer-wheel',
  'timers',
  'usage-error',
];

/** Rules: files that know no database, no clock and no waiting. They import the errors, types of schemas and units, and one another. */
export const RULES: readonly string[] = [
  'core/applications/key-rotation',
  'core/applications/scopes',
  'core/events/event-setting',
  'core/software/distribution-date',
  'core/software/firmware-state',
  'core/software/version',
  'core/transactions/firmware-warning',
  'core/transactions/operations',
  'core/transactions/transaction',
  'core/webhooks/retry-schedule',
  'edge/admin/sessions/own-page',
  'edge/feed/feed-topics',
  'edge/feed/redact-payload',
  'edge/mqtt/packet-rules',
  'edge/mqtt/topics',
  'runtime/secret-names',
  'runtime/without-secrets',
];
