import type { Contracts, SchemaName } from '@lapel/schemas/contracts/contracts';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { Config } from '../../config.ts';
import type { AlarmSender } from '../../core/alarms/alarm-sender.ts';
import type { AccessTokens } from '../../core/applications/access-tokens.ts';
import type { Applications } from '../../core/applications/applications.ts';
import type { Developers } from '../../core/applications/developers.ts';
import type { Audit } from '../../core/audit/audit.ts';
import type { SecretReads } from '../../core/audit/secret-reads.ts';
import type { Authorities } from '../../core/authorities/authorities.ts';
import type { Core } from '../../core/core.ts';
import type { DeviceActions } from '../../core/device-actions/device-actions.ts';
import type { Devices } from '../../core/devices/devices.ts';
import type { NotesOfDevices } from '../../core/devices/notes.ts';
import type { Statuses } from '../../core/devices/statuses.ts';
import type { Encryption } from '../../core/encryption/encryption.ts';
import type { EnrolmentBatches } from '../../core/enrolments/batches.ts';
import type { Members } from '../../core/people/members.ts';
import type { People } from '../../core/people/people.ts';
import type { Removals } from '../../core/removals/removals.ts';
import type { Rollouts } from '../../core/rollouts/rollouts.ts';
import type { Quotas } from '../../core/software/quotas.ts';
import type { Software } from '../../core/software/software.ts';
import type { Cancellation } from '../../core/transactions/cancellation.ts';
import type { DeliveryLog } from '../../core/webhooks/log/delivery-log.ts';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Readiness } from '../../runtime/readiness.ts';
import type { AuditNames } from '../../views/audit.ts';
import type { CohortViews } from '../../views/cohorts.ts';
import type { SignWatch } from '../../views/conditions/sign-watch.ts';
import type { FindConnection } from '../../views/connection.ts';
import type { CountContents } from '../../views/contents.ts';
import type { AllDeliveries } from '../../views/deliveries.ts';
import type { DeviceSampleViews } from '../../views/device-samples.ts';
import type { Fleet } from '../../views/devices.ts';
import type { FailureViews } from '../../views/failures.ts';
import type { FleetFigures } from '../../views/figures.ts';
import type { FleetHistory } from '../../views/history.ts';
import type { Installations } from '../../views/installations.ts';
import type { ReceiverStates } from '../../views/receivers.ts';
import type { RolloutViews } from '../../views/rollouts.ts';
import type { ServiceHistory } from '../../views/service-history.ts';
import type { ServiceState } from '../../views/service-state.ts';
import type { SoftwareOverview } from '../../views/software.ts';
import type { Stories } from '../../views/story.ts';
import type { Overview } from '../../views/transactions.ts';
import type { Feed } from '../feed/feed.ts';
import type { Input } from '../http/route.ts';
import type { Mcp } from '../mcp/mcp.ts';
import type { ConsolePages } from '../pages/pages.ts';
import type { Administrator } from './authorize.ts';
import type { IdentifyToken } from './identify.ts';
import type { ConsoleSessions } from './sessions/sessions.ts';
import type { SignIns } from './sign-in/sign-ins.ts';

