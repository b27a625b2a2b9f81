import type { Contracts, SchemaName } from '@lapel/schemas/contracts/contracts';
import type { Deprecations } from '@lapel/schemas/contracts/deprecations';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { AccessTokens } from '../../core/applications/access-tokens.ts';
import type { Application } from '../../core/applications/application-repository.ts';
import type { Applications } from '../../core/applications/applications.ts';
import type { Developers } from '../../core/applications/developers.ts';
import type { Audit } from '../../core/audit/audit.ts';
import type { Devices } from '../../core/devices/devices.ts';
import type { NotesOfDevices } from '../../core/devices/notes.ts';
import type { Statuses } from '../../core/devices/statuses.ts';
import type { TagsOfDevices } from '../../core/devices/tags.ts';
import type { Endpoints } from '../../core/endpoints/endpoints.ts';
import type { Replays } from '../../core/endpoints/replays.ts';
import type { Enrolments } from '../../core/enrolments/enrolments.ts';
import type { Renewals } from '../../core/enrolments/renewals.ts';
import type { Member } from '../../core/people/member-repository.ts';
import type { Members } from '../../core/people/members.ts';
import type { Doer } from '../../core/rollouts/rollout.ts';
import type { Rollouts } from '../../core/rollouts/rollouts.ts';
import type { Selection } from '../../core/selection/selection.ts';
import type { Software } from '../../core/software/software.ts';
import type { Consumers } from '../../core/stream/consumers.ts';
import type { Stream } from '../../core/stream/stream.ts';
import type { Transactions } from '../../core/transactions/transactions.ts';
import type { DeliveryLog } from '../../core/webhooks/log/delivery-log.ts';
import type { Metrics } from '../../metrics.ts';
import type { ClientCertificates } from '../../platform/entrance/client-certificates.ts';
import type { Proxies } from '../../platform/entrance/forwarded.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { TokenBuckets } from '../../runtime/token-buckets.ts';
import type { Fleet } from '../../views/devices.ts';
import type { Installations } from '../../views/installations.ts';
import type { OwnFleet } from '../../views/own-fleet.ts';
import type { RolloutViews } from '../../views/rollouts.ts';
import type { Overview } from '../../views/transactions.ts';
import type { Docs } from '../docs/docs.ts';
import type { Feed } from '../feed/feed.ts';
import type { RateLimit } from '../http/rate-limit.ts';
import type { Input } from '../http/route.ts';
import type { Mcp } from '../mcp/mcp.ts';
import type { ConsolePages } from '../pages/pages.ts';

