import type { Target } from './request-target.ts';

/** The `Link` header that leads to the next page (RFC 8288). On the last page there is none. */
export function nextPage(
  { baseUrl, target }: { baseUrl: string; target: Target },
  { offset, limit }: { offset: number; limit: number },
  total: number,
): Record<string, string> {
  if (offset + limit >= total) return {};
  const parameters = new URLSearchParams(target.query);
  parameters.set('offset', String(offset + limit));
  parameters.set('limit', String(limit));
  return linkTo(baseUrl, target, parameters);
}

/**
 * The `Link` header of a list whose next page begins behind a given row, or `offset` rows further. The database finds
 * such a page without counting the rows before it.
 */
export function nextPageAfter(
  { baseUrl, target }: { baseUrl: string; target: Target },
  { limit }: { limit: number },
  { after, offset = 0 }: { after: string | number; offset?: number },
): Record<string, string> {
  const parameters = new URLSearchParams(target.query);
  parameters.delete('offset');
  if (offset > 0) parameters.set('offset', String(offset));
  parameters.set('limit', String(limit));
  parameters.set('after', String(after));
  return linkTo(baseUrl, target, parameters);
}

const linkTo = (baseUrl: string, { path }: Target, parameters: URLSearchParams): Record<string, string> => ({
  Link: `<${baseUrl}${path}?${parameters.toString()}>; rel="next"`,
});
