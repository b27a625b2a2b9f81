import type { Micros } from '../../runtime/units.ts';

/**
 * The operations of an object store that software needs; keys are opaque. Aborting a `signal` ends an operation with an
 * error.
 */
export interface ObjectStore {
  /**
   * Makes a presigned URL for one HTTP PUT. `expiresIn` is in seconds; a given length is signed, so the PUT must have it.
   */
  uploadUrl(key: string, options: { contentLength?: number; expiresIn: number }): Promise<UploadUrl>;
  /** Makes a presigned URL for HTTP GET. `expiresAt` is in microseconds since the epoch. */
  downloadUrl(key: string, options: { expiresIn: number }): Promise<{ url: string; expiresAt: number }>;
  /** Asks for the stored object; undefined when there is none. `uploadedAt` is in microseconds since the epoch. */
  head(key: string, options?: { signal?: AbortSignal }): Promise<StoredObject | undefined>;
  /** Reads the bytes from `start` to `end`, both included. */
  read(key: string, start: number, end: number, options?: { signal?: AbortSignal }): Promise<Buffer>;
  /** Streams all bytes in order; fails when the object does not have this ETag. */
  stream(key: string, options: { etag: string; signal?: AbortSignal }): AsyncIterable<Uint8Array>;
  /** Removes the object; succeeds when there is none. */
  remove(key: string): Promise<void>;
  /** Lists the objects whose keys begin with the prefix, in pages. */
  list(prefix: string): AsyncIterable<ListedObject[]>;
}

export interface ListedObject {
  key: string;
  /** Bytes. */
  size: number;
  uploadedAt: Micros;
}

export interface UploadUrl {
  url: string;
  /** The time from which the URL is valid; like `endTimestamp`, in seconds since the epoch. */
  startTimestamp: number;
  endTimestamp: number;
  /** Seconds for which the URL is valid. */
  expireIn: number;
}

export interface StoredObject {
  /** Bytes. */
  size: number;
  uploadedAt: Micros;
  etag: string;
  /** The SHA-256 of the object, hexadecimal; present only if the store itself knows it. */
  sha256?: string;
}
