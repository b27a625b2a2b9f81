export interface Target {
  /** The path, percent-encoded as received. */
  path: string;
  /** The query without its question mark. */
  query: string;
}

/**
 * Splits a request target into path and query (RFC 9112 3.2). When it is neither a path nor an `http` URL, the path is
 * `''`, which has no route.
 */
export function readTarget(target: string): Target {
  if (target.startsWith('/')) return split(target);
  // The absolute form is meant for proxies, but every server must accept it (RFC 9112 3.2.2).
  const url = URL.parse(target);
  return url?.protocol === 'http:' || url?.protocol === 'https:'
    ? split(`${url.pathname}${url.search}`)
    : { path: '', query: '' };
}

function split(target: string): Target {
  const mark = target.indexOf('?');
  return mark === -1 ? { path: target, query: '' } : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}
