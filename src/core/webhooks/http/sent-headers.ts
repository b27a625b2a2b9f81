import type { EventNumbers } from '../delivery.ts';

/** The headers that are the same in all attempts of a delivery. */
export const sameHeaders = ({
  deliveryId,
  sequence,
  deviceSequence,
}: EventNumbers & { deliveryId: string }): Record<string, string> => ({
  'content-type': 'application/json',
  'user-agent': 'lapel',
  'webhook-id': deliveryId,
  ...(sequence !== null && { 'lapel-sequence': String(sequence) }),
  ...(deviceSequence !== null && { 'lapel-device-sequence': String(deviceSequence) }),
});

/** The headers of an attempt that differ from attempt to attempt. */
export type SentHeaders = Record<string, string>;

const SEPARATOR = '|';

/**
 * Packs the headers that differ from attempt to attempt into a short text. Each delivery stores one, so names are left
 * out. The third part is always empty: attempts of earlier releases have a signature of another scheme there, and nodes
 * of an earlier release, beside this one in an upgrade, expect the `traceparent` behind it.
 */
export function packSent(headers: Readonly<SentHeaders>): string {
  const { traceparent } = headers;
  const parts = [headers['webhook-timestamp'] ?? '', headers['webhook-signature'] ?? '', ''];
  return [...parts, ...(traceparent === undefined ? [] : [traceparent])].join(SEPARATOR);
}

/** Unpacks headers that `packSent` has packed, also that of an earlier release. */
export function unpackSent(packed: string): SentHeaders {
  const [timestamp = '', signature = '', , traceparent] = packed.split(SEPARATOR);
  return {
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
    ...(traceparent !== undefined && { traceparent }),
  };
}