/** The parts that the handlers of administration use; each handler names the ones that it needs. */
export interface AdminServices {
  developers: Pick<Developers, 'create' | 'list' | 'find' | 'update' | 'remove' | 'search'>;
  applications: Pick<
    Applications,
    | 'create'
    | 'list'
    | 'listSecrets'
    | 'addSecret'
    | 'endSecret'
    | 'replaceSecret'
    | 'remove'
    | 'listAll'
    | 'findCounted'
    | 'search'
    | 'certificates'
  >;
  quotas: Pick<Quotas, 'limits' | 'usageOf'>;
  devices: Pick<
    Devices,
    | 'register'
    | 'registerOnce'
    | 'list'
    | 'find'
    | 'update'
    | 'remove'
    | 'replaceCredential'
    | 'offerCredential'
    | 'disconnect'
  >;
  enrolmentBatches: EnrolmentBatches;
  authorities: Pick<Authorities, 'create' | 'list' | 'find' | 'retire' | 'revoke'>;
  accessTokens: Pick<AccessTokens, 'signingKeys' | 'renewSigningKey'>;
  objects: Pick<Core['objects'], 'key'>;
  encryption: Pick<Encryption, 'state' | 'rotate'>;
  removals: Pick<Removals, 'request' | 'find' | 'list'>;
  /** Counts what belongs to a developer or an application. */
  countContents: CountContents;
  deviceActions: Pick<DeviceActions, 'count' | 'begin' | 'find' | 'stop' | 'list' | 'devices'>;
  /** The views of devices of all developers. */
  rollouts: Pick<Rollouts, 'find' | 'pause' | 'cancel'>;
  rolloutViews: RolloutViews;
  fleet: Fleet;
  statuses: Pick<Statuses, 'find' | 'reported'>;
  notes: NotesOfDevices;
  /** Finds the connection and session of a device. */
  connection: FindConnection;
  /** The views of transactions of all devices and applications. */
  overview: Overview;
  /** The stories of devices. */
  stories: Stories;
  cancellation: Cancellation;
  /** Finds the application of a delivery. */
  findDelivery(deliveryId: string): Promise<string | undefined>;
  /** The settings that the service was started with. */
  settings: Config['given'];
  /** Knows the software that is installed on devices. */
  installations: Installations;
  software: Pick<Software, 'systemPackages' | 'firmware' | 'inspection' | 'keys'>;
  /** The views of packages and versions of all developers, and of the service. */
  softwareOverview: SoftwareOverview;
  /** Figures of the whole fleet, now and over time. */
  figures: FleetFigures;
  history: FleetHistory;
  /** How the service works over time, its nodes, and what must be mended. */
  serviceHistory: ServiceHistory;
  serviceState: ServiceState;
  /** Tells the receiver of LAPEL_ALARM_URL of alarms; undefined without one. */
  alarmSender: AlarmSender | undefined;
  /** The conditions that this node has found in its own figures. */
  signs: SignWatch['known'];
  /** Counts of installations that failed. */
  failures: FailureViews;
  /** The reports of devices over time, and the days for which it is kept; 0: it is not. */
  deviceSamples: DeviceSampleViews;
  cohorts: CohortViews;
  sampleDays: number;
  /** Figures of this process: the 99th percentile of the time of commits in milliseconds, and the number of nodes. */
  vitals: { commitP99(): number | null; nodes(): number };
  /** Webhook deliveries of all applications, and their receivers. */
  receivers: ReceiverStates;
  deliveries: AllDeliveries;
  deliveryLog: DeliveryLog;
  /** The audit log, and the names of the objects in it. */
  audit: Audit;
  auditNames: AuditNames;
  /** Knows which reads of payloads were recorded a moment ago. */
  secretReads: SecretReads;
  /** The pages of the console. */
  pages: ConsolePages;
  feed: Pick<Feed, 'open'>;
  /** The tools of assistants; undefined while they are not allowed. */
  mcp?: Mcp | undefined;
  sessions: ConsoleSessions;
  identify: IdentifyToken;
  /** Signs people in through providers. */
  signIns: SignIns;
  /** The people who administer the service. */
  people: People;
  /** The people of developers. */
  members: Members;
  contracts: Contracts;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, 'registry'>;
  /** The metrics, as text for Prometheus. */
  metricsText(): Promise<string>;
  /** Formats microseconds as a local date-time. */
  formatTime(micros: number): string;
  /** Checks for `/readyz` which parts of the service cannot do their work. */
  readiness: Pick<Readiness, 'problems' | 'notes'>;
}

/** The input of a handler of administration; `Name` lists the parameters of its path. */
export type At<Name extends string, Body extends SchemaName = never, Query extends SchemaName = never> = Input<
  { [Parameter in Name]: string },
  SchemaTypes[Body],
  SchemaTypes[Query],
  Administrator
>;
/** The input of a handler that needs no body and no query. */
export type By<Name extends string = never> = At<Name>;
export type List<Name extends string = never> = Input<
  { [Parameter in Name]: string },
  unknown,
  SchemaTypes['common/paging-query'],
  Administrator
>;
