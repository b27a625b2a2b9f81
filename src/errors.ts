/** One fault of an input: where (`['body', 'ssid']`), what, and the kind of fault in the vocabulary of the interface. */
export interface Fault {
  loc: string[];
  msg: string;
  type: string;
}

/** Faults that are told at once, at most (contract, section 1); one more, `...and more`, says that there are others. */
export const MOST_FAULTS = 100;
/** Characters of a name in `loc` at most: callers choose them. */
const LONGEST_NAME = 128;

/** The faults as they are told: no more than MOST_FAULTS, and names of a bounded length. */
export function boundedFaults(faults: readonly Fault[], most = MOST_FAULTS): Fault[] {
  const told = faults.slice(0, most).map((fault) => {
    if (fault.loc.every((name) => name.length <= LONGEST_NAME)) return fault;
    return { ...fault, loc: fault.loc.map((name) => (name.length > LONGEST_NAME ? shortened(name) : name)) };
  });
  const next = faults[most];
  return next ? [...told, { loc: next.loc.slice(0, 1), msg: '...and more', type: next.type }] : told;
}

const shortened = (name: string): string => `${name.slice(0, LONGEST_NAME).toWellFormed()}...`;

interface ErrorRow {
  /** HTTP status. */
  status: number;
  /** Which of the interface's two error bodies answers: a message, or a reason with details. */
  shape: 'message' | 'reason';
  /** The text of it; `{name}` is filled from the error's values. On MQTT it is the `reason` of the errors topic. */
  text: string;
  /** When it happens, for docs/reference.md. */
  when: string;
}

