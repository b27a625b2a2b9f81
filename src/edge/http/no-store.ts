/**
 * Headers of every answer that shows a secret: a key, a credential, or a URL that works without a credential (RFC 9111
 * 5.2.2.5).
 */
export const NO_STORE = { 'Cache-Control': 'no-store' };
