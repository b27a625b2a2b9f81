/** A folder of source files: its content, and the libraries that only this room may import. */
export interface Room {
  about: string;
  owns?: readonly string[];
}

/** Rooms from top to bottom: each may import those below it. */
export type Storeys = Readonly<Record<string, Room>>;

/** A wing of src/: its content, and its rooms from top to bottom. Without rooms the files are in the wing itself. */
export interface Wing {
  about: string;
  rooms: Storeys;
}

/**
 * The wings of src/ from top to bottom. A file may import its own room, the rooms below it in its wing, and every wing
 * below that. `structure.test.ts` checks the code against this, and `npm run generate` writes it into docs/architecture.md.
 */
export const WINGS: Readonly<Record<string, Wing>> = {
  edge: {
    about: 'takes requests and messages from outside, and answers them',
    rooms: {
      api: { about: 'the REST API of customer applications; `routes.ts` lists all operations' },
      admin: {
        about: 'administration, metrics and probes; the sessions of the operator’s console, and how they are opened',
        owns: ['openid-client'],
      },
      mqtt: {
        about: 'MQTT: login, access rules, inbound and outbound messages, bounds of connections',
        owns: ['aedes', 'ws'],
      },
      mcp: {
        about: 'the tools of assistants, over the Model Context Protocol; `tools/` has the questions that they answer',
        owns: ['@modelcontextprotocol'],
      },
      feed: { about: 'the stream of changes that the console follows' },
      pages: { about: 'the files of the console; `make/` makes them, at the release', owns: ['esbuild'] },
      docs: {
        about:
          'the site of all documents: guides, the reference, the complete documents of the API; `make/` makes it, at the release',
        owns: ['marked'],
      },
      http: {
        about: 'the common parts of the HTTP edges: route table, bodies, errors, sockets',
        owns: ['koa', '@koa/router', 'koa-body', 'light-my-request'],
      },
    },
  },
  views: { about: 'read-only answers: lists, figures, history, each with its SQL', rooms: {} },
  core: {
    about: 'the decisions that keep the promises',
    rooms: {
      alarms: { about: 'tells the receiver of the operator of alarms' },
      removals: { about: 'removes developers and applications with everything that belongs to them' },
      'device-actions': {
        about: 'one change of all devices that match a filter: gathered, then carried out in pieces',
      },
      enrolments: { about: 'devices that come to their credential by the one-time code of their batch' },
      authorities: {
        about: 'the CAs that sign client certificates of devices; certification requests, and what is signed for them',
        owns: ['@peculiar'],
      },
      encryption: { about: 'with which key secrets are encrypted at rest; the change from one key to another' },
      rollouts: { about: 'one operation for many devices: stages, pace, windows, rules that stop it' },
      transactions: { about: 'the state machine of commands: submission, settlement, cancel' },
      events: { about: 'events of devices; upload URLs that devices ask customers for' },
      requests: { about: 'requests of devices: stored before their PUBACK, answered until the device has the answer' },
      software: { about: 'packages, versions, binaries, distributions, system packages, firmware' },
      outbox: { about: 'the commands that are due for connected devices, in order' },
      endpoints: { about: 'places to which the events of an application are sent: their order, their state, replays' },
      stream: { about: 'the events of an application in order, for readers that pull; the places of consumers' },
      webhooks: {
        about: 'deliveries, attempts, signature, retry schedule, address guard',
        owns: ['undici', 'ipaddr.js'],
      },
      selection: {
        about: 'selectors: which devices a rollout, a change of tags or a count is about',
        owns: ['semver'],
      },
      sessions: { about: 'MQTT sessions, subscriptions and wills; the times at which devices were last seen' },
      devices: { about: 'devices, credentials, activation, status' },
      applications: { about: 'developers, applications, settings, signing keys, access tokens', owns: ['jose'] },
      people: { about: 'the people who administer the service: their roles and tokens' },
      audit: { about: 'the audit log: changes with their author and time' },
      retention: { about: 'removes old rows, in small steps' },
    },
  },
  platform: {
    about: 'the base of the core, without knowledge of devices and applications',
    rooms: {
      backup: { about: 'backups of a data folder, and their restore' },
      cluster: { about: 'several processes on one database: leases, hints, the owners of devices and of receivers' },
      database: {
        about: 'the Sql port; SQLite with the lock of its data folder, PostgreSQL; group commit and migrations',
        owns: ['better-sqlite3', 'pg'],
      },
      objects: {
        about: 'the object store: S3 client and presigner, the embedded S3-compatible store',
        owns: ['@aws-sdk', '@smithy'],
      },
      encryption: { about: 'the keys of secrets at rest, and the form of an encrypted value' },
      entrance: { about: 'what stands before the listeners: certificates, the PROXY protocol, trust in proxies' },
      apk: { about: 'looks at an uploaded file in a thread of its own' },
      tracing: { about: 'exports the spans of traces; loaded only where they are wanted', owns: ['@opentelemetry'] },
    },
  },
  runtime: { about: 'time, randomness, the log, queues: one subject in each file', rooms: {} },
};

