/** The URL of a file, which is valid for a while. */
export interface Source {
  readonly url: string;
  readonly expiresAt: string;
  /** Bytes. */
  readonly size: number;
  /** Hexadecimal. */
  readonly sha256: string;
  /** The signature of the version (base64), if it has one. */
  readonly signature?: string;
}

/**
 * Reads the URL of a file, with its expiry, size and SHA-256, from a command or from the answer to a request for a
 * fresh URL. A returned string says what is wrong with them.
 */
export function readSource({
  url,
  expiresAt,
  size,
  sha256,
  signature,
}: Readonly<Record<string, unknown>>): Source | string {
  const protocol = typeof url === 'string' ? URL.parse(url)?.protocol : undefined;
  if (protocol !== 'http:' && protocol !== 'https:') return 'url is not an http or https URL';
  if (typeof expiresAt !== 'string' || Number.isNaN(Date.parse(expiresAt))) return 'expiresAt is not a time';
  if (!Number.isSafeInteger(size) || (size as number) < 0) return 'size is not a number of bytes';
  if (typeof sha256 !== 'string' || !/^[\da-f]{64}$/.test(sha256)) return 'sha256 is not a SHA-256';
  const known = { url: url as string, expiresAt, size: size as number, sha256 };
  return typeof signature === 'string' ? { ...known, signature } : known;
}

/** The source of a download in progress. It may be replaced by a newer one at any time. */
export interface SourceHolder {
  readonly current: Source;
  replace(source: Source): void;
  /** Resolves when the source is replaced the next time. */
  replaced(): Promise<void>;
}

export function createSourceHolder(first: Source): SourceHolder {
  let current = first;
  let next = Promise.withResolvers<void>();
  return {
    get current() {
      return current;
    },
    replace(source) {
      current = source;
      next.resolve();
      next = Promise.withResolvers();
    },
    replaced: () => next.promise,
  };
}
