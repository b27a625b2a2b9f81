import type { Micros } from '../../runtime/units.ts';
import { keysThatSign } from '../applications/signing-keys-of.ts';
import type { Delivery, EndpointId, ReceiverName } from '../webhooks/delivery.ts';

/** The most endpoints of an application. */
export const MOST_ENDPOINTS = 16;

/** The way in which the notifications to an endpoint are signed: by a shared secret, or by a key pair of the endpoint. */
export type SignatureScheme = 'v1' | 'v1a';

/** A replay: events that an endpoint gets once more. */
export interface Replay {
  replayId: string;
  /** The number of the last event that was looked at, and of the last one that will be. */
  after: number;
  until: number;
  types: readonly string[] | null;
  deviceId: string | null;
  /** How many events were sent again so far. */
  events: number;
  startedAt: Micros;
}

/** Identifies an endpoint. */
export interface EndpointKey {
  applicationId: string;
  endpointId: EndpointId;
}

/** An endpoint as the sender of webhooks knows receivers. */
export const receiverOf = ({ applicationId, endpointId }: EndpointKey): ReceiverName => ({
  applicationId,
  setting: endpointId,
});

/** A place to which an application has its events sent; times are microseconds. */
export interface Endpoint {
  applicationId: string;
  endpointId: EndpointId;
  url: string;
  /** Types, or beginnings such as `transaction.*`; empty: all. */
  types: readonly string[];
  description: string;
  enabled: boolean;
  /** `failing`: the service disabled it, because it had failed for days. `asked`: somebody did. Null while it is enabled. */
  disabledReason: 'failing' | 'asked' | null;
  /** Whether the next event of a device is sent only when the one before was accepted or given up. */
  ordered: boolean;
  ratePerSecond: number | null;
  /** When the next event may go out by the rate. */
  pacedUntil: Micros;
  secret: string;
  formerSecret: string | null;
  secretReplacedAt: Micros | null;
  /** The number of the last event that it has taken, or left out by its types. */
  after: number;
  /** Up to this number events were removed before the endpoint took them; 0: none was. */
  passedOver: number;
  /** Since when no attempt was accepted; null: the last one was. */
  failingSince: Micros | null;
  /** How many attempts have failed since one was accepted. */
  failedInRow: number;
  /** How many events were refused at their first attempt since an attempt was accepted. */
  refusedInRow: number;
  lastStatusCode: number | null;
  lastError: string | null;
  /** When the application was told that it fails. */
  toldAt: Micros | null;
  replay: Replay | null;
  /**
   * Not null: its open deliveries do not fit its state yet, and are changed some at a time. Nothing is sent or taken
   * meanwhile. Those with a number up to this one are given up.
   */
  settling: number | null;
  createdAt: Micros;
  updatedAt: Micros;
}

/** The properties of an endpoint that its application chooses. */
export type EndpointTerms = Pick<Endpoint, 'url' | 'types' | 'description' | 'ordered' | 'ratePerSecond'>;

/** The secrets that sign, the current one first. */
export const secretsOf = (endpoint: Endpoint, now: Micros): string[] => {
  const { secret: key, formerSecret: former, secretReplacedAt: replacedAt } = endpoint;
  return keysThatSign({ key, former, replacedAt }, now);
};

/** With so many events refused in a row, an endpoint counts as one that is down: a single bad event is no such sign. */
export const DOWN_AFTER = 5;
export const isDown = ({ refusedInRow }: Pick<Endpoint, 'refusedInRow'>): boolean => refusedInRow >= DOWN_AFTER;

/** The status of a delivery to an endpoint. */
export type EndpointDeliveryStatus = 'pending' | 'blocked' | 'delivered' | 'exhausted' | 'gone' | 'skipped';

/** A delivery that may be sent from now on, or from a later time on. */
export interface Released extends Delivery {
  dueAt: Micros;
}
