export interface Target {
  /** Percent-encoded as it came. */
  path: string;
  /** Without its question mark. */
  query: string;
}

/** Path and query of a request target (RFC 9112 3.2). One that is neither a path nor an `http` URL has the path `''`. */
export function readTarget(target: string): Target {
  if (target.startsWith('/')) return split(target);
  // Absolute form, as to a proxy: every server must take it (RFC 9112 3.2.2).
  const url = URL.parse(target);
  return url?.protocol === 'http:' || url?.protocol === 'https:'
    ? split(`${url.pathname}${url.search}`)
    : { path: '', query: '' };
}

function split(target: string): Target {
  const mark = target.indexOf('?');
  return mark === -1 ? { path: target, query: '' } : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}
