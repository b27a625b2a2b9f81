import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { ownVersion } from '@lapel/schemas/base/version';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { createClusterMetrics } from './cluster-metrics.ts';
import { createMqttMetrics } from './mqtt-metrics.ts';
import { createMetricKinds, STEP_SECONDS } from './runtime/metric-kinds.ts';
import { createStorageMetrics } from './storage-metrics.ts';
import { createWebhookMetrics } from './webhook-metrics.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Every metric of the service. The names follow the rules of Prometheus: base units, and `_total` on counters. A label
 * has a bounded number of values, so it is never a deviceId. Each service has its own registry, so that two services in
 * one process (in tests) do not mix.
 */
export function createMetrics() {
  const registry = new Registry();
  const kinds = createMetricKinds(registry);
  const { counter, gauge, labelled, histogram } = kinds;
  labelled('build_info', 'Version of Lapel and of Node, as labels; the value is always 1', ['version', 'node']).set(
    { version: ownVersion(), node: process.version },
    1,
  );
  const memoryLimit = labelled(
    'memory_limit_bytes',
    'Bytes that the process may use at most, by kind: `heap` is the limit of its JavaScript objects, `process` is the memory of its container or machine',
    ['kind'],
  );
  return {
    registry,
    /**
     * Turns on the metrics of the process and its event loop. They exist once per process, so only `lapel serve` calls
     * this.
     */
    collectProcess: () => {
      collectDefaultMetrics({ register: registry });
      memoryLimit.set({ kind: 'heap' }, getHeapStatistics().heap_size_limit);
      // Without a container there is no constraint, or one that is larger than the machine.
      memoryLimit.set({ kind: 'process' }, Math.min(process.constrainedMemory() || Infinity, totalmem()));
    },
    ready: labelled('ready', 'Whether a part of the service can do its work, as `/readyz` says: 1, or 0', ['part']),
    clockAhead: gauge('clock_ahead_seconds', 'Seconds by which the clock is ahead of that of the PostgreSQL server'),
    clockHeld: gauge(
      'clock_held',
      'Whether the time waits to be confirmed: 1 while nothing expires and nothing is removed, or 0',
    ),
    clockTime: gauge(
      'clock_timestamp_seconds',
      'Time of the clock of the service. Its distance from the time of the scrape shows a wrong clock',
    ),
    certificateExpiry: labelled(
      'tls_certificate_expiry_timestamp_seconds',
      'Time at which a certificate of the MQTT listeners expires, by file: `cert` is that of the service, `client_ca` that of client certificates',
      ['file'],
    ),
    certificateExpires: labelled(
      'certificate_expires_seconds',
      'Seconds until a certificate of a listener expires, negative when it has expired, by file: `cert` is that of the listener, `client_ca` that of client certificates, `device_ca` (listener `devices`) the device CA that ends first among those that are neither retired nor revoked',
      ['listener', 'file'],
    ),
    revocationListLeft: labelled(
      'revocation_list_left_ratio',
      'Share of the time of a revocation list of client certificates that is left, by listener: 0 or less when it is out of date, and no certificate of its CA is accepted',
      ['listener'],
    ),
    proxyRefused: counter(
      'proxy_connections_refused_total',
      'Connections to a listener with the PROXY protocol that were closed, by reason: `untrusted` address, no `header`, no header in time (`timeout`), too many without a header (`waiting`)',
      ['listener', 'reason'],
    ),
    httpRequests: counter('http_requests_total', 'Requests answered', ['listener', 'method', 'route', 'status']),
    httpSeconds: histogram('http_request_duration_seconds', 'Time from request to answer', ['listener', 'route']),
    httpRefused: counter('http_refused_total', 'Requests refused because a limit was reached, by limit', ['bound']),
    assistantCalls: counter('assistant_calls_total', 'Calls of tools by assistants, by tool and outcome', [
      'tool',
      'outcome',
    ]),
    feedStreams: labelled('console_feeds', 'Open streams of changes, which the pages of the console read', [
      'listener',
    ]),
    feedsEvicted: counter('console_feeds_evicted_total', 'Streams of changes ended to make room for others'),
    feedMessagesDropped: counter(
      'console_messages_dropped_total',
      'Messages of devices that the console did not show, because more came per second than people can read',
    ),
    feedChangesMissed: counter(
      'console_changes_missed_total',
      'Changes that the console got as part of a new snapshot and not one by one, because there were too many',
    ),
    refusedCalls: counter(
      'refused_calls_total',
      'Requests that the audit log records as refused, by error: wrong tokens and secrets, roles that do not permit a call, requests of foreign pages',
      ['code'],
    ),
    loginFailures: counter('login_failures_total', 'Requests with wrong credentials', ['listener']),
    alarmMessages: counter(
      'alarm_messages_total',
      'Messages to the receiver of LAPEL_ALARM_URL, by outcome: `taken` or `failed`',
      ['outcome'],
    ),
    auditNotesLost: counter(
      'audit_notes_lost_total',
      'Actions of the service that could not be written to the audit log: the log of the service has them',
    ),
    auditSent: counter(
      'audit_syslog_sent_total',
      'Entries of the audit log that the receiver of LAPEL_AUDIT_SYSLOG has taken',
    ),
    auditSendFailures: counter(
      'audit_syslog_failures_total',
      'Attempts to send entries of the audit log that the receiver did not take',
    ),
    auditWaiting: gauge(
      'audit_syslog_waiting_entries',
      'Entries of the audit log that the receiver of LAPEL_AUDIT_SYSLOG does not have yet',
    ),
    oldestAuditWaiting: gauge(
      'audit_syslog_oldest_waiting_seconds',
      'Age of the oldest entry of the audit log that the receiver does not have yet; 0 when it has all',
    ),
    signIns: counter(
      'sign_ins_total',
      'Sign-ins to the console of administration through a provider, by provider and outcome: `signed in`, or the code of the error',
      ['provider', 'outcome'],
    ),
    legacyKeyFetches: counter('legacy_key_fetches_total', 'Fetches of the keys of the legacy issuer', ['outcome']),
    tokensIssued: counter('tokens_issued_total', 'Access tokens issued'),
    transactionsCreated: counter('transactions_created_total', 'Transactions created and stored', ['operation']),
    transactionsFinished: counter('transactions_finished_total', 'Transactions finished', ['operation', 'status']),
    transactionsEndedEarly: counter(
      'transactions_ended_early_total',
      'Transactions that the service itself ended, by code: EXPIRED, NO_ANSWER or SUPERSEDED',
      ['code'],
    ),
    rolloutsCreated: counter('rollouts_created_total', 'Rollouts created and stored', ['operation']),
    rolloutsPaused: counter('rollouts_paused_total', 'Rollouts that were paused, by reason', ['reason']),
    rolloutsRefused: counter('rollouts_refused_total', 'Rollouts refused because a limit was reached, by limit', [
      'bound',
    ]),
    rolloutsFull: counter(
      'rollouts_full_total',
      'Times at which a rollout had as many unfinished devices as it may have (maxUnfinished), and made no more commands',
    ),
    deviceActions: counter('device_actions_total', 'Device actions begun', ['action']),
    deviceActionDevices: counter(
      'device_action_devices_total',
      'Devices of device actions, by outcome: `done`, `unchanged`, `skipped` or `refused`',
      ['action', 'state'],
    ),
    deviceActionsRefused: counter(
      'device_actions_refused_total',
      'Device actions refused because a limit was reached, by limit',
      ['bound'],
    ),
    enrolments: counter(
      'enrolments_total',
      'Requests of devices for enrolment, by outcome: `enrolled`, `again` (the answer was lost), `pending`, `renewed` (a certificate), `rate_limited`, `csr` (a faulty certification request), or the reason of a refusal',
      ['outcome'],
    ),
    lateResults: counter(
      'late_results_total',
      'Results of devices that came after the service itself had ended the transaction, by the code of that end, or CANCELLED',
      ['code'],
    ),
    transactionsRefused: counter(
      'transactions_refused_total',
      'Commands refused because a limit was reached, by limit',
      ['bound'],
    ),
    idempotencyKeys: counter('idempotency_keys_total', 'Requests with an Idempotency-Key, by outcome', ['outcome']),
    stepSeconds: histogram(
      'step_duration_seconds',
      'Time of a step of a command, by step: `published` from the call to the first publish, `received` from a publish to its PUBACK, `answered` from the PUBACK to the result, `delivered` from the result, or an event, to the 2xx answer of its webhook',
      ['step'],
      STEP_SECONDS,
    ),
    commandsPublished: counter('commands_published_total', 'Commands written to devices', ['kind']),
    commandsInFlight: gauge(
      'commands_in_flight',
      'Commands published, and neither acknowledged by PUBACK nor answered yet',
    ),
    commandsDue: gauge(
      'commands_due',
      'Commands that their devices have not answered yet, offline devices included, and cancels that they have not got yet',
    ),
    oldestCommandDue: gauge(
      'commands_oldest_due_seconds',
      'Age of the oldest command that its device has not answered yet',
    ),
    oldestCommandInFlight: gauge(
      'commands_oldest_in_flight_seconds',
      'Age of the oldest command that was written to a connected device, and is neither acknowledged by PUBACK nor answered yet',
    ),
    commandsHeld: counter(
      'commands_held_total',
      'Times that no further command was sent to a device, because too many were unacknowledged',
    ),
    overlooked: counter('overlooked_total', 'Wake-ups that were lost: something was due and moved by nobody', ['what']),
    inspectionsPutOff: counter(
      'inspections_put_off_total',
      'Inspections of uploads that wait in the database: too many waited, they failed too often, or the service stopped',
      ['why'],
    ),
    filesExhausted: counter('open_files_exhausted_total', 'Checks in which the process could not open another file'),
    ...createMqttMetrics(kinds),
    ...createWebhookMetrics(kinds),
    spansRecorded: counter('spans_recorded_total', 'Spans of traces that ended and are to be exported'),
    spansExported: counter(
      'spans_exported_total',
      'Spans of traces that were sent to the collector, by outcome; the others were dropped, because too many waited',
      ['outcome'],
    ),
    eventsRefused: counter(
      'device_events_refused_total',
      'Events of devices refused because of the limits of stored bytes per day, by limit',
      ['bound'],
    ),
    eventsRepeated: counter('device_events_repeated_total', 'Events that devices sent again'),
    deviceRequests: counter('device_requests_total', 'Requests of devices, by outcome', ['outcome']),
    deviceRequestsRunning: gauge('device_requests_running', 'Requests of devices in progress'),
    uploadUrlRequests: counter('upload_url_requests_total', 'Upload URLs that devices asked for, by outcome', [
      'type',
      'outcome',
    ]),
    uploadUrlRefused: counter(
      'upload_url_refused_total',
      'Upload URLs that devices were refused, because too many such requests ran, by limit',
      ['bound'],
    ),
    uploadUrlSeconds: histogram(
      'upload_url_attempt_duration_seconds',
      'Time of one request to the URL of an application, for an upload URL',
    ),
    quotaRefused: counter(
      'quota_refused_total',
      'Packages, versions and uploads refused by a quota of their developer',
      ['quota'],
    ),
    ...createStorageMetrics(kinds),
    ...createClusterMetrics(kinds),
    numbersRaised: counter(
      'numbers_raised_total',
      'Times the next transactionId, epoch and number of an audit entry were raised above every number that may be in use: at each start, and after a connection to another database than before',
      ['reason'],
    ),
    encryptionRewritten: counter(
      'encryption_rewritten_total',
      'Values of the database that a rotation of the encryption key has encrypted anew',
    ),
    commitSeconds: histogram('database_commit_duration_seconds', 'Time of one group commit'),
    commitUnits: counter('database_units_total', 'Units of work', ['outcome']),
  };
}

/** The number of latest commits whose 99th percentile `p99` returns. */
const RECENT = 500;

/** Counts the commits of a database, and measures their time. */
export function commitMetrics({ commitSeconds, commitUnits }: Pick<Metrics, 'commitSeconds' | 'commitUnits'>) {
  let commits = 0;
  const latest = new Float64Array(RECENT);
  return {
    /** The milliseconds that 99 of 100 of the latest commits did not exceed; null before the first commit. */
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
