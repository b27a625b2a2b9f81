import type { IncomingMessage, ServerResponse } from 'node:http';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
/** Seconds for which a browser may reuse the answer to a preflight. */
const REMEMBERED = '600';

/**
 * The origin in a form that can be compared: all names of loopback become one. Undefined when the text is not an HTTP
 * origin.
 */
function compared(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
  return LOOPBACK.test(url.hostname) ? `${url.protocol}//loopback:${url.port}` : url.origin;
}

/**
 * Lets pages of known origins upload from the browser (Fetch, 3.2). The presigned URL alone permits the upload; this check
 * keeps other pages from using a URL that they got hold of. `origins` returns URLs, and is called at each request.
 */
export function createCors(origins: () => readonly string[]) {
  /**
   * Answers a preflight, and then returns true. For other requests it sets the headers that let the origin read the answer.
   */
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