/** Every error that leaves the service, on one page; edges translate by this table only. */
// biome-ignore format: a table is read by its rows
export const ERRORS = {
  TOKEN_MISSING: { status: 401, shape: 'message', text: 'access token is missing.', when: 'no `Authorization: Bearer`' },
  TOKEN_INVALID: { status: 401, shape: 'message', text: 'access token is invalid.', when: 'expired, forged, foreign or malformed token' },
  CLIENT_INVALID: { status: 401, shape: 'message', text: '{problem}', when: 'token endpoint: `Authorization: Basic` is missing, malformed or wrong; in the form of RFC 6749 5.2, as all errors there' },
  LEGACY_ISSUER_UNAVAILABLE: { status: 503, shape: 'message', text: 'the issuer of the access token is unavailable; try again later.', when: 'a legacy token, while the keys of its issuer were never fetched' },
  SCOPE_INSUFFICIENT: { status: 403, shape: 'message', text: 'the access token lacks the scope {scope}.', when: 'token without the scope of the operation' },
  APPLICATION_FOREIGN: { status: 403, shape: 'message', text: 'the access token belongs to another application.', when: 'application in the path is not the token’s own' },
  APPLICATION_UNREGISTERED: { status: 403, shape: 'message', text: 'application is not registered.', when: 'the application was deleted' },
  HOST_UNKNOWN: { status: 403, shape: 'message', text: 'this is no name of the service: LAPEL_ADMIN_NAMES tells it its names.', when: 'administration: `Host` is neither an address, nor `localhost`, nor a name that the settings have' },
  WRONG_URL: { status: 403, shape: 'message', text: 'wrong url.', when: 'unknown path, or a method that the path does not have' },
  FILE_NOT_FOUND: { status: 404, shape: 'reason', text: 'file not found.', when: 'below `/console`: a file of another release, or none' },
  METHOD_NOT_ALLOWED: { status: 405, shape: 'message', text: 'method not allowed.', when: 'other methods on activation status and hardware properties' },
  PATH_PARAMETER_INVALID: { status: 404, shape: 'reason', text: 'invalid path parameter.', when: 'malformed identifier in the path' },
  REQUEST_INVALID: { status: 400, shape: 'reason', text: 'invalid request.', when: 'body or query breaks its schema; every fault is named' },
  BODY_TOO_LARGE: { status: 413, shape: 'message', text: 'request body is larger than {limit} bytes.', when: 'body above 1 MiB; at the token endpoint above 8 KiB' },
  DEVICE_UNAVAILABLE: { status: 403, shape: 'message', text: 'device information unavailable.', when: 'the device is unknown, or another developer’s' },
  DEVICE_ACTIVATED_ELSEWHERE: { status: 403, shape: 'message', text: 'device is activated in another application.', when: 'device of another application' },
  DEVICE_ALREADY_ACTIVATED: { status: 403, shape: 'message', text: 'device is already activated.', when: 'op 5 on an activated or activating device' },
  DEVICE_NOT_ACTIVATED: { status: 403, shape: 'message', text: 'device is not activated.', when: 'device operations that need activation' },
  ACTIVATION_LIMIT: { status: 403, shape: 'message', text: 'not contracted or activation limit exceeded.', when: 'op 5 without contract, or with all contracted devices in use' },
  CLIENT_ID_IN_USE: { status: 403, shape: 'message', text: 'ClientId is already in use.', when: 'op 5 with the clientId of another device' },
  KEY_NOT_ISSUED: { status: 403, shape: 'message', text: 'authenticationKey is not issued.', when: 'operations that create transactions, before op 3' },
  NOTIFICATION_NOT_CONFIGURED: { status: 404, shape: 'message', text: 'system notification destination is not configured.', when: 'operations that create transactions, without deviceEvent' },
  TOPIC_FOREIGN: { status: 403, shape: 'message', text: 'a device may not publish to this topic.', when: 'MQTT: a publish outside of the device’s own topics; on its errors topic' },
  TRANSACTION_NOT_FOUND: { status: 404, shape: 'reason', text: 'transaction not found.', when: 'no such transaction of this device and application' },
  TRANSACTION_FINISHED: { status: 409, shape: 'message', text: 'transaction is already finished.', when: 'cancel of a finished transaction' },
  TOO_MANY_TRANSACTIONS: { status: 429, shape: 'message', text: 'the device has {limit} unfinished transactions.', when: 'the bound of unfinished transactions per device' },
  TOO_MUCH_QUEUED: { status: 429, shape: 'message', text: 'more than {limit} MiB of commands wait to be delivered.', when: 'the bounds of bytes that wait for a device and for the devices of an application' },
  EVENT_BYTES_EXCEEDED: { status: 429, shape: 'message', text: 'the {owner} has sent more bytes of events than are stored in a day; try again in {seconds} s.', when: 'MQTT: the bounds of stored events, of a device and of its application; on its errors topic' },
  IDEMPOTENCY_KEY_RUNNING: { status: 409, shape: 'message', text: 'the request with this idempotency key is still running.', when: 'a repeated `Idempotency-Key` before the first answer' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, shape: 'message', text: 'the idempotency key was used with another request.', when: 'a repeated `Idempotency-Key` with another method, path or body' },
  RATE_LIMITED: { status: 429, shape: 'message', text: 'too many requests; try again in {seconds} s.', when: 'the rate limit of the application, its requests or costly reads at a time, or wrong credentials of one address' },
  FEEDS_IN_USE: { status: 429, shape: 'message', text: 'all streams of the feed are in use; try again later.', when: 'the bound of streams of an application, or of a listener, for who has most of them' },
  DELIVERY_NOT_FOUND: { status: 404, shape: 'reason', text: 'delivery not found.', when: 'no such webhook delivery of the application' },
  PACKAGE_NOT_FOUND: { status: 404, shape: 'reason', text: 'package not found.', when: 'no such package of the developer' },
  VERSION_NOT_FOUND: { status: 404, shape: 'reason', text: 'version not found.', when: 'no such version of the package' },
  QUOTA_EXCEEDED: { status: 429, shape: 'message', text: 'the developer may have {limit} {what}: there is no room for this.', when: 'ops 13, 17, 22 and 23 above a quota of the developer' },
  PACKAGE_EXISTS: { status: 409, shape: 'message', text: 'package already exists.', when: 'op 13: the name is taken, by any developer or by the service' },
  PACKAGE_FOREIGN: { status: 400, shape: 'reason', text: 'package is used by a different developer.', when: 'op 23 with such a name' },
  PACKAGE_IN_USE: { status: 409, shape: 'message', text: 'package still has versions.', when: 'op 15' },
  VERSION_EXISTS: { status: 409, shape: 'message', text: 'version already exists.', when: 'op 17' },
  VERSION_IN_USE: { status: 409, shape: 'message', text: 'version still has a binary or started distribution.', when: 'op 19' },
  DISTRIBUTION_STARTED: { status: 409, shape: 'message', text: 'distribution already started.', when: 'op 26' },
  DISTRIBUTION_NOT_STARTED: { status: 400, shape: 'reason', text: 'distribution is not started.', when: 'op 28' },
  BINARY_MISSING: { status: 400, shape: 'reason', text: 'binary is deleted.', when: 'op 28 and firmware updates: there is no binary' },
  FIRMWARE_NOT_LISTED: { status: 400, shape: 'reason', text: 'firmware not found.', when: 'firmware update to a version that is not in op 29’s list' },
  ADMIN_TOKEN_INVALID: { status: 401, shape: 'message', text: 'administrator token is missing or wrong.', when: 'administration without its token' },
  SESSION_ENDED: { status: 401, shape: 'message', text: 'the session has ended; log in again.', when: 'console of administration: no session, or one that is over' },
  CONSOLE_REQUEST_FORGED: { status: 403, shape: 'message', text: 'the request is not of the console’s own page.', when: 'a session with a request that another page can have sent; a login or a change without the header `X-Lapel-Console: 1` and the own `Origin`' },
  SESSION_NOT_FOUND: { status: 404, shape: 'reason', text: 'session not found.', when: 'administration' },
  DEVELOPER_NOT_FOUND: { status: 404, shape: 'reason', text: 'developer not found.', when: 'administration' },
  DEVELOPER_EXISTS: { status: 409, shape: 'message', text: 'developer already exists.', when: 'administration' },
  DEVELOPER_IN_USE: { status: 409, shape: 'message', text: 'developer still has applications, devices or packages.', when: 'administration: delete before these' },
  APPLICATION_NOT_FOUND: { status: 404, shape: 'reason', text: 'application not found.', when: 'administration' },
  APPLICATION_EXISTS: { status: 409, shape: 'message', text: 'application already exists.', when: 'administration; also an id that was deleted' },
  APPLICATION_IN_USE: { status: 409, shape: 'message', text: 'application still has activated devices.', when: 'administration: delete before deactivation' },
  DEVICE_NOT_FOUND: { status: 404, shape: 'reason', text: 'device not found.', when: 'administration' },
  DEVICE_EXISTS: { status: 409, shape: 'message', text: 'device already exists.', when: 'administration' },
  DEVICE_IN_USE: { status: 409, shape: 'message', text: 'device is activated or has unfinished transactions.', when: 'administration: delete or move before deactivation' },
  OBJECT_STORE_UNAVAILABLE: { status: 503, shape: 'message', text: 'object store is unavailable.', when: 'the object store does not answer, or refuses the service; try again later' },
  DATABASE_UNAVAILABLE: { status: 503, shape: 'message', text: 'the database is unavailable; try again later.', when: 'the database server does not answer: what the request asked for was not done, or nobody knows; repeat it with its `Idempotency-Key`' },
  OVERLOADED: { status: 503, shape: 'message', text: 'the service is at its limit; try again later.', when: 'the bound of requests in flight, or shutting down' },
  NOT_READY: { status: 503, shape: 'message', text: 'the service is not ready.', when: '`/readyz`, which names the parts that are not' },
  INTERNAL: { status: 500, shape: 'message', text: 'internal error.', when: 'anything unforeseen; the log line has the request id' },
  DATA_FOLDER_IN_USE: { status: 500, shape: 'message', text: 'the data folder {folder} is in use by another process.', when: 'second start on one data folder (exit code 78)' },
  SETTING_INVALID: { status: 500, shape: 'message', text: '{setting}: {problem}', when: 'bad setting at start (exit code 78)' },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

interface Detail {
  details?: Fault[];
  values?: Record<string, string | number>;
  cause?: unknown;
}

/** The only error that rooms throw on purpose. `message` is the public text; the original error stays as `cause`. */
export class DomainError extends Error {
  readonly code: ErrorCode;
  readonly details: Fault[];
  readonly values: Record<string, string | number>;

  constructor(code: ErrorCode, { details = [], values = {}, cause }: Detail = {}) {
    const text: string = ERRORS[code].text;
    super(
      text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? '')),
      cause === undefined ? undefined : { cause },
    );
    this.name = 'DomainError';
    this.code = code;
    this.details = boundedFaults(details);
    this.values = values;
  }

  /** A 400 for faults found outside of a schema. */
  static invalid(...details: Fault[]): DomainError {
    return new DomainError('REQUEST_INVALID', { details });
  }
}

/** Faults on one line, for where an answer has only a message: `files.0.name: Field required; ...`. */
export const faultText = (faults: readonly Fault[]): string =>
  faults
    .map(({ loc, msg }) =>
      [loc.slice(loc[0] === 'body' ? 1 : 0).join('.'), msg].filter((part) => part !== '').join(': '),
    )
    .join('; ');

/** The public form of any thrown thing: unknown errors become INTERNAL and keep the original as cause. */
export function toDomainError(thrown: unknown): DomainError {
  return thrown instanceof DomainError ? thrown : new DomainError('INTERNAL', { cause: thrown });
}

/**
 * The database server does not answer: nothing is wrong with what was asked, and it can be tried again later. The database
 * says so in the log, once; who only waits for it need not.
 */
export const isDatabaseAway = (thrown: unknown): boolean =>
  thrown instanceof DomainError && thrown.code === 'DATABASE_UNAVAILABLE';

/** The body of the interface's error answers (Message error or Reason error). */
export function errorBody(error: DomainError): { message: string } | { reason: string; details: Fault[] } {
  return ERRORS[error.code].shape === 'message'
    ? { message: error.message }
    : { reason: error.message, details: error.details };
}
