import type { Target } from './request-target.ts';

/** The `Link` header of the next page (RFC 8288); no header on the last page. */
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
 * The `Link` header of a list whose pages begin after a given row and skip `offset` more rows. Unlike with nextPage, the
 * rows before it need not be counted.
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
