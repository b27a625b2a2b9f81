import { DomainError, type Fault } from '@lapel/schemas/contracts/errors';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { toUtc } from '../../runtime/clock.ts';
import { webhookUrlFault } from '../webhooks/http/webhook-url.ts';
import { fromDeviceTime } from './device-time.ts';

type Given = SchemaTypes['webhooks/upload-url-answer'];
type Upload = SchemaTypes['mqtt/file-upload-url'];

// Characters. Presigned URLs are long, because they carry signatures and session tokens.
const LONGEST_URL = 8192;

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/; // the name of a header is a token (RFC 9110 5.6.2)
/** Headers that the device's HTTP client sets itself, or that belong to a single connection (RFC 9110 7.6.1). */
const OWN_HEADERS = new Set([
  'host',
  'content-length',
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

function headerFaults(headers: Record<string, string>, place: string[]): Fault[] {
  const seen = new Set<string>();
  return Object.keys(headers).flatMap((name) => {
    const lower = name.toLowerCase();
    const loc = [...place, 'headers', name];
    if (!NAME.test(name)) return { loc, msg: 'Name should be a header name', type: 'string_pattern_mismatch' };
    const isOwn = OWN_HEADERS.has(lower) || seen.has(lower);
    seen.add(lower);
    return isOwn ? { loc, msg: 'Extra inputs are not permitted', type: 'extra_forbidden' } : [];
  });
}

/** Reads the customer's answer into the upload that a device gets. Throws REQUEST_INVALID with every fault. */
export function toUpload({ uploadUrl, method, headers = {}, expiresAt }: Given, allowHttp: boolean, place: string[]) {
  const urlFault = webhookUrlFault('', uploadUrl, allowHttp, LONGEST_URL);
  const faults = [
    ...(urlFault ? [{ ...urlFault, loc: [...place, 'uploadUrl'] }] : []),
    ...headerFaults(headers, place),
  ];
  if (faults.length > 0) throw DomainError.invalid(...faults);
  const upload: Upload = { uploadUrl, method: method ?? 'PUT', headers };
  if (expiresAt !== undefined) upload.expiresAt = toUtc(fromDeviceTime(expiresAt, ...place, 'expiresAt'));
  return upload;
}

/**
 * Reads the uploads of several files, in the requested order. Throws REQUEST_INVALID unless each requested name occurs
 * exactly once, and no other does.
 */
export function toUploads(
  { urls }: SchemaTypes['webhooks/upload-urls-answer'],
  asked: readonly string[],
  allowHttp: boolean,
): SchemaTypes['mqtt/recording-upload-urls'] {
  const found = new Map<string, Upload>();
  const faults: Fault[] = [];
  for (const [index, { name, ...given }] of urls.entries()) {
    const place = ['urls', String(index)];
    if (found.has(name) || !asked.includes(name)) {
      const msg = found.has(name) ? 'Name is there twice' : 'Name was not asked for';
      faults.push({ loc: [...place, 'name'], msg, type: 'extra_forbidden' });
    } else found.set(name, toUpload(given, allowHttp, place));
  }
  for (const name of asked) {
    if (!found.has(name)) faults.push({ loc: ['urls', name], msg: 'Field required', type: 'missing' });
  }
  if (faults.length > 0) throw DomainError.invalid(...faults);
  return { urls: asked.map((name) => ({ name, ...(found.get(name) as Upload) })) };
}
