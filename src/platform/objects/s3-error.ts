// The codes and statuses are those of Amazon S3's table of errors; InsufficientStorage is RFC 4918's 507.
const STATUS = {
  AccessDenied: 403,
  BadDigest: 400,
  EntityTooLarge: 400,
  IncompleteBody: 400,
  InsufficientStorage: 507,
  InternalError: 500,
  InvalidAccessKeyId: 403,
  InvalidArgument: 400,
  InvalidDigest: 400,
  InvalidRange: 416,
  InvalidURI: 400,
  KeyTooLongError: 400,
  MethodNotAllowed: 405,
  MissingContentLength: 411,
  NoSuchBucket: 404,
  NoSuchKey: 404,
  NotImplemented: 501,
  PreconditionFailed: 412,
  RequestTimeTooSkewed: 403,
  SignatureDoesNotMatch: 403,
  SlowDown: 503,
  XAmzContentSHA256Mismatch: 400,
} as const;

type S3Code = keyof typeof STATUS;

/** A refusal by the embedded store, in the form of S3's errors. */
export class S3Error extends Error {
  readonly code: S3Code;
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(
    code: S3Code,
    message: string,
    { headers = {}, cause }: { headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'S3Error';
    this.code = code;
    this.status = STATUS[code];
    this.headers = headers;
  }
}

const FULL = ['ENOSPC', 'EDQUOT'];
const EXHAUSTED = ['EMFILE', 'ENFILE'];

/**
 * Turns any thrown value into an S3Error: a full disk and exhausted file descriptors are named, other errors are
 * InternalError.
 */
export function toS3Error(thrown: unknown): S3Error {
  if (thrown instanceof S3Error) return thrown;
  const code = (thrown as NodeJS.ErrnoException | undefined)?.code ?? '';
  if (FULL.includes(code)) return new S3Error('InsufficientStorage', 'The disk is full.', { cause: thrown });
  if (EXHAUSTED.includes(code))
    return new S3Error('SlowDown', 'Too many files are open; try again later.', { cause: thrown });
  return new S3Error('InternalError', 'Internal error.', { cause: thrown });
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };
const toXml = (text: string): string => text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? '');

/** The XML body of a refusal. `resource` is the path as it was requested, still encoded. */
export function errorXml(error: S3Error, resource: string, requestId: string): string {
  const fields = { Code: error.code, Message: error.message, Resource: resource, RequestId: requestId };
  const inner = Object.entries(fields).map(([name, value]) => `<${name}>${toXml(value)}</${name}>`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Error>${inner.join('')}</Error>`;
}
