import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { ownVersion } from './runtime/version.ts';

export type Metrics = ReturnType<typeof createMetrics>;

// Seconds, from the quickest loop-back answer to the longest webhook timeout.
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

/**
 * Every metric of the service on one page, by Prometheus' rules (base units, `_total` on counters, no label without a
 * bound: never a deviceId). Each service has its own registry, so two in one process do not mix.
 */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Counter<Label>({ name: `lapel_${name}`, help, labelNames, registers });
  const gauge = (name: string, help: string) => new Gauge({ name: `lapel_${name}`, help, registers });
  new Gauge({
    name: 'lapel_build_info',
    help: 'Which Lapel this is; always 1',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version: ownVersion(), node: process.version }, 1);
  const labelled = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Gauge<Label>({ name: `lapel_${name}`, help, labelNames, registers });
  const histogram = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Histogram<Label>({ name: `lapel_${name}`, help, labelNames, buckets: SECONDS, registers });
  return {
    registry,
    /** Process and event-loop metrics; only the command line turns these on (they are per process, not per service). */
    collectProcess: () => collectDefaultMetrics({ register: registry }),
    httpRequests: counter('http_requests_total', 'Requests answered', ['listener', 'method', 'route', 'status']),
    httpSeconds: histogram('http_request_duration_seconds', 'Time from request to answer', ['listener', 'route']),
    httpRefused: counter('http_refused_total', 'Requests refused by a bound', ['bound']),
    feedStreams: labelled('console_feeds', 'Streams of the console that are open', ['listener']),
    feedsEvicted: counter('console_feeds_evicted_total', 'Streams that were ended because others had none'),
    feedMessagesDropped: counter(
      'console_messages_dropped_total',
      'Messages of devices that the console left out: more a second than anybody can read',
    ),
    feedChangesMissed: counter(
      'console_changes_missed_total',
      'Changes that the console was not told of one by one, but by a snapshot: more than could be read',
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
    commandsDue: gauge('commands_due', 'Commands that devices must still hear of, offline ones included'),
    oldestCommandDue: gauge('commands_oldest_due_seconds', 'Age of the oldest of them'),
    commandsHeld: counter('commands_held_total', 'Times a device had its bound of unacknowledged commands in flight'),
    devicesConnected: gauge('devices_connected', 'MQTT connections of devices'),
    filesExhausted: counter('open_files_exhausted_total', 'Looks at which the process could open no further file'),
    mqttConnections: gauge('mqtt_connections', 'Open connections of the MQTT listeners, logged in or not'),
    mqttWaiting: gauge('mqtt_connections_waiting', 'Those of them that have not logged in'),
    mqttMessagesWaiting: gauge(
      'mqtt_messages_waiting',
      'Messages of devices that wait, unacknowledged, for the database',
    ),
    mqttLoginsHeld: counter('mqtt_logins_held_total', 'Refused logins whose answer was held back: too many from there'),
    mqttMalformed: counter('mqtt_malformed_packets_total', 'Connections ended for a packet that breaks the protocol', [
      'when',
    ]),
    mqttPaused: counter(
      'mqtt_paused_total',
      'Times a connection had its rate of packets and was not read for a moment',
    ),
    mqttRefused: counter('mqtt_refused_total', 'Connections, subscriptions and publishes refused', ['reason']),
    mqttMessages: counter('mqtt_messages_total', 'Messages received from devices', ['topic']),
    mqttRejected: counter('mqtt_rejected_messages_total', 'Messages dropped and answered on the errors topic', [
      'topic',
    ]),
    mqttLeftOut: counter('mqtt_partly_taken_messages_total', 'Messages of which parts were left out', ['topic']),
    mqttUnknownMembers: counter('mqtt_unknown_members_total', 'Members of messages that nobody knows, ignored', [
      'topic',
    ]),
    deliveriesCreated: counter('webhook_deliveries_total', 'Webhook deliveries stored', ['type']),
    deliveriesPending: gauge('webhook_pending', 'Webhook deliveries that are pending'),
    oldestDeliveryDue: gauge('webhook_oldest_due_seconds', 'For how long the earliest of them has been due'),
    answersDropped: counter(
      'delivery_answers_dropped_total',
      'Answers of receivers to failed attempts that were not kept: more of an application than there is room for',
    ),
    deliveryAttempts: counter('webhook_attempts_total', 'Webhook attempts by outcome', ['outcome']),
    deliveryAttemptsCut: counter('webhook_attempts_cut_total', 'Late attempts cut because others needed their place'),
    deliverySeconds: histogram('webhook_attempt_duration_seconds', 'Time of one webhook attempt'),
    deliveriesHeld: counter('webhook_held_total', 'Times a receiver had its bound of attempts in flight'),
    eventsDropped: counter('device_events_dropped_total', 'Events without a setting that says where they go', [
      'setting',
    ]),
    eventsRefused: counter('device_events_refused_total', 'Events refused by a bound of stored bytes', ['bound']),
    eventsRepeated: counter('device_events_repeated_total', 'Events that had come before'),
    deviceRequests: counter('device_requests_total', 'Requests of devices that have their answer, by what it was', [
      'outcome',
    ]),
    deviceRequestsRunning: gauge('device_requests_running', 'Requests of devices that are carried out'),
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
    diskFree: gauge('disk_free_bytes', 'Bytes that the disk of the data folder has left'),
    databaseBytes: labelled('database_bytes', 'Size of the database and of its write-ahead log', ['file']),
    databaseFree: gauge('database_free_bytes', 'Bytes of the database that are free and are used again'),
    retentionRemoved: counter('retention_removed_total', 'What had served its time and was removed', ['kind']),
    retentionOldest: labelled('retention_oldest_seconds', 'Age of the oldest that is kept, at the last sweep', [
      'kind',
    ]),
    retentionBehind: labelled('retention_behind_seconds', 'For how long the oldest of it should have been gone', [
      'kind',
    ]),
    retentionSwept: labelled('retention_last_sweep_timestamp_seconds', 'When a sweep last came to its end', ['kind']),
    databaseCheck: labelled(
      'database_check',
      'What the reading of the whole database after the start has found: 1 for the state that holds',
      ['state'],
    ),
    clusterNodes: gauge(
      'cluster_nodes',
      'Nodes that live at the database, as this one sees it; 0 for a process that is alone',
    ),
    clusterHealAge: gauge('cluster_heal_age_seconds', 'Since when what hints speak of was not looked at as a whole'),
    clusterLease: gauge('cluster_lease_seconds', 'How much of the lease of this node is left; 0 when it is lost'),
    clusterHints: counter('cluster_hints_total', 'Hints between nodes', ['kind', 'outcome']),
    clusterFenced: counter('cluster_fenced_total', 'Connections closed because their device is connected elsewhere'),
    clusterHandedOver: counter(
      'cluster_handed_over_total',
      'Connections closed so that their devices come to a node that has fewer',
    ),
    clusterPartitions: gauge('cluster_partitions', 'Partitions of webhook receivers that this node sends for, of 64'),
    numbersRaised: counter(
      'numbers_raised_total',
      'Times the numbers of transactions, epochs and the audit log were raised above all that may have been given out: at each start, and when the database is another one than before',
      ['reason'],
    ),
    commitSeconds: histogram('database_commit_duration_seconds', 'Time of one group commit'),
    commitUnits: counter('database_units_total', 'Units of work', ['outcome']),
  };
}

/** Commits of which the 99th percentile is taken. */
const RECENT = 500;

/** Counts the commits of a database, and what they take. */
export function commitMetrics({ commitSeconds, commitUnits }: Pick<Metrics, 'commitSeconds' | 'commitUnits'>) {
  let commits = 0;
  const latest = new Float64Array(RECENT);
  return {
    /** Milliseconds that 99 of 100 of the latest commits took at most; null when there was none. */
    p99(): number | null {
      if (commits === 0) return null;
      const sorted = latest.slice(0, Math.min(commits, RECENT)).sort();
      return (sorted[Math.floor(sorted.length * 0.99)] ?? 0) * 1000;
    },
    /** How many there were. */
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