/** The files directly in src/, besides main.ts and service.ts: every wing except the runtime may import them. */
export const PAGES: readonly string[] = [
  'cluster-metrics',
  'config',
  'metrics',
  'mqtt-metrics',
  'storage-metrics',
  'webhook-metrics',
];

/** The rooms of the command line; the files above them collect the commands. */
export const CLI_ROOMS: Storeys = {
  files: { about: 'configuration as files: plan, apply, export', owns: ['yaml'] },
  admin: { about: 'administration: a table of resources and their verbs' },
  release: { about: 'the release of a version from a pipeline: sign, upload, distribute, roll out, wait' },
  software: { about: 'packages, versions, uploads, installations' },
  import: { about: 'registers many devices from a file, with little memory' },
  events: { about: 'the events of an application, and the consumers of their stream' },
  endpoint: { about: 'the endpoints of an application: deliveries, replays' },
  webhook: { about: 'the receiver for development, deliveries, the URL settings of webhooks' },
  rollout: { about: 'rollouts of an application: start, follow, pause' },
  device: { about: 'devices of an application, transactions and their results' },
  assistant: { about: 'passes the messages of a local assistant on to the service' },
  account: { about: 'credentials, profiles and the address of the service; login' },
  line: { about: 'a command and its options; reading arguments, help, suggestions, completion' },
  show: { about: 'tables, records, colours, progress and failures on a terminal' },
};

/** The rooms of the device library; the files above them put them together. */
export const DEVICE_ROOMS: Storeys = {
  enrolment: { about: 'how a device comes to its credential or its certificate' },
  download: { about: 'files that are resumed after a power cut; signatures of software' },
  connection: { about: 'carries out what the core wants: MQTT, pauses between attempts, timers', owns: ['mqtt'] },
  core: { about: 'the duties of a device, without a network, a timer or a clock' },
  disk: { about: 'the memory of a device in one file that outlives a power cut' },
};

/** The rooms of the simulator; all of them may import its files outside of rooms. */
export const SIMULATOR_ROOMS: Storeys = {
  certificate: { about: 'the signed report of a test of a device or a receiver, and its check' },
  replay: { about: 'plays the devices of a record again' },
  relay: { about: 'stands between devices and a service, passes their bytes on, and records their messages' },
  library: { about: '`lapel/sim`: devices, fleets and a receiver for the tests of other programs' },
  'device-test': {
    about: 'tests a maker’s own device: plays the service to it, misbehaves, and names the broken rules',
    owns: ['ajv', 'yaml'],
  },
  trial: { about: 'tests a customer’s own receiver: passes webhooks on, and misbehaves after each' },
  scenario: {
    about: 'reads scenarios, plays them, and checks their expectations',
    owns: ['ajv', 'yaml'],
  },
  report: { about: 'the record of a run; the page, the table, JUnit, the display during the run' },
  service: { about: 'the nodes of a service that the run starts, and the faults of a service' },
  customer: {
    about:
      'the customer of the devices: registration, actions, a receiver that verifies webhooks, books of every transaction',
    owns: ['@peculiar'],
  },
  fleet: { about: 'many devices: their ids, events and absences' },
  model: { about: 'one device: its state, memory, behaviour and answers' },
  faults: { about: 'the faults of devices, which seed and occasion decide' },
  files: { about: 'downloads, uploads and movies; the manifest of an APK file' },
  recording: { about: 'the messages of devices in a file, without secrets' },
  mqtt: { about: 'a connection that reconnects, topics and messages' },
  promises: { about: 'the promises of the service, and the checks that hold them' },
};
export const SIMULATOR_LEAVES: readonly string[] = [
  'back-off',
  'bounded-map',
  'files-of-options',
  'histogram',
  'key-file',
  'plain-text',
  'random',
  'run-command',
  'show',
  'timer-wheel',
  'timers',
  'trust',
  'usage-error',
];

/**
 * Rules: files that use no database, no clock and no promises. They import the errors, types of schemas and units, and
 * one another.
 */
export const RULES: readonly string[] = [
  'schemas/base/rollouts',
  'src/core/applications/key-rotation',
  'src/core/applications/scopes',
  'src/core/device-actions/device-action',
  'src/core/events/event-setting',
  'src/core/people/roles',
  'src/core/rollouts/counts',
  'src/core/rollouts/rollout',
  'src/core/rollouts/stages',
  'src/core/rollouts/times',
  'src/core/rollouts/window',
  'src/core/selection/selector',
  'src/core/software/distribution-date',
  'src/core/software/firmware-state',
  'src/core/software/version',
  'src/core/transactions/firmware-warning',
  'src/core/transactions/operations',
  'src/core/transactions/terms',
  'src/core/transactions/transaction',
  'src/core/webhooks/retry-schedule',
  'src/edge/admin/sessions/own-page',
  'src/edge/feed/feed-topics',
  'src/edge/feed/redact-payload',
  'src/edge/mqtt/packet-rules',
  'src/edge/mqtt/topics',
  'src/runtime/roles',
  'schemas/base/secret-names',
  'schemas/base/exact-json',
  'schemas/base/without-secrets',
];
