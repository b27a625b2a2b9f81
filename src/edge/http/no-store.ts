/** For every answer that shows a secret: a key, a credential, a URL that is good without one (RFC 9111 5.2.2.5). */
export const NO_STORE = { 'Cache-Control': 'no-store' };
