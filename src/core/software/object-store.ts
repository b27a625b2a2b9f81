/** What software needs of an object store; keys are opaque. A `signal` that is aborted ends an operation, which fails then. */
export interface ObjectStore {
  /** A presigned URL for one HTTP PUT. `expiresIn` in seconds; a given length is signed, so the PUT must have it. */
  uploadUrl(key: string, options: { contentLength?: number; expiresIn: number }): Promise<UploadUrl>;
  /** A presigned URL for HTTP GET. `expiresAt` in microseconds since the epoch. */
  downloadUrl(key: string, options: { expiresIn: number }): Promise<{ url: string; expiresAt: number }>;
  /** What is stored now; `uploadedAt` in microseconds since the epoch. */
  head(key: string, options?: { signal?: AbortSignal }): Promise<StoredObject | undefined>;
  /** The bytes from `start` to `end`, both included. */
  read(key: string, start: number, end: number, options?: { signal?: AbortSignal }): Promise<Buffer>;
  /** All bytes, in order, as they come; fails when the object is not the one with that ETag. */
  stream(key: string, options: { etag: string; signal?: AbortSignal }): AsyncIterable<Uint8Array>;
  /** Nothing happens when there is no such object. */
  remove(key: string): Promise<void>;
  /** All objects whose keys begin so, in pages. */
  list(prefix: string): AsyncIterable<ListedObject[]>;
}

export interface ListedObject {
  key: string;
  /** Bytes. */
  size: number;
  /** Microseconds since the epoch. */
  uploadedAt: number;
}

export interface UploadUrl {
  url: string;
  /** Unix times in seconds. */
  startTimestamp: number;
  endTimestamp: number;
  /** Seconds. */
  expireIn: number;
}

export interface StoredObject {
  /** Bytes. */
  size: number;
  uploadedAt: number;
  etag: string;
  /** Hexadecimal; only where the store says so by itself. */
  sha256?: string;
}
