/**
 * One fault of a request: its position (`['body', 'ssid']`), a message, and its type, one of those that the interface
 * specifies.
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
/** The most characters of a name in `loc`. A caller can send a field with a name of any length. */
const LONGEST_NAME = 128;

/** Shortens a list of faults for an answer: to `most` faults, with names of at most LONGEST_NAME characters. */
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
  /** The form of the body: `{message}`, or `{reason, details}`. */
  shape: 'message' | 'reason';
  /**
   * The text of the error; `{name}` is filled from the error's values. On MQTT it is the `reason` on the errors topic.
   */
  text: string;
  /** The situation in which the error occurs, for docs/reference.md. */
  when: string;
}

/** Every error that a caller, a device or the operator can get. All error answers are made from this table. */
// biome-ignore format: a table is read by its rows
export const ERRORS = {
  TOKEN_MISSING: { status: 401, shape: 'message', text: 'access token is missing.', when: 'the request has no `Authorization: Bearer` header' },
  TOKEN_INVALID: { status: 401, shape: 'message', text: 'access token is invalid.', when: 'the token is expired, malformed, signed by an unknown issuer, or was issued for a secret that has been replaced' },
  CLIENT_INVALID: { status: 401, shape: 'message', text: '{problem}', when: 'token endpoint: `Authorization: Basic` is missing, malformed or wrong. The answer has the form of RFC 6749 5.2, as all errors of this endpoint' },
  LEGACY_ISSUER_UNAVAILABLE: { status: 503, shape: 'message', text: 'the issuer of the access token is unavailable; try again later.', when: 'a token of the legacy issuer cannot be checked, because the keys of this issuer could not be fetched yet' },
  SCOPE_INSUFFICIENT: { status: 403, shape: 'message', text: 'the access token lacks the scope {scope}.', when: 'the token was issued without the scope that the operation needs' },
  APPLICATION_FOREIGN: { status: 403, shape: 'message', text: 'the access token belongs to another application.', when: 'the path names another application than the token was issued for' },
  APPLICATION_UNREGISTERED: { status: 403, shape: 'message', text: 'application is not registered.', when: 'the application of the token was deleted, or is being removed' },
  HOST_UNKNOWN: { status: 403, shape: 'message', text: 'the Host header does not name this service; add the name to {setting}.', when: '`Host` is not an IP address, `localhost`, or a name from the settings of the listener' },
  ORIGIN_FOREIGN: { status: 403, shape: 'message', text: 'the request comes from a page of another site.', when: '`/mcp`: the header `Origin` names another site than this service' },
  ASSISTANTS_OFF: { status: 403, shape: 'message', text: 'assistants are not served here; the setting {setting} allows them.', when: '`/mcp`: the operator has not allowed assistants on this listener' },
  ASSISTANT_METHOD_UNKNOWN: { status: 404, shape: 'reason', text: 'the service has no such method for assistants.', when: '`/mcp`: the method of the message is not one of the Model Context Protocol, or not one that this service has' },
  WRONG_URL: { status: 403, shape: 'message', text: 'wrong url.', when: 'the path is unknown, or the path does not have the method' },
  FILE_NOT_FOUND: { status: 404, shape: 'reason', text: 'file not found.', when: 'below `/console` and `/docs`: the file does not exist, or belongs to another release of Lapel' },
  METHOD_NOT_ALLOWED: { status: 405, shape: 'message', text: 'method not allowed.', when: 'activation status and hardware properties: the path does not have the method' },
  PATH_PARAMETER_INVALID: { status: 404, shape: 'reason', text: 'invalid path parameter.', when: 'an identifier in the path is malformed' },
  REQUEST_INVALID: { status: 400, shape: 'reason', text: 'invalid request.', when: 'the body or the query breaks its schema; `details` names every fault' },
  PRECONDITION_FAILED: { status: 412, shape: 'message', text: 'it was changed after it was read; read it again.', when: 'a change with `If-Match`: the object is no longer in the state that the caller has read' },
  BODY_TOO_LARGE: { status: 413, shape: 'message', text: 'request body is larger than {limit} bytes.', when: 'the body is larger than 1 MiB; at the token endpoint, larger than 8 KiB; at enrolment, larger than 16 KiB' },
  MESSAGE_TOO_LARGE: { status: 413, shape: 'message', text: 'the message of {sizeBytes} bytes is larger than 256 KiB.', when: 'MQTT: a message of a device is larger than 256 KiB and not larger than 4 MiB; it is dropped, and the device gets the error on its errors topic' },
  DEVICE_UNAVAILABLE: { status: 403, shape: 'message', text: 'device information unavailable.', when: 'the device is unknown, or belongs to another developer' },
  DEVICE_ACTIVATED_ELSEWHERE: { status: 403, shape: 'message', text: 'device is activated in another application.', when: 'the device is activated for another application' },
  DEVICE_ALREADY_ACTIVATED: { status: 403, shape: 'message', text: 'device is already activated.', when: 'activation: the device is activated already, or being activated' },
  DEVICE_NOT_ACTIVATED: { status: 403, shape: 'message', text: 'device is not activated.', when: 'the operation needs an activated device' },
  ACTIVATION_LIMIT: { status: 403, shape: 'message', text: 'not contracted or activation limit exceeded.', when: 'activation: the developer has no contract, or as many activated devices as the contract allows' },
  CLIENT_ID_IN_USE: { status: 403, shape: 'message', text: 'ClientId is already in use.', when: 'activation: another device has this clientId' },
  KEY_NOT_ISSUED: { status: 403, shape: 'message', text: 'authenticationKey is not issued.', when: 'an operation that creates a transaction: the authenticationKey of the application was not issued yet' },
  NOTIFICATION_NOT_CONFIGURED: { status: 404, shape: 'message', text: 'system notification destination is not configured.', when: 'an operation that creates a transaction: the application has no URL in its setting deviceEvent' },
  UPLOADS_NOT_CONFIGURED: { status: 404, shape: 'message', text: 'file uploads are not configured: {setting} is not set.', when: 'diagnostics of a device: the application has no URL in its setting fileUploadGetUrl or fileUploadEvent, so no device can upload a file' },
  TOPIC_FOREIGN: { status: 403, shape: 'message', text: 'a device may not publish to this topic.', when: 'MQTT: a device publishes to a topic that is not one of its own; it gets the error on its errors topic' },
  TRANSACTION_NOT_FOUND: { status: 404, shape: 'reason', text: 'transaction not found.', when: 'the device has no transaction of the application with this transactionId' },
  TRANSACTION_FINISHED: { status: 409, shape: 'message', text: 'transaction is already finished.', when: 'cancel: the transaction is finished' },
  TOO_MANY_TRANSACTIONS: { status: 429, shape: 'message', text: 'the device has {limit} unfinished transactions and may not have more.', when: 'a command for a device that already has as many unfinished transactions as a device may have' },
  TOO_MUCH_QUEUED: { status: 429, shape: 'message', text: 'more than {limit} MiB of commands wait to be delivered.', when: 'a command would exceed the bytes of commands that may wait for one device, or for all devices of an application' },
  TOO_MANY_TAGS: { status: 409, shape: 'message', text: 'the device would have more than {limit} tags.', when: 'a change of tags: the device would have more tags than a device may have' },
  TOO_MANY_NOTES: { status: 409, shape: 'message', text: 'the device has {limit} notes and may not have more; delete some first.', when: 'a new note of a device that has as many notes of its application, or of administration, as it may have' },
  NOTE_NOT_FOUND: { status: 404, shape: 'reason', text: 'note not found.', when: 'the caller sees no note with this noteId on the device' },
  ROLLOUT_NOT_FOUND: { status: 404, shape: 'reason', text: 'rollout not found.', when: 'the application has no rollout with this rolloutId' },
  ROLLOUT_STATE: { status: 409, shape: 'message', text: 'the rollout is {state}.', when: 'a change of a rollout that its state does not allow' },
  APPROVAL_BY_OTHER: { status: 403, shape: 'message', text: 'this stage must be approved by another person: {reason}.', when: 'approval of a stage with `{ "by": "other" }` by who started the rollout or changed it last, or by the token of an application' },
  VERDICT_CHANGED: { status: 412, shape: 'message', text: 'the figures have changed since they were read ({changes}); look again.', when: 'approval or resume of a rollout with `If-Match`: the verdict on the stage is another one than the caller has read' },
  VERDICT_TAG_INVALID: { status: 412, shape: 'message', text: 'If-Match has no tag of a verdict; send the `verdictTag` of the stage, as it was read.', when: 'approval or resume of a rollout: `If-Match` has something else than tags of verdicts' },
  NOTHING_TO_REVERT: { status: 409, shape: 'message', text: 'the rollout has no device to bring back: {reasons}.', when: 'revert of a rollout: no device has what it gave, or none can be brought back' },
  REVERT_VERSION_MISSING: { status: 409, shape: 'message', text: 'no version is known that brings back {package} {version}: name it in `version`, or register one with `revertOf`.', when: 'revert of a rollout of software or firmware: the request names no `version`, and no version of the package has `revertOf` with that of the rollout' },
  ROLLOUT_TOO_LARGE: { status: 409, shape: 'message', text: 'the selector matches more than {limit} devices.', when: 'a rollout would have more devices than a rollout may have' },
  TOO_MANY_ROLLOUTS: { status: 429, shape: 'message', text: 'the application has {limit} rollouts at work and may not have more.', when: 'a rollout of an application that has as many rollouts at work as it may have' },
  DEVICE_ACTION_NOT_FOUND: { status: 404, shape: 'reason', text: 'device action not found.', when: 'administration: there is no device action with this actionId' },
  ALARM_RECEIVER_UNSET: { status: 409, shape: 'message', text: 'no receiver of alarms is set (LAPEL_ALARM_URL).', when: 'administration, test of the receiver of alarms: none is set' },
  DEVICE_ACTION_ENDED: { status: 409, shape: 'message', text: 'the device action is {state}.', when: 'administration, stop of a device action: it has ended' },
  TOO_MANY_DEVICE_ACTIONS: { status: 409, shape: 'message', text: '{limit} device actions are at work; wait until one has ended.', when: 'administration: as many device actions are at work as may be' },
  EVENT_BYTES_EXCEEDED: { status: 429, shape: 'message', text: 'the {owner} has reached its daily limit of stored event bytes; try again in {seconds} s.', when: 'MQTT: an event exceeds the bytes of events that may be stored per day for the device, or for its application; the device gets the error on its errors topic' },
  IDEMPOTENCY_KEY_RUNNING: { status: 409, shape: 'message', text: 'the request with this idempotency key is still running.', when: 'the `Idempotency-Key` is that of an earlier request that has no answer yet' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, shape: 'message', text: 'the idempotency key was used with another request.', when: 'the `Idempotency-Key` is that of an earlier request with another method, path, query parameters or body' },
  RATE_LIMITED: { status: 429, shape: 'message', text: 'too many requests; try again in {seconds} s.', when: 'the application or its developer exceeds the rate limit, or a bound of simultaneous requests, of long lists, or of bytes of bodies; or too many wrong credentials came from one address or for one application' },
  FEEDS_IN_USE: { status: 429, shape: 'message', text: 'all streams of the feed are in use; try again later.', when: 'the application has as many streams as it may have; or the service has, and the developer of the application is among those with most streams' },
  EVENTS_REMOVED: { status: 410, shape: 'message', text: 'events behind {after} were removed because they were old; events up to {removed} may be missing: go on with after={removed}.', when: 'the stream of events: `after` is a number after which events may have been removed, because they were older than they are kept' },
  ENDPOINT_NOT_FOUND: { status: 404, shape: 'reason', text: 'endpoint not found.', when: 'the application has no endpoint with this identifier' },
  TOO_MANY_ENDPOINTS: { status: 409, shape: 'message', text: 'the application has {limit} endpoints and may not have more; delete some first.', when: 'a new endpoint of an application that has as many as it may have' },
  ENDPOINT_DISABLED: { status: 409, shape: 'message', text: 'the endpoint is disabled; enable it first.', when: 'a replay to an endpoint that is disabled' },
  REPLAY_RUNNING: { status: 409, shape: 'message', text: 'a replay to the endpoint {endpointId} is running; wait for its end, or cancel it.', when: 'a replay while another one of the application is running' },
  REPLAY_NOT_RUNNING: { status: 404, shape: 'reason', text: 'no replay is running.', when: 'a replay is read or cancelled, and none is running' },
  DELIVERY_NOT_WAITING: { status: 404, shape: 'reason', text: 'no such delivery waits.', when: 'a delivery to an endpoint is skipped that is not there, or waits for nothing any more' },
  CONSUMER_NOT_FOUND: { status: 404, shape: 'reason', text: 'consumer not found.', when: 'the application has no consumer of this name' },
  CONSUMER_AHEAD: { status: 409, shape: 'message', text: 'the consumer is at {after} already; going back needs `If-Match`.', when: 'a consumer would go back in the stream, and the request has no `If-Match`' },
  TOO_MANY_CONSUMERS: { status: 409, shape: 'message', text: 'the application has {limit} consumers and may not have more; delete some first.', when: 'a new consumer of an application that has as many as it may have' },
  DELIVERY_NOT_FOUND: { status: 404, shape: 'reason', text: 'delivery not found.', when: 'the application has no webhook delivery with this deliveryId' },
  REDELIVERY_RUNNING: { status: 429, shape: 'message', text: 'webhooks of the application are being sent again; wait until the answer of that request.', when: 'redelivery of a range: another one of the application is at work' },
  PACKAGE_NOT_FOUND: { status: 404, shape: 'reason', text: 'package not found.', when: 'the developer has no package of this name' },
  VERSION_NOT_FOUND: { status: 404, shape: 'reason', text: 'version not found.', when: 'the package has no such version' },
  QUOTA_EXCEEDED: { status: 429, shape: 'message', text: 'the quota of the developer, {limit} {what}, would be exceeded.', when: 'registration of a package or version, or an upload: it would exceed a quota of the developer' },
  PACKAGE_EXISTS: { status: 409, shape: 'message', text: 'package already exists.', when: 'registration: the package name is in use, by any developer or by the service itself' },
  PACKAGE_FOREIGN: { status: 400, shape: 'reason', text: 'package is used by a different developer.', when: 'registration of software: the package belongs to another developer' },
  PACKAGE_IN_USE: { status: 409, shape: 'message', text: 'package still has versions.', when: 'deletion: the package still has versions; delete these first' },
  VERSION_EXISTS: { status: 409, shape: 'message', text: 'version already exists.', when: 'registration: the version exists already' },
  VERSION_IN_USE: { status: 409, shape: 'message', text: 'version still has a binary or started distribution.', when: 'deletion: the version still has a binary, or its distribution is started; delete and stop these first' },
  DISTRIBUTION_STARTED: { status: 409, shape: 'message', text: 'distribution already started.', when: 'start of a distribution: it is started already' },
  DISTRIBUTION_NOT_STARTED: { status: 400, shape: 'reason', text: 'distribution is not started.', when: 'installation: the distribution of the version is not started' },
  BINARY_MISSING: { status: 400, shape: 'reason', text: 'binary is deleted.', when: 'installation or firmware update: the version has no binary' },
  SIGNATURE_MISSING: { status: 400, shape: 'reason', text: 'the version is not signed, and its developer requires a signature.', when: 'start of a distribution, or installation: the version has no signature, which its developer requires' },
  SIGNATURE_INVALID: { status: 400, shape: 'reason', text: 'the signature of the version does not verify: {problem}.', when: 'start of a distribution, or installation: the signature of the version does not verify, because its key was revoked or the file is another one' },
  CERTIFICATE_UNREADABLE: { status: 400, shape: 'reason', text: 'the certificates of the APK could not be read.', when: 'start of a distribution, or installation: the developer refuses other certificates than those of the version before, and those of the APK could not be read; `warning` of its binary has the reason' },
  CERTIFICATE_CHANGED: { status: 400, shape: 'reason', text: 'the APK has another certificate than version {version}.', when: 'start of a distribution, or installation: the APK is signed with another certificate than the version before, which the developer refuses' },
  SIGNATURE_NOT_FOUND: { status: 404, shape: 'reason', text: 'the version has no signature.', when: 'the version has no signature' },
  FIRMWARE_REQUIRED: { status: 409, shape: 'message', text: 'the version requires firmware {range}; the device has reported {firmware}.', when: 'installation: the version requires firmware that the device has not reported' },
  FIRMWARE_NOT_LISTED: { status: 400, shape: 'reason', text: 'firmware not found.', when: 'firmware update: the version is not in the list of firmware' },
  ADMIN_TOKEN_INVALID: { status: 401, shape: 'message', text: 'administrator token is missing or wrong.', when: 'administration: the token is missing, wrong, expired or revoked; its person is disabled; or the administrator token is refused' },
  ROLE_INSUFFICIENT: { status: 403, shape: 'message', text: 'this needs the role {role}; your role is {own}.', when: 'administration: the role of the person does not permit the operation. People of an application: only their admin decides who gets in' },
  PERSON_NOT_FOUND: { status: 404, shape: 'reason', text: 'person not found.', when: 'administration: there is no person with this personId' },
  PERSON_EXISTS: { status: 409, shape: 'message', text: 'person already exists.', when: 'administration: a person with this personId exists' },
  PERSON_TOKEN_NOT_FOUND: { status: 404, shape: 'reason', text: 'token not found.', when: 'administration: the person has no token with this tokenId' },
  PERSON_TOKEN_EXISTS: { status: 409, shape: 'message', text: 'the person already has a token of this name.', when: 'administration: a new token has the name of another token of the same person' },
  TOO_MANY_PEOPLE: { status: 409, shape: 'message', text: 'there are {limit} people and there may not be more; delete some first.', when: 'administration: a new person, when there are as many as there may be' },
  TOO_MANY_TOKENS: { status: 409, shape: 'message', text: 'the person has {limit} tokens and may not have more; revoke some first.', when: 'administration: a new token of a person who has as many as a person may have' },
  LAST_OWNER: { status: 409, shape: 'message', text: 'there must remain an owner who can sign in; make somebody else an owner first.', when: 'administration: the last owner would lose the role, or be disabled or deleted; or, while the administrator token is refused, the last owner with a valid token would lose it' },
  OWN_TOKEN_NEEDED: { status: 409, shape: 'message', text: 'this needs a token of your own: the administrator token belongs to nobody.', when: 'administration: the administrator token itself asks to be refused, or to be renewed as the token of a person' },
  SESSION_ENDED: { status: 401, shape: 'message', text: 'the session has ended; log in again.', when: 'console of administration: the request has no session, or its session has ended' },
  CONSOLE_REQUEST_FORGED: { status: 403, shape: 'message', text: 'the request does not come from a page of the console.', when: 'console of administration: a page of another site may have sent the request. A login or a change has no header `X-Lapel-Console: 1`, or the `Origin` of another site' },
  PERSON_OF_PROVIDER: { status: 409, shape: 'message', text: 'the role of this person comes from {issuer}; change it there, or disable the person here.', when: 'administration: the role of a person who signs in through a provider is changed here; or a person whom the provider has given no role is enabled' },
  PROVIDER_NOT_FOUND: { status: 404, shape: 'reason', text: 'provider not found.', when: 'sign-in to the console: no provider of the settings has this providerId' },
  SIGN_IN_ELSEWHERE: { status: 409, shape: 'message', text: 'the provider leads back to {url}; open the console there to sign in.', when: 'sign-in to the console: its page was opened at another address than `LAPEL_CONSOLE_URL`' },
  SIGN_IN_FORGED: { status: 403, shape: 'message', text: 'this sign-in was not begun in this browser, has ended, or took longer than ten minutes; begin again.', when: 'sign-in to the console: the answer of the provider does not belong to a sign-in that this browser has begun' },
  SIGN_IN_DENIED: { status: 403, shape: 'message', text: 'the provider has not let you in.', when: 'sign-in to the console: the provider answered with an error' },
  SIGN_IN_REFUSED: { status: 403, shape: 'message', text: 'the provider did not prove who you are; the log of the service has the reason.', when: 'sign-in to the console: the code was used before, or the ID token is not for this sign-in, from another issuer or for another client' },
  SIGN_IN_UNAVAILABLE: { status: 503, shape: 'message', text: 'the provider does not answer; try again later, or sign in with a token.', when: 'sign-in to the console: the provider cannot be reached, is too slow, or answers something else' },
  SIGN_IN_NO_ROLE: { status: 403, shape: 'message', text: 'the provider knows you, but gives you no role here; ask the people who administer it.', when: 'sign-in to the console: no value of the claim with the roles has a role in the settings' },
  SIGN_IN_DISABLED: { status: 403, shape: 'message', text: 'an owner has disabled you here.', when: 'sign-in to the console: the person is disabled' },
  SESSION_NOT_FOUND: { status: 404, shape: 'reason', text: 'session not found.', when: 'administration: there is no session with this sessionId' },
  DEVELOPER_NOT_FOUND: { status: 404, shape: 'reason', text: 'developer not found.', when: 'administration: there is no developer with this developerId' },
  DEVELOPER_EXISTS: { status: 409, shape: 'message', text: 'developer already exists.', when: 'administration: a developer with this developerId exists' },
  DEVELOPER_IN_USE: { status: 409, shape: 'message', text: 'developer still has applications, devices or packages.', when: 'administration: the developer still has applications, devices or packages; delete these first' },
  SOFTWARE_KEY_NOT_FOUND: { status: 404, shape: 'reason', text: 'software key not found.', when: 'administration: the developer has no key with this keyId' },
  SOFTWARE_KEY_EXISTS: { status: 409, shape: 'message', text: 'software key already exists.', when: 'administration: the developer has this key already' },
  TOO_MANY_SOFTWARE_KEYS: { status: 409, shape: 'message', text: 'the developer has {limit} software keys and may not have more; revoke one first.', when: 'administration: the developer has as many software keys as a developer may have' },
  DEVELOPER_LEAVING: { status: 409, shape: 'message', text: 'developer is being removed.', when: 'administration: the developer is being removed with everything; it can neither be changed nor get applications or devices' },
  MEMBER_NOT_FOUND: { status: 404, shape: 'reason', text: 'member not found.', when: 'the developer has no person with this memberId' },
  MEMBER_EXISTS: { status: 409, shape: 'message', text: 'the developer already has a person of this name.', when: 'a new person of a developer has the name of another one' },
  TOO_MANY_MEMBERS: { status: 409, shape: 'message', text: 'the developer has {limit} people and may not have more; revoke some first.', when: 'a new person of a developer that has as many as a developer may have' },
  REMOVAL_NOT_FOUND: { status: 404, shape: 'reason', text: 'removal not found.', when: 'administration: there is no removal with this removalId' },
  APPLICATION_NOT_FOUND: { status: 404, shape: 'reason', text: 'application not found.', when: 'administration: there is no application with this applicationId' },
  SECRET_NOT_FOUND: { status: 404, shape: 'reason', text: 'secret not found.', when: 'administration: the application has no valid secret with this secretId' },
  TOO_MANY_SECRETS: { status: 409, shape: 'message', text: 'the application has {limit} secrets and may not have more; end one first.', when: 'administration: another secret of an application that has two' },
  LAST_SECRET: { status: 409, shape: 'message', text: 'the application has only this secret; issue another one first.', when: 'administration: the only secret of an application is to be ended' },
  APPLICATION_EXISTS: { status: 409, shape: 'message', text: 'application already exists.', when: 'administration: an application with this applicationId exists, or existed and was deleted' },
  APPLICATION_CERTIFICATE_NOT_FOUND: { status: 404, shape: 'reason', text: 'certificate not found.', when: 'administration: the application has no certificate with this certificateId' },
  APPLICATION_CERTIFICATE_EXISTS: { status: 409, shape: 'message', text: 'certificate already exists.', when: 'administration: the application has this certificate, or this name in certificates, already' },
  TOO_MANY_APPLICATION_CERTIFICATES: { status: 409, shape: 'message', text: 'the application has {limit} certificates and may not have more; revoke one first.', when: 'administration: the application has as many certificates as an application may have' },
  APPLICATION_IN_USE: { status: 409, shape: 'message', text: 'application still has activated devices.', when: 'administration: devices are still activated for the application; deactivate them first' },
  DEVICE_NOT_FOUND: { status: 404, shape: 'reason', text: 'device not found.', when: 'administration: there is no device with this deviceId' },
  DEVICE_EXISTS: { status: 409, shape: 'message', text: 'device already exists.', when: 'administration: a device with this deviceId exists' },
  ENROLMENT_REFUSED: { status: 403, shape: 'message', text: 'the enrolment is refused.', when: 'enrolment: the code is unknown, expired, revoked or used up, the batch is not for this device, the device has its credential already, or a person has refused it; its device CA signs no more; renewal: the device does not show its present certificate, or is blocked. The answer does not say which; the audit log does' },
  ENROLMENT_INSECURE: { status: 403, shape: 'message', text: 'enrolment needs TLS: use https. A proxy with TLS must be named in LAPEL_TRUST_PROXY, and must say https in X-Forwarded-Proto or Forwarded.', when: 'enrolment: the request came neither over TLS, nor from a trusted proxy that says `https`, nor from this machine itself' },
  ENROLMENT_BATCH_NOT_FOUND: { status: 404, shape: 'reason', text: 'enrolment batch not found.', when: 'administration: there is no enrolment batch with this batchId' },
  ENROLMENT_NOT_FOUND: { status: 404, shape: 'reason', text: 'enrolment not found.', when: 'administration: the device has not asked for enrolment with the code of this batch, or its request has expired' },
  ENROLMENT_DECIDED: { status: 409, shape: 'message', text: 'the enrolment is {state}.', when: 'administration: another decision about the device was made before' },
  ENROLMENT_BATCH_CLOSED: { status: 409, shape: 'message', text: 'the enrolment batch has ended or is used up.', when: 'administration, approval of an enrolment: the batch could not enrol the device any more' },
  DEVICE_AUTHORITY_NOT_FOUND: { status: 404, shape: 'reason', text: 'device CA not found.', when: 'administration: there is no device CA with this authorityId' },
  DEVICE_AUTHORITY_UNENCRYPTED: { status: 409, shape: 'message', text: 'a device CA needs a key of encryption: set LAPEL_ENCRYPTION_KEY_FILE or LAPEL_ENCRYPTION_KEY_COMMAND.', when: 'administration: the private key of a device CA is stored only if secrets are encrypted at rest' },
  TOO_MANY_DEVICE_AUTHORITIES: { status: 409, shape: 'message', text: 'the developer may have {limit} device CAs that sign, and {kept} with those that sign no more; retire one, or revoke one.', when: 'administration: the developer has as many device CAs that sign as it may have, or too many others of which devices still have certificates' },
  TOO_MANY_ENROLMENT_BATCHES: { status: 409, shape: 'message', text: 'the developer has {limit} open enrolment batches and may not have more; revoke one.', when: 'administration: the developer has as many enrolment batches with valid codes as it may have' },
  DEVICE_IN_USE: { status: 409, shape: 'message', text: 'device is activated or has unfinished transactions.', when: 'administration: the device is activated, or has unfinished transactions, and so cannot be deleted or moved; deactivate it first' },
  OBJECT_STORE_FOREIGN: { status: 409, shape: 'message', text: 'the object store is not the embedded one: change its keys where it runs.', when: 'administration, new key of the object store: the service uses an S3 store' },
  TOO_MANY_STORE_KEYS: { status: 409, shape: 'message', text: 'URLs of {limit} former keys are valid, those of the oldest until {until}; make another key then, or end all of them at once (atOnce, --at-once).', when: 'administration, new key of the object store: as many former keys are valid as may be, and another one would end URLs before their expiry' },
  OBJECT_STORE_UNAVAILABLE: { status: 503, shape: 'message', text: 'object store is unavailable.', when: 'the object store does not answer, or refuses the credentials of the service; try again later' },
  DATABASE_UNAVAILABLE: { status: 503, shape: 'message', text: 'the database is unavailable; try again later.', when: 'the database does not answer, or cannot be written (a full disk, for example). The request was not carried out, or its outcome is unknown; repeat it with its `Idempotency-Key`' },
  ENCRYPTION_KEY_MISSING: { status: 503, shape: 'message', text: 'a stored value needs the encryption key {keyId}, which this node does not have.', when: 'a secret of the database is encrypted with a key that is not in `LAPEL_ENCRYPTION_KEY_FILE`, or in the output of `LAPEL_ENCRYPTION_KEY_COMMAND`, of the node that is asked' },
  ENCRYPTION_KEYS_UNUSABLE: { status: 409, shape: 'message', text: 'the encryption keys cannot be used: {problem}.', when: 'administration, rotation of the encryption key: no key is set, the file or the command gives none, or a key is missing with which values are encrypted' },
  OVERLOADED: { status: 503, shape: 'message', text: 'the service is at its limit; try again later.', when: 'the service works on as many requests as it can, or is shutting down' },
  NOT_READY: { status: 503, shape: 'message', text: 'the service is not ready.', when: '`/readyz`: a part of the service cannot do its work; the answer names it' },
  INTERNAL: { status: 500, shape: 'message', text: 'internal error.', when: 'an unforeseen error; the log has its details, with the request id' },
  DATA_FOLDER_IN_USE: { status: 500, shape: 'message', text: 'the data folder {folder} is in use by another process.', when: 'at start: another process uses the data folder (exit code 78)' },
  SETTING_INVALID: { status: 500, shape: 'message', text: '{setting}: {problem}', when: 'at start: a setting is invalid (exit code 78)' },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

interface Detail {
  details?: Fault[];
  values?: Record<string, string | number>;
  cause?: unknown;
}

/** The only error that the code throws on purpose. `message` is the text for callers; `cause` is the original error. */
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

  /** Makes the error REQUEST_INVALID for faults that are not found by a schema. */
  static invalid(...details: Fault[]): DomainError {
    return new DomainError('REQUEST_INVALID', { details });
  }
}

