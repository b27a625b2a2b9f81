import { HIDDEN } from '@lapel/schemas/base/secret-names';

/** Leaves scheme, host and port of a URL: its path and its query may be what lets somebody send to it. */
export function hiddenUrl(value: string | null): string | null {
  if (value === null) return null;
  const parsed = URL.parse(value);
  if (!parsed) return HIDDEN;
  const isBare = parsed.pathname === '/' && parsed.search === '' && parsed.hash === '';
  return `${parsed.protocol}//${parsed.host}/${isBare ? '' : HIDDEN}`;
}

/** Hides the URLs among the values of a change, at any depth. */
export function withoutUrls(value: unknown): unknown {
  if (typeof value === 'string') return /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? hiddenUrl(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutUrls);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutUrls(member)]));
}
