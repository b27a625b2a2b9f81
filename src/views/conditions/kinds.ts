import type { AlarmList } from '@lapel/schemas/contracts/types';

export type Kind = AlarmList['alarms'][number]['kind'];

/** Something that somebody must know of. `critical`: users notice it now, or will within days; `info`: good to know. */
export interface Alarm {
  kind: Kind;
  level: 'critical' | 'warning' | 'info';
  /** A sentence for people. */
  text: string;
  /** The node that it is about; null when it is about all of them, or there is one only. */
  nodeId: string | null;
}

/**
 * Each kind of condition, with the alerts of deploy/prometheus/lapel.rules.yml that tell of the same outside of the
 * service. The service and Prometheus look at the same figures with the same thresholds.
 */
export const ALERTS = {
  part: [
    'LapelNotReady',
    'LapelDatabaseAway',
    'LapelClockNotBelieved',
    'LapelOverlooked',
    'LapelFilesNearBound',
    'LapelFilesExhausted',
    'LapelLeaseLate',
    'LapelHealLate',
    'LapelPartitionsWithoutNode',
  ],
  node: ['LapelNodeMissing'],
  clock: ['LapelClocksDiffer', 'LapelClockWrong'],
  database: ['LapelDatabaseDamaged', 'LapelDatabaseUnchecked'],
  disk: ['LapelDiskLow', 'LapelDiskFills'],
  certificate: ['LapelCertificateExpiresSoon', 'LapelCertificateExpires', 'LapelRevocationListEnds'],
  retention: ['LapelRetentionBehind', 'LapelRetentionStopped'],
  people: [],
  devicesGone: ['LapelDevicesGone'],
  devicesSilent: ['LapelDevicesSilent'],
  devicesDeaf: ['LapelDevicesDeaf'],
  devicesContested: ['LapelIdentityContested'],
  devicesRefused: ['LapelDevicesRefused', 'LapelEnrolmentsRefused'],
  commandsOld: ['LapelCommandsOld'],
  commandsRefused: ['LapelCommandsRefused'],
  eventsRefused: ['LapelEventsRefused'],
  transfersRefused: ['LapelTransfersRefused'],
  rolloutsStopped: ['LapelRolloutPaused'],
  webhooksLate: ['LapelWebhooksLate'],
  webhooksGivenUp: ['LapelWebhooksGivenUp'],
  receivers: ['LapelReceiversFailing', 'LapelWebhooksFail'],
  consumersBehind: ['LapelConsumersBehind', 'LapelConsumersLose'],
  apiFaults: ['LapelApiErrors'],
  apiSlow: ['LapelApiSlow'],
  commitsSlow: ['LapelCommitsSlow'],
  loopSlow: ['LapelEventLoopSlow'],
  memoryLow: ['LapelMemoryLow'],
  connectionsNearBound: ['LapelConnectionsNearBound'],
  messagesWait: ['LapelMessagesWait'],
  hintsDropped: ['LapelHintsDropped'],
  numbersRaised: ['LapelNumbersRaised'],
  removalStopped: ['LapelRemovalStopped'],
  auditWaits: ['LapelAuditWaits'],
} as const satisfies Record<Kind, readonly string[]>;

/** The alerts that no condition of the service has, each with the reason. */
export const OUTSIDE = {
  LapelUnwatched: 'a service cannot know that nobody watches it',
  LapelDown: 'a service that is down tells nothing',
  LapelRestarts: 'a process does not count its own starts',
  LapelRequestsRefused: 'the pages of the customer and the figures of routes show it; the service works as it should',
  LapelLoginsWrong: 'the stories of the devices show it; the service works as it should',
  LapelMessagesRejected: 'the stories of the devices show it; the service works as it should',
  LapelQuotaReached: 'the page of the developer shows it; the service works as it should',
  LapelConsoleBehind: 'the console says so itself',
} as const;
