import type { IncomingMessage, ServerResponse } from 'node:http';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
/** Seconds for which a browser need not ask again. */
const REMEMBERED = '600';

/** An origin as it is compared: loopback has several names. Undefined for what is none. */
function compared(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
  return LOOPBACK.test(url.hostname) ? `${url.protocol}//loopback:${url.port}` : url.origin;
}

/**
 * Lets the pages of some origins upload from the browser (Fetch, 3.2). A URL that is good for an upload needs no further
 * leave: what this keeps away is other pages that had got hold of one. `origins` are URLs, asked at each request.
 */
export function createCors(origins: () => readonly string[]) {
  /** Answers a preflight, or says on the answer to come that its origin may read it. True when it was answered. */
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    const { origin } = request.headers;
    if (origin === undefined) return false;
    const asked = compared(origin);
    const isKnown = asked !== undefined && origins().some((one) => compared(one) === asked);
    response.setHeader('Vary', 'Origin');
    if (!isKnown) return false;
    response.setHeader('Access-Control-Allow-Origin', origin);
    response.setHeader('Access-Control-Expose-Headers', 'ETag, x-amz-request-id');
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return false;
    const leave = {
      'Access-Control-Allow-Methods': 'PUT',
      'Access-Control-Allow-Headers': 'content-type',
      'Access-Control-Max-Age': REMEMBERED,
    };
    response.writeHead(204, leave).end();
    return true;
  };
}
