/**
 * One fault of an input: where it is (`['body', 'ssid']`), a message, and the type of fault in the vocabulary of the
 * interface.
 */
export interface Fault {
  loc: string[];
  msg: string;
  type: string;
}

/**
 * The most faults that one answer lists (contract, section 1). An entry `...and more` after them says that there are
 * others.
 */
export const MOST_FAULTS = 100;
/** The most characters of a name in `loc`: callers choose these names. */
const LONGEST_NAME = 128;

/** Shortens a list of faults for an answer: at most MOST_FAULTS, with names of bounded length. */
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
  /** The HTTP status of the answer. */
  status: number;
  /** Which of the two error bodies of the interface is used: a message, or a reason with details. */
  shape: 'message' | 'reason';
  /**
   * The text of the error; `{name}` is filled from the error's values. On MQTT it is the `reason` on the errors topic.
   */
  text: string;
  /** When the error occurs, for docs/reference.md. */
  when: string;
}

/** Every error that leaves the service, on one page. The edges translate errors by this table only. */
// biome-ignore format: a table is read by its rows
export const ERRORS = {
  TOKEN_MISSING: { status: 401, shape: 'message', text: 'access token is missing.', when: 'no `Authorization: Bearer`' },
  TOKEN_INVALID: { status: 401, shape: 'message', text: 'access token is invalid.', when: 'expired, forged, foreign or malformed token' },
  CLIENT_INVALID: { status: 401, shape: 'message', text: '{problem}', when: 'token endpoint: `Authorization: Basic` is missing, malformed or wrong; in the form of RFC 6749 5.2, as all errors there' },
  LEGACY_ISSUER_UNAVAILABLE: { status: 503, shape: 'message', text: 'the issuer of the access token is unavailable; try again later.', when: 'a legacy token, while the keys of its issuer could not be fetched yet' },
  SCOPE_INSUFFICIENT: { status: 403, shape: 'message', text: 'the access token lacks the scope {scope}.', when: 'token without the scope of the operation' },
  APPLICATION_FOREIGN: { status: 403, shape: 'message', text: 'the access token belongs to another application.', when: 'application in the path is not the token’s own' },
  APPLICATION_UNREGISTERED: { status: 403, shape: 'message', text: 'application is not registered.', when: 'the application was deleted' },
  HOST_UNKNOWN: { status: 403, shape: 'message', text: 'the Host header does not name this service; add the name to LAPEL_ADMIN_NAMES.', when: 'administration: `Host` is neither an address, nor `localhost`, nor a name from the settings' },
  WRONG_URL: { status: 403, shape: 'message', text: 'wrong url.', when: 'unknown path, or a method that the path does not have' },
  FILE_NOT_FOUND: { status: 404, shape: 'reason', text: 'file not found.', when: 'below `/console`: the file does not exist, or belongs to another release' },
  METHOD_NOT_ALLOWED: { status: 405, shape: 'message', text: 'method not allowed.', when: 'other methods on activation status and hardware properties' },
  PATH_PARAMETER_INVALID: { status: 404, shape: 'reason', text: 'invalid path parameter.', when: 'malformed identifier in the path' },
  REQUEST_INVALID: { status: 400, shape: 'reason', text: 'invalid request.', when: 'body or query breaks its schema; every fault is named' },
  BODY_TOO_LARGE: { status: 413, shape: 'message', text: 'request body is larger than {limit} bytes.', when: 'body above 1 MiB; at the token endpoint above 8 KiB' },
  DEVICE_UNAVAILABLE: { status: 403, shape: 'message', text: 'device information unavailable.', when: 'the device is unknown, or another developer’s' },
  DEVICE_ACTIVATED_ELSEWHERE: { status: 403, shape: 'message', text: 'device is activated in another application.', when: 'the device is activated for another application' },
  DEVICE_ALREADY_ACTIVATED: { status: 403, shape: 'message', text: 'device is already activated.', when: 'activation of a device that is activated or being activated' },
  DEVICE_NOT_ACTIVATED: { status: 403, shape: 'message', text: 'device is not activated.', when: 'the operation needs an activated device' },
  ACTIVATION_LIMIT: { status: 403, shape: 'message', text: 'not contracted or activation limit exceeded.', when: 'activation without a contract, or with all contracted devices in use' },
  CLIENT_ID_IN_USE: { status: 403, shape: 'message', text: 'ClientId is already in use.', when: 'activation with the clientId of another device' },
  KEY_NOT_ISSUED: { status: 403, shape: 'message', text: 'authenticationKey is not issued.', when: 'operations that create transactions, before the authenticationKey was issued' },
  NOTIFICATION_NOT_CONFIGURED: { status: 404, shape: 'message', text: 'system notification destination is not configured.', when: 'operations that create transactions, while the application has no deviceEvent setting' },
  TOPIC_FOREIGN: { status: 403, shape: 'message', text: 'a device may not publish to this topic.', when: 'MQTT: a publish outside of the device’s own topics; sent to its errors topic' },
  TRANSACTION_NOT_FOUND: { status: 404, shape: 'reason', text: 'transaction not found.', when: 'no such transaction of this device and application' },
  TRANSACTION_FINISHED: { status: 409, shape: 'message', text: 'transaction is already finished.', when: 'cancel of a finished transaction' },
  TOO_MANY_TRANSACTIONS: { status: 429, shape: 'message', text: 'the device has {limit} unfinished transactions.', when: 'the bound of unfinished transactions per device' },
  TOO_MUCH_QUEUED: { status: 429, shape: 'message', text: 'more than {limit} MiB of commands wait to be delivered.', when: 'the bounds of bytes of commands that wait for a device, and for all devices of an application' },
  EVENT_BYTES_EXCEEDED: { status: 429, shape: 'message', text: 'the {owner} has reached its daily limit of stored event bytes; try again in {seconds} s.', when: 'MQTT: the bounds of stored events of a device and of its application; sent to its errors topic' },
  IDEMPOTENCY_KEY_RUNNING: { status: 409, shape: 'message', text: 'the request with this idempotency key is still running.', when: 'a repeated `Idempotency-Key` while the first request has no answer yet' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, shape: 'message', text: 'the idempotency key was used with another request.', when: 'a repeated `Idempotency-Key` with another method, path or body' },
  RATE_LIMITED: { status: 429, shape: 'message', text: 'too many requests; try again in {seconds} s.', when: 'the application exceeds its rate limit, its bound of simultaneous requests or of simultaneous costly reads; or too many wrong credentials came from one address' },
  FEEDS_IN_USE: { status: 429, shape: 'message', text: 'all streams of the feed are in use; try again later.', when: 'the application has reached its bound of streams; or the listener has, and the application is among those with most streams' },
  DELIVERY_NOT_FOUND: { status: 404, shape: 'reason', text: 'delivery not found.', when: 'no such webhook delivery of the application' },
  PACKAGE_NOT_FOUND: { status: 404, shape: 'reason', text: 'package not found.', when: 'no such package of the developer' },
  VERSION_NOT_FOUND: { status: 404, shape: 'reason', text: 'version not found.', when: 'no such version of the package' },
  QUOTA_EXCEEDED: { status: 429, shape: 'message', text: 'the quota of the developer, {limit} {what}, would be exceeded.', when: 'registration of a package or version, or an upload, above a quota of the developer' },
  PACKAGE_EXISTS: { status: 409, shape: 'message', text: 'package already exists.', when: 'registration of a package whose name is taken, by any developer or by the service' },
  PACKAGE_FOREIGN: { status: 400, shape: 'reason', text: 'package is used by a different developer.', when: 'registration of software under the package name of another developer' },
  PACKAGE_IN_USE: { status: 409, shape: 'message', text: 'package still has versions.', when: 'deletion of a package that still has versions' },
  VERSION_EXISTS: { status: 409, shape: 'message', text: 'version already exists.', when: 'registration of a version that exists' },
  VERSION_IN_USE: { status: 409, shape: 'message', text: 'version still has a binary or started distribution.', when: 'deletion of a version that still has a binary or a started distribution' },
  DISTRIBUTION_STARTED: { status: 409, shape: 'message', text: 'distribution already started.', when: 'start of a distribution that is started' },
  DISTRIBUTION_NOT_STARTED: { status: 400, shape: 'reason', text: 'distribution is not started.', when: 'installation of a version that is not distributed' },
  BINARY_MISSING: { status: 400, shape: 'reason', text: 'binary is deleted.', when: 'installation or firmware update with a version that has no binary' },
  FIRMWARE_NOT_LISTED: { status: 400, shape: 'reason', text: 'firmware not found.', when: 'firmware update to a version that is not in the list of firmware' },
  ADMIN_TOKEN_INVALID: { status: 401, shape: 'message', text: 'administrator token is missing or wrong.', when: 'administration: the token is missing or wrong' },
  SESSION_ENDED: { status: 401, shape: 'message', text: 'the session has ended; log in again.', when: 'console of administration: there is no session, or it has ended' },
  CONSOLE_REQUEST_FORGED: { status: 403, shape: 'message', text: 'the request does not come from a page of the console.', when: 'a request with a session that another site could have sent; a login or a change without the header `X-Lapel-Console: 1`, or with a foreign `Origin`' },
  SESSION_NOT_FOUND: { status: 404, shape: 'reason', text: 'session not found.', when: 'administration: no such session' },
  DEVELOPER_NOT_FOUND: { status: 404, shape: 'reason', text: 'developer not found.', when: 'administration: no such developer' },
  DEVELOPER_EXISTS: { status: 409, shape: 'message', text: 'developer already exists.', when: 'administration: the developerId is taken' },
  DEVELOPER_IN_USE: { status: 409, shape: 'message', text: 'developer still has applications, devices or packages.', when: 'administration: the developer still has applications, devices or packages; delete these first' },
  APPLICATION_NOT_FOUND: { status: 404, shape: 'reason', text: 'application not found.', when: 'administration: no such application' },
  APPLICATION_EXISTS: { status: 409, shape: 'message', text: 'application already exists.', when: 'administration: the applicationId is taken, or belonged to a deleted application' },
  APPLICATION_IN_USE: { status: 409, shape: 'message', text: 'application still has activated devices.', when: 'administration: devices are still activated for the application; deactivate them first' },
  DEVICE_NOT_FOUND: { status: 404, shape: 'reason', text: 'device not found.', when: 'administration: no such device' },
  DEVICE_EXISTS: { status: 409, shape: 'message', text: 'device already exists.', when: 'administration: the deviceId is taken' },
  DEVICE_IN_USE: { status: 409, shape: 'message', text: 'device is activated or has unfinished transactions.', when: 'administration: the device is activated, or has unfinished transactions, and so cannot be deleted or moved; deactivate it first' },
  OBJECT_STORE_UNAVAILABLE: { status: 503, shape: 'message', text: 'object store is unavailable.', when: 'the object store does not answer, or refuses the service; try again later' },
  DATABASE_UNAVAILABLE: { status: 503, shape: 'message', text: 'the database is unavailable; try again later.', when: 'the database server does not answer. The request was not carried out, or its outcome is unknown; repeat it with its `Idempotency-Key`' },
  OVERLOADED: { status: 503, shape: 'message', text: 'the service is at its limit; try again later.', when: 'too many requests are in flight, or the service is shutting down' },
  NOT_READY: { status: 503, shape: 'message', text: 'the service is not ready.', when: '`/readyz`, which names the parts that are not' },
  INTERNAL: { status: 500, shape: 'message', text: 'internal error.', when: 'an unforeseen error; the log has its details, with the request id' },
  DATA_FOLDER_IN_USE: { status: 500, shape: 'message', text: 'the data folder {folder} is in use by another process.', when: 'the service is started twice with one data folder (exit code 78)' },
  SETTING_INVALID: { status: 500, shape: 'message', text: '{setting}: {problem}', when: 'a setting is invalid at start (exit code 78)' },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

interface Detail {
  details?: Fault[];
  values?: Record<string, string | number>;
  cause?: unknown;
}

/** The only error that rooms throw on purpose. `message` is the public text; the original error is kept as `cause`. */
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

  /** Makes a 400 for faults that were found outside of a schema. */
  static invalid(...details: Fault[]): DomainError {
    return new DomainError('REQUEST_INVALID', { details });
  }
}

/** Joins faults into one line, for answers that have only a message: `files.0.name: Field required; ...`. */
export const faultText = (faults: readonly Fault[]): string =>
  faults
    .map(({ loc, msg }) =>
      [loc.slice(loc[0] === 'body' ? 1 : 0).join('.'), msg].filter((part) => part !== '').join(': '),
    )
    .join('; ');

/** Makes a DomainError of any thrown value: unknown errors become INTERNAL and keep the original as cause. */
export function toDomainError(thrown: unknown): DomainError {
  return thrown instanceof DomainError ? thrown : new DomainError('INTERNAL', { cause: thrown });
}

/**
 * True when the database server does not answer. The request itself is not at fault, and can be tried again later. The
 * database connection logs this once, so callers that only wait need not log it again.
 */
export const isDatabaseAway = (thrown: unknown): boolean =>
  thrown instanceof DomainError && thrown.code === 'DATABASE_UNAVAILABLE';

/** Makes the body of an error answer of the interface (Message error or Reason error). */
export function errorBody(error: DomainError): { message: string } | { reason: string; details: Fault[] } {
  return ERRORS[error.code].shape === 'message'
    ? { message: error.message }
    : { reason: error.message, details: error.details };
}
