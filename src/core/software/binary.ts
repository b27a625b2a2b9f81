import type { UploadUrl } from './object-store.ts';

/** Seconds (specification, "Limits": 60 minutes). */
export const UPLOAD_SECONDS = 3600;

/** Where the binary lies. The key belongs to one registration of a version: the next one of that name gets another. */
const PREFIX = 'software/';
export const objectKey = (binaryId: string): string => `${PREFIX}${binaryId}`;
/** The reverse; undefined for a key of something else. */
export const binaryIdOf = (key: string): string | undefined =>
  key.startsWith(PREFIX) ? key.slice(PREFIX.length) : undefined;

/** The specification's "Upload URL result". */
export interface UploadTicket {
  urlList: { uploadUrl: string; startTimestamp: number; endTimestamp: number; expireIn: number }[];
}

export const uploadTicket = ({ url, startTimestamp, endTimestamp, expireIn }: UploadUrl): UploadTicket => ({
  urlList: [{ uploadUrl: url, startTimestamp, endTimestamp, expireIn }],
});