/** The parts that the handlers of the application API use; each handler names the ones that it needs. */
export interface ApiServices {
  applications: Pick<Applications, 'find' | 'findLive' | 'list' | 'updateSettings' | 'issueKey' | 'authenticateClient'>;
  developers: Pick<Developers, 'find'>;
  /** The people of developers, whose tokens are accepted in place of access tokens. */
  members: Members;
  accessTokens: Pick<AccessTokens, 'issue' | 'verify' | 'jwks'>;
  /** Finds the certificates that callers show. */
  clientCertificates: ClientCertificates;
  enrolments: Enrolments;
  renewals: Renewals;
  /** The rate limits of enrolment, for each batch and for each developer, and of renewals, for each device. */
  enrolmentLimits: { ofBatch: RateLimit; ofDeveloper: RateLimit; ofDevice: TokenBuckets };
  /** The proxies in front of the listener; undefined when none is trusted. */
  proxies?: Proxies | undefined;
  /** The rate limit of the token endpoint, for each application. */
  tokenLimit: RateLimit;
  devices: Pick<Devices, 'activationStatus' | 'requireActivated' | 'requireLinked'>;
  statuses: Pick<Statuses, 'find' | 'list' | 'firmwareVersion' | 'versions'>;
  tags: Pick<TagsOfDevices, 'find' | 'update' | 'updateMany' | 'previewMany'>;
  notes: NotesOfDevices;
  /** The devices that selectors match; each call names the application. */
  selection: Pick<Selection, 'page' | 'count'>;
  rollouts: Pick<
    Rollouts,
    | 'create'
    | 'preview'
    | 'find'
    | 'pause'
    | 'resume'
    | 'approve'
    | 'cancel'
    | 'update'
    | 'retryFailed'
    | 'revert'
    | 'previewRevert'
  >;
  rolloutViews: RolloutViews;
  contracts: Contracts;
  transactions: Pick<Transactions, 'submit' | 'once' | 'find' | 'list' | 'cancel'>;
  software: Omit<Software, 'systemPackages' | 'firmware' | 'installs'>;
  /**
   * The views of all devices, transactions and installations. Each call must name the application that it is restricted
   * to.
   */
  fleet: Pick<Fleet, 'list'>;
  overview: Pick<Overview, 'list' | 'find'>;
  ownFleet: OwnFleet;
  /** The audit log, of which an application sees what concerns it. */
  audit: Pick<Audit, 'list'>;
  installations: Pick<Installations, 'counts' | 'list'>;
  clock: Clock;
  deliveryLog: DeliveryLog;
  stream: Pick<Stream, 'read' | 'newest' | 'wait'>;
  consumers: Consumers;
  endpoints: Endpoints;
  replays: Replays;
  docs: Docs;
  /** The pages of the console. */
  pages: ConsolePages;
  feed: Pick<Feed, 'open'>;
  /** The tools of assistants; undefined while they are not allowed. */
  mcp?: Mcp | undefined;
  /** Knows which deprecated features are still served. */
  deprecations: Deprecations;
  metrics: Pick<Metrics, 'tokensIssued' | 'httpRefused' | 'enrolments'>;
  /** Formats microseconds as a local date-time. */
  formatTime(micros: number): string;
  /** Reads a local date-time back into microseconds. */
  parseTime(text: string): number;
}

/** The caller of this API: the application, and the person of its developer, if the token is one of theirs. */
export type Caller = Application & { member?: Member; scopes: ReadonlySet<string> };

/** The person who calls, as the history of a rollout keeps them. */
export const personOf = ({ member }: Caller): Doer | undefined => member && { id: member.memberId, name: member.name };

/** Whether a caller sees the authenticationKey, with which one could sign webhooks. */
export const seesKey = ({ member }: Caller): boolean => member?.role !== 'reader';

/**
 * The input of a handler of this API; `Params` are the parameters of its path. The caller is the application of the
 * token.
 */
type At<Params, Name extends SchemaName = never, Query extends SchemaName = never> = Input<
  Params,
  SchemaTypes[Name],
  SchemaTypes[Query],
  Caller
>;
export type AtApplication<Body extends SchemaName = never, Query extends SchemaName = never> = At<
  { applicationId: string },
  Body,
  Query
>;
export type AtEndpoint<Body extends SchemaName = never, Query extends SchemaName = never> = At<
  { applicationId: string; endpointId: string },
  Body,
  Query
>;
export type AtEndpointDelivery = At<{ applicationId: string; endpointId: string; sequence: number }>;
export type AtConsumer<Body extends SchemaName = never> = At<{ applicationId: string; consumer: string }, Body>;
export type AtDevice<Body extends SchemaName = never, Query extends SchemaName = never> = At<
  { applicationId: string; deviceId: string },
  Body,
  Query
>;
/** The input of a handler whose path has a device but no application. */
export type AtOwnDevice = At<{ deviceId: string }>;
export type AtNote = At<{ applicationId: string; deviceId: string; noteId: string }>;
export type AtTransaction = At<{ applicationId: string; deviceId: string; transactionId: number }>;
export type AtRollout<Body extends SchemaName = never, Query extends SchemaName = never> = At<
  { applicationId: string; rolloutId: string },
  Body,
  Query
>;
export type AtMember = At<{ applicationId: string; memberId: string }>;
export type AtDelivery = At<{ applicationId: string; deliveryId: string }>;
export type AtPackage<Body extends SchemaName = never, Query extends SchemaName = never> = At<
  { applicationId: string; package: string },
  Body,
  Query
>;
export type AtVersion<Body extends SchemaName = never> = At<
  { applicationId: string; package: string; version: string },
  Body
>;
