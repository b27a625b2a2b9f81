import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { ownVersion } from './runtime/version.ts';

export type Metrics = ReturnType<typeof createMetrics>;

// Seconds, from the fastest answer over loopback to the longest webhook timeout.
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

/**
 * Every metric of the service on one page, by Prometheus' rules: base units, `_total` on counters, and only labels with
 * a bounded number of values (never a deviceId). Each service has its own registry, so that two services in one process
 * do not mix.
 */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Counter<Label>({ name: `lapel_${name}`, help, labelNames, registers });
  const gauge = (name: string, help: string) => new Gauge({ name: `lapel_${name}`, help, registers });
  new Gauge({
    name: 'lapel_build_info',
    help: 'Version of Lapel and of Node, as labels; the value is always 1',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version: ownVersion(), node: process.version }, 1);
  const labelled = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Gauge<Label>({ name: `lapel_${name}`, help, labelNames, registers });
  const histogram = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Histogram<Label>({ name: `lapel_${name}`, help, labelNames, buckets: SECONDS, registers });
  return {
    registry,
    /**
     * Turns on the metrics of the process and its event loop. They exist once per process, so only `lapel serve` calls
     * this.
     */
    collectProcess: () => collectDefaultMetrics({ register: registry }),
    httpRequests: counter('http_requests_total', 'Requests answered', ['listener', 'method', 'route', 'status']),
    httpSeconds: histogram('http_request_duration_seconds', 'Time from request to answer', ['listener', 'route']),
    httpRefused: counter('http_refused_total', 'Requests refused by a bound', ['bound']),
    feedStreams: labelled('console_feeds', 'Streams of the console that are open', ['listener']),
    feedsEvicted: counter('console_feeds_evicted_total', 'Console streams ended to make room for others'),
    feedMessagesDropped: counter(
      'console_messages_dropped_total',
      'Messages of devices not sent to the console, because more came per second than can be read',
    ),
    feedChangesMissed: counter(
      'console_changes_missed_total',
      'Changes sent to the console as part of a snapshot instead of one by one, because there were too many',
    ),
    loginFailures: counter('login_failures_total', 'Requests with wrong credentials', ['listener']),
    legacyKeyFetches: counter('legacy_key_fetches_total', 'Fetches of the keys of the legacy issuer', ['outcome']),
    tokensIssued: counter('tokens_issued_total', 'Access tokens issued'),
    transactionsCreated: counter('transactions_created_total', 'Transactions stored', ['operation']),
    transactionsFinished: counter('transactions_finished_total', 'Transactions finished', ['operation', 'status']),
    transactionsRefused: counter('transactions_refused_total', 'Submissions refused by a bound', ['bound']),
    idempotencyKeys: counter('idempotency_keys_total', 'Requests with an Idempotency-Key by outcome', ['outcome']),
    commandsPublished: counter('commands_published_total', 'Commands written to devices', ['kind']),
    commandsInFlight: gauge('commands_in_flight', 'Commands published and not yet acknowledged by PUBACK'),
    commandsDue: gauge('commands_due', 'Commands still to be sent to devices, offline devices included'),
    oldestCommandDue: gauge('commands_oldest_due_seconds', 'Age of the oldest command that is due'),
    commandsHeld: counter('commands_held_total', 'Times a device reached its bound of unacknowledged commands'),
    devicesConnected: gauge('devices_connected', 'MQTT connections of devices'),
    filesExhausted: counter('open_files_exhausted_total', 'Checks in which the process could not open another file'),
    mqttConnections: gauge('mqtt_connections', 'Open connections of the MQTT listeners, logged in or not'),
    mqttWaiting: gauge('mqtt_connections_waiting', 'Open MQTT connections that have not logged in'),
    mqttMessagesWaiting: gauge(
      'mqtt_messages_waiting',
      'Unacknowledged messages of devices that wait for the database',
    ),
    mqttLoginsHeld: counter(
      'mqtt_logins_held_total',
      'Refused logins whose answer was delayed, because too many came from one source',
    ),
    mqttMalformed: counter(
      'mqtt_malformed_packets_total',
      'Connections ended because of a packet that breaks the protocol',
      ['when'],
    ),
    mqttPaused: counter(
      'mqtt_paused_total',
      'Times the service stopped reading a connection for a moment, because it reached its rate of packets',
    ),
    mqttRefused: counter('mqtt_refused_total', 'Connections, subscriptions and publishes refused', ['reason']),
    mqttMessages: counter('mqtt_messages_total', 'Messages received from devices', ['topic']),
    mqttRejected: counter('mqtt_rejected_messages_total', 'Messages dropped and answered on the errors topic', [
      'topic',
    ]),
    mqttLeftOut: counter('mqtt_partly_taken_messages_total', 'Messages accepted without some of their parts', [
      'topic',
    ]),
    mqttUnknownMembers: counter('mqtt_unknown_members_total', 'Unknown members of messages, which were ignored', [
      'topic',
    ]),
    deliveriesCreated: counter('webhook_deliveries_total', 'Webhook deliveries stored', ['type']),
    deliveriesPending: gauge('webhook_pending', 'Webhook deliveries that are pending'),
    oldestDeliveryDue: gauge('webhook_oldest_due_seconds', 'How long the earliest pending delivery has been due'),
    answersDropped: counter(
      'delivery_answers_dropped_total',
      'Answers to failed attempts that were not kept, because the memory for answers of one application was full',
    ),
    deliveryAttempts: counter('webhook_attempts_total', 'Webhook attempts by outcome', ['outcome']),
    deliveryAttemptsCut: counter(
      'webhook_attempts_cut_total',
      'Slow attempts ended early, because other deliveries waited for their slot',
    ),
    deliverySeconds: histogram('webhook_attempt_duration_seconds', 'Time of one webhook attempt'),
    deliveriesHeld: counter('webhook_held_total', 'Times a receiver reached its bound of simultaneous attempts'),
    eventsDropped: counter(
      'device_events_dropped_total',
      'Events dropped, because the application has no URL configured for them',
      ['setting'],
    ),
    eventsRefused: counter('device_events_refused_total', 'Events refused by a bound of stored bytes', ['bound']),
    eventsRepeated: counter('device_events_repeated_total', 'Events that devices sent again'),
    deviceRequests: counter('device_requests_total', 'Answered requests of devices, by outcome', ['outcome']),
    deviceRequestsRunning: gauge('device_requests_running', 'Requests of devices in progress'),
    uploadUrlRequests: counter('upload_url_requests_total', 'Upload URLs that devices asked for, by outcome', [
      'type',
      'outcome',
    ]),
    uploadUrlRefused: counter('upload_url_refused_total', 'Upload URLs refused by a bound of requests in flight', [
      'bound',
    ]),
    uploadUrlSeconds: histogram('upload_url_attempt_duration_seconds', 'Time of one request to a customer’s URL'),
    quotaRefused: counter(
      'quota_refused_total',
      'Packages, versions and uploads refused by a quota of their developer',
      ['quota'],
    ),
    objectRequests: counter('object_requests_total', 'Requests answered by the embedded object store', [
      'method',
      'status',
    ]),
    objectBytes: counter('object_bytes_total', 'Bytes of objects transferred by the embedded store', ['direction']),
    objectsRefused: counter('object_refused_total', 'Transfers refused by a bound of the embedded store', ['bound']),
    objectStored: gauge('objects_stored_bytes', 'Bytes of the objects in the embedded store'),
    diskFree: gauge('disk_free_bytes', 'Free bytes on the disk of the data folder'),
    databaseBytes: labelled('database_bytes', 'Size of the database and of its write-ahead log', ['file']),
    databaseFree: gauge('database_free_bytes', 'Free bytes inside the database file, which will be reused'),
    retentionRemoved: counter('retention_removed_total', 'Rows removed after their retention time', ['kind']),
    retentionOldest: labelled('retention_oldest_seconds', 'Age of the oldest row that was kept at the last sweep', [
      'kind',
    ]),
    retentionBehind: labelled('retention_behind_seconds', 'How long the oldest row is past its retention time', [
      'kind',
    ]),
    retentionSwept: labelled('retention_last_sweep_timestamp_seconds', 'When the last sweep ended', ['kind']),
    databaseCheck: labelled(
      'database_check',
      'Result of the check of the whole database after start: 1 for the current state',
      ['state'],
    ),
    clusterNodes: gauge('cluster_nodes', 'Live nodes at the database, as this node sees them; 0 without a cluster'),
    clusterHealAge: gauge(
      'cluster_heal_age_seconds',
      'Seconds since this node last read the full state that hints between nodes describe',
    ),
    clusterLease: gauge('cluster_lease_seconds', 'Seconds left of the lease of this node; 0 when it is lost'),
    clusterHints: counter('cluster_hints_total', 'Hints between nodes', ['kind', 'outcome']),
    clusterFenced: counter(
      'cluster_fenced_total',
      'Connections closed because their device has connected to another node',
    ),
    clusterHandedOver: counter(
      'cluster_handed_over_total',
      'Connections closed so that their devices connect to a node with fewer devices',
    ),
    clusterPartitions: gauge('cluster_partitions', 'Partitions of webhook receivers, of 64, that this node sends to'),
    numbersRaised: counter(
      'numbers_raised_total',
      'Times the numbers of transactions, epochs and audit entries were raised above every number that may be in use: at each start, and after a connection to another database than before',
      ['reason'],
    ),
    commitSeconds: histogram('database_commit_duration_seconds', 'Time of one group commit'),
    commitUnits: counter('database_units_total', 'Units of work', ['outcome']),
  };
}

/** The number of latest commits over which the 99th percentile is taken. */
const RECENT = 500;

/** Counts the commits of a database, and measures their time. */
export function commitMetrics({ commitSeconds, commitUnits }: Pick<Metrics, 'commitSeconds' | 'commitUnits'>) {
  let commits = 0;
  const latest = new Float64Array(RECENT);
  return {
    /** Milliseconds within which 99 of 100 of the latest commits ended; null before the first commit. */
    p99(): number | null {
      if (commits === 0) return null;
      const sorted = latest.slice(0, Math.min(commits, RECENT)).sort();
      return (sorted[Math.floor(sorted.length * 0.99)] ?? 0) * 1000;
    },
    count: (): number => commits,
    observe({ seconds, committed, rolledBack }: { seconds: number; committed: number; rolledBack: number }): void {
      latest[commits % RECENT] = seconds;
      commits += 1;
      commitSeconds.observe(seconds);
      commitUnits.inc({ outcome: 'committed' }, committed);
      if (rolledBack > 0) commitUnits.inc({ outcome: 'rolled_back' }, rolledBack);
    },
  };
}
