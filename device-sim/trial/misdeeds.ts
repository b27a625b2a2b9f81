import { randomBytes } from 'node:crypto';
import { luhnDigit } from '../fleet/device-ids.ts';
import type { Random } from '../random.ts';
import type { Misdeed } from './kinds.ts';
import type { NumberedDevice } from './numbered.ts';
import { bodyOf, type Content, type Outgoing, signedWebhook } from './outgoing.ts';
import { NOBODY, type Owner, type Samples, timeOf } from './samples.ts';

/** The webhooks of a burst, and the time between two of them. */
export const BURST = { webhooks: 500, betweenMilliseconds: 2 };
/** The body of the largest webhook, in bytes: an event of a call, whose MQTT message has at most 256 KiB. */
const LARGEST = 256 * 1024;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const foreignKey = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** A genuine webhook that the receiver has already got. */
export interface Base {
  readonly id: string;
  readonly body: Buffer;
}

interface Parts {
  readonly authenticationKey: string;
  readonly samples: Samples;
  readonly random: Random;
  readonly numbered: NumberedDevice;
  /** The present Unix time in milliseconds. */
  readonly now: () => number;
}

function ownerOf({ body }: Base): Owner {
  const { data } = JSON.parse(body.toString()) as { data?: Partial<Owner> };
  return { applicationId: data?.applicationId ?? NOBODY.applicationId, deviceId: data?.deviceId ?? NOBODY.deviceId };
}

/**
 * The body with another deviceId, which is valid too, so that the receiver can notice the change only by the signature.
 * A body without a deviceId gets an additional member.
 */
function changedBody(body: Buffer): Buffer {
  const text = body.toString();
  const [, deviceId = ''] = /"deviceId":"(\d{15})"/.exec(text) ?? [];
  if (deviceId === '') return Buffer.from(text.replace(/\}$/, ',"changed":true}'));
  const digits = deviceId.slice(0, 13) + ((Number(deviceId[13]) + 1) % 10);
  return Buffer.from(text.replaceAll(deviceId, digits + luhnDigit(digits)));
}

/** An event of a call that fills the largest body to the byte. */
function largest(owner: Owner, samples: Samples, at: number): Content {
  const ids = { callId: samples.eventId(), eventId: samples.eventId(), ...owner };
  const event = (note: string): Content => ({
    type: 'call.note',
    timestamp: timeOf(at),
    data: { ...ids, note },
  });
  return event('x'.repeat(LARGEST - bodyOf(event('')).length));
}

/** Makes an event of the device with numbers, as the service sends it. */
function numberedEvent(
  { authenticationKey, samples, numbered }: Pick<Parts, 'authenticationKey' | 'samples' | 'numbered'>,
  { applicationId }: Owner,
  at: number,
): Outgoing {
  const [sequence, deviceSequence] = [samples.sequence(), numbered.next()];
  const owner = { applicationId, deviceId: numbered.deviceId };
  const body = bodyOf({ ...samples.any(owner, at), sequence, deviceSequence });
  const made = signedWebhook(authenticationKey, samples.webhookId(), at, body);
  numbered.note(made.id, deviceSequence);
  const numbers = { 'lapel-sequence': String(sequence), 'lapel-device-sequence': String(deviceSequence) };
  return { ...made, headers: { ...made.headers, ...numbers } };
}

/** The events of a device with numbers, in the order in which they are sent. */
function numberedEvents(kind: Misdeed, next: () => Outgoing, leaveOut: () => void): Outgoing[] {
  const first = next();
  if (kind === 'device-gap') leaveOut();
  const second = next();
  if (kind === 'device-gap') return [first, second];
  if (kind === 'device-twice') return [first, first, second];
  const third = next();
  return kind === 'device-late' ? [first, third, second] : [first, second, third];
}

/**
 * Makes the webhooks of one kind, in the order in which they are sent. `base` is the genuine webhook that they follow.
 */
export function webhooksOf(kind: Misdeed, base: Base, parts: Parts): Outgoing[] {
  const { authenticationKey, samples, random, now, numbered } = parts;
  const owner = ownerOf(base);
  const at = now();
  const signed = (body: Buffer, signedAt = at, id = samples.webhookId()): Outgoing =>
    signedWebhook(authenticationKey, id, signedAt, body);
  const made = (content: Content): Outgoing => signed(bodyOf(content));
  switch (kind) {
    case 'forged-signature':
      return [signedWebhook(foreignKey(), samples.webhookId(), at, base.body)];
    case 'two-signatures': {
      const body = bodyOf(samples.any(owner, at));
      return [signedWebhook([foreignKey(), authenticationKey], samples.webhookId(), at, body)];
    }
    case 'changed-body':
      return [{ ...signed(base.body), body: changedBody(base.body) }];
    case 'old-timestamp':
      // Half a minute more than the five, because the clocks of two machines may differ.
      return [signed(base.body, at - (5.5 + random() * 60) * MINUTE)];
    case 'twice':
      return [signed(base.body, at, base.id)];
    case 'out-of-order':
      return [made(samples.bluetooth(owner, at, false)), made(samples.bluetooth(owner, at - 5000, true))];
    case 'late':
      return [made(samples.any(owner, at - (25 + random() * 40) * HOUR))];
    case 'unknown-members': {
      const { data, ...rest } = samples.transaction(owner, at);
      const transaction = { ...(data['transaction'] as object), simulatorExtra: { nested: [1, null, 'é'] } };
      return [made({ ...rest, data: { ...data, transaction, simulatorExtra: 'a member of tomorrow' } })];
    }
    case 'unknown-type': {
      const data = { ...owner, eventId: samples.eventId() };
      return [made({ type: 'simulator.ofTomorrow', timestamp: timeOf(at), data })];
    }
    case 'large-body':
      return [made(largest(owner, samples, at))];
    case 'other-spacing':
      return [signed(Buffer.from(`${JSON.stringify(samples.any(owner, at), null, 2)}\n`))];
    case 'device-in-order':
    case 'device-twice':
    case 'device-late':
    case 'device-gap':
      return numberedEvents(kind, () => numberedEvent(parts, owner, at), numbered.leaveOut);
    case 'burst':
      return Array.from({ length: BURST.webhooks }, () => made(samples.any(owner, at)));
  }
}

/** Returns a function that gives the next kind to send: all kinds once, in random order, before any comes again. */
export function createOrder(kinds: readonly Misdeed[], random: Random): () => Misdeed {
  let round: Misdeed[] = [];
  return () => {
    if (round.length === 0) round = [...kinds];
    return round.splice(Math.floor(random() * round.length), 1)[0] as Misdeed;
  };
}
