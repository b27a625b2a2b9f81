import type { createMetricKinds } from './runtime/metric-kinds.ts';

/** The metrics of objects, of the disk and the database, and of the removal of rows. */
export const createStorageMetrics = ({ counter, gauge, labelled }: ReturnType<typeof createMetricKinds>) => ({
  objectRequests: counter('object_requests_total', 'Requests answered by the embedded object store', [
    'method',
    'status',
  ]),
  objectBytes: counter('object_bytes_total', 'Bytes of objects transferred by the embedded store', ['direction']),
  objectsRefused: counter(
    'object_refused_total',
    'Transfers refused because a limit of the embedded store was reached, by limit',
    ['bound'],
  ),
  objectStored: gauge('objects_stored_bytes', 'Bytes of the objects in the embedded store'),
  diskFree: gauge('disk_free_bytes', 'Free bytes on the disk of the data folder'),
  diskSize: gauge('disk_size_bytes', 'Size of the disk of the data folder'),
  databaseBytes: labelled('database_bytes', 'Size of the database and of its write-ahead log', ['file']),
  databaseFree: gauge('database_free_bytes', 'Free bytes inside the database file, which will be reused'),
  connectionFactsLost: counter(
    'connection_facts_lost_total',
    'Connections, ends and refused logins that are missing in the stories of devices, because too many waited for the database',
  ),
  retentionRemoved: counter('retention_removed_total', 'Rows removed after their retention time, by kind of row', [
    'kind',
  ]),
  retentionOldest: labelled('retention_oldest_seconds', 'Age of the oldest row after the last removal of old rows', [
    'kind',
  ]),
  retentionBehind: labelled('retention_behind_seconds', 'How long ago the oldest row should have been removed', [
    'kind',
  ]),
  retentionSwept: labelled(
    'retention_last_sweep_timestamp_seconds',
    'Time when the last removal of old rows ended, or of the start before the first one',
    ['kind'],
  ),
  removalsRunning: gauge(
    'removals_running',
    'Developers and applications that are being removed by this process; of several nodes, one removes them',
  ),
  removalProgress: gauge(
    'removal_last_step_timestamp_seconds',
    'Time when a removal of a developer or an application last went on; 0 when this process has not removed any',
  ),
  removalRemoved: counter(
    'removal_removed_total',
    'Rows removed with their developer or application, by kind of row; bytes of binaries are the kind `storedBytes`',
    ['kind'],
  ),
  databaseCheck: labelled(
    'database_check',
    'Result of the check of the whole database file after start, as the label `state`; the value is 1 for the current result',
    ['state'],
  ),
});
