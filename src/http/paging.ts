import type { Target } from './request-target.ts';

/** The `Link` header of a page (RFC 8288), or no header on the last one. */
export function nextPage(
  { baseUrl, target }: { baseUrl: string; target: Target },
  { offset, limit }: { offset: number; limit: number },
  total: number,
): Record<string, string> {
  if (offset + limit >= total) return {};
  const parameters = new URLSearchParams(target.query);
  parameters.set('offset', String(offset + limit));
  parameters.set('limit', String(limit));
  return { Link: `<${baseUrl}${target.path}?${parameters.toString()}>; rel="next"` };
}
