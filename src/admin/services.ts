import type { Applications } from '../applications/applications.ts';
import type { Developers } from '../applications/developers.ts';
import type { Audit } from '../audit/audit.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Feed } from '../console/feed.ts';
import type { ConsolePages } from '../console/pages.ts';
import type { ConsoleSessions } from '../console/sessions.ts';
import type { Contracts, SchemaName } from '../contracts/contracts.ts';
import type { SchemaTypes } from '../contracts/types.ts';
import type { Devices } from '../devices/devices.ts';
import type { Fleet } from '../devices/fleet.ts';
import type { Statuses } from '../devices/statuses.ts';
import type { FleetFigures } from '../fleet/figures.ts';
import type { FleetHistory } from '../fleet/history.ts';
import type { Input } from '../http/route.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Readiness } from '../readiness.ts';
import type { FindConnection } from '../sessions/connection-view.ts';
import type { Quotas } from '../software/quotas.ts';
import type { Software } from '../software/software.ts';
import type { Cancellation } from '../transactions/cancellation.ts';
import type { Installations } from '../transactions/installations.ts';
import type { Overview } from '../transactions/overview.ts';
import type { AllDeliveries } from '../webhooks/all-deliveries.ts';
import type { DeliveryLog } from '../webhooks/delivery-log.ts';
import type { ReceiverStates } from '../webhooks/receiver-states.ts';

/** What the handlers of administration act on; each one names the parts that it needs. */
export interface AdminServices {
  developers: Pick<Developers, 'create' | 'list' | 'find' | 'update' | 'remove' | 'search'>;
  applications: Pick<
    Applications,
    'create' | 'list' | 'replaceSecret' | 'remove' | 'listAll' | 'findCounted' | 'search'
  >;
  quotas: Pick<Quotas, 'limits' | 'usageOf'>;
  devices: Pick<
    Devices,
    'register' | 'registerOnce' | 'list' | 'find' | 'update' | 'remove' | 'replaceCredential' | 'disconnect'
  >;
  /** Devices of all developers. */
  fleet: Fleet;
  statuses: Pick<Statuses, 'find' | 'reported'>;
  /** A device's connection and session. */
  connection: FindConnection;
  /** Transactions of all devices and applications. */
  overview: Overview;
  cancellation: Cancellation;
  /** The application of a delivery. */
  findDelivery(deliveryId: string): Promise<string | undefined>;
  /** As they were given. */
  settings: Config['given'];
  /** Which devices have what. */
  installations: Installations;
  software: Pick<Software, 'systemPackages' | 'firmware' | 'inspection' | 'overview'>;
  /** Of the whole fleet, now and over time. */
  figures: FleetFigures;
  history: FleetHistory;
  /** Of this process: milliseconds, and how many nodes there are. */
  vitals: { commitP99(): number | null; nodes(): number };
  /** Webhooks of all applications, and where they go. */
  receivers: ReceiverStates;
  deliveries: AllDeliveries;
  deliveryLog: DeliveryLog;
  /** Who changed what. */
  audit: Audit;
  /** The console. */
  pages: ConsolePages;
  feed: Pick<Feed, 'open'>;
  sessions: ConsoleSessions;
  contracts: Contracts;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, 'registry'>;
  /** What Prometheus collects. */
  metricsText(): Promise<string>;
  /** Microseconds as a local date-time. */
  formatTime(micros: number): string;
  /** What `/readyz` asks. */
  readiness: Pick<Readiness, 'problems'>;
}

/** What a handler gets, by the parameter of its path. */
export type At<Name extends string, Body extends SchemaName = never, Query extends SchemaName = never> = Input<
  { [Parameter in Name]: string },
  SchemaTypes[Body],
  SchemaTypes[Query]
>;
export type List<Name extends string = never> = Input<
  { [Parameter in Name]: string },
  unknown,
  SchemaTypes['common/paging-query']
>;
