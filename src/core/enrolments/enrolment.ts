import type { Micros } from '../../runtime/units.ts';
import type { Device } from '../devices/device-repository.ts';

/** A batch of devices that may enrol with one code, or by certificate. */
export interface Batch {
  batchId: string;
  developerId: string;
  name: string;
  /** Whether the code alone is enough, or a person approves each device. */
  approval: 'automatic' | 'manual';
  /** The beginnings of the deviceIds that may enrol; null: any. */
  deviceIds: string[] | null;
  /** Whether devices that are registered already may enrol, if they have never logged in. */
  registered: boolean;
  /** PEM: the certificate that they all have, or the CA that has signed theirs; null: they enrol by the code. */
  claimCertificate: string | null;
  /** The device CA that signs a certificate for each device; null: the devices get a credential. */
  authorityId: string | null;
  /** The days for which these certificates are valid; null without a device CA. */
  certificateDays: number | null;
  mostDevices: number;
  enrolled: number;
  createdAt: Micros;
  expiresAt: Micros;
  revokedAt: Micros | null;
}

/** A device that has asked with the code of a batch. */
export interface Enrolment {
  batchId: string;
  deviceId: string;
  state: EnrolmentState;
  nonceHash: Buffer;
  /** The hash of the credential that the device was given; null before. */
  credentialHash: Buffer | null;
  /** The address that the device has asked from. */
  address: string;
  requestedAt: Micros;
  decidedAt: Micros | null;
}

export type EnrolmentState = 'pending' | 'approved' | 'enrolled' | 'refused';

/** Why a request is refused. The asker never hears which: see ENROLMENT_REFUSED. */
export type RefusalReason =
  | 'unknown_code'
  | 'certificate'
  | 'expired'
  | 'revoked'
  | 'used_up'
  | 'device_id'
  | 'registered'
  | 'logged_in'
  | 'blocked'
  | 'other_nonce'
  | 'person'
  | 'pending_full'
  | 'authority'
  | 'developer';

/** The most requests of a batch that wait for a person. */
export const MOST_PENDING = 1_000;
/** The time after which a request that nobody has approved counts no more, so the device, or another one, may ask anew. */
export const PENDING_MICROS = 7 * 86_400_000_000;

export const isOpen = ({ expiresAt, revokedAt }: Batch, now: Micros): boolean => revokedAt === null && now < expiresAt;

/** Why nobody may enrol with the code, or nobody with this deviceId; undefined if neither holds. */
export function closedFor(batch: Batch | undefined, deviceId: string, now: Micros): RefusalReason | undefined {
  if (!batch) return 'unknown_code';
  if (batch.revokedAt !== null) return 'revoked';
  if (now >= batch.expiresAt) return 'expired';
  if (batch.deviceIds?.every((beginning) => !deviceId.startsWith(beginning))) return 'device_id';
  return undefined;
}

/** True for a request that waits for a person too long to count. */
export const isStale = ({ state, requestedAt }: Enrolment, now: Micros): boolean =>
  state === 'pending' && now - requestedAt >= PENDING_MICROS;

/** The rows that decide about a request. */
interface Found {
  batch: Batch;
  /** The former request of the device, and whether the nonce is the same as then. */
  known: Enrolment | undefined;
  isSameNonce: boolean;
  device: (Device & { credentialHash: Buffer; neverLoggedIn: boolean }) | undefined;
  now: Micros;
}

/**
 * The next step of a request: `enrol` gives a first credential, `again` another one, because the answer with the first
 * was lost; `ask` stores that the device waits for a person; `wait`: it waits already.
 */
export type Step = 'enrol' | 'again' | 'ask' | 'wait' | { refused: RefusalReason };

/** Why the device cannot have a credential because it is registered; undefined if it can. */
function heldBack({ batch, device }: Pick<Found, 'batch' | 'device'>): RefusalReason | undefined {
  if (!device) return undefined;
  if (!batch.registered || device.developerId !== batch.developerId) return 'registered';
  if (!device.neverLoggedIn) return 'logged_in';
  return device.blocked ? 'blocked' : undefined;
}

/** Decides about a request again: the credential that it was given must still be that of the device, and unused. */
function nextOfEnrolled({ batch, device }: Pick<Found, 'batch' | 'device'>, known: Enrolment): Step {
  if (!device || device.developerId !== batch.developerId) return { refused: 'registered' };
  if (!known.credentialHash?.equals(device.credentialHash)) return { refused: 'registered' };
  if (!device.neverLoggedIn) return { refused: 'logged_in' };
  return device.blocked ? { refused: 'blocked' } : 'again';
}

/** Decides about a request with the code of an open batch, by a deviceId that may enrol with it. */
export function nextStep(found: Found): Step {
  const { batch, known, isSameNonce, now } = found;
  const former = known && !isStale(known, now) ? known : undefined;
  if (former && !isSameNonce) return { refused: 'other_nonce' };
  if (former?.state === 'refused') return { refused: 'person' };
  if (former?.state === 'enrolled') return nextOfEnrolled(found, former);
  const refused = heldBack(found) ?? (batch.enrolled >= batch.mostDevices ? 'used_up' : undefined);
  if (refused) return { refused };
  if (former?.state === 'pending') return 'wait';
  return former?.state === 'approved' || batch.approval === 'automatic' ? 'enrol' : 'ask';
}
