/** The headers of an attempt that differ from attempt to attempt. */
export type SentHeaders = Record<string, string>;

const SEPARATOR = '|';

/**
 * Packs the headers that differ from attempt to attempt into a short text. Each delivery stores one, so names are left
 * out, and the digest in `x-notification-key` is kept as base64.
 */
export function packSent(headers: Readonly<SentHeaders>): string {
  const digest = Buffer.from(headers['x-notification-key'] ?? '', 'hex').toString('base64');
  const { traceparent } = headers;
  const parts = [headers['webhook-timestamp'] ?? '', headers['webhook-signature'] ?? '', digest];
  return [...parts, ...(traceparent === undefined ? [] : [traceparent])].join(SEPARATOR);
}

/** Unpacks headers that `packSent` has packed. */
export function unpackSent(packed: string): SentHeaders {
  const [timestamp = '', signature = '', digest = '', traceparent] = packed.split(SEPARATOR);
  return {
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
    'x-notification-key': Buffer.from(digest, 'base64').toString('hex'),
    ...(traceparent !== undefined && { traceparent }),
  };
}
