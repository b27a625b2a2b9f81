/** The `Link` header of a page (RFC 8288), or no header on the last one. `target` is the request's path and query. */
export function nextPage(
  { baseUrl, target }: { baseUrl: string; target: string },
  { offset, limit }: { offset: number; limit: number },
  total: number,
): Record<string, string> {
  if (offset + limit >= total) return {};
  const [path = '', query] = target.split('?', 2);
  const parameters = new URLSearchParams(query);
  parameters.set('offset', String(offset + limit));
  parameters.set('limit', String(limit));
  return { Link: `<${baseUrl}${path}?${parameters.toString()}>; rel="next"` };
}
