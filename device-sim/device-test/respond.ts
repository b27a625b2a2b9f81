/** A response of the service to a request of the device. */
interface Response {
  readonly requestId: unknown;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: string; readonly message: string };
}

const UPLOADS: readonly unknown[] = ['fileUploadUrl', 'recordingUploadUrls'];

/** Answers a request in the way of a service whose application has no settings for uploads. */
export function responseTo(
  { requestId, type, data }: Readonly<Record<string, unknown>>,
  freshUrls: ReadonlyMap<number, Readonly<Record<string, unknown>>>,
): Response {
  if (UPLOADS.includes(type))
    return { requestId, error: { code: 'NOT_CONFIGURED', message: 'The setting for upload URLs is not set.' } };
  if (type !== 'softwareDownloadUrl')
    return { requestId, error: { code: 'UNSUPPORTED', message: 'There is no such request.' } };
  const fresh = freshUrls.get((data as { transactionId?: number } | undefined)?.transactionId ?? 0);
  if (fresh) return { requestId, data: fresh };
  const message = 'There is no unfinished installation with this transactionId.';
  return { requestId, error: { code: 'INVALID_PARAMETERS', message } };
}
