/** A room of src/: what is in it, the rooms that it may import besides the leaf files, and the libraries that only it may import. */
export interface Room {
  about: string;
  rooms: readonly string[];
  owns?: readonly string[];
}

/**
 * Who may import whom. `structure.test.ts` holds the code against this, and `npm run generate` writes it into
 * docs/architecture.md. `service.ts` imports everything, and is imported by `main.ts` alone.
 */
export const ROOMS: Readonly<Record<string, Room>> = {
  contracts: { about: 'the schemas, compiled; the types generated from them', rooms: [], owns: ['ajv', 'yaml'] },
  database: {
    about:
      'the Sql port, and what is behind it: SQLite with the lock of the data folder, or PostgreSQL; each with its group commit and migrations',
    rooms: [],
    owns: ['better-sqlite3', 'pg'],
  },
  objects: {
    about: 'the object store: S3 client and presigner, the embedded S3-compatible store',
    rooms: [],
    owns: ['@aws-sdk', '@smithy'],
  },
  apk: { about: 'what is inside an uploaded file, by ranged reads', rooms: [], owns: ['yauzl'] },
  applications: {
    about: 'developers, applications, settings, authenticationKey, access tokens',
    rooms: ['contracts', 'database'],
    owns: ['jose'],
  },
  devices: { about: 'devices, credentials, activation, status', rooms: ['contracts', 'database', 'cluster'] },
  sessions: {
    about: 'MQTT sessions, subscriptions and wills; when devices were last heard of',
    rooms: ['database', 'cluster'],
  },
  webhooks: {
    about: 'deliveries, attempts, signature, retry schedule, address guard',
    rooms: ['contracts', 'database', 'cluster'],
    owns: ['undici', 'standardwebhooks', 'ipaddr.js'],
  },
  outbox: { about: 'what is due for a connected device, in order', rooms: ['contracts', 'database', 'cluster'] },
  software: {
    about: 'packages, versions, binaries, distributions, system packages, firmware',
    rooms: ['contracts', 'database', 'objects', 'apk'],
  },
  transactions: {
    about: 'the state machine, submission, settlement, cancel',
    rooms: ['contracts', 'database', 'applications', 'devices', 'software', 'webhooks', 'outbox', 'cluster'],
  },
  requests: {
    about: 'requests of devices: stored before their PUBACK, answered until the device has it',
    rooms: ['database', 'devices', 'cluster'],
  },
  events: {
    about: 'events of devices, upload URLs that devices ask customers for',
    rooms: ['contracts', 'database', 'applications', 'devices', 'webhooks', 'cluster', 'requests'],
  },
  cluster: {
    about: 'several processes at one database: nodes with leases, hints, who has a device, who sends to a receiver',
    rooms: ['database'],
  },
  retention: {
    about: 'what has served its time is removed, in steps that nobody feels',
    rooms: ['database'],
  },
  http: {
    about: 'what the two REST edges share: route table, bodies, errors, sockets',
    rooms: ['contracts'],
    owns: ['koa', '@koa/router', 'koa-body'],
  },
  docs: {
    about: 'the documents of the API in one piece, and the reference in the browser',
    rooms: ['contracts'],
    owns: ['swagger-ui-dist'],
  },
  audit: { about: 'who changed what, and when', rooms: ['database'] },
  fleet: {
    about: 'the whole fleet: figures, now and over time; what looks through all of it',
    rooms: ['database', 'devices', 'transactions'],
  },
  console: {
    about: 'the server side of the console: its pages, the operator’s sessions, the feed',
    rooms: ['http', 'docs', 'contracts', 'database', 'devices', 'transactions'],
  },
  broker: {
    about: 'the MQTT edge: login, access rules, inbound, outbound, bounds of connections',
    rooms: ['contracts', 'devices', 'sessions', 'outbox', 'transactions', 'events', 'requests', 'cluster'],
    owns: ['aedes', 'ws'],
  },
  api: {
    about: 'the REST edge: `routes.ts` is the whole API on one page',
    rooms: [
      'http',
      'audit',
      'console',
      'contracts',
      'docs',
      'applications',
      'devices',
      'transactions',
      'webhooks',
      'software',
    ],
  },
  admin: {
    about: 'administration, metrics and probes',
    rooms: [
      'http',
      'audit',
      'console',
      'contracts',
      'applications',
      'devices',
      'fleet',
      'sessions',
      'software',
      'transactions',
      'webhooks',
      'imports',
    ],
  },
  imports: {
    about: 'the lines of a file of devices, as the service and the command line read them',
    rooms: [],
    owns: ['csv-parse'],
  },
  client: {
    about: 'typed client of the REST API, verification of webhooks',
    rooms: ['contracts'],
    owns: ['standardwebhooks'],
  },
  cli: {
    about: 'the command line: a client of the two APIs',
    rooms: ['apk', 'client', 'imports'],
    owns: ['string-width'],
  },
};

