import type { IncomingHttpHeaders } from 'node:http';

interface Validators {
  /** The ETag of the object, with its quotes. */
  etag: string;
  /** When the object was uploaded, in microseconds since the epoch. */
  uploadedAt: number;
}

/** `Last-Modified` has whole seconds, so comparisons with dates use whole seconds too. */
export const httpDate = (micros: number): string => new Date(Math.floor(micros / 1_000_000) * 1000).toUTCString();

/** Whether a header, with a list of entity tags or with `*`, has an entity tag. Weak tags have their `W/`. */
export const listed = (header: string, etag: string): boolean =>
  header.trim() === '*' || header.split(',').some((each) => each.trim() === etag);

/** Evaluates the conditional headers of a GET or HEAD (RFC 9110 13.2.2): the request goes on, or is answered 304 or 412. */
export function precondition(headers: IncomingHttpHeaders, { etag, uploadedAt }: Validators): 'go on' | 304 | 412 {
  const second = Math.floor(uploadedAt / 1_000_000) * 1000;
  const match = headers['if-match'];
  const unmodified = Date.parse(headers['if-unmodified-since'] ?? '');
  if (match === undefined ? second > unmodified : !listed(match, etag)) return 412;
  const noneMatch = headers['if-none-match'];
  const modified = Date.parse(headers['if-modified-since'] ?? '');
  // If-None-Match compares weakly (RFC 9110 13.1.2).
  const same = noneMatch === undefined ? second <= modified : listed(noneMatch.replaceAll('W/', ''), etag);
  return same ? 304 : 'go on';
}

/** Whether `Range` applies: `If-Range`, when present, must name the current representation (RFC 9110 13.1.5). */
export function rangeApplies(headers: IncomingHttpHeaders, { etag, uploadedAt }: Validators): boolean {
  const condition = headers['if-range'];
  return condition === undefined || condition === etag || condition === httpDate(uploadedAt);
}