/** Joins faults into one line, for texts without a list: `files.0.name: Field required; ...`. */
export const faultText = (faults: readonly Fault[]): string =>
  faults
    .map(({ loc, msg }) =>
      [loc.slice(loc[0] === 'body' ? 1 : 0).join('.'), msg].filter((part) => part !== '').join(': '),
    )
    .join('; ');

/** Makes a DomainError of any thrown value. An unknown error becomes INTERNAL, with the original as its cause. */
export function toDomainError(thrown: unknown): DomainError {
  return thrown instanceof DomainError ? thrown : new DomainError('INTERNAL', { cause: thrown });
}

/**
 * True for the error that the database does not answer, or cannot be written (a full disk, for example). The request
 * was not at fault, and can be tried again later. The connection to the database logs this error once, so callers that
 * only try again need not log it.
 */
export const isDatabaseAway = (thrown: unknown): boolean =>
  thrown instanceof DomainError && thrown.code === 'DATABASE_UNAVAILABLE';

const PASSING: readonly ErrorCode[] = ['DATABASE_UNAVAILABLE', 'OBJECT_STORE_UNAVAILABLE', 'OVERLOADED'];

/** Whether an error passes by itself, and says nothing about the command and its device: it is tried again. */
export const isPassing = (thrown: unknown): boolean => thrown instanceof DomainError && PASSING.includes(thrown.code);

/** Makes the body of the answer for an error: the specification calls its two forms Message error and Reason error. */
export function errorBody(error: DomainError): { message: string } | { reason: string; details: Fault[] } {
  return ERRORS[error.code].shape === 'message'
    ? { message: error.message }
    : { reason: error.message, details: error.details };
}