/** The rooms of the command line; the files above them put the commands together. */
export const CLI_ROOMS: Readonly<Record<string, Room>> = {
  show: { about: 'tables, records, colours, progress, failures in words: what people see', rooms: [] },
  line: { about: 'a command and its options; reading arguments, help, suggestions, completion', rooms: ['show'] },
  account: { about: 'who one is and where the service is; login and profiles', rooms: ['line', 'show'] },
  device: { about: 'devices of an application, transactions and their end', rooms: ['account', 'line', 'show'] },
  webhook: {
    about: 'the receiver for development, deliveries, the settings that say where webhooks go',
    rooms: ['account', 'line', 'show'],
  },
  import: { about: 'many devices from a file, in flat memory', rooms: ['account', 'line', 'show'] },
  software: { about: 'packages, versions, uploads, installations', rooms: ['device', 'account', 'line', 'show'] },
  admin: {
    about: 'administration: a table of resources and their verbs',
    rooms: ['import', 'software', 'account', 'line', 'show'],
  },
};

/** The files directly in src/ that every room may import: a closed list, each with the one thing that it is about. */
export const LEAVES: Readonly<Record<string, string>> = {
  asking: 'who asks, for those who take turns',
  clock: 'time, and the formats that it has in bodies',
  config: 'the settings',
  'database-hosts': 'the hosts of a PostgreSQL URL',
  'data-folder': 'the folder of the data, and the administrator token in it',
  deprecations: 'what is deprecated, and until which release it is served',
  errors: 'every error, with its status and its text',
  'fair-queue': 'what is shared, in turns by developer, application and device',
  idle: 'waiting until a part has nothing to do',
  ids: 'randomness',
  listening: 'an address that cannot be had',
  log: 'the log',
  'log-limit': 'one line a minute for what anybody can cause',
  metrics: 'every metric',
  'open-files': 'how many of the open files each listener may have',
  owners: 'whose the devices are that have logged in',
  parts: 'the parts of the service: registered once, started in order, stopped in reverse',
  readiness: 'what `/readyz` asks',
  'secret-names': 'which names are those of secrets: one list for all who show or write something',
  'secret-hash': 'how secrets of devices, applications and sessions are kept',
  'setting-values': 'what a setting may be',
  'socket-bounds': 'bounds of connections',
  'thread-time': 'processor time of this thread',
  'token-buckets': 'how rates are limited, of callers and of devices',
  watch: 'what happens, for who looks at it live',
  turns: 'how long work shares the event loop',
  version: 'which Lapel this is',
  'without-secrets': 'values and texts without what is secret in them',
};

/** The rooms of the simulator; its leaf files are for all of them. */
export const SIMULATOR_ROOMS: Readonly<Record<string, Room>> = {
  mqtt: { about: 'a connection that comes back, topics and messages', rooms: [] },
  files: { about: 'downloads, uploads and movies; what is inside an APK file', rooms: ['mqtt'] },
  faults: {
    about: 'what can befall a device, and whether it does: decided by seed and occasion',
    rooms: ['mqtt', 'files'],
  },
  model: {
    about: 'one device: its state and what it remembers, what it does, how it answers',
    rooms: ['mqtt', 'files', 'faults'],
  },
  fleet: {
    about: 'many devices: their numbers and their lives, when they are away',
    rooms: ['mqtt', 'files', 'faults', 'model'],
  },
  customer: {
    about: 'the customer beside them: registration, actions, a receiver that verifies, books of every transaction',
    rooms: ['mqtt', 'files', 'faults', 'model', 'fleet'],
  },
  report: { about: 'what is kept of a run; the page, the table, JUnit, what is seen meanwhile', rooms: ['customer'] },
  scenario: {
    about: 'stories: reading them, playing them, what has to hold at their end',
    rooms: ['faults', 'model', 'fleet', 'customer', 'report'],
    owns: ['ajv', 'yaml'],
  },
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

/** Rules: files that know no database, no clock and no waiting. They import the errors, types of schemas, and one another. */
export const RULES: readonly string[] = [
  'applications/key-rotation',
  'applications/scopes',
  'broker/packet-rules',
  'broker/topics',
  'console/feed-topics',
  'console/own-page',
  'console/redact-payload',
  'events/event-setting',
  'secret-names',
  'software/distribution-date',
  'software/firmware-state',
  'software/version',
  'transactions/firmware-warning',
  'transactions/transaction',
  'webhooks/retry-schedule',
  'without-secrets',
];
