import type { UploadUrl } from './object-store.ts';

/** Seconds that an upload URL is valid (specification, "Limits": 60 minutes). */
export const UPLOAD_SECONDS = 3600;

/**
 * The key of a binary's object is this prefix and the binaryId. A binaryId belongs to one registration of a version, so
 * a version that is registered again gets another object.
 */
const PREFIX = 'software/';
export const objectKey = (binaryId: string): string => `${PREFIX}${binaryId}`;
/** The binary's identifier in an object key; undefined when the key is not a binary's. */
export const binaryIdOf = (key: string): string | undefined =>
  key.startsWith(PREFIX) ? key.slice(PREFIX.length) : undefined;

/** The answer with an upload URL: the specification's "Upload URL result". */
export interface UploadTicket {
  urlList: { uploadUrl: string; startTimestamp: number; endTimestamp: number; expireIn: number }[];
}

export const uploadTicket = ({ url, startTimestamp, endTimestamp, expireIn }: UploadUrl): UploadTicket => ({
  urlList: [{ uploadUrl: url, startTimestamp, endTimestamp, expireIn }],
});
