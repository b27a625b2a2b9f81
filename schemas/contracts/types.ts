// Generated from schemas/ by `npm run generate`; edit the schemas instead.

/** IMEI of a device: 15 digits whose last is the Luhn check digit. */
export type DeviceId = string;
/** What became of a device of a device action. `waiting`: nothing yet; when the action was stopped, nothing. `done`: it was changed. `unchanged`: it was already as wanted. `skipped`: it did not match the filter any more, or was gone. `refused`: it cannot be changed. */
export type ActionDeviceState = 'waiting' | 'done' | 'unchanged' | 'skipped' | 'refused';
/** Why a device was skipped (`NO_LONGER_MATCHES`, `DEVICE_NOT_FOUND`) or refused (the code of an error, as in the table of errors); otherwise null. */
export type ActionCode = string | null;
/** ISO 8601 date-time in UTC with microseconds. */
export type UtcDateTime = string;
/** Identifier of an application. It is used as a path segment, so `.` and `..`, which clients resolve, are invalid. */
export type ApplicationId = string;
/** Identifier of a developer. It is used as a path segment, so `.` and `..`, which clients resolve, are invalid. */
export type DeveloperId = string;
/** Name for people. */
export type Name = string;
/** ISO 8601 local date-time with microseconds, in the time zone of the service. */
export type LocalDateTime = string;
/** Name of a certificate of an application, derived from its kind and value: 16 hexadecimal digits. */
export type ApplicationCertificateId = string;
/** ISO 8601 date-time in UTC with microseconds; null if it has not happened. */
export type UtcDateTimeOrNull = string | null;
/** Secret of an application for the token endpoint. The service stores only its hash. */
export type Secret = string;
/** The number of rows in the whole list. */
export type Total = number;
/** How an application gets its tokens. `secret`: with its secret, or with one of its certificates; `certificate`: only with one of its certificates, and tokens without one are refused. */
export type ApplicationAuthentication = 'secret' | 'certificate';
/** ISO 8601 date-time in UTC, with at most microseconds. */
export type Moment = string;
/** Name of a secret of an application, derived from the secret; the secret cannot be derived from it. */
export type SecretId = string;
/** What somebody may do in administration; each role may do what the roles behind it may do. `owner`: decides who administers the service. `operator`: works with all objects, and sees payloads. `support`: sees no payloads and no secrets; may repeat, cancel and disconnect. `reader`: sees what support sees, and changes nothing. */
export type Role = 'owner' | 'operator' | 'support' | 'reader';
/** Name of a session of the console. It is not a secret. */
export type ConsoleSessionId = string;
/** Identifier of a person who administers the service. It is used as a path segment, so `.` and `..`, which clients resolve, are invalid. */
export type PersonId = string;
/** The provider through which a person signs in, and who they are there; null for a person with tokens only. */
export type PersonLogin = {
  issuer: string;
  subject: string;
  /** False after a sign-in at which the provider gave the person no role; the person is then disabled. */
  hasRole: boolean;
} | null;
/** MQTT password of a device. The service stores only its hash. */
export type Credential = string;
/** SHA-256 of a client certificate in DER form, as 64 lower-case hexadecimal digits: `openssl x509 -noout -fingerprint -sha256` without the colons. */
export type CertificateFingerprint = string;
/** Number of a transaction; later transactions have larger numbers. They are counted over the whole service, so the gaps between an application's numbers show how many other transactions there were. After a start of the service the numbers continue much higher, up to 2^53 - 1: 32 bits are too few. */
export type TransactionId = number;
/** `pending`: waits for an attempt; `delivered`: answered with a 2xx; `exhausted`: every attempt failed; `gone`: answered with 410. */
export type DeliveryStatus = 'pending' | 'delivered' | 'exhausted' | 'gone';
/** The setting of the application that holds the URL for a webhook. */
export type WebhookSetting = 'deviceEvent' | 'callEvent' | 'callFileSendEvent' | 'fileUploadEvent';
/** Identifier of a webhook delivery: the `webhook-id` of all its attempts. */
export type DeliveryId = string;
/** Contracted number of devices; null without a contract. */
export type DeviceLimit = number | null;
/** `required`: only versions with a signature are distributed. `optional`: versions without a signature are distributed, too. A signature that does not verify is refused in both cases. */
export type SignatureRule = 'optional' | 'required';
/** What happens to a version whose APK has another certificate than the newest earlier version with a known certificate. `warn`: it has a warning. `refuse`: it is not distributed. */
export type CertificateRule = 'warn' | 'refuse';
/** The hardware of a device. Every part may be unknown; null means that all parts are. */
export type HardwareProperties = {
  model?: {
    name?: string;
    identifier?: string;
    description?: string;
    shape?: string;
  } | null;
  /** @maxItems 32 */
  camera?:
    | {
        direction?: string;
        mountedPosition?: string;
        resolution?: {
          /** Largest number of pixels in this direction. */
          maxWidth: number;
          /** Largest number of pixels in this direction. */
          maxHeight: number;
        };
      }[]
    | null;
  macAddressWifi?: MacAddress;
  macAddressBluetooth?: MacAddress;
} | null;
/** MAC address as colon-separated hexadecimal pairs. */
export type MacAddress = string;
/** ISO 8601 local date-time with microseconds, in the time zone of the service; null if it has not happened. */
export type LocalDateTimeOrNull = string | null;
/** A certificate that the service has signed for a device; null: there is none. */
export type IssuedCertificateOrNull = {
  /** SHA-256 of the certificate: 64 hexadecimal digits in lower case. */
  fingerprint: string;
  authorityId: AuthorityId;
  expiresAt: UtcDateTime;
} | null;
/** Identifier of a device CA. */
export type AuthorityId = string;
/** Identifier of a device action. */
export type ActionId = string;
/** What a device action does to each of its devices. `tag`: changes its tags; the device must be activated. `block`: closes its connection and refuses new ones; its commands wait. `unblock`: lets it connect again. `move`: activates it for another application of its developer. `cancel`: cancels its unfinished transactions. `delete`: removes it with all its data. */
export type ActionName = 'tag' | 'block' | 'unblock' | 'move' | 'cancel' | 'delete';
/** `key=value`: a tag that the device has; `!key`: the device has no tag of this key. */
export type TagTerm = string;
/** A firmware version as devices report it. */
export type FirmwareVersion = string;
/** A SemVer range as npm writes it, such as `>=1.2.0 <2.0.0`. Pre-releases are compared by their precedence. A version that is not SemVer is in no range. */
export type VersionRange = string;
/** Name of a package: an Android package name. */
export type PackageName = string;
/** Version of a package. SemVer 2.0.0 is recommended; other schemes sort as older than all SemVer versions. It may be any text without a slash, control characters and blanks at its ends, as the version names of real files are; in a path it is percent-encoded. `.` and `..`, which clients resolve, are invalid. */
export type VersionName = string;
/** A length of time: a whole number of days, hours, minutes or seconds. */
export type Duration = string;
/** Only devices that have sent something within this number of seconds. */
export type SeenWithin = number;
/** Only this share of the devices, in percent. It is stable: the devices of 10 percent are also among those of 20 percent with the same `salt`. */
export type Percent = number;
/** Any text. Each salt makes other shares; needs `percent`. */
export type Salt = string;
/** State of a device action. `gathering`: its devices are being found. `running`: they are being changed. `completed`: none waits any more. `stopped`: somebody stopped it, or the database was restored; what was changed stays. `refused`: it found too many devices, and changed none. */
export type ActionState = 'gathering' | 'running' | 'completed' | 'stopped' | 'refused';
/** The operation that a transaction carries out on its device. */
export type Operation =
  | 'activate'
  | 'deactivate'
  | 'setApn'
  | 'setWifi'
  | 'setLanguage'
  | 'getConnectivityState'
  | 'setConnectivityState'
  | 'listConnectivity'
  | 'pairBluetooth'
  | 'collectDiagnostics'
  | 'installSoftware'
  | 'updateFirmware';
/** queued: stored, and not yet confirmed by the device. delivered: the device confirmed the command. processing: the device reported that it works on it. The other three states are final. */
export type TransactionStatus = 'queued' | 'delivered' | 'processing' | 'succeeded' | 'failed' | 'cancelled';
/** Identifier of a rollout. */
export type RolloutId = string;
/** Identifier of an enrolment batch. */
export type BatchId = string;
/** `automatic`: the code of the batch is enough. `manual`: a person approves each device. */
export type EnrolmentApproval = 'automatic' | 'manual';
/** `pending`: the device waits for a person. `approved`: it gets its credential when it asks again. `enrolled`: it has got its credential. `refused`: by a person. */
export type EnrolmentState = 'pending' | 'approved' | 'enrolled' | 'refused';
/** Name of a package for people; null if it has none. */
export type DisplayName = string | null;
/** Description of a version; null if it has none. */
export type Description = string | null;
/** Kind of a fault. */
export type FaultType =
  | 'missing'
  | 'extra_forbidden'
  | 'string_type'
  | 'int_type'
  | 'bool_type'
  | 'list_type'
  | 'dict_type'
  | 'string_too_short'
  | 'string_too_long'
  | 'string_pattern_mismatch'
  | 'enum'
  | 'greater_than_equal'
  | 'less_than_equal'
  | 'url_parsing'
  | 'url_scheme'
  | 'json_invalid';
/** Name of a token of a person. It is not a secret. */
export type PersonTokenId = string;
/** Identifier of the removal of a developer or an application. */
export type RemovalId = string;
/** State of a rollout. */
export type RolloutState = 'scheduled' | 'running' | 'paused' | 'completed' | 'cancelled';
/** An operation that a rollout can carry out. */
export type RolloutOperation =
  | 'setApn'
  | 'setWifi'
  | 'setLanguage'
  | 'setConnectivityState'
  | 'installSoftware'
  | 'updateFirmware'
  | 'collectDiagnostics';
/** Name of a provider of sign-ins, as the settings give it. */
export type ProviderId = string;
/** A public key of ed25519 in PEM (SubjectPublicKeyInfo): `openssl pkey -in key.pem -pubout`. */
export type SoftwarePublicKey = string;
/** Name of a software key: the first 16 hexadecimal digits of the SHA-256 of the public key in DER form (SubjectPublicKeyInfo). */
export type SoftwareKeyId = string;
/** SHA-256 of a certificate with which an APK is signed, in hexadecimal digits. */
export type ApkCertificate = string;
/** Seconds from the delivery in which the device must give a final result. Without one the transaction ends as `failed` with the code `NO_ANSWER`. Reports of progress do not prolong the time. */
export type AnswerWithin = number;
/** Key that signs the webhooks of an application: `whsec_` and 32 random bytes in base64. */
export type AuthenticationKey = string;
/** Name of a Bluetooth device; null if the device has reported none. */
export type BluetoothName = string | null;
/** Identifier of a call; all devices in the call use the same one. */
export type CallId = string;
/** A certification request (PKCS #10) in PEM, signed with the key of the device: EC (P-256 or P-384), Ed25519, or RSA with 2048 to 4096 bits. Only its public key is used; the service decides about name and extensions. */
export type CertificationRequest = string;
/** Client identifier of an activation. It is unique among activated and activating devices, and has no control characters. */
export type ClientId = string;
/** Identifier of one participant’s connection to a call. */
export type ConnectionId = string;
/** The kind of connectivity; only Bluetooth is supported. */
export type ConnectivityType = 'bluetooth';
/** The name of a consumer of the stream of events, which the application chooses. */
export type ConsumerName = string;
/** Media type that the device will send with the file. */
export type ContentType = string;
/** A webhook delivery, or null. */
export type DeliveryRowOrNull = {
  deliveryId: DeliveryId;
  applicationId: ApplicationId;
  deviceId: string | null;
  transactionId: number | null;
  setting: WebhookSetting;
  /** The type of the event. */
  type: string;
  /** The URL of the last attempt; null before the first. */
  url: string | null;
  status: DeliveryStatus;
  /** The number of attempts. A redelivery sets it to 0. */
  attempts: number;
  /** The status code of the answer to the last attempt; null if there was no answer. */
  lastStatusCode: number | null;
  /** The reason why the last attempt failed, for people. */
  lastError: string | null;
  nextAttemptAt: UtcDateTimeOrNull;
  createdAt: UtcDateTime;
  updatedAt: UtcDateTime;
} | null;
/** Identifier of a note on a device. */
export type NoteId = string;
/** The value of a tag. */
export type TagValue = string;
/** State of a device in a rollout. `waiting`: it has no command yet; `unfinished`: its transaction has no result yet; `confirming`: its transaction has succeeded, and the device has to be seen again; `unchanged`: it has what the command would give it already; `refused`: it cannot have the command. */
export type RolloutDeviceState =
  'waiting' | 'unfinished' | 'confirming' | 'succeeded' | 'failed' | 'cancelled' | 'unchanged' | 'refused';
/** Rises by one within a device of the application, so a gap means that an event is missing. Absent if the event is about no device. */
export type DeviceSequence = number;
/** ISO 8601 date-time with an offset or `Z`, with the precision of the device's clock; from 1970 to 2199. */
export type DeviceTime = string;
/** A kind of diagnostics. */
export type DiagnosticKind = 'logs' | 'status' | 'network';
/** Identifier of a file that an app on the device uploads, made by the device. */
export type FileId = string;
/** Name of a file that a device uploads. */
export type FileName = string;
/** In bytes. */
export type FileSize = number;
/** SHA-256 of the stored file, in hexadecimal digits. */
export type Sha256 = string;
/**
 * Kinds of diagnostics, each of which becomes a file. `logs`: the latest lines of the device's log; `status`: its versions, battery, storage and settings, without passwords; `network`: its connections, signal and addresses.
 *
 * @minItems 1
 * @maxItems 3
 */
export type DiagnosticKinds = DiagnosticKind[];
/** Why somebody asks, for people who read the history of the device. The device may write it into the files. */
export type DiagnosticNote = string;
/** The time at which the distribution was started, as ISO 8601 local date-time with microseconds; never before 2026-03-26. Left out while the distribution is not started. */
export type DistributionDate = string;
/** Name of a page of the documents, or of a file that such pages load. */
export type DocsPage = string;
/** ISO 8601 date-time, with at most microseconds: a moment in UTC with `Z` at its end, or a local date-time in the time zone of the service without it. */
export type EitherTime = string;
/** `pending`: it waits for its next attempt. `blocked`: it waits for an earlier event of its device, or until its endpoint is enabled. `delivered`: it was accepted. `exhausted`: the last attempt failed. `gone`: the receiver answered 410. `skipped`: somebody gave it up. */
export type EndpointDeliveryStatus = 'pending' | 'blocked' | 'delivered' | 'exhausted' | 'gone' | 'skipped';
/** Identifier of an endpoint. */
export type EndpointId = string;
/** `device`: the next event of a device is sent only when the one before was accepted or given up; events of other devices go on. `none`: events are sent side by side. */
export type EndpointOrder = 'none' | 'device';
/** The one-time code of an enrolment batch. The service stores only its hash. */
export type EnrolmentCode = string;
/** A secret that a device makes before its first request for enrolment, of at least 128 random bits, and repeats in each further one. The service stores only its hash. */
export type EnrolmentNonce = string;
/** Identifier of an event, unique on its device. A repetition has the same one. */
export type EventId = string;
/** The place of an event in the stream of its application. It rises, not by one. 0 is the beginning of the stream. */
export type EventSequence = number;
/**
 * Types of events. A type with `.*` at its end stands for all that begin with it, such as `transaction.*`.
 *
 * @maxItems 16
 */
export type EventTypeFilter = string[];
/** Seconds in which the command must be delivered. A command that is not delivered by then ends as `failed` with the code `EXPIRED`. Without it, the command waits for ever. A command is delivered when the service has the device’s PUBACK or its first acknowledgement. */
export type ExpireIn = number;
/** An object that the service passes on without reading its members, nested at most 32 levels deep. */
export type JsonObject = Record<string, unknown>;
/** An object that the service passes on without reading its members, or null. */
export type JsonObjectOrNull = Record<string, unknown> | null;
/** Well-formed BCP 47 language tag (RFC 5646 2.1), passed on unchanged. 35 characters are enough for every tag in practice (RFC 5646 4.4.1). */
export type LanguageTag = string;
/** `latest`: only the newest version of each package. */
export type ListMode = 'latest';
/** Identifier of a person of a developer. */
export type MemberId = string;
/** What a person of a developer may do with its applications. `admin`: everything, and decide who else gets in. `developer`: everything else. `reader`: look. */
export type MemberRole = 'admin' | 'developer' | 'reader';
/** Absolute URL. */
export type Url = string;
/**
 * Files of one call. Each name occurs once.
 *
 * @minItems 1
 * @maxItems 32
 */
export type RecordedFiles = RecordedFile[];
/** Identifier of a request, made by the device. The answer has the same one. */
export type RequestId = string;
/** Seconds in which the device has to reach the service over a new connection with the new list. If it does not, it takes its former list again, and the transaction ends as `failed` with the code `REVERTED`. Without it, a list stays on the device whether it reaches the service with it or not. */
export type RevertAfter = number;
/** Why the rollout is paused. `REQUESTED`: somebody asked for it; `ABORT_RULE`: too many devices failed; `STAGE_FAILED`: all devices of the stage have ended, and too few succeeded for the next stage; `HEALTH_RULE`: the devices with the release are less well than a health rule allows; `HEALTH_UNKNOWN`: a health rule knows too little of them; `DATABASE_RESTORED`: the service does not know what happened since the backup. All others are codes of errors, such as `DISTRIBUTION_STOPPED` or `NOTIFICATION_NOT_CONFIGURED`. */
export type RolloutReason = string | null;
/** An order to a rollout: the name of its operation, in short. */
export type RolloutOrder = 'revert' | 'resume' | 'approve' | 'pause' | 'retry' | 'change' | 'cancel';
/** How the devices of the stage that have the release are, beside devices that wait for it; of one moment. Null while nothing is watched. */
export type RolloutStageHealth = {
  at: UtcDateTime;
  treated: RolloutGroupHealth;
  control: RolloutGroupHealth;
} | null;
/** A stage as far as a person decides by it, in words and coarse steps: it changes when the person might decide differently, and not with each look. Null before the stage begins. */
export type RolloutVerdict = {
  /** Its devices that have succeeded, rounded down to 1, 2, 5, 10, 20, 50 and so on. */
  succeeded: number;
  /** Its devices that have failed. */
  failed: number;
  /** The codes of these failures. */
  codes: string[];
  /** The devices of the stages before it that have failed. */
  failedBefore: number;
  /** Its watched devices that were seen since their result, rounded down in the same way. */
  seen: number;
  /** Its watched devices that are silent; from 10 on rounded down in the same way. */
  silent: number;
  /** How its devices are, beside those that wait. A word stays until the figures clearly say another one. */
  measures: {
    silent: RolloutMeasureWord;
    reconnects: RolloutMeasureWord;
    events: RolloutMeasureWord;
    failedCommands: RolloutMeasureWord;
    batteryDrop: RolloutMeasureWord;
    storageFree: RolloutMeasureWord;
    versionKept: RolloutMeasureWord;
  };
  /** The measures of the health rules that have paused the rollout in this stage, also of those that somebody has accepted since. */
  fired: string[];
  /** The reason for which the rollout is paused in this stage; null while it is not. */
  paused: RolloutReason;
} | null;
/** `unknown`: too little is known; `good`: not worse than devices that wait; `worse`: worse than these, and hardly by chance, or near the limit of a rule; of `versionKept`: not all report the version; `broken`: beyond the limit of a health rule. */
export type RolloutMeasureWord = 'unknown' | 'good' | 'worse' | 'broken';
/** How far the abort rule is from stopping the rollout, by the results since the latest resume; null without a rule. */
export type RolloutAbortState = {
  failures: number;
  /** The failures, and the successes. */
  results: number;
  /** The number of failures that stops it, if all further results until then are failures; null when the devices that are left cannot be so many. */
  stopsAt: number | null;
  /** The failures before the latest resume, which somebody has accepted. */
  acceptedFailures: number;
  acceptedResults: number;
} | null;
/** The most commands that are made in a minute: a number, or a rate that grows with confirmed successes. */
export type RolloutRate =
  | number
  | {
      /** The rate at the beginning. */
      from: number;
      /** The highest rate. */
      to: number;
      /** The rate doubles after each so many devices that have succeeded for good. */
      doubleAfter: number;
    };
/**
 * What must be true of the health of devices that have the release.
 *
 * @minItems 1
 * @maxItems 10
 */
export type RolloutHealthRules = RolloutHealthRule[];
/** Who changed the rollout: the application, administration, or the service itself by a rule. */
export type RolloutActor = 'application' | 'administration' | 'service';
/** What a health rule saw when it paused the rollout; null for all other entries. */
export type RolloutHealthFinding = {
  rule: RolloutHealthRule;
  treated: RolloutHealthGroup;
  control: RolloutHealthGroup;
  /** The probability that chance alone makes such a difference; null where the rule compares with nothing. */
  probability: number | null;
} | null;
/** The numbers of devices that cannot be brought back, as far as this is known now. The new rollout lists them as `refused` with the code. */
export type RolloutLeftOut = {
  /** `FORMER_UNKNOWN`: the service does not know its former settings; `SUPERSEDED`: it got a later command in the place of the rollout’s; `DEVICE_NOT_ACTIVATED`: it is not activated any more. */
  code: 'FORMER_UNKNOWN' | 'SUPERSEDED' | 'DEVICE_NOT_ACTIVATED';
  devices: number;
}[];
/** Parts of the rollout that its developer may not have meant. None of them stops it. */
export type RolloutWarnings = {
  code:
    | 'NO_DEVICES'
    | 'NOBODY_CONNECTED'
    | 'NOT_CONFIRMED'
    | 'NO_ABORT_RULE'
    | 'ABORT_RULE_OUT_OF_REACH'
    | 'HEALTH_RULE_OUT_OF_REACH'
    | 'CODE_NEVER_COMES'
    | 'NO_ANSWER_BEFORE_REVERT'
    | 'SMALL_FIRST_STAGE'
    | 'OVERLAP';
  /** A sentence for people. */
  message: string;
}[];
/** The absolute `https` URL, without credentials, that the service sends requests to (also `http` if the service allows it); null removes it. */
export type SettingUrl = string | null;
/**
 * How notifications are signed, by Standard Webhooks: `v1` with a secret that the receiver shares (HMAC-SHA256), `v1a` with a key pair of the endpoint (Ed25519), whose public half the receiver reads.
 *
 * @minItems 1
 * @maxItems 1
 */
export type SignatureSchemes = ('v1' | 'v1a')[];
/** Signature of ed25519 in base64, over the text `lapel-software-v1`, package, version and SHA-256 of the file, each with a line end (`\n`) behind it. */
export type SoftwareSignature = string;
/** `true`: the command takes the place of the application’s older unfinished commands of the same operation for the device; of installs, those of the same package. They end as `cancelled` with the code `SUPERSEDED`. */
export type Supersede = 'true' | 'false';
/** The key of a tag. */
export type TagKey = string;
/** The number of matching rows; null if the service would have to read more than 10,000 rows to count them, or more than 2,000 with a filter. */
export type TotalIfKnown = number | null;
/** The `occurredAt` of the event as the device sent it. It is only there when the service could not read it; `timestamp` is then the time of arrival. An object or a list is given as its JSON; a text ends after 256 characters. */
export type UnreadTime = string | number | boolean | null;
/** The URL that a device uploads to: absolute, `https`, without credentials (also `http` if the service allows it). */
export type UploadAddress = string;
/** Headers that the upload must have, by name. Host, Content-Length and headers of a connection (hop-by-hop) are refused. */
export type UploadHeaders = Record<string, string>;
/** Method of the upload; PUT if the answer leaves it out. */
export type UploadMethod = 'PUT' | 'POST';
/** SHA-256 of the bytes that the device has sent, in hexadecimal digits. Devices of earlier firmware leave it out. */
export type UploadedSha256 = string;
/** Data of `call.started`, `call.ended` and any other `call.` event: the call. Further members are passed on unchanged. */
export type CallEventData = {callId: string} & Record<string, unknown>;
/** Data of `custom.` events, which a device defines itself (an SOS button, a low battery, tampering): any object of at most 32 KiB as JSON, nested at most 32 levels deep. It is passed on unchanged. */
export type CustomEventData = Record<string, unknown>;
/**
 * The complete list of the device's access point names.
 *
 * @maxItems 32
 */
export type ApnSettings = ApnEntry[];
/** A replay that is running; null: none is. */
export type ReplayOrNull = {
  replayId: string;
  /** The event up to which it has come. */
  after: EventSequence;
  /** The last event of it. */
  until: EventSequence;
  /** Only events of these types; empty: of those of the endpoint. */
  types: EventTypeFilter;
  /** Only events of this device; null: of all. */
  deviceId: string | null;
  /** How many events it has sent again so far. */
  events: number;
  startedAt: LocalDateTime;
} | null;
/**
 * The complete list of the device's Wi-Fi networks, at most 100.
 *
 * @maxItems 100
 */
export type WifiSettings = WifiEntry[];

/** The type of every schema, by its name: `rest/wifi-settings` is `schemas/rest/wifi-settings.json`. */
export interface SchemaTypes {
  'admin/action-device-list': ActionDeviceList;
  'admin/action-device-query': ActionDeviceQuery;
  'admin/administrator-token': AdministratorToken;
  'admin/alarm-list': AlarmList;
  'admin/alarm-receiver': AlarmReceiver;
  'admin/application': ApplicationAnswer;
  'admin/application-certificate': ApplicationCertificate;
  'admin/application-certificate-create': ApplicationCertificateCreate;
  'admin/application-certificate-list': ApplicationCertificateList;
  'admin/application-create': ApplicationCreate;
  'admin/application-created': ApplicationCreated;
  'admin/application-list': ApplicationList;
  'admin/application-row': ApplicationRow;
  'admin/application-row-list': ApplicationRowList;
  'admin/application-row-query': ApplicationRowQuery;
  'admin/application-secret': ApplicationSecret;
  'admin/application-secret-create': ApplicationSecretCreate;
  'admin/application-secret-issued': ApplicationSecretIssued;
  'admin/application-secret-list': ApplicationSecretList;
  'admin/application-secret-row': ApplicationSecretRow;
  'admin/application-update': ApplicationUpdate;
  'admin/audit-entry': AuditEntry;
  'admin/audit-export-query': AuditExportQuery;
  'admin/audit-list': AuditList;
  'admin/audit-query': AuditQuery;
  'admin/audit-verification': AuditVerification;
  'admin/audit-verification-query': AuditVerificationQuery;
  'admin/caller': Caller;
  'admin/console-login': ConsoleLogin;
  'admin/console-session': ConsoleSession;
  'admin/console-session-list': ConsoleSessionList;
  'admin/console-session-state': ConsoleSessionState;
  'admin/contents': Contents;
  'admin/counted-person': CountedPerson;
  'admin/credential-replace': CredentialReplace;
  'admin/credential-replaced': CredentialReplaced;
  'admin/delivery-query': DeliveryQuery;
  'admin/developer': DeveloperAnswer;
  'admin/developer-create': DeveloperCreate;
  'admin/developer-details': DeveloperDetails;
  'admin/developer-list': DeveloperList;
  'admin/developer-update': DeveloperUpdate;
  'admin/device': DeviceAnswer;
  'admin/device-action': DeviceAction;
  'admin/device-action-count': DeviceActionCount;
  'admin/device-action-list': DeviceActionList;
  'admin/device-action-query': DeviceActionQuery;
  'admin/device-action-start': DeviceActionStart;
  'admin/device-authority': DeviceAuthority;
  'admin/device-authority-create': DeviceAuthorityCreate;
  'admin/device-authority-list': DeviceAuthorityList;
  'admin/device-connection': DeviceConnection;
  'admin/device-delete-query': DeviceDeleteQuery;
  'admin/device-filter': DeviceFilter;
  'admin/device-list': DeviceList;
  'admin/device-register': DeviceRegister;
  'admin/device-registered': DeviceRegistered;
  'admin/device-samples': DeviceSamples;
  'admin/device-samples-query': DeviceSamplesQuery;
  'admin/device-status': FleetDeviceStatus;
  'admin/device-story': DeviceStory;
  'admin/device-transaction-query': DeviceTransactionQuery;
  'admin/device-update': DeviceUpdate;
  'admin/encryption': Encryption;
  'admin/enrolment-batch': EnrolmentBatch;
  'admin/enrolment-batch-create': EnrolmentBatchCreate;
  'admin/enrolment-batch-created': EnrolmentBatchCreated;
  'admin/enrolment-batch-list': EnrolmentBatchList;
  'admin/enrolment-device': EnrolmentDevice;
  'admin/enrolment-list': EnrolmentList;
  'admin/enrolment-query': EnrolmentQuery;
  'admin/failure-breakdown': FailureBreakdown;
  'admin/failure-query': FailureQuery;
  'admin/firmware-version-list': FirmwareVersionList;
  'admin/fleet-breakdown': FleetBreakdown;
  'admin/fleet-breakdown-query': FleetBreakdownQuery;
  'admin/fleet-device-query': FleetDeviceQuery;
  'admin/fleet-health': FleetHealth;
  'admin/fleet-health-query': FleetHealthQuery;
  'admin/fleet-history': FleetHistory;
  'admin/fleet-history-query': FleetHistoryQuery;
  'admin/fleet-samples': FleetSamples;
  'admin/fleet-samples-query': FleetSamplesQuery;
  'admin/fleet-summary': FleetSummary;
  'admin/health': Health;
  'admin/imported-device': ImportedDevice;
  'admin/installation-query': InstallationQuery;
  'admin/leading-url': LeadingUrl;
  'admin/line-query': LineQuery;
  'admin/node-list': NodeList;
  'admin/object-store-key-renew': ObjectStoreKeyRenew;
  'admin/package-row': PackageRow;
  'admin/package-row-list': PackageRowList;
  'admin/package-row-query': PackageRowQuery;
  'admin/person': Person;
  'admin/person-create': PersonCreate;
  'admin/person-details': PersonDetails;
  'admin/person-list': PersonList;
  'admin/person-login': PersonLogin;
  'admin/person-token': PersonToken;
  'admin/person-token-create': PersonTokenCreate;
  'admin/person-token-created': PersonTokenCreated;
  'admin/person-update': PersonUpdate;
  'admin/receiver': Receiver;
  'admin/receiver-list': ReceiverList;
  'admin/receiver-query': ReceiverQuery;
  'admin/redelivery-range': FleetRedeliveryRange;
  'admin/removal': Removal;
  'admin/removal-list': RemovalList;
  'admin/removal-query': RemovalQuery;
  'admin/removal-request': RemovalRequest;
  'admin/rollout-query': FleetRolloutQuery;
  'admin/search-query': SearchQuery;
  'admin/search-results': SearchResults;
  'admin/service-software-put': ServiceSoftwarePut;
  'admin/service-software-version': ServiceSoftwareVersion;
  'admin/setting-list': SettingList;
  'admin/sign-in': SignIn;
  'admin/signing-key-list': SigningKeyList;
  'admin/signing-key-renew': SigningKeyRenew;
  'admin/software-key-create': SoftwareKeyCreate;
  'admin/software-key-list': SoftwareKeyList;
  'admin/story-entry': StoryEntry;
  'admin/story-query': StoryQuery;
  'admin/system-package-list': SystemPackageList;
  'admin/transaction-query': TransactionQuery;
  'admin/transactions-cancel': TransactionsCancel;
  'admin/transactions-cancelled': TransactionsCancelled;
  'admin/version-row': VersionRow;
  'admin/version-row-list': VersionRowList;
  'admin/version-row-query': VersionRowQuery;
  'common/action-code': ActionCode;
  'common/action-device-state': ActionDeviceState;
  'common/action-id': ActionId;
  'common/action-name': ActionName;
  'common/action-state': ActionState;
  'common/answer-within': AnswerWithin;
  'common/apk-certificate': ApkCertificate;
  'common/apn-entry': ApnEntry;
  'common/application-authentication': ApplicationAuthentication;
  'common/application-certificate-id': ApplicationCertificateId;
  'common/application-id': ApplicationId;
  'common/authentication-key': AuthenticationKey;
  'common/authority-id': AuthorityId;
  'common/batch-id': BatchId;
  'common/binary-warning-list': BinaryWarningList;
  'common/bluetooth-name': BluetoothName;
  'common/call-id': CallId;
  'common/certificate-fingerprint': CertificateFingerprint;
  'common/certificate-rule': CertificateRule;
  'common/certification-request': CertificationRequest;
  'common/client-id': ClientId;
  'common/connection-id': ConnectionId;
  'common/connectivity-type': ConnectivityType;
  'common/console-session-id': ConsoleSessionId;
  'common/consumer-name': ConsumerName;
  'common/content-type': ContentType;
  'common/credential': Credential;
  'common/delivery-detail': DeliveryDetail;
  'common/delivery-id': DeliveryId;
  'common/delivery-row': DeliveryRow;
  'common/delivery-row-list': DeliveryRowList;
  'common/delivery-row-or-null': DeliveryRowOrNull;
  'common/delivery-status': DeliveryStatus;
  'common/description': Description;
  'common/developer-id': DeveloperId;
  'common/device-error': DeviceError;
  'common/device-id': DeviceId;
  'common/device-limit': DeviceLimit;
  'common/device-note': DeviceNote;
  'common/device-note-create': DeviceNoteCreate;
  'common/device-note-list': DeviceNoteList;
  'common/device-row': DeviceRow;
  'common/device-row-list': DeviceRowList;
  'common/device-selector': DeviceSelector;
  'common/device-sequence': DeviceSequence;
  'common/device-time': DeviceTime;
  'common/diagnostic-file': DiagnosticFile;
  'common/diagnostic-kind': DiagnosticKind;
  'common/diagnostic-kinds': DiagnosticKinds;
  'common/diagnostic-note': DiagnosticNote;
  'common/display-name': DisplayName;
  'common/distribution-date': DistributionDate;
  'common/docs-page': DocsPage;
  'common/duration': Duration;
  'common/either-time': EitherTime;
  'common/endpoint-delivery-status': EndpointDeliveryStatus;
  'common/endpoint-id': EndpointId;
  'common/endpoint-order': EndpointOrder;
  'common/enrolment-approval': EnrolmentApproval;
  'common/enrolment-code': EnrolmentCode;
  'common/enrolment-nonce': EnrolmentNonce;
  'common/enrolment-state': EnrolmentState;
  'common/event-id': EventId;
  'common/event-sequence': EventSequence;
  'common/event-type-filter': EventTypeFilter;
  'common/expire-in': ExpireIn;
  'common/fault': Fault;
  'common/fault-type': FaultType;
  'common/feed-query': FeedQuery;
  'common/file-id': FileId;
  'common/file-name': FileName;
  'common/file-size': FileSize;
  'common/firmware-version': FirmwareVersion;
  'common/hardware-properties': HardwareProperties;
  'common/installation-counts': InstallationCounts;
  'common/installations': InstallationList;
  'common/issued-certificate-or-null': IssuedCertificateOrNull;
  'common/json-object': JsonObject;
  'common/json-object-or-null': JsonObjectOrNull;
  'common/language-tag': LanguageTag;
  'common/list-mode': ListMode;
  'common/local-date-time': LocalDateTime;
  'common/local-date-time-or-null': LocalDateTimeOrNull;
  'common/mac-address': MacAddress;
  'common/mcp-error': McpError;
  'common/mcp-message': McpMessage;
  'common/member': Member;
  'common/member-create': MemberCreate;
  'common/member-created': MemberCreated;
  'common/member-id': MemberId;
  'common/member-list': MemberList;
  'common/member-role': MemberRole;
  'common/message-error': MessageError;
  'common/moment': Moment;
  'common/name': Name;
  'common/note-id': NoteId;
  'common/operation': Operation;
  'common/package-name': PackageName;
  'common/paging-query': PagingQuery;
  'common/percent': Percent;
  'common/person-id': PersonId;
  'common/person-token-id': PersonTokenId;
  'common/protected-resource-metadata': ProtectedResourceMetadata;
  'common/provider-id': ProviderId;
  'common/reason-error': ReasonError;
  'common/recorded-file': RecordedFile;
  'common/recorded-files': RecordedFiles;
  'common/removal-id': RemovalId;
  'common/request-id': RequestId;
  'common/revert-after': RevertAfter;
  'common/role': Role;
  'common/rollout': RolloutDetails;
  'common/rollout-abort': RolloutAbortRule;
  'common/rollout-abort-state-or-null': RolloutAbortState;
  'common/rollout-actor': RolloutActor;
  'common/rollout-confirm': RolloutConfirm;
  'common/rollout-counts': RolloutCounts;
  'common/rollout-detail-query': RolloutDetailQuery;
  'common/rollout-device-list': RolloutDeviceList;
  'common/rollout-device-state': RolloutDeviceState;
  'common/rollout-group-health': RolloutGroupHealth;
  'common/rollout-health-finding-or-null': RolloutHealthFinding;
  'common/rollout-health-group': RolloutHealthGroup;
  'common/rollout-health-list': RolloutHealthRules;
  'common/rollout-health-rule': RolloutHealthRule;
  'common/rollout-health-state': RolloutHealthState;
  'common/rollout-id': RolloutId;
  'common/rollout-in-work': RolloutInWork;
  'common/rollout-left-out': RolloutLeftOut;
  'common/rollout-measure-word': RolloutMeasureWord;
  'common/rollout-operation': RolloutOperation;
  'common/rollout-order': RolloutOrder;
  'common/rollout-rate': RolloutRate;
  'common/rollout-reason': RolloutReason;
  'common/rollout-results': RolloutResults;
  'common/rollout-row': RolloutRow;
  'common/rollout-row-list': RolloutRowList;
  'common/rollout-stage': RolloutStage;
  'common/rollout-stage-health-or-null': RolloutStageHealth;
  'common/rollout-state': RolloutState;
  'common/rollout-verdict-or-null': RolloutVerdict;
  'common/rollout-warnings': RolloutWarnings;
  'common/rollout-window': RolloutWindow;
  'common/salt': Salt;
  'common/secret': Secret;
  'common/secret-id': SecretId;
  'common/seen-within': SeenWithin;
  'common/setting-url': SettingUrl;
  'common/sha256': Sha256;
  'common/signature-rule': SignatureRule;
  'common/signature-schemes': SignatureSchemes;
  'common/software-key': SoftwareKey;
  'common/software-key-id': SoftwareKeyId;
  'common/software-public-key': SoftwarePublicKey;
  'common/software-signature': SoftwareSignature;
  'common/supersede': Supersede;
  'common/tag-key': TagKey;
  'common/tag-patch': TagPatch;
  'common/tag-term': TagTerm;
  'common/tag-value': TagValue;
  'common/tags': Tags;
  'common/total': Total;
  'common/total-if-known': TotalIfKnown;
  'common/transaction-detail': TransactionDetail;
  'common/transaction-id': TransactionId;
  'common/transaction-row': TransactionRow;
  'common/transaction-row-list': TransactionRowList;
  'common/transaction-status': TransactionStatus;
  'common/unread-time': UnreadTime;
  'common/upload-address': UploadAddress;
  'common/upload-headers': UploadHeaders;
  'common/upload-method': UploadMethod;
  'common/uploaded-sha256': UploadedSha256;
  'common/url': Url;
  'common/utc-date-time': UtcDateTime;
  'common/utc-date-time-or-null': UtcDateTimeOrNull;
  'common/version-name': VersionName;
  'common/version-range': VersionRange;
  'common/webhook-setting': WebhookSetting;
  'common/wifi-entry': WifiEntry;
  'files/administration': FileAdministration;
  'files/application': FileApplication;
  'files/configuration': Configuration;
  'files/developer': FileDeveloper;
  'files/endpoint': FileEndpoint;
  'files/enrolment-batch': FileEnrolmentBatch;
  'files/member': FileMember;
  'files/package': FilePackage;
  'files/person': FilePerson;
  'files/plan': FilesPlan;
  'files/rollout': FileRollout;
  'files/tagging': FileTagging;
  'files/version': FileVersion;
  'mqtt/ack': Ack;
  'mqtt/activate-parameters': ActivateParameters;
  'mqtt/bluetooth-event-data': BluetoothEventData;
  'mqtt/call-event-data': CallEventData;
  'mqtt/cancel-parameters': CancelParameters;
  'mqtt/command': Command;
  'mqtt/connectivity-state-parameters': ConnectivityStateParameters;
  'mqtt/connectivity-type-parameters': ConnectivityTypeParameters;
  'mqtt/custom-event-data': CustomEventData;
  'mqtt/deactivate-parameters': DeactivateParameters;
  'mqtt/diagnostics-parameters': DiagnosticsParameters;
  'mqtt/error': MessageFault;
  'mqtt/event': DeviceEvent;
  'mqtt/file-upload-failed-data': FileUploadFailedData;
  'mqtt/file-upload-succeeded-data': FileUploadSucceededData;
  'mqtt/file-upload-url': FileUploadUrl;
  'mqtt/file-upload-url-request': FileUploadUrlRequest;
  'mqtt/install-parameters': InstallParameters;
  'mqtt/pair-bluetooth-parameters': PairBluetoothParameters;
  'mqtt/recording-failed-data': RecordingFailedData;
  'mqtt/recording-saved-data': RecordingSavedData;
  'mqtt/recording-upload-urls': RecordingUploadUrls;
  'mqtt/recording-upload-urls-request': RecordingUploadUrlsRequest;
  'mqtt/request': DeviceRequest;
  'mqtt/response': DeviceResponse;
  'mqtt/results/collect-diagnostics': CollectDiagnosticsResult;
  'mqtt/results/get-connectivity-state': GetConnectivityStateResult;
  'mqtt/results/install-software': InstallSoftwareResult;
  'mqtt/results/list-connectivity': ListConnectivityResult;
  'mqtt/results/none': NoResult;
  'mqtt/results/pair-bluetooth': PairBluetoothResult;
  'mqtt/results/set-connectivity-state': SetConnectivityStateResult;
  'mqtt/results/update-firmware': UpdateFirmwareResult;
  'mqtt/set-apn-parameters': SetApnParameters;
  'mqtt/set-language-parameters': SetLanguageParameters;
  'mqtt/set-wifi-parameters': SetWifiParameters;
  'mqtt/software-download-url': SoftwareDownloadUrl;
  'mqtt/software-download-url-request': SoftwareDownloadUrlRequest;
  'mqtt/status': ReportedStatus;
  'rest/activation-request': ActivationRequest;
  'rest/activation-status': ActivationStatus;
  'rest/apn-settings': ApnSettings;
  'rest/app-upload': AppUpload;
  'rest/app-upload-urls': AppUploadUrls;
  'rest/application-settings': ApplicationSettings;
  'rest/application-settings-update': ApplicationSettingsUpdate;
  'rest/authentication-key': AuthenticationKeyAnswer;
  'rest/authorization-server-metadata': AuthorizationServerMetadata;
  'rest/available-software': AvailableSoftware;
  'rest/available-software-query': AvailableSoftwareQuery;
  'rest/available-version': AvailableVersionRecord;
  'rest/binary-status': BinaryStatus;
  'rest/bluetooth-pairing': BluetoothPairing;
  'rest/connectivity-query': ConnectivityQuery;
  'rest/connectivity-state': ConnectivityState;
  'rest/delivery': Delivery;
  'rest/delivery-list': DeliveryList;
  'rest/delivery-list-query': DeliveryListQuery;
  'rest/device-count': DeviceCount;
  'rest/device-count-request': DeviceCountRequest;
  'rest/device-status': DeviceStatus;
  'rest/device-status-list': DeviceStatusList;
  'rest/device-status-query': DeviceStatusQuery;
  'rest/diagnostics-request': DiagnosticsRequest;
  'rest/distribution-started': DistributionStarted;
  'rest/distribution-status': DistributionStatus;
  'rest/endpoint': Endpoint;
  'rest/endpoint-create': EndpointCreate;
  'rest/endpoint-created': EndpointCreated;
  'rest/endpoint-delivery-list': EndpointDeliveryList;
  'rest/endpoint-delivery-list-query': EndpointDeliveryListQuery;
  'rest/endpoint-list': EndpointList;
  'rest/endpoint-secret-replace': EndpointSecretReplace;
  'rest/endpoint-test-answer': EndpointTestAnswer;
  'rest/endpoint-update': EndpointUpdate;
  'rest/enrolment': Enrolment;
  'rest/enrolment-pending': EnrolmentPending;
  'rest/enrolment-request': EnrolmentRequest;
  'rest/event-consumer': EventConsumer;
  'rest/event-consumer-list': EventConsumerList;
  'rest/event-consumer-update': EventConsumerUpdate;
  'rest/event-list': EventList;
  'rest/event-list-query': EventListQuery;
  'rest/expiry-query': ExpiryQuery;
  'rest/firmware-list': FirmwareList;
  'rest/firmware-state': FirmwareState;
  'rest/hardware-properties': DeviceHardware;
  'rest/install-request': InstallRequest;
  'rest/jwks': JsonWebKeySet;
  'rest/language-setting': LanguageSetting;
  'rest/network-query': NetworkQuery;
  'rest/own-access': OwnAccess;
  'rest/own-audit-list': OwnAuditList;
  'rest/own-audit-query': OwnAuditQuery;
  'rest/own-device-query': OwnDeviceQuery;
  'rest/own-fleet': OwnFleet;
  'rest/own-installation-query': OwnInstallationQuery;
  'rest/own-transaction-query': OwnTransactionQuery;
  'rest/package': PackageRecord;
  'rest/package-create': PackageCreate;
  'rest/package-list': PackageList;
  'rest/package-update': PackageUpdate;
  'rest/redelivered': Redelivered;
  'rest/redelivery-range': RedeliveryRange;
  'rest/renewal': Renewal;
  'rest/renewal-request': RenewalRequest;
  'rest/replay': ReplayOrNull;
  'rest/replay-answer': ReplayAnswer;
  'rest/replay-request': ReplayRequest;
  'rest/rollout-approval': RolloutApproval;
  'rest/rollout-create': RolloutCreate;
  'rest/rollout-created': RolloutCreated;
  'rest/rollout-device-query': RolloutDeviceQuery;
  'rest/rollout-dry-run': RolloutDryRun;
  'rest/rollout-query': RolloutQuery;
  'rest/rollout-retried': RolloutRetried;
  'rest/rollout-retry': RolloutRetry;
  'rest/rollout-revert': RolloutRevert;
  'rest/rollout-revert-dry-run': RolloutRevertDryRun;
  'rest/rollout-reverted': RolloutReverted;
  'rest/rollout-update': RolloutUpdate;
  'rest/signature-put': SignaturePut;
  'rest/software-trust': SoftwareTrust;
  'rest/stream-event': StreamEvent;
  'rest/tagged': Tagged;
  'rest/tagging': Tagging;
  'rest/terms-query': TermsQuery;
  'rest/token-answer': TokenAnswer;
  'rest/token-error': TokenError;
  'rest/token-request': TokenRequest;
  'rest/transaction-list': TransactionList;
  'rest/transaction-list-query': TransactionListQuery;
  'rest/transaction-record': TransactionRecord;
  'rest/transaction-response': TransactionResponse;
  'rest/upload-url': UploadUrlEntry;
  'rest/upload-urls': UploadUrls;
  'rest/version': VersionRecord;
  'rest/version-create': VersionCreate;
  'rest/version-list': VersionList;
  'rest/version-list-query': VersionListQuery;
  'rest/version-signature': VersionSignature;
  'rest/version-update': VersionUpdate;
  'rest/webhook-test': WebhookTest;
  'rest/webhook-test-sent': WebhookTestSent;
  'rest/wifi-settings': WifiSettings;
  'webhooks/bluetooth-event': BluetoothEvent;
  'webhooks/call-event': CallEvent;
  'webhooks/custom-event': CustomEvent;
  'webhooks/endpoint-event': EndpointEvent;
  'webhooks/envelope': WebhookEnvelope;
  'webhooks/file-upload-failed': FileUploadFailed;
  'webhooks/file-upload-succeeded': FileUploadSucceeded;
  'webhooks/recording-failed': RecordingFailed;
  'webhooks/recording-saved': RecordingSaved;
  'webhooks/rollout-event': RolloutEvent;
  'webhooks/test-event': TestEvent;
  'webhooks/transaction-record': WebhookTransactionRecord;
  'webhooks/transaction-result': TransactionResult;
  'webhooks/upload-url-answer': UploadUrlAnswer;
  'webhooks/upload-url-request': UploadUrlRequest;
  'webhooks/upload-urls-answer': UploadUrlsAnswer;
  'webhooks/upload-urls-request': UploadUrlsRequest;
}
/** A page of the devices of a device action, in the order of their deviceIds. */
export interface ActionDeviceList {
  devices: {
    deviceId: DeviceId;
    state: ActionDeviceState;
    code: ActionCode;
    /** When it was changed, skipped or refused; before that, when it was found. */
    updatedAt: UtcDateTime;
  }[];
}
/** Query of the devices of a device action, with its defaults filled in. */
export interface ActionDeviceQuery {
  /** Only devices in this state. */
  state?: ActionDeviceState;
  /** Only devices with this code; needs `state`. */
  code?: string;
  /** The beginning of the page; take it from the `Link` of the page before. */
  after?: DeviceId;
  /** The largest number of rows in the answer. */
  limit: number;
}
/** Whether the administrator token of the settings is accepted. */
export interface AdministratorToken {
  accepted: boolean;
}
/** What must be mended, and how the service is as a whole. */
export interface AlarmList {
  at: UtcDateTime;
  /** How the service is, in one word and one sentence for people. */
  verdict: {
    /** `well`: nothing must be mended, by figures that were looked at. `attention`: somebody must look at a warning. `critical`: users notice it now, or soon. `unknown`: nothing can be said yet. */
    state: 'well' | 'attention' | 'critical' | 'unknown';
    /** The sentence. */
    text: string;
  };
  /** The critical first. */
  alarms: {
    /** `part`: a part of the service that `/readyz` names. */
    kind:
      | 'part'
      | 'node'
      | 'clock'
      | 'database'
      | 'disk'
      | 'certificate'
      | 'retention'
      | 'people'
      | 'devicesGone'
      | 'devicesSilent'
      | 'devicesDeaf'
      | 'devicesContested'
      | 'devicesRefused'
      | 'commandsOld'
      | 'commandsRefused'
      | 'eventsRefused'
      | 'transfersRefused'
      | 'rolloutsStopped'
      | 'webhooksLate'
      | 'webhooksGivenUp'
      | 'receivers'
      | 'consumersBehind'
      | 'apiFaults'
      | 'apiSlow'
      | 'commitsSlow'
      | 'loopSlow'
      | 'memoryLow'
      | 'connectionsNearBound'
      | 'messagesWait'
      | 'hintsDropped'
      | 'numbersRaised'
      | 'removalStopped'
      | 'auditWaits';
    /** `critical`: users notice it now, or soon. `info`: good to know, nothing must be mended. */
    level: 'critical' | 'warning' | 'info';
    /** A sentence for people. */
    text: string;
    /** The node that it is about; null when it is about all, or there is one only. */
    nodeId: string | null;
  }[];
}
/** The receiver of LAPEL_ALARM_URL, as the node that was asked knows it. */
export interface AlarmReceiver {
  /** The host of the URL, which is not shown itself; null when no receiver is set. */
  host: string | null;
  /** Whether messages are signed with LAPEL_ALARM_KEY. */
  isSigned: boolean;
  /** The latest message that this node has sent; null before the first. */
  lastAttempt: {
    at: UtcDateTime;
    /** The status of the answer; null when there was none. */
    status: number | null;
    /** Why the receiver has not taken the message; null when it has. */
    error: string | null;
  } | null;
}
/** An application. */
export interface ApplicationAnswer {
  applicationId: ApplicationId;
  developerId: DeveloperId;
  name: Name;
  createdAt: LocalDateTime;
}
/** A certificate of an application, or a name in its certificates. */
export interface ApplicationCertificate {
  certificateId: ApplicationCertificateId;
  name: Name;
  /** `certificate`: this certificate; `subject`, `dns`, `uri`: each certificate of a CA of the service with this name. */
  kind: 'certificate' | 'subject' | 'dns' | 'uri';
  /** The SHA-256 of the certificate, base64url (`x5t#S256`); or the name. */
  value: string;
  /** The end of the certificate; null for a name. */
  expiresAt: UtcDateTimeOrNull;
  createdAt: UtcDateTime;
}
/** A certificate of the application, or a name that stands in its certificates. Exactly one of `certificate`, `subject`, `dns` and `uri` is given. */
export interface ApplicationCertificateCreate {
  name: Name;
  /** The certificate itself, in PEM, whoever has signed it (`self_signed_tls_client_auth`). It is good until it expires. */
  certificate?: string;
  /** The whole subject of certificates that a CA of the service signs (`tls_client_auth`), as `openssl x509 -noout -subject -nameopt RFC2253,-esc_msb` prints it: the most special part first. */
  subject?: string;
  /** A host name in the subjectAltName of such certificates, without a wildcard. */
  dns?: string;
  /** A URI in the subjectAltName of such certificates, such as a SPIFFE ID. */
  uri?: string;
}
/** All certificates of an application; at most 8. */
export interface ApplicationCertificateList {
  certificates: ApplicationCertificate[];
}
/** The body that creates an application of a developer. */
export interface ApplicationCreate {
  applicationId?: ApplicationId;
  name: Name;
}
/** The new application. Its secret is shown only here. */
export interface ApplicationCreated {
  applicationId: ApplicationId;
  name: Name;
  secret: Secret;
}
/** A page of the applications of a developer. */
export interface ApplicationList {
  applications: ApplicationAnswer[];
  total: Total;
}
/** An application in the list of all applications. */
export interface ApplicationRow {
  applicationId: ApplicationId;
  developerId: DeveloperId;
  name: Name;
  createdAt: UtcDateTime;
  /** The number of devices that are activated for the application. */
  activated: number;
  /** The time at which the authenticationKey was issued. */
  keyReplacedAt: UtcDateTimeOrNull;
  /** Whether an authenticationKey was issued. */
  hasKey: boolean;
  /** The URLs that webhooks are sent to; null if a setting has none. */
  settings: {
    deviceEvent: string | null;
    callEvent: string | null;
    callFileSendEvent: string | null;
    callRecGetMultiPresignedUrl: string | null;
    fileUploadEvent: string | null;
    fileUploadGetUrl: string | null;
  };
  authentication: ApplicationAuthentication;
}
/** A page of applications. */
export interface ApplicationRowList {
  applications: ApplicationRow[];
}
/** Query of the applications of all developers, with its defaults filled in. */
export interface ApplicationRowQuery {
  /** Only applications of this developer. */
  developerId?: DeveloperId;
  /** Only applications after this one, in the order of the list. */
  after?: ApplicationId;
  /** The largest number of rows in the answer. */
  limit: number;
}
/** The new secret, which is shown only here. The old one is invalid at once. */
export interface ApplicationSecret {
  secret: Secret;
}
/** The body that issues another secret. */
export interface ApplicationSecretCreate {
  /** What the secret is for. */
  name?: Name;
  /** The time at which the secret of before ends. If left out, it is valid until it is ended. */
  formerEndsAt?: Moment;
}
/** Another secret, which is shown only here. */
export interface ApplicationSecretIssued {
  secret: Secret;
  secretId: SecretId;
  /** What the secret is for; null if it has no name. */
  name: string | null;
  /** Null for a secret of a release that did not store it. */
  createdAt: UtcDateTimeOrNull;
  /** When a token was last issued for it, to the minute; null: never, or by an earlier release. */
  lastUsedAt: UtcDateTimeOrNull;
  /** When it ends by itself; null: when it is ended. */
  endsAt: UtcDateTimeOrNull;
}
/** The valid secrets of an application, the newest first. */
export interface ApplicationSecretList {
  secrets: ApplicationSecretRow[];
}
/** A valid secret of an application, without the secret itself. */
export interface ApplicationSecretRow {
  secretId: SecretId;
  /** What the secret is for; null if it has no name. */
  name: string | null;
  /** Null for a secret of a release that did not store it. */
  createdAt: UtcDateTimeOrNull;
  /** When a token was last issued for it, to the minute; null: never, or by an earlier release. */
  lastUsedAt: UtcDateTimeOrNull;
  /** When it ends by itself; null: when it is ended. */
  endsAt: UtcDateTimeOrNull;
}
/** How the application gets its tokens. */
export interface ApplicationUpdate {
  authentication: ApplicationAuthentication;
}
/** An entry of the audit log: a change, its author and its time. It never contains a body. */
export interface AuditEntry {
  /** Number of the entry; later entries have larger ones. */
  auditId: number;
  /** The time at which the request arrived. */
  at: UtcDateTime;
  actor: {
    /** The kind of the author: a session of the console, a token, the command line (with a token), an application, the service itself when it raised its numbers (`RAISE /numbers`: see docs/operations.md), or a command on the machine of the service (`machine`). */
    kind: 'session' | 'token' | 'command line' | 'application' | 'service' | 'machine';
    /** The name of the session, or the applicationId. */
    name: string | null;
    /** The name of the person at that time, or the name that people have given the application; null for other authors. */
    displayName: string | null;
    /** The person whose token or session it was; null for the administrator token, and for other authors. */
    personId: string | null;
    /** The name of that person's token; null without a person. */
    token: string | null;
  };
  /** Who did what, in a sentence for people. Programs read `action`. */
  sentence: string;
  /** The method and the path template of the request. */
  action: string;
  /** The path of the request, cut after 1024 characters. */
  resource: string;
  /** The status code of the answer. Null while there is no answer, or if the service ended before it. */
  status: number | null;
  /** Details of the change: the values that it changed (`before` and `after`; secrets are named and not shown), or the secrets that it replaced (`replaced`); the number of changed resources, if one request changes many; for raised numbers the reason (`reason`) and the transactionId that they continue after (`to`); for refused requests of an application the `code`, and the number of equal refusals within a minute (`repeated`). */
  details: {} | null;
  /** The IP address of the client. Behind a proxy that `LAPEL_TRUST_PROXY` does not name, it is that of the proxy. Null for entries of the service itself and of earlier releases. */
  address: string | null;
  /** The request id in the answer and in the log line. For entries of the service itself, the name of the new life of the database. */
  requestId: string;
  /** The objects that the change is about, with the names that people have given them. A name is null when there is none, or when the object no longer exists. */
  objects: {
    kind: 'device' | 'developer' | 'application' | 'package' | 'rollout' | 'person';
    id: string;
    name: string | null;
  }[];
  /** The place of the entry in the chain of hashes; null while its request has not ended, and for entries of earlier releases. */
  position: number | null;
  /** SHA-256, in hexadecimal digits, of the entry and of the hash before it; null without a position. */
  hash: string | null;
}
/** Filters of an export of the audit log. */
export interface AuditExportQuery {
  /** Only entries of this moment or later. */
  since?: Moment;
  /** Only entries before this moment. */
  until?: Moment;
  /** The kind of the author, or the name of one. */
  actor?: string;
  /** A part of the path, in upper or lower case. */
  resource?: string;
  /** Only entries about one object: its kind (`device`, `developer`, `application`, `package`, `rollout` or `person`), a colon and its identifier. */
  about?: string;
}
/** A page of the audit log, the newest entries first. */
export interface AuditList {
  entries: AuditEntry[];
}
/** Filters of the audit log. */
export interface AuditQuery {
  /** Only entries of this moment or later. */
  since?: Moment;
  /** Only entries before this moment. */
  until?: Moment;
  /** The kind of the author, or the name of one. */
  actor?: string;
  /** A part of the path, in upper or lower case. */
  resource?: string;
  /** Only entries about one object: its kind (`device`, `developer`, `application`, `package`, `rollout` or `person`), a colon and its identifier. */
  about?: string;
  /** Only rows after this one, in the order of the list. */
  after?: number;
  /** The largest number of rows in the answer. */
  limit: number;
}
/** What a check of the chain of hashes of the audit log has found. */
export interface AuditVerification {
  /** The number of entries that were checked. */
  entries: number;
  /** The position of the oldest entry that is left. */
  from: number;
  /** The end of the chain: the position and the hash of the last sealed entry. With a note of it elsewhere, a later check proves that it is still part of the chain. */
  head: {
    position: number;
    hash: string;
  };
  /** Whether the writer of the end of the chain had the encryption key. `right`: yes, and so had each writer since the entry at the position `since`. `none`: the end has no seal, because the service has no encryption key, or the last entry was written without it. `unknownKey`: it was made with the key `keyId`, which this service does not have. `wrong`: its writer did not have the key; then `broken` says so, too. */
  seal: {
    state: 'right' | 'none' | 'unknownKey' | 'wrong';
    since: number | null;
    keyId: string | null;
  };
  /** Entries of earlier releases, which have no hash. */
  earlier: number;
  /** Entries whose request has not ended. */
  open: number;
  /** The first entry that is not as it was written; null when all are. */
  broken: {
    position: number;
    auditId: number | null;
    reason: string;
  } | null;
}
/** An end of the chain that was noted before. Both parts belong together. */
export interface AuditVerificationQuery {
  /** The position that was noted. */
  position?: number;
  /** The hash that was noted. */
  hash?: string;
}
/** Who the caller of administration is. */
export interface Caller {
  role: Role;
  /** Null for the administrator token, which belongs to nobody. */
  personId: string | null;
  name: string | null;
  /** The name of the token that was given, or that opened the session; null for a session of a provider. */
  token: string | null;
}
/** The body that opens a session of the console of administration. */
export interface ConsoleLogin {
  /** A token of a person, or the administrator token. */
  token: string;
}
/** A session of the console of administration. */
export interface ConsoleSession {
  sessionId: ConsoleSessionId;
  createdAt: UtcDateTime;
  /** The time of the last use, to the minute. */
  lastUsedAt: UtcDateTime;
  expiresAt: UtcDateTime;
  /** The address that opened the session: that of the browser, or of a proxy in front of the service. */
  address: string;
  /** Whether this is the session of the request. */
  own: boolean;
  /** The person whose token, or sign-in through a provider, opened the session; null for the administrator token. */
  personId: string | null;
  name: string | null;
}
/** The valid sessions of the console; the one that was used last comes first. */
export interface ConsoleSessionList {
  sessions: ConsoleSession[];
}
/** Who is signed in to the console, and how long the session is valid. */
export interface ConsoleSessionState {
  /** The time at which the session ends in any case. */
  expiresAt: UtcDateTime;
  /** The time at which the session ends if it is not used again. */
  idleUntil: UtcDateTime;
  role: Role;
  /** Null for the administrator token, which belongs to nobody. */
  personId: string | null;
  name: string | null;
  /** The name of the token that was given, or that opened the session; null for a session of a provider. */
  token: string | null;
}
/** What belongs to a developer or an application, and is removed with it. Counted in parts, while others go on working. */
export interface Contents {
  /** Applications that are not deleted. */
  applications: number;
  /** Applications with an authenticationKey; their secrets, keys and access tokens become invalid. */
  applicationsWithKey: number;
  /** The devices of the developer, which are removed. For an application: the devices that are activated for it, which stay with the developer and are deactivated. */
  devices: number;
  /** Those of the devices that are connected; their connections end. */
  connected: number;
  /** Transactions of the applications. */
  transactions: {
    /** Commands that wait, or that devices are carrying out. No webhook reports their end. */
    unfinished: number;
    /** Finished transactions that are still kept. */
    finished: number;
  };
  /** Webhook deliveries of the applications. */
  deliveries: {
    /** Deliveries that wait for an attempt; they are not sent. */
    pending: number;
    /** Deliveries with a final outcome that are still kept. */
    ended: number;
  };
  /** Rollouts of the applications. */
  rollouts: {
    /** Rollouts that are not over; they are cancelled. */
    unfinished: number;
    /** Rollouts that are over and still kept. */
    ended: number;
  };
  /** Answers that are kept for requests with an Idempotency-Key. */
  idempotencyKeys: number;
  /** Packages of the developer; 0 for an application, because packages belong to its developer. */
  packages: number;
  /** Versions of these packages. */
  versions: number;
  /** Bytes of their binaries, including uploads for which a URL was issued. */
  storedBytes: number;
  /** Entries of the audit log about the developer and its applications, or about the application. They stay. */
  auditEntries: number;
}
/** A person in the list. */
export interface CountedPerson {
  personId: PersonId;
  name: Name;
  role: Role;
  /** Whether the tokens and sign-ins of the person are refused. */
  disabled: boolean;
  createdAt: UtcDateTime;
  login: PersonLogin;
  /** The number of tokens. */
  tokens: number;
  /** The last use of one of them, to the minute. */
  lastUsedAt: UtcDateTimeOrNull;
}
/** A new credential; if it is left out, the service makes one. From then on a client certificate is accepted in its place only if its fingerprint is given here. */
export interface CredentialReplace {
  credential?: Credential;
  certificateFingerprint?: CertificateFingerprint;
  /** True to offer the credential: the present one, and client certificates, stay valid until the device logs in with the offered one. The connection stays open. */
  keepsFormer?: boolean;
}
/** The new credential, which is shown only here. The old one is invalid at once or, with `keepsFormer`, when the device logs in with the new one. */
export interface CredentialReplaced {
  credential: Credential;
}
/** Filters of the list of webhooks. */
export interface DeliveryQuery {
  applicationId?: ApplicationId;
  deviceId?: DeviceId;
  transactionId?: TransactionId;
  status?: DeliveryStatus;
  setting?: WebhookSetting;
  /** Only deliveries that were created at this moment or later. */
  since?: Moment;
  /** Only deliveries that were created before this moment. */
  until?: Moment;
  after?: DeliveryId;
  /** The largest number of rows in the answer. */
  limit: number;
}
/** A developer and the contract. */
export interface DeveloperAnswer {
  developerId: DeveloperId;
  name: Name;
  deviceLimit: DeviceLimit;
  softwareSignatures: SignatureRule;
  certificateChange: CertificateRule;
  /** The removal by which the developer is being removed; null: none. Such a developer can neither be changed nor get applications or devices. */
  removalId: string | null;
}
/** The body that creates a developer. Without an identifier the service makes one; without a limit the developer has no contract. */
export interface DeveloperCreate {
  developerId?: DeveloperId;
  name: Name;
  deviceLimit?: DeviceLimit;
  softwareSignatures?: SignatureRule;
  certificateChange?: CertificateRule;
}
/** A developer with the contract, the quotas and their use. */
export interface DeveloperDetails {
  developerId: DeveloperId;
  name: Name;
  deviceLimit: DeviceLimit;
  softwareSignatures: SignatureRule;
  certificateChange: CertificateRule;
  /** The removal by which the developer is being removed; null: none. Such a developer can neither be changed nor get applications or devices. */
  removalId: string | null;
  /** The use of the quotas. */
  usage: {
    /** The number of packages. */
    packages: number;
    /** The number of versions of all packages. */
    versions: number;
    /** Bytes of binaries, including uploads for which a URL was issued. */
    storedBytes: number;
  };
  /** The quotas. */
  quotas: {
    /** The largest number of packages; null without a quota. */
    packages: number | null;
    /** The largest number of versions of all packages; null without a quota. */
    versions: number | null;
    /** The largest number of bytes of binaries, including uploads for which a URL was issued; null without a quota. */
    storedBytes: number | null;
  };
}
/** A page of developers. */
export interface DeveloperList {
  developers: DeveloperAnswer[];
  total: Total;
}
/** The changes of a developer. A limit of null ends the contract. */
export interface DeveloperUpdate {
  name?: Name;
  deviceLimit?: DeviceLimit;
  softwareSignatures?: SignatureRule;
  certificateChange?: CertificateRule;
}
/** A device, as administration shows it. */
export interface DeviceAnswer {
  deviceId: DeviceId;
  developerId: DeveloperId;
  activation: 'deactivated' | 'activating' | 'activated';
  /** The application that the device is activated for, or being activated for. */
  applicationId: string | null;
  clientId: string | null;
  hardwareProperties: HardwareProperties;
  /** Whether the device is blocked: it cannot connect then. */
  blocked: boolean;
  /** The client certificates that are accepted instead of the credential: `any` of a CA of the service that names the device, only the `named` one with the fingerprint, or `none`. */
  certificates: 'any' | 'named' | 'none';
  /** Whether the service has a CA of client certificates (`LAPEL_MQTT_CLIENT_CA`). Without one, `any` accepts no certificate of it. */
  clientCa: boolean;
  /** SHA-256 of the accepted certificate, 64 hexadecimal digits; null unless `certificates` is `named`. */
  certificateFingerprint: string | null;
  /** When another credential was offered, with which the device has not logged in yet; null: there is none. */
  credentialOfferedAt: LocalDateTimeOrNull;
  /** The certificate that the service has signed for the device, with which it logs in; null: there is none. */
  issuedCertificate: IssuedCertificateOrNull;
  /** The renewed certificate that takes its place when the device logs in with it; null: there is none. */
  offeredCertificate: IssuedCertificateOrNull;
  createdAt: LocalDateTime;
}
/** A change of all devices that match a filter. */
export interface DeviceAction {
  actionId: ActionId;
  action: ActionName;
  filter: DeviceFilter;
  /** Of `tag`: the changes of tags. */
  tags?: TagPatch;
  /** Of `move`: the application for which the devices are activated. */
  applicationId?: ApplicationId;
  /** Of `delete`: activated devices, too. */
  force?: boolean;
  /** The number of devices that the caller expected; null: none was given. */
  confirm: number | null;
  state: ActionState;
  /** Why the action was stopped (`REQUESTED`: somebody stopped it, `DATABASE_RESTORED`: a backup was restored) or refused (`MORE_THAN_CONFIRMED`, `TOO_MANY_DEVICES`); otherwise null. */
  reason: 'REQUESTED' | 'DATABASE_RESTORED' | 'MORE_THAN_CONFIRMED' | 'TOO_MANY_DEVICES' | null;
  /** The devices found so far; all of them when it runs. */
  devices: number;
  /** The numbers of devices by what became of them. */
  counts: {
    waiting: number;
    done: number;
    unchanged: number;
    skipped: number;
    refused: number;
  };
  /** Why devices were not changed: how many were skipped or refused, by code, the most frequent first. */
  reasons: {
    state: 'skipped' | 'refused';
    code: string;
    devices: number;
  }[];
  createdAt: UtcDateTime;
  /** When all its devices were found; null before. */
  startedAt: UtcDateTimeOrNull;
  /** When it ended; null before. */
  endedAt: UtcDateTimeOrNull;
}
/** Conditions on devices, of which all must hold: those of the list of devices. Without any, all devices match. Durations count back from the beginning of the action. */
export interface DeviceFilter {
  /** Only devices whose deviceId begins with this text. */
  prefix?: string;
  /** Only devices of this developer. */
  developerId?: DeveloperId;
  /** Only devices that are activated, or being activated, for this application. */
  applicationId?: ApplicationId;
  /** Only devices in this state. */
  activation?: 'deactivated' | 'activating' | 'activated';
  /** `true`: only devices that are blocked; `false`: only devices that are not blocked. */
  blocked?: boolean;
  /**
   * Only devices with these tags, as `key=value`. Of several values of one key the device must have one. `!key` selects devices without a tag of this key.
   *
   * @maxItems 32
   */
  tag?: TagTerm[];
  /** `true`: only devices that are connected; `false`: only devices that are not connected. */
  connected?: boolean;
  /** Only devices that last reported this firmware version; an empty value selects devices that have reported none. */
  firmware?: string;
  /** Only devices that last reported this firmware version. */
  firmwareVersion?: FirmwareVersion;
  /** Only devices that last reported another firmware version, or none. */
  firmwareVersionNot?: FirmwareVersion;
  /** Only devices whose last reported firmware version is in this SemVer range. */
  firmwareVersionRange?: VersionRange;
  /** Only devices that last reported this language, such as `ja-JP`; upper and lower case count as equal. */
  lang?: string;
  /** Only devices that last reported this package as installed. */
  package?: PackageName;
  /** Only devices with this version of the package; needs `package`. */
  version?: VersionName;
  /** Only devices with another version of the package, or without the package; needs `package`. */
  versionNot?: VersionName;
  /** Only devices whose version of the package is in this SemVer range; needs `package`. */
  versionRange?: VersionRange;
  /** Only devices whose battery was last reported below this level, in percent. */
  batteryBelow?: number;
  /** Only devices whose battery was last reported at this level, in percent, or above. */
  batteryFrom?: number;
  /** Only devices that have sent nothing for at least this time, or never sent anything. */
  notSeenFor?: Duration;
  lastSeenWithin?: SeenWithin;
  percent?: Percent;
  salt?: Salt;
}
/** Changes of tags: a value sets the tag of its key, null removes it. Other tags stay as they are. */
export interface TagPatch {
  [k: string]: string | null;
}
/** The devices that a device action would have. */
export interface DeviceActionCount {
  /** The devices that match now. */
  matching: number;
  /** The most devices of one action. An action that finds more is refused. Counting ends a little above this number. */
  limit: number;
}
/** A page of device actions, the newest first. */
export interface DeviceActionList {
  actions: DeviceAction[];
}
/** Query of the device actions, with its defaults filled in. */
export interface DeviceActionQuery {
  /** The beginning of the page; take it from the `Link` of the page before. */
  after?: ActionId;
  /** The largest number of rows in the answer. */
  limit: number;
}
/** A change of all devices that match a filter. */
export interface DeviceActionStart {
  action: ActionName;
  filter: DeviceFilter;
  /** For `tag`: the changes of tags. */
  tags?: TagPatch;
  /** For `move`: the application for which the devices are activated. */
  applicationId?: ApplicationId;
  /** For `delete`: deletes activated devices, too. Their transactions end, and their applications are notified. */
  force?: boolean;
  /** The number of devices that you expect, such as the one that `dryRun` has told. Needed for `move`, `cancel` and `delete`, which cannot be undone. If more than this and a twentieth match, the action is refused and changes nothing. */
  confirm?: number;
  /** `true`: only counts the devices that match, and changes nothing. */
  dryRun?: boolean;
}
/** A CA with which the service signs the client certificates of a developer's devices. */
export interface DeviceAuthority {
  authorityId: AuthorityId;
  developerId: DeveloperId;
  name: Name;
  /** `active`: it signs. `retired`: it signs no more; the certificates that it has signed stay valid. `revoked`: these are invalid, too. `expired`: its own certificate has ended. */
  state: 'active' | 'retired' | 'revoked' | 'expired';
  /** The certificate of the CA, in PEM. */
  certificate: string;
  /** SHA-256 of that certificate: 64 hexadecimal digits in lower case. */
  fingerprint: string;
  /** The devices that have a certificate of it. */
  devices: number;
  createdAt: UtcDateTime;
  expiresAt: UtcDateTime;
  retiredAt: UtcDateTimeOrNull;
  revokedAt: UtcDateTimeOrNull;
}
/** A device CA: the service makes its key, or `certificate` and `privateKey` give both. */
export interface DeviceAuthorityCreate {
  name: Name;
  /** The certificate of a CA, in PEM, with CA:TRUE and, if it has keyUsage, keyCertSign. */
  certificate?: string;
  /** The private key of that certificate, in PEM (PKCS #8) without a password: EC (P-256, P-384, P-521), or RSA with 2048 to 4096 bits. It is stored encrypted, and never shown. */
  privateKey?: string;
}
/** All device CAs of a developer, the newest first; at most 20. */
export interface DeviceAuthorityList {
  authorities: DeviceAuthority[];
}
/** The connection and the session of a device. Fields that only another node knows are null. */
export interface DeviceConnection {
  connected: boolean;
  since: UtcDateTimeOrNull;
  /** The address that the device connects from. */
  address: string | null;
  transport: 'mqtt' | 'mqtts' | 'ws' | 'wss' | null;
  /** Keep-alive of the connection in seconds; 0 if it has none. */
  keepAliveSeconds: number | null;
  protocol: '3.1' | '3.1.1' | '5' | null;
  session: {
    /** Whether the device will find its session when it connects again. */
    present: boolean;
    subscriptions: string[];
  };
  /** Since when the device has been connected without a subscription to its topic `commands`, if this is 30 seconds or more: its commands wait until it subscribes. Null otherwise. */
  withoutCommandsSince: UtcDateTimeOrNull;
  lastSeenAt: UtcDateTimeOrNull;
  /** The node that the device is connected to; null if there is only one node. */
  node: string | null;
}
/** Query of the deletion of a device. */
export interface DeviceDeleteQuery {
  /** `true`: deletes the device even if it is activated or has unfinished transactions. */
  force?: 'true' | 'false';
}
/** A page of the devices of a developer. */
export interface DeviceList {
  devices: DeviceAnswer[];
  total: Total;
}
/** The body that registers a device of a developer. Without a credential the service makes one. */
export interface DeviceRegister {
  deviceId: DeviceId;
  hardwareProperties?: HardwareProperties;
  credential?: Credential;
}
/** The new device. Its credential is shown only here. */
export interface DeviceRegistered {
  deviceId: DeviceId;
  credential: Credential;
}
/** What a device reported over time. Samples are kept an hour apart, after seven days six hours, and after 30 days a day. */
export interface DeviceSamples {
  deviceId: DeviceId;
  /** LAPEL_SAMPLE_RETENTION_DAYS; 0: samples are not kept. */
  keptDays: number;
  /** The time of the first point. */
  since: UtcDateTime;
  /** The distance of the points. */
  stepSeconds: number;
  /** The oldest first. Values are those that the device reported last in the step; null where it reported none. What it reported in the present hour is the last point that has values. */
  points: {
    /** The beginning of the step. */
    at: UtcDateTime;
    /** The level in percent. */
    battery: number | null;
    isCharging: boolean | null;
    /** The strength of the signal in dBm. */
    rssi: number | null;
    /** The free storage, in whole mebibytes. */
    freeBytes: number | null;
    /** The share of the step in which the device was connected, from 0 to 1; null before connections were kept (LAPEL_CONNECTION_RETENTION_DAYS). */
    connectedShare: number | null;
  }[];
  /** Versions that changed, the oldest first; 20 an hour at most. */
  changes: {
    at: UtcDateTime;
    /** Null: the firmware. */
    package: string | null;
    /** The version before; null when the package was new. */
    was: string | null;
    /** Null: the package was removed. */
    version: string | null;
  }[];
}
/** The period, and the distance of its points. */
export interface DeviceSamplesQuery {
  /** The beginning of the period; by default a day ago. */
  since?: Moment;
  /** The smallest distance between two points, in seconds; it is rounded up to whole hours, and to a larger one if there would be too many points. */
  step: number;
}
/** The last reported status of a device, field by field, and its installed software. */
export interface FleetDeviceStatus {
  deviceId: DeviceId;
  reportedAt: UtcDateTimeOrNull;
  fields: {
    /** The name of the field in the status message of the device. */
    name: string;
    /** The value that the device reported. */
    value: {} | unknown[] | string | number | boolean | null;
    at: UtcDateTime;
  }[];
  software: {
    package: string;
    version: string;
    /** installed: the device reported this version. waiting: a transaction that installs it is unfinished. failed: the last such transaction failed. */
    state: 'installed' | 'waiting' | 'failed';
    /** The error code of the failed installation. */
    errorCode: string | null;
    since: UtcDateTime;
  }[];
}
/** A page of the story of a device, newest first. A page can be shorter than its limit, or even empty, without being the last. */
export interface DeviceStory {
  entries: StoryEntry[];
}
/** An entry of the story of a device. `kind` says which of the other members it has. */
export interface StoryEntry {
  /** The time of the fact; for a command, its creation. */
  at: UtcDateTime;
  /** `connected`, `ended`, `refused`: a connection of the device, its end, a refused login (`connection`). `command`: a command to the device, also to install software (`command`). `event`: a webhook that an event of the device caused (`event`). `change`: somebody changed the device (`change`). `action`: a device action came to the device (`action`). */
  kind: 'connected' | 'ended' | 'refused' | 'command' | 'event' | 'change' | 'action';
  connection?: {
    /** How many such facts this entry stands for. An hour has at most 20 entries of each kind for a device; further facts are counted in the last of them. */
    count: number;
    /** The time of the last fact that is counted. */
    lastAt: UtcDateTime;
    /** Why a connection ended: `disconnected` (the device said so), `keep_alive` (the device was silent for one and a half times its keep-alive), `lost` (the network connection ended), `protocol` (a packet broke the protocol: see `detail`), `replaced` (by a newer connection of the device), `revoked` (the service ended it: somebody closed it, or the device may no longer connect), `elsewhere` (in a cluster: a newer connection to another node, a move to another node, or as `revoked`), `contested` (by a newer connection, and connections of the device replaced one another five times in a minute: two devices seem to use its identity; `detail` has the addresses), `node_stopped` and `node_lost` (the process of the service stopped, or was killed). Why a login was refused: `credentials`, `certificate`, `blocked`, a `will` on a topic that is not the device's, or a `protocol_version` other than MQTT 3.1 and 3.1.1. Null for `connected`. */
    reason:
      | 'disconnected'
      | 'keep_alive'
      | 'lost'
      | 'protocol'
      | 'replaced'
      | 'revoked'
      | 'elsewhere'
      | 'contested'
      | 'node_stopped'
      | 'node_lost'
      | 'credentials'
      | 'certificate'
      | 'blocked'
      | 'will'
      | 'protocol_version'
      | null;
    /** More about the reason, for people. */
    detail: string | null;
    /** The begin of the connection that ended; null for other kinds. */
    since: UtcDateTimeOrNull;
    /** The address of the client; null for the end of a connection. */
    address: string | null;
    /** `mqtt`, `mqtts`, `ws` or `wss`; null for the end of a connection. */
    transport: string | null;
    /** The process of the service. */
    node: string | null;
  };
  command?: TransactionRow;
  event?: DeliveryRow;
  change?: AuditEntry;
  action?: {
    actionId: ActionId;
    action: ActionName;
    state: ActionDeviceState;
    code: ActionCode;
  };
}
/** A transaction in a list. */
export interface TransactionRow {
  transactionId: TransactionId;
  deviceId: DeviceId;
  applicationId: ApplicationId;
  operation: Operation;
  /** The subject of the transaction, without secrets: package@version, or a few words. */
  subject: string | null;
  status: TransactionStatus;
  /** The number of times that the command was published. */
  attempts: number;
  /** The progress that the device reported, in percent. */
  progress: number | null;
  createdAt: UtcDateTime;
  publishedAt: UtcDateTimeOrNull;
  deliveredAt: UtcDateTimeOrNull;
  updatedAt: UtcDateTime;
  completedAt: UtcDateTimeOrNull;
  /** The error of a failed transaction; null otherwise. */
  error: {
    code: string;
    message: string;
  } | null;
  /** The reason why the device will not answer this unfinished transaction, judged by its last reported status; null otherwise. */
  warning: {
    code: 'FIRMWARE_TOO_OLD';
    message: string;
  } | null;
  /** The delivery of the webhook that reports the result; null before the end, or if it was removed. */
  deliveryId: string | null;
  /** The time until which the command must be delivered. Present only with `expireIn`. */
  expiresAt?: UtcDateTime;
  /** Seconds from the delivery in which the device must give a final result. Present only with `answerWithin`. */
  answerWithin?: number;
  /** The time until which the device must give a final result. Present only with `answerWithin`, after the delivery. */
  answerBy?: UtcDateTime;
  /** The transaction that took the place of this one. Present only with the code `SUPERSEDED`. */
  supersededBy?: TransactionId;
  /** The rollout that made it. Present only with a rollout. */
  rolloutId?: RolloutId;
}
/** A webhook delivery in a list, with its state. */
export interface DeliveryRow {
  deliveryId: DeliveryId;
  applicationId: ApplicationId;
  deviceId: string | null;
  transactionId: number | null;
  setting: WebhookSetting;
  /** The type of the event. */
  type: string;
  /** The URL of the last attempt; null before the first. */
  url: string | null;
  status: DeliveryStatus;
  /** The number of attempts. A redelivery sets it to 0. */
  attempts: number;
  /** The status code of the answer to the last attempt; null if there was no answer. */
  lastStatusCode: number | null;
  /** The reason why the last attempt failed, for people. */
  lastError: string | null;
  nextAttemptAt: UtcDateTimeOrNull;
  createdAt: UtcDateTime;
  updatedAt: UtcDateTime;
}
/** Query of the transactions of a device, with its defaults filled in. */
export interface DeviceTransactionQuery {
  /** `true`: only the queue of the device, in order. Otherwise all its transactions, newest first. */
  unfinished?: 'true' | 'false';
  /** The page begins after this transaction, in the order of the list. */
  after?: number;
  /** The largest number of rows in the answer. */
  limit: number;
}
/** The changes of a device. Hardware properties are replaced as a whole; null removes them. */
export interface DeviceUpdate {
  hardwareProperties?: HardwareProperties;
  developerId?: DeveloperId;
  /** True: the connection of the device is closed, and it cannot connect again (CONNACK 5), neither with its credential nor with a certificate. Its commands wait. */
  blocked?: boolean;
}
/** With which keys secrets are encrypted in the database, as the node that was asked knows it. */
export interface Encryption {
  /** The keys that this node has, or that secrets are encrypted with; empty when no key is set. */
  keys: {
    keyId: string;
    /** `current`: new values are encrypted with it. `former`: some values still are. `unused`: no value of this database is. */
    state: 'current' | 'former' | 'unused';
  }[];
  /** The latest rotation; null when there was none. */
  rotation: {
    /** The key that all secrets are to be encrypted with. */
    keyId: string;
    /** `waiting`: until all nodes have the key. `running`: all secrets are encrypted anew. `settling`: they are looked through once more, when no unit of work from before the change can store a value any more. `ended`: no secret is encrypted with another key, or stored as it is. */
    state: 'waiting' | 'running' | 'settling' | 'ended';
    /** The nodes that the rotation waits for: they lack the key, or do not use it yet. */
    waitsFor: string[];
    /** The number of values that were encrypted anew. */
    rewritten: number;
    requestedAt: UtcDateTime;
    startedAt: UtcDateTimeOrNull;
    endedAt: UtcDateTimeOrNull;
  } | null;
}
/** Devices that may enrol with one code. */
export interface EnrolmentBatch {
  batchId: BatchId;
  developerId: DeveloperId;
  name: Name;
  /** `open`: devices may enrol, unless as many have as may. */
  state: 'open' | 'expired' | 'revoked';
  approval: EnrolmentApproval;
  /**
   * The beginnings of the deviceIds that may enrol: a whole deviceId, or its first digits, such as the eight of a type allocation code. Without them any device may.
   *
   * @minItems 1
   * @maxItems 1000
   */
  deviceIds: string[] | null;
  /** Whether devices that are registered already may enrol, too, if they have never logged in. */
  registered: boolean;
  /** The most devices that may enrol with the code. */
  mostDevices: number;
  /** The devices that have enrolled. */
  enrolled: number;
  /** The devices that wait for a person. */
  pending: number;
  createdAt: UtcDateTime;
  expiresAt: UtcDateTime;
  revokedAt: UtcDateTimeOrNull;
  /** The certificate with which the devices of the batch enrol, in PEM: the one that they all have, or the CA that has signed a certificate of each, with the deviceId as common name. Null: they enrol by the code. */
  claimCertificate: string | null;
  /** The device CA that signs a client certificate for each device; null: the devices get a credential. */
  authorityId: string | null;
  /** The days for which these certificates are valid; null: the devices get a credential. */
  certificateDays: number | null;
}
/** The body that makes an enrolment batch. */
export interface EnrolmentBatchCreate {
  name: Name;
  /** The end of the code, in the next 366 days. */
  expiresAt: Moment;
  /** The most devices that may enrol with the code. */
  mostDevices: number;
  approval?: EnrolmentApproval;
  /**
   * The beginnings of the deviceIds that may enrol: a whole deviceId, or its first digits, such as the eight of a type allocation code. Without them any device may.
   *
   * @minItems 1
   * @maxItems 1000
   */
  deviceIds?: string[];
  /** Whether devices that are registered already may enrol, too, if they have never logged in. */
  registered?: boolean;
  /** The certificate with which the devices of the batch enrol, in PEM: the one that they all have, or the CA that has signed a certificate of each, with the deviceId as common name. Then the batch has no code. */
  claimCertificate?: string;
  /** The device CA of the developer that signs a client certificate for each device. Then the devices send a certification request, and get no credential. */
  authorityId?: AuthorityId;
  /** The days for which these certificates are valid, at most until the end of the CA; 365 without it. */
  certificateDays?: number;
}
/** The new enrolment batch. Its code is shown only here. */
export interface EnrolmentBatchCreated {
  batchId: BatchId;
  developerId: DeveloperId;
  name: Name;
  /** `open`: devices may enrol, unless as many have as may. */
  state: 'open' | 'expired' | 'revoked';
  approval: EnrolmentApproval;
  /**
   * The beginnings of the deviceIds that may enrol: a whole deviceId, or its first digits, such as the eight of a type allocation code. Without them any device may.
   *
   * @minItems 1
   * @maxItems 1000
   */
  deviceIds: string[] | null;
  /** Whether devices that are registered already may enrol, too, if they have never logged in. */
  registered: boolean;
  /** The most devices that may enrol with the code. */
  mostDevices: number;
  /** The devices that have enrolled. */
  enrolled: number;
  /** The devices that wait for a person. */
  pending: number;
  createdAt: UtcDateTime;
  expiresAt: UtcDateTime;
  revokedAt: UtcDateTimeOrNull;
  /** The one-time code of the batch, with which a device asks for its credential; null if devices enrol by certificate. */
  code: string | null;
  /** The certificate with which the devices of the batch enrol, in PEM: the one that they all have, or the CA that has signed a certificate of each, with the deviceId as common name. Null: they enrol by the code. */
  claimCertificate: string | null;
  /** The device CA that signs a client certificate for each device; null: the devices get a credential. */
  authorityId: string | null;
  /** The days for which these certificates are valid; null: the devices get a credential. */
  certificateDays: number | null;
}
/** A page of enrolment batches of a developer, the newest first. */
export interface EnrolmentBatchList {
  batches: EnrolmentBatch[];
  total: Total;
}
/** A device that has asked with the code of an enrolment batch. */
export interface EnrolmentDevice {
  deviceId: DeviceId;
  state: EnrolmentState;
  /** The address that the device has asked from. */
  address: string;
  requestedAt: UtcDateTime;
  decidedAt: UtcDateTimeOrNull;
}
/** Devices of an enrolment batch, in the order of their deviceIds. */
export interface EnrolmentList {
  devices: EnrolmentDevice[];
}
/** Query of the devices of an enrolment batch, with its defaults filled in. */
export interface EnrolmentQuery {
  /** Only devices in this state. */
  state?: EnrolmentState;
  /** The beginning of the page; take it from the `Link` of the page before. */
  after?: DeviceId;
  /** The largest number of rows in the answer. */
  limit: number;
}
/** Installations of software and firmware that ended in a period, and how many of them failed. `finishedBefore` and `failedBefore` are those of the period of the same length before it. The answer may be ten seconds old. */
export interface FailureBreakdown {
  since: UtcDateTime;
  until: UtcDateTime;
  total: {
    finished: number;
    failed: number;
    finishedBefore: number;
    failedBefore: number;
  };
  /** By hour, the oldest first. Hours in which none ended are left out. */
  hours: {
    /** The beginning of the hour. */
    at: UtcDateTime;
    finished: number;
    failed: number;
  }[];
  /** By version, those with the most failures first; 50 at most. */
  versions: {
    package: string;
    version: string;
    finished: number;
    failed: number;
    finishedBefore: number;
    failedBefore: number;
  }[];
  /** Failures by error code, the most frequent first; 50 at most. */
  errors: {
    code: string;
    failed: number;
    failedBefore: number;
  }[];
}
/** The installations whose failures are counted. */
export interface FailureQuery {
  /** Only installations that ended at this moment or later; by default a day before `until`. At most 31 days are counted. */
  since?: Moment;
  /** Only installations that ended before this moment; by default now. */
  until?: Moment;
  /** Only installations of this application. */
  applicationId?: ApplicationId;
  /** Only installations of this package. */
  package?: PackageName;
  /** Only installations of this version of the package. */
  version?: VersionName;
}
/** A page of firmware versions, ordered by package, newest version first. */
export interface FirmwareVersionList {
  firmwareVersions: ServiceSoftwareVersion[];
  total: Total;
}
/** A version of a system package or of firmware. */
export interface ServiceSoftwareVersion {
  package: PackageName;
  displayName: DisplayName;
  version: VersionName;
  description: Description;
  registerDate: LocalDateTime;
  updateDate: LocalDateTime;
}
/** Groups of devices and their sizes. The answer is kept for ten seconds. */
export interface FleetBreakdown {
  by: 'firmware' | 'battery' | 'version' | 'package' | 'developer' | 'application' | 'activation';
  at: UtcDateTime;
  /**
   * The groups, the largest first.
   *
   * @maxItems 50
   */
  groups: {
    /** The common value of the group. For the battery a range of ten percent, such as `80-89`. Null for devices that have reported no value, or belong to no application. */
    value: string | null;
    devices: number;
  }[];
  /** The number of devices in groups that are not shown. A device with several packages counts once for each. */
  others: number;
}
/** The grouping of devices. */
export interface FleetBreakdownQuery {
  by: 'firmware' | 'battery' | 'version' | 'package' | 'developer' | 'application' | 'activation';
  /** The package whose versions are counted; only with `by=version`. */
  package?: PackageName;
}
/** Query of the devices of all developers, with its defaults filled in. */
export interface FleetDeviceQuery {
  /** Only devices whose deviceId begins with this text. */
  prefix?: string;
  /** Only devices of this developer. */
  developerId?: DeveloperId;
  /** Only devices that are activated, or being activated, for this application. */
  applicationId?: ApplicationId;
  /** Only devices in this state. */
  activation?: 'deactivated' | 'activating' | 'activated';
  /** `true`: only devices that are blocked; `false`: only devices that are not blocked. */
  blocked?: 'true' | 'false';
  /**
   * Only devices with these tags; repeat the parameter for several. Of several values of one key the device must have one. `!key` selects devices without a tag of this key.
   *
   * @maxItems 32
   */
  tag?: TagTerm[];
  /** `true`: only devices that are connected now; `false`: only devices that are not connected. */
  connected?: 'true' | 'false';
  /** Only devices that last reported this firmware version; an empty value selects devices that have reported none. */
  firmware?: string;
  /** Only devices that last reported this firmware version. */
  firmwareVersion?: FirmwareVersion;
  /** Only devices that last reported another firmware version, or none. */
  firmwareVersionNot?: FirmwareVersion;
  /** Only devices whose last reported firmware version is in this SemVer range. */
  firmwareVersionRange?: VersionRange;
  /** Only devices that last reported this language, such as `ja-JP`; upper and lower case count as equal. */
  lang?: string;
  /** Only devices that last reported this package as installed. */
  package?: PackageName;
  /** Only devices with this version of the package; needs `package`. */
  version?: VersionName;
  /** Only devices with another version of the package, or without the package; needs `package`. */
  versionNot?: VersionName;
  /** Only devices whose version of the package is in this SemVer range; needs `package`. */
  versionRange?: VersionRange;
  /** Only devices whose battery was last reported below this level, in percent. */
  batteryBelow?: number;
  /** Only devices whose battery was last reported at this level, in percent, or above. */
  batteryFrom?: number;
  /** Only devices that have sent nothing for at least this time, or never sent anything. */
  notSeenFor?: Duration;
  lastSeenWithin?: SeenWithin;
  percent?: Percent;
  salt?: Salt;
  /** The order: by identifier; by the time at which a device was last seen (devices that were never seen come first); or by that time in descending order. The order uses the stored time, which is up to a minute old. */
  sort: 'deviceId' | 'lastSeen' | '-lastSeen';
  /** The beginning of the page; take it from the `Link` of the page before. */
  after?: string;
  /** The largest number of rows in the answer. */
  limit: number;
}
/** How the service works: the steps of commands, and the answers of the API. */
export interface FleetHealth {
  /** The beginning of the period. */
  since: UtcDateTime;
  /** The seconds between two points, a multiple of 300. */
  stepSeconds: number;
  /** The number of transactions that were created in the period. */
  accepted: number;
  /** The steps of a command and its webhook, in order. */
  steps: {
    /** `published`: from the call to the first publish. `received`: from a publish to its PUBACK. `answered`: from the PUBACK to the result. `delivered`: from the result, or an event, to the 2xx answer of its webhook. */
    step: 'published' | 'received' | 'answered' | 'delivered';
    /** How many wait for the step now; null when more than 100,000 commands, or webhooks, are examined for it. */
    waiting: number | null;
    /** How many took the step. */
    count: number;
    /** Half of them took at most this time, in milliseconds; null without any. */
    p50Ms: number | null;
    /** 99 of 100 took at most this time. */
    p99Ms: number | null;
  }[];
  /** The routes of the API that were called, those with most answers of 5xx first. */
  routes: {
    /** The path, with its parameters in braces. */
    route: string;
    requests: number;
    /** Answers with a status of 4xx. */
    refused: number;
    /** Answers with a status of 5xx. */
    failed: number;
    /** Half of the answers took at most this time, in milliseconds. */
    p50Ms: number | null;
    /** 99 of 100 answers took at most this time. */
    p99Ms: number | null;
  }[];
  /** The transactions that ended in the period, by operation, those with the largest share of failures first. */
  operations: {
    operation: string;
    finished: number;
    failed: number;
  }[];
  /** The period in steps of `stepSeconds`; steps without figures are left out. */
  points: {
    /** The beginning of the time that the point covers. */
    at: UtcDateTime;
    accepted: number;
    /** Requests to the API. */
    requests: number;
    /** Of these, the answers with a status of 5xx. */
    failed: number;
    published: {
      /** How many took the step. */
      count: number;
      /** Half of them took at most this time, in milliseconds; null without any. */
      p50Ms: number | null;
      /** 99 of 100 took at most this time. */
      p99Ms: number | null;
    };
    received: {
      /** How many took the step. */
      count: number;
      /** Half of them took at most this time, in milliseconds; null without any. */
      p50Ms: number | null;
      /** 99 of 100 took at most this time. */
      p99Ms: number | null;
    };
    answered: {
      /** How many took the step. */
      count: number;
      /** Half of them took at most this time, in milliseconds; null without any. */
      p50Ms: number | null;
      /** 99 of 100 took at most this time. */
      p99Ms: number | null;
    };
    delivered: {
      /** How many took the step. */
      count: number;
      /** Half of them took at most this time, in milliseconds; null without any. */
      p50Ms: number | null;
      /** 99 of 100 took at most this time. */
      p99Ms: number | null;
    };
  }[];
}
/** The period, and the distance of its points. */
export interface FleetHealthQuery {
  /** The beginning of the period; by default a day ago, at most seven days. */
  since?: Moment;
  /** The smallest distance between two points, in seconds. */
  step: number;
}
/** Figures of the fleet over time. */
export interface FleetHistory {
  /** The seconds between two points. More than requested if there would be too many points, or if only longer steps are kept. */
  stepSeconds: number;
  points: {
    /** The beginning of the time that the point covers. */
    at: UtcDateTime;
    devices: number;
    activated: number;
    connected: number;
    /** The number of commands that devices must still receive. */
    due: number;
    /** The age of the oldest of these commands. */
    oldestDueSeconds: number;
    /** The number of pending webhooks. */
    pending: number;
    failingReceivers: number;
    /** The number of transactions that were created in this time. */
    created: number;
    finished: number;
    /** The number of transactions that failed in this time. */
    failed: number;
    /** The number of webhook attempts that failed in this time. */
    attemptsFailed: number;
    /** The delay of the event loop, of the node with the longest delay. */
    loopP99Ms: number | null;
  }[];
}
/** Only points of this moment or later. */
export interface FleetHistoryQuery {
  since: Moment;
  /** The smallest distance between two points, in seconds. */
  step: number;
}
/** Devices, compared by the version that they had. */
export interface FleetSamples {
  /** LAPEL_SAMPLE_RETENTION_DAYS; 0: samples are not kept. */
  keptDays: number;
  since: UtcDateTime;
  stepSeconds: number;
  /** Null: the firmware. */
  package: string | null;
  /** The number of devices that were looked at; 1000 at most, chosen at random. */
  devices: number;
  /** Whether these are all devices that match. */
  isWhole: boolean;
  /** By version, those with the most devices first; 20 at most. A device belongs to a version for the time in which it had it, since its first sample of the period. */
  cohorts: {
    version: string;
    /** Devices that had the version. */
    devices: number;
    /** The number of differences between two samples of which the medians are made. */
    drops: number;
    /** The median of what batteries lost while they were not charged, in percent an hour. */
    batteryDropPerHour: number | null;
    /** The share of the time in which devices were connected, from 0 to 1. */
    connectedShare: number | null;
    /** The median of the free storage that devices reported last with the version. */
    freeBytes: number | null;
    /** The oldest first; steps without a difference are left out. */
    points: {
      at: UtcDateTime;
      batteryDropPerHour: number;
      drops: number;
    }[];
  }[];
}
/** The devices that are compared, the period, and the distance of its points. */
export interface FleetSamplesQuery {
  /** The beginning of the period; by default seven days ago. */
  since?: Moment;
  /** The smallest distance between two points, in seconds; it is rounded up to whole hours, and to a larger one if there would be too many points. */
  step: number;
  /** Only devices that last reported this package as installed, by its versions; without it, devices are compared by the version of their firmware. */
  package?: PackageName;
  /** Only devices whose deviceId begins with this text. */
  prefix?: string;
  /** Only devices of this developer. */
  developerId?: DeveloperId;
  /** Only devices that are activated, or being activated, for this application. */
  applicationId?: ApplicationId;
  /**
   * Only devices with these tags; repeat the parameter for several. Of several values of one key the device must have one. `!key` selects devices without a tag of this key.
   *
   * @maxItems 32
   */
  tag?: TagTerm[];
}
/** Figures of the fleet, which are kept for ten seconds. */
export interface FleetSummary {
  /** The time at which the figures were computed. */
  at: UtcDateTime;
  devices: {
    total: number;
    activated: number;
    connected: number;
  };
  transactions: {
    unfinished: number;
    /** The time at which the oldest unfinished transaction was created. */
    oldestAt: UtcDateTimeOrNull;
  };
  deliveries: {
    pending: number;
    /** The time at which the first pending delivery is, or was, due. */
    oldestDueAt: UtcDateTimeOrNull;
  };
  receivers: {
    /** The number of receivers whose last attempt failed. */
    failing: number;
    /** The number of receivers with a due delivery that has waited longer than half a minute. */
    slow: number;
  };
  /** 99 of 100 of this node's latest commits took at most this time; null if there was none. */
  commitP99Ms: number | null;
  /** The delay of this node's event loop in the last ten seconds, 99th percentile; null in the first ten seconds. */
  loopP99Ms: number | null;
  nodes: number;
  version: string;
}
/** Answer of the probes. */
export interface Health {
  status: 'ok' | 'unavailable';
  /**
   * The parts that are not ready, with the reasons; only with `unavailable`.
   *
   * @minItems 1
   */
  problems?: {
    /** The name of the part, for instance `database`, `api` or `files`. */
    part: string;
    /** A text for people. */
    reason: string;
  }[];
  /**
   * What a person must look at while the process can do its work, with the reasons; only with `ok`. For instance `clock`: the time waits to be confirmed, so that nothing expires and nothing is removed.
   *
   * @minItems 1
   */
  notes?: {
    /** The name of the part, for instance `database`, `api` or `files`. */
    part: string;
    /** A text for people. */
    reason: string;
  }[];
}
/** The outcome of one line of an import: the device and its credential, or the error in the line. */
export interface ImportedDevice {
  /** The number of the line in the request; the first is 1. */
  line: number;
  deviceId?: DeviceId;
  credential?: Credential;
  /** A Message error or a Reason error, as in the answer to the registration of one device. */
  error?: {
    message?: string;
    reason?: string;
    details?: Fault[];
  };
}
/** One fault of a request. */
export interface Fault {
  /** Path to the faulty field: `body`, `query` or `pathParameters`, then names; array positions as strings. */
  loc: string[];
  /** The fault, as a sentence for people. */
  msg: string;
  type: FaultType;
}
/** Query of the devices of a version, with its defaults filled in. */
export interface InstallationQuery {
  /** Software or firmware. */
  line: 'software' | 'firmware';
  /** Only devices in this state. */
  state?: 'installed' | 'waiting' | 'failed';
  /** Only devices that failed with this error code. */
  errorCode?: string;
  /** Only devices that have been in their state since this moment or later. */
  since?: Moment;
  /** Only devices that have been in their state since before this moment. */
  until?: Moment;
  /** Only devices after this one, in the order of the list. */
  after?: DeviceId;
  /** The largest number of rows in the answer. */
  limit: number;
}
/** A page of a provider to which the browser goes next. */
export interface LeadingUrl {
  url: string;
}
/** Whether software or firmware is meant. */
export interface LineQuery {
  /** Software or firmware. */
  line: 'software' | 'firmware';
}
/** The nodes of the service. */
export interface NodeList {
  at: UtcDateTime;
  nodes: {
    /** Null for a process that is alone at its database. */
    nodeId: string | null;
    /** Whether this node has answered. */
    isSelf: boolean;
    /** `missing`: its lease expired without a word within a day, and no node has come since then. */
    state: 'alive' | 'missing';
    version: string;
    startedAt: UtcDateTime;
    /** The number of devices that are connected to it. */
    devices: number | null;
    /** Seconds until its lease ends if it is not renewed, negative when it has ended; null for a process that is alone. */
    leaseSeconds: number | null;
    /** The result of the check of its database file; null on PostgreSQL, and of a node that has not said it. */
    databaseCheck: string | null;
    certificates: {
      listener: string;
      /** `client_ca`: the CA of client certificates; `client_crl`: its revocation list. */
      file: 'cert' | 'client_ca' | 'client_crl';
      expiresAt: UtcDateTime;
      /** Whole days; negative when it has expired. */
      daysLeft: number;
    }[];
    /** The disk of its data folder; null when the node has not said it. */
    disk: {
      freeBytes: number;
      sizeBytes: number;
      /** When the disk is full if it fills on as in the last seven days; null when it does not fill, or within six hours of the start. */
      fullAt: UtcDateTimeOrNull;
      /** The free space, hour by hour. */
      points: {
        at: UtcDateTime;
        freeBytes: number;
      }[];
    } | null;
  }[];
}
/** The body that makes a new key of the embedded object store. */
export interface ObjectStoreKeyRenew {
  /** True when the key may have been stolen: all URLs that it has signed end at once. Otherwise they stay valid until they expire. */
  atOnce?: boolean;
}
/** A package in the list of all packages. */
export interface PackageRow {
  /** Software or firmware. */
  line: 'software' | 'firmware';
  package: PackageName;
  /** The developer of the package; null for a package of the service. */
  developerId: string | null;
  displayName: string | null;
  /** Whether every application of the developer may distribute the package. */
  forAll: boolean;
  /** The number of versions. */
  versions: number;
  /** The newest version. */
  newest: string | null;
  /** The time at which the package, or one of its versions, was last changed. */
  updatedAt: UtcDateTime;
}
/** A page of packages. */
export interface PackageRowList {
  packages: PackageRow[];
}
/** Query of all packages, with its defaults filled in. */
export interface PackageRowQuery {
  /** Only software, or only firmware. */
  line?: 'software' | 'firmware';
  /** Only packages of this developer. */
  developerId?: DeveloperId;
  /** The beginning of the page; take it from the `Link` of the page before. */
  after?: string;
  /** The largest number of rows in the answer. */
  limit: number;
}
/** Somebody who administers the service. */
export interface Person {
  personId: PersonId;
  name: Name;
  role: Role;
  /** Whether the tokens and sign-ins of the person are refused. */
  disabled: boolean;
  createdAt: UtcDateTime;
  login: PersonLogin;
}
/** The body that creates a person, without tokens. Without an identifier the service makes one. */
export interface PersonCreate {
  personId?: PersonId;
  name: Name;
  role: Role;
}
/** A person with their tokens, the newest first. */
export interface PersonDetails {
  personId: PersonId;
  name: Name;
  role: Role;
  /** Whether the tokens and sign-ins of the person are refused. */
  disabled: boolean;
  createdAt: UtcDateTime;
  login: PersonLogin;
  tokens: PersonToken[];
}
/** A token of a person, without its secret. */
export interface PersonToken {
  tokenId: PersonTokenId;
  /** What the token is for. */
  name: Name;
  createdAt: UtcDateTime;
  /** Null: it does not expire. */
  expiresAt: UtcDateTimeOrNull;
  /** The last use, to the minute; null before the first. */
  lastUsedAt: UtcDateTimeOrNull;
}
/** A page of people, ordered by their personIds. */
export interface PersonList {
  people: CountedPerson[];
  total: Total;
}
/** The body that makes a token for a person. */
export interface PersonTokenCreate {
  /** What the token is for; a person has one token of a name. */
  name: Name;
  /** Days until it expires, 90 if left out; null: it does not expire. */
  expiresInDays?: number | null;
}
/** A new token of a person. Its secret is shown only in this answer. */
export interface PersonTokenCreated {
  tokenId: PersonTokenId;
  /** What the token is for. */
  name: Name;
  createdAt: UtcDateTime;
  /** Null: it does not expire. */
  expiresAt: UtcDateTimeOrNull;
  /** The last use, to the minute; null before the first. */
  lastUsedAt: UtcDateTimeOrNull;
  /** The token itself, to be sent as `Authorization: Bearer`. */
  token: string;
}
/** The changes of a person. While a person is disabled, their tokens are refused. */
export interface PersonUpdate {
  name?: Name;
  role?: Role;
  /** Whether the tokens of the person are refused. */
  disabled?: boolean;
}
/** A receiver of webhooks: the URL in a setting of an application. */
export interface Receiver {
  applicationId: ApplicationId;
  applicationName: string;
  /** The developer that owns the application. */
  developerId: string;
  developerName: string;
  setting: WebhookSetting;
  /** The URL of the setting; null if it is no longer set. */
  url: string | null;
  /** `failing`: the last attempt failed. `slow`: a due delivery has waited longer than half a minute. `retrying`: the last attempt succeeded, and deliveries that failed before wait for another attempt. */
  state: 'healthy' | 'retrying' | 'slow' | 'failing';
  pending: number;
  /** The time since which the first due delivery is due; null if no delivery is due. */
  oldestDueAt: UtcDateTimeOrNull;
  /** The time of the first failed attempt after the last successful one. */
  failingSince: UtcDateTimeOrNull;
  /** The status code of the last failed attempt; null if the receiver does not fail, or did not answer. */
  lastStatusCode: number | null;
  /** The reason of the failure, for people. */
  lastError: string | null;
  /** The time of the next attempt of a pending delivery that is not yet due. */
  nextAttemptAt: UtcDateTimeOrNull;
  /** The attempts that ended in each of the last 24 hours, the oldest first. The last hour is not over. Attempts of the last ten seconds may be missing. */
  hours: {
    /** The beginning of the first hour. */
    since: UtcDateTime;
    /**
     * @minItems 24
     * @maxItems 24
     */
    delivered: number[];
    /**
     * @minItems 24
     * @maxItems 24
     */
    failed: number[];
  };
}
/** A page of receivers, ordered by application and setting. The list is computed every ten seconds at most. */
export interface ReceiverList {
  receivers: Receiver[];
}
/** Filters of the list of receivers. */
export interface ReceiverQuery {
  state?: 'healthy' | 'retrying' | 'slow' | 'failing';
  /** Only receivers of this developer. */
  developerId?: DeveloperId;
  /** Only receivers of this application. */
  applicationId?: ApplicationId;
  /** The beginning of the page; take it from the `Link` of the page before. */
  after?: string;
  /** The largest number of rows in the answer. */
  limit: number;
}
/** The deliveries to send again: those that were created from `since` (inclusive) to `until` (exclusive). Without `status`: those that were given up, which are exhausted or gone. */
export interface FleetRedeliveryRange {
  since?: Moment;
  until?: Moment;
  status?: DeliveryStatus;
  setting?: WebhookSetting;
  /** True: the deliveries are only counted. */
  dryRun?: boolean;
}
/** The removal of a developer, or of one application, with everything that belongs to it. */
export interface Removal {
  removalId: RemovalId;
  /** The developer that is removed, or whose application is; null for an application whose developer was deleted before. */
  developerId: string | null;
  /** The application that is removed; null when the whole developer is. */
  applicationId: string | null;
  /** The name of the developer or application at the time of the request. */
  name: string;
  /** `running`: access has ended, and rows are being removed; it cannot be stopped. `ended`: everything is removed. */
  state: 'running' | 'ended';
  /** What is being removed; null before the first step and after the last. */
  step:
    | 'connections'
    | 'devices'
    | 'rollouts'
    | 'transactions'
    | 'deliveries'
    | 'idempotencyKeys'
    | 'versions'
    | 'storedBytes'
    | 'packages'
    | 'applications'
    | null;
  /** What there was at the time of the request. */
  contents: Contents;
  /** What was removed so far. */
  removed: {
    /** Connections of devices that were ended. */
    connections: number;
    /** Devices that were removed; for an application, deactivated. */
    devices: number;
    /** Rollouts. */
    rollouts: number;
    /** Transactions. */
    transactions: number;
    /** Webhook deliveries. */
    deliveries: number;
    /** Answers to requests with an Idempotency-Key. */
    idempotencyKeys: number;
    /** Versions of packages. */
    versions: number;
    /** Bytes of binaries. */
    storedBytes: number;
    /** Packages. */
    packages: number;
    /** Applications, also those that were deleted before. */
    applications: number;
  };
  /** The time of the request. */
  requestedAt: UtcDateTime;
  /** The time at which something was last removed. */
  progressedAt: UtcDateTime;
  endedAt: UtcDateTimeOrNull;
}
/** A page of removals. */
export interface RemovalList {
  removals: Removal[];
}
/** Query of the removals of developers and applications, with its defaults filled in. */
export interface RemovalQuery {
  /** Only removals of this developer and its applications. */
  developerId?: DeveloperId;
  /** Only removals of this application; while its developer is being removed, that removal. */
  applicationId?: ApplicationId;
  /** Only removals in this state. */
  state?: 'running' | 'ended';
  /** The beginning of the page; take it from the `Link` of the page before. */
  after?: RemovalId;
  /** The largest number of rows in the answer. */
  limit: number;
}
/** Confirms that a developer or an application is removed with everything that belongs to it. */
export interface RemovalRequest {
  /** The identifier or the name of the developer or application, typed again. */
  confirmation: string;
}
/** Query of the rollouts of all applications, with its defaults filled in. */
export interface FleetRolloutQuery {
  /** Only rollouts in this state. */
  state?: RolloutState;
  /** Only rollouts of this operation. */
  operation?: RolloutOperation;
  /** Only rollouts that have this device. */
  deviceId?: DeviceId;
  /** Only rollouts of this application. */
  applicationId?: ApplicationId;
  /** The beginning of the page; take it from the `Link` of the page before. */
  after?: RolloutId;
  /** The largest number of rows in the answer. */
  limit: number;
}
/** Query of the search. */
export interface SearchQuery {
  /** The beginning of a deviceId, a whole transactionId or deliveryId, or a part of another identifier or a name. */
  q: string;
}
/** The matches, 20 at most. */
export interface SearchResults {
  results: {
    kind: 'device' | 'transaction' | 'delivery' | 'application' | 'developer' | 'package';
    id: string;
    /** The parent of the match: the developer of a device or an application, the device of a transaction, the application of a delivery, or the line (software or firmware) of a package. */
    parent: string | null;
  }[];
}
/** The texts of a version of a system package or of firmware. A text that is left out stays, and null removes it. */
export interface ServiceSoftwarePut {
  displayName?: DisplayName;
  description?: Description;
}
/** The settings of the service, as in effect. Secret values are not shown. */
export interface SettingList {
  settings: {
    name: string;
    /** The value in effect; null if it is computed at start, or if the feature is off. */
    value: string | null;
    /** Whether the setting was set; false if its default is in effect. */
    isSet: boolean;
    /** Whether the value is secret; it is not shown then. */
    secret: boolean;
    description: string;
  }[];
}
/** The body that begins a sign-in to the console of administration through a provider. */
export interface SignIn {
  providerId: ProviderId;
  /** The page of the console to which the browser returns: its path behind `/console/`, with its query. */
  page?: string;
}
/** The keys that sign access tokens, the newest first; the keys themselves are never shown. */
export interface SigningKeyList {
  keys: {
    /** The `kid` of the tokens and of the published keys. */
    keyId: string;
    /** `next`: it is published, and signs ten minutes after it was made. `signs`: new tokens are signed with it. `former`: its tokens are valid until they expire. */
    state: 'next' | 'signs' | 'former';
    createdAt: UtcDateTime;
  }[];
}
/** The body that makes a new signing key. */
export interface SigningKeyRenew {
  /** True when a key may have been stolen: all keys of before end at once, with all access tokens that they have signed, and their streams. */
  atOnce?: boolean;
}
/** The public key of a developer, and a name for people. */
export interface SoftwareKeyCreate {
  name: Name;
  publicKey: SoftwarePublicKey;
}
/** All software keys of a developer; at most 20. */
export interface SoftwareKeyList {
  keys: SoftwareKey[];
}
/** A public key with which the signatures of the versions of a developer are verified. */
export interface SoftwareKey {
  keyId: SoftwareKeyId;
  name: Name;
  publicKey: SoftwarePublicKey;
  createdAt: UtcDateTime;
}
/** The part of the story of a device, with its defaults filled in. */
export interface StoryQuery {
  /** Only entries of this moment or later. */
  since?: Moment;
  /** Only entries before this moment. */
  until?: Moment;
  /** The page begins after this place, which the Link of the page before names. */
  after?: string;
  /** The largest number of entries in the answer. */
  limit: number;
}
/** A page of versions of system packages, ordered by package, newest version first. */
export interface SystemPackageList {
  systemPackages: ServiceSoftwareVersion[];
  total: Total;
}
/** Query of all transactions, with its defaults filled in. */
export interface TransactionQuery {
  /** `true`: only unfinished transactions, oldest first. Otherwise all transactions, newest first. */
  unfinished?: 'true' | 'false';
  /** Only transactions with this operation. */
  operation?: Operation;
  /** Only transactions of this application. */
  applicationId?: ApplicationId;
  /** Only transactions of this device. */
  deviceId?: DeviceId;
  /** Only transactions of this rollout. */
  rolloutId?: RolloutId;
  /** Only transactions in this state. */
  status?: TransactionStatus;
  /** Only transactions that are at least this old. */
  olderThan?: Duration;
  /** Only transactions of this moment or later: of their end, when failures are listed (`status=failed` or `errorCode`), otherwise of their creation. */
  since?: Moment;
  /** Only transactions before this moment. */
  until?: Moment;
  /** Only transactions that ended with this error code, the last one first. */
  errorCode?: string;
  /** Only installations of this package. */
  package?: PackageName;
  /** Only installations of this version of the package. */
  version?: VersionName;
  /** `true`: only unfinished transactions with a warning, because their device will not answer. */
  warning?: 'true' | 'false';
  /** The order of creation: `createdAt` with the oldest first, or `-createdAt` with the newest first. By default unfinished transactions have the oldest first, all others the newest. Failures (`status=failed` or `errorCode`) of all devices come by their ends alone. */
  sort?: 'createdAt' | '-createdAt';
  /** The page begins after this transaction, in the order of the list. */
  after?: number;
  /** The largest number of rows in the answer. */
  limit: number;
}
/** The transactions to cancel. */
export interface TransactionsCancel {
  /**
   * @minItems 1
   * @maxItems 1000
   */
  transactionIds: TransactionId[];
}
/** The outcome for each transaction, in the order of the request. */
export interface TransactionsCancelled {
  results: {
    transactionId: TransactionId;
    cancelled: boolean;
    /** The code of the error, if the transaction was not cancelled. */
    code?: string;
  }[];
}
/** A version with its binary and its devices. */
export interface VersionRow {
  version: VersionName;
  description: string | null;
  createdAt: UtcDateTime;
  updatedAt: UtcDateTime;
  distributing: boolean;
  distributionStartedAt: UtcDateTimeOrNull;
  /** The binary of the version; null if it has none. The fields are null while the object store does not answer. */
  binary: {
    sizeBytes: number | null;
    /** SHA-256 of the binary; null until it is computed. */
    sha256: string | null;
    /** The package that the file contains; null until the file is read. */
    foundPackage: string | null;
    foundVersion: string | null;
    /**
     * SHA-256 of the certificates with which the APK is signed; empty without one, and until the file is read.
     *
     * @maxItems 10
     */
    certificates: ApkCertificate[];
    /** The state of the signature of the version. */
    signature: 'none' | 'valid' | 'unchecked' | 'invalid';
  } | null;
  /** The difference between the file and its registration. */
  warning: string | null;
  devices: InstallationCounts;
}
/** The numbers of devices that have a version, wait for it, or failed at it. They are at most ten seconds old. */
export interface InstallationCounts {
  /** The number of devices that last reported this version. */
  installed: number;
  /** The number of devices on which an unfinished transaction installs the version. */
  waiting: number;
  /** The number of devices on which the installation failed. Devices that have the version or wait for it are not counted. */
  failed: number;
}
/** A page of versions, newest first. */
export interface VersionRowList {
  versions: VersionRow[];
}
/** Query of the versions of a package, with its defaults filled in. */
export interface VersionRowQuery {
  /** Software or firmware. */
  line: 'software' | 'firmware';
  /** Only versions older than this one. */
  after?: VersionName;
  /** The largest number of rows in the answer. */
  limit: number;
}
/** An access point name, with the fields of an Android APN. */
export interface ApnEntry {
  name: string;
  apn: string;
  proxy?: string;
  port?: string;
  user?: string;
  server?: string;
  password?: string;
  mmsc?: string;
  /** Mobile country code; empty as in lists of access points that leave it open. */
  mcc?: string;
  /** Mobile network code; empty as in lists of access points that leave it open. */
  mnc?: string;
  mmsproxy?: string;
  mmsport?: string;
  type?: string;
  protocol?: string;
  carrierEnabled?: string;
  roamingProtocol?: string;
  mvnoType?: string;
  mvnoMatchData?: string;
  authType?: number;
  bearer?: number;
  bearerBitmask?: number;
}
/** Uploads whose file differs from its registration, or cannot be read as an APK, ordered by package and version. */
export interface BinaryWarningList {
  warnings: {
    package: PackageName;
    version: VersionName;
    warning: string;
    /** Package and version that the file contains; null if the file could not be read. */
    found: {
      package: string;
      versionName: string | null;
      versionCode: number | null;
    } | null;
    readAt: LocalDateTime;
  }[];
  total: Total;
}
/** A webhook delivery with its body and its failed attempts. */
export interface DeliveryDetail {
  deliveryId: DeliveryId;
  applicationId: ApplicationId;
  deviceId: string | null;
  transactionId: number | null;
  setting: WebhookSetting;
  /** The type of the event. */
  type: string;
  /** The URL of the last attempt; null before the first. */
  url: string | null;
  status: DeliveryStatus;
  /** The number of attempts. A redelivery sets it to 0. */
  attempts: number;
  /** The status code of the answer to the last attempt; null if there was no answer. */
  lastStatusCode: number | null;
  /** The reason why the last attempt failed, for people. */
  lastError: string | null;
  nextAttemptAt: UtcDateTimeOrNull;
  createdAt: UtcDateTime;
  updatedAt: UtcDateTime;
  /** The body, the same in every attempt. */
  body: string;
  /** The headers of the last attempt, as they were sent: with `webhook-timestamp`, and with the signatures in `webhook-signature`. Empty before the first attempt. Attempts of early releases have no time and no signatures. */
  headers: {
    [k: string]: string;
  };
  /** The beginning of the answer to a test event, 4 KiB at most; null for other events, and for answers without a 2xx status, which are among the failed attempts. */
  answer: string | null;
  /**
   * The failed attempts, the newest first, 20 at most.
   *
   * @maxItems 20
   */
  failedAttempts: {
    /** The number of the attempt. A redelivery counts from 1 again. */
    attempt: number;
    at: UtcDateTime;
    statusCode: number | null;
    error: string | null;
    durationMs: number;
    /** The beginning of the answer, 4 KiB at most. Null if there was no answer, or no room for more answers to this application. */
    answer: string | null;
    /** The headers of the attempt, as they were sent. Empty when nothing was sent, and for attempts of earlier releases. */
    headers: {
      [k: string]: string;
    };
  }[];
}
/** A page of webhooks, newest first. */
export interface DeliveryRowList {
  deliveries: DeliveryRow[];
}
/** The reason why a device could not carry out a command. Codes in use: DOWNLOAD_FAILED, VERSION_NAME_MISMATCH, VERSION_CODE_NOT_HIGHER, PACKAGE_NAME_MISMATCH, STORAGE_FULL, SIGNATURE_REJECTED, REVERTED, INVALID_PARAMETERS, UNSUPPORTED, INTERNAL. */
export interface DeviceError {
  code: string;
  message: string;
}
/** A note that somebody wrote on a device. */
export interface DeviceNote {
  noteId: NoteId;
  /** The application whose note it is; null for a note of administration. */
  applicationId: string | null;
  text: string;
  /** The name of the person, or of the application, as it was when the note was written. A note by the administrator token has `The administrator token`. */
  author: string;
  createdAt: UtcDateTime;
}
/** The body that writes a note on a device. */
export interface DeviceNoteCreate {
  /** What the next person should know. It may have several lines. */
  text: string;
}
/** The notes on a device, the newest first. */
export interface DeviceNoteList {
  notes: DeviceNote[];
}
/** A device in a list. */
export interface DeviceRow {
  deviceId: DeviceId;
  developerId: DeveloperId;
  /** The application that the device is activated for, or being activated for. */
  applicationId: string | null;
  activation: 'deactivated' | 'activating' | 'activated';
  /** Whether the device is blocked: it cannot connect then. */
  blocked: boolean;
  connected: boolean;
  lastSeenAt: UtcDateTimeOrNull;
  /** The firmware version that the device last reported. */
  firmware: string | null;
  /** The last reported battery level, in percent. */
  battery: number | null;
  /** The number of its unfinished transactions. */
  unfinished: number;
  tags: Tags;
}
/** The tags of a device: a value for each key. */
export interface Tags {
  [k: string]: TagValue;
}
/** A page of devices. A page can be shorter than its limit, or even empty, without being the last. */
export interface DeviceRowList {
  devices: DeviceRow[];
}
/** A selection of devices that are activated for the application: either `devices`, or all devices that match all other members. `{}` selects all. */
export interface DeviceSelector {
  /**
   * These devices, and no other member.
   *
   * @minItems 1
   * @maxItems 10000
   */
  devices?: DeviceId[];
  /** Tags by key: one value, a list of values of which the device must have one, or null for devices without a tag of this key. */
  tags?: {
    /**
     * @minItems 1
     * @maxItems 16
     */
    [k: string]: string | TagValue[] | null;
  };
  /** Only devices that last reported this package as installed. */
  package?: PackageName;
  /** Only devices with this version of the package; needs `package`. */
  version?: VersionName;
  /** Only devices with another version of the package, or without the package; needs `package`. */
  versionNot?: VersionName;
  /** Only devices whose version of the package is in this SemVer range; needs `package`. */
  versionRange?: VersionRange;
  /** Only devices that last reported this firmware version. */
  firmwareVersion?: FirmwareVersion;
  /** Only devices that last reported another firmware version, or none. */
  firmwareVersionNot?: FirmwareVersion;
  /** Only devices whose last reported firmware version is in this SemVer range. */
  firmwareVersionRange?: VersionRange;
  /** Only devices that last reported this language, such as `ja-JP`; upper and lower case count as equal. */
  lang?: string;
  /** Only devices of this rollout of the application. */
  rollout?: RolloutId;
  /** Only devices in this state in the rollout; needs `rollout`. */
  memberState?: RolloutDeviceState;
  /** Only devices whose battery was last reported at this level, in percent, or above. */
  batteryAtLeast?: number;
  /** Only devices that last reported that their battery is being charged (`true`), or that it is not (`false`). */
  charging?: boolean;
  /** Only devices that last reported a network of this type, such as `wifi`. */
  networkType?: string;
  /** Only devices that last reported at least so many bytes of free storage. */
  storageFreeAtLeast?: number;
  /** Only devices that are connected now (`true`), or that are not connected (`false`). */
  connected?: boolean;
  lastSeenWithin?: SeenWithin;
  percent?: Percent;
  salt?: Salt;
}
/** A file with diagnostics that a device has uploaded. */
export interface DiagnosticFile {
  kind: DiagnosticKind;
  fileId: FileId;
  name: FileName;
  size: FileSize;
  sha256: Sha256;
}
/** Query of the feed: the topics that a reader follows. */
export interface FeedQuery {
  /** Topics, separated by commas. `fleet` (administration only): the summary, once a second. `devices:ID;ID`: these devices, 200 at most. `transactions`: all transactions. `transactions:ID;ID`: these transactions, 200 at most. `receivers`: receivers of webhooks that are slow or fail. `audit` (administration only): the auditId of the newest entry of the audit log, and the position of the last sealed one. `software:PACKAGE@VERSION;...`: the numbers of devices that have a version, wait for it, or failed at it (`firmware/PACKAGE@VERSION` for firmware), 20 versions at most. `rollouts:ID;ID`: these rollouts, 4 at most: their state, their counts, and signs that their figures have changed. `device:ID`: the messages of a device, 4 devices at most. Names are percent-encoded. */
  topics: string;
}
/** The numbers of devices that have a version, wait for it, or failed at it (at most ten seconds old), and a page of these devices. */
export interface InstallationList {
  /** The number of devices that last reported this version. */
  installed: number;
  /** The number of devices on which an unfinished transaction installs the version. */
  waiting: number;
  /** The number of devices on which the installation failed. Devices that have the version or wait for it are not counted. */
  failed: number;
  /** The numbers of failed devices, by error code. */
  errors: {
    code: string;
    devices: number;
  }[];
  devices: {
    deviceId: DeviceId;
    state: 'installed' | 'waiting' | 'failed';
    errorCode: string | null;
    /** The time since which the device is in this state; null for installed firmware. */
    since: UtcDateTimeOrNull;
  }[];
}
/** An error of the Model Context Protocol (JSON-RPC 2.0). */
export interface McpError {
  jsonrpc: '2.0';
  id?: string | number | null;
  error: {
    /** A code of JSON-RPC. */
    code: number;
    message: string;
    /** What else the error says; of an error of the service its `code` and its `details`. */
    data?: {
      [k: string]: unknown;
    };
  };
}
/** A message of the Model Context Protocol (JSON-RPC 2.0); batches are no part of it. */
export interface McpMessage {
  jsonrpc: '2.0';
  id?: string | number | null;
  method?: string;
  params?: {};
  result?: {};
  error?: {};
}
/** A person of a developer, with a token for its applications. */
export interface Member {
  memberId: MemberId;
  name: Name;
  role: MemberRole;
  createdAt: UtcDateTime;
  /** The time at which the token ends. */
  expiresAt: UtcDateTime;
  /** The last use of the token, to the minute. */
  lastUsedAt: UtcDateTimeOrNull;
}
/** The body that gives a person of a developer a token. */
export interface MemberCreate {
  name: Name;
  role: MemberRole;
  /** Days for which the token is valid; by default 90. */
  expiresInDays?: number;
}
/** A new person of a developer, with the token, which is shown only now. */
export interface MemberCreated {
  memberId: MemberId;
  name: Name;
  role: MemberRole;
  createdAt: UtcDateTime;
  /** The time at which the token ends. */
  expiresAt: UtcDateTime;
  /** The last use of the token, to the minute. */
  lastUsedAt: UtcDateTimeOrNull;
  /** The token. It is shown only in this answer. */
  token: string;
}
/** The people of a developer, ordered by their names. */
export interface MemberList {
  members: Member[];
}
/** An error that one sentence describes. */
export interface MessageError {
  /** The error, as a sentence. */
  message: string;
}
/** Query of a list, with its defaults filled in. */
export interface PagingQuery {
  /** The number of rows to skip. */
  offset: number;
  /** The largest number of rows in the answer. */
  limit: number;
}
/** Metadata of the place that assistants use (RFC 9728 2). */
export interface ProtectedResourceMetadata {
  resource: Url;
  resource_name?: string;
  authorization_servers?: Url[];
  jwks_uri?: Url;
  scopes_supported?: string[];
  bearer_methods_supported: string[];
  resource_documentation?: Url;
}
/** An error that lists all faults of the request. */
export interface ReasonError {
  /** The error, as a sentence in lower case with a full stop. */
  reason: string;
  /**
   * The faults that were found, up to 100. A last one, `...and more`, says that there are others.
   *
   * @maxItems 101
   */
  details: Fault[];
}
/** A file that a device wants to upload. */
export interface RecordedFile {
  name: FileName;
  size: FileSize;
  contentType: ContentType;
}
/** A rollout with its stages, errors, speed and history. */
export interface RolloutDetails {
  rolloutId: RolloutId;
  applicationId: ApplicationId;
  label: string | null;
  operation: RolloutOperation;
  /** The subject of its commands, without secrets: package@version, or a few words. */
  subject: string | null;
  state: RolloutState;
  reason: RolloutReason;
  /** The orders that it carries out as it is now, if the caller has the right to give them: others are refused, or change nothing. A revert is refused all the same if no device has what the rollout gave it. */
  permits: RolloutOrder[];
  /** The number of the last stage that has begun, from 1; 0 before the first. */
  stage: number;
  /** The number of devices. */
  devices: number;
  counts: RolloutCounts;
  inWork: RolloutInWork;
  createdAt: UtcDateTime;
  startedAt: UtcDateTimeOrNull;
  endedAt: UtcDateTimeOrNull;
  /** The stages. */
  stages: {
    /** The number of its devices when the rollout was made. */
    planned: number;
    /** `waiting`: it has not begun; `running`; `over`: a later one has begun, or the rollout has ended. */
    state: 'waiting' | 'running' | 'over';
    counts: RolloutCounts;
    /** The rule for the next stage, with the values that hold where the rollout named none; null for the last one. */
    continueWhen: {
      succeededPercent: number;
      soakFor?: number;
      /** The results that it needs, by the devices that had something to do so far. */
      minimumResults?: number;
    } | null;
    /** When the soak of the stage ends, or has ended; null while it has not its share of successes, and once the next stage has begun. */
    soakEndsAt: UtcDateTimeOrNull;
    approval: boolean;
    /** `other`: a person must approve it who has neither started the rollout nor changed it last; null: anybody may. */
    approvalBy: 'other' | null;
    approved: boolean;
    health: RolloutStageHealth;
    inWork: RolloutInWork;
    verdict: RolloutVerdict;
    /** The tag of the verdict, to be sent in `If-Match` with the approval of this stage, or with a resume in it. */
    verdictTag: string | null;
  }[];
  /** The failures and refusals by code, the most frequent 50 first. */
  errors: {
    state: 'failed' | 'refused' | 'cancelled';
    code: string;
    devices: number;
    /**
     * Some of the devices.
     *
     * @maxItems 3
     */
    examples: DeviceId[];
  }[];
  /** Seconds from the creation of a command to its delivery: 50, 90 and 99 percent were not slower. The values are rounded up by less than half. */
  delivery: {
    /** Seconds. */
    p50: number | null;
    /** Seconds. */
    p90: number | null;
    /** Seconds. */
    p99: number | null;
  };
  /** Seconds from the creation of a command to its result. */
  result: {
    /** Seconds. */
    p50: number | null;
    /** Seconds. */
    p90: number | null;
    /** Seconds. */
    p99: number | null;
  };
  /** The speed since the rollout began; null before the first result. */
  resultsPerMinute: number | null;
  /** When the rollout would end at that speed, with the soaks and windows that are still to come; null while `endWaitsFor` says what it waits for. */
  estimatedEnd: UtcDateTimeOrNull;
  /** Something that the end waits for, and that nobody knows the time of: the approval of a stage, a resume, or the cancel of a continuous rollout; else null. */
  endWaitsFor: 'approval' | 'resume' | 'cancel' | null;
  abortRule: RolloutAbortState;
  /** The health rules as the last look found them; empty before it. */
  healthRules: RolloutHealthState[];
  /** With `results=true` only. */
  results?: RolloutResults;
  selector: DeviceSelector;
  /** The rollout whose devices this one brings back. */
  reverts?: RolloutId;
  /** The rollout that brings back the devices of this one. */
  revertedBy?: RolloutId;
  /** The rules of the rollout, as they were given. */
  rules: {
    ratePerMinute?: RolloutRate;
    /** The bound of devices that may be carrying out a command; also one that holds by default. */
    maxUnfinished?: number;
    window?: RolloutWindow;
    startAt?: UtcDateTime;
    abort?: RolloutAbortRule;
    retry?: {};
    confirm?: RolloutConfirm;
    health?: RolloutHealthRules;
    revert?: string;
    expireIn?: number;
    answerWithin?: number;
    revertAfter?: number;
    supersede?: boolean;
    continuous?: boolean;
    preferConnected?: boolean;
  };
  /** What happened, the newest first; at most 100 entries. */
  history: {
    at: UtcDateTime;
    event:
      | 'created'
      | 'started'
      | 'stageStarted'
      | 'paused'
      | 'resumed'
      | 'approved'
      | 'changed'
      | 'retried'
      | 'reverted'
      | 'revertFailed'
      | 'completed'
      | 'cancelled';
    /** The number of the stage, from 1. */
    stage: number | null;
    by: RolloutActor;
    /** The name of the person, as it was then; null for a token of the application, the administrator token, and the service. */
    person: string | null;
    reason: RolloutReason;
    health: RolloutHealthFinding;
    /** The verdict on the stage at a pause, and the one that an approval or a resume has accepted; null for other entries, and for those of earlier releases. */
    verdict: RolloutVerdict;
  }[];
}
/** Numbers of devices by their state in a rollout. */
export interface RolloutCounts {
  waiting: number;
  unfinished: number;
  confirming: number;
  succeeded: number;
  failed: number;
  cancelled: number;
  unchanged: number;
  refused: number;
}
/** The unfinished devices, told apart. */
export interface RolloutInWork {
  /** The command was delivered, and has no result yet. */
  installing: number;
  /** The device was not heard of since the command was made. */
  switchedOff: number;
  /** The device was heard of since, and the command is not delivered yet. */
  queued: number;
}
/** How devices of a group are: means of those of which a measure is known; null where it is known of none. */
export interface RolloutGroupHealth {
  /** The devices that are watched. */
  devices: number;
  /** Those that were seen since their result. */
  seen: number;
  /** Percent of the devices. */
  silent: number | null;
  /** A device and hour. */
  reconnects: number | null;
  /** A device and hour, of the types that a rule names. */
  events: number | null;
  /** A device and hour, of other operations. */
  failedCommands: number | null;
  /** Percent points an hour while it is not charged. */
  batteryDrop: number | null;
  /** MiB by which the free storage shrinks an hour. */
  storageFree: number | null;
  /** Percent of the devices that report the version. */
  versionKept: number | null;
}
/** How far a health rule is from stopping the rollout, as the last look found it. */
export interface RolloutHealthState {
  rule: RolloutHealthRule;
  treated: RolloutHealthGroup;
  control: RolloutHealthGroup;
  /** The limit in the unit of the measure: `atMost`, or so many times the value of the devices that wait; null while that is not known. A rule with `timesControl` stops nothing that chance may explain. */
  stopsAt: number | null;
}
/** A rule about the devices that have the release, from their result on until the rollout ends. It pauses the rollout, and holds the next stage until enough devices are known. It has `atMost` or `timesControl`. */
export interface RolloutHealthRule {
  /** `silent`: percent of the devices that were not seen for three times as long as they are usually away at most, at least half an hour. A device and hour: `reconnects`, from five minutes after the result on; `events` of the named types; `failedCommands` of other operations; `batteryDrop`: percent points while it is not charged; `storageFree`: MiB by which its free storage shrinks. */
  measure: 'silent' | 'reconnects' | 'events' | 'failedCommands' | 'batteryDrop' | 'storageFree';
  /**
   * The types of events that count. They are not known while the application has no URL for them.
   *
   * @minItems 1
   * @maxItems 16
   */
  types?: string[];
  /** The limit: percent of the devices for `silent`, else the mean of a device and hour, in which one device counts at most four times the limit. */
  atMost?: number;
  /** The limit: so many times as much as devices of the same rollout show that wait for the release, in the same hours, and more than chance explains. */
  timesControl?: number;
  /** The number of devices that must be known before the rule counts. */
  minimumDevices: number;
  /** Seconds: for `silent`, without a sign of life; for what is counted, those that are looked back at, by default 6 hours. */
  within?: number;
}
/** The devices of which the measure was known, and its mean. */
export interface RolloutHealthGroup {
  devices: number;
  value: number | null;
}
/** The results of a rollout over time: how many devices ended in each interval. An interval without results is left out. A device that tries again is counted by its latest result. */
export interface RolloutResults {
  /** The begin of the first interval; null before the rollout has started. */
  from: UtcDateTimeOrNull;
  /** The length of an interval. There are at most 120. */
  intervalSeconds: number;
  /** @maxItems 121 */
  results: {
    /** The begin of the interval. */
    at: UtcDateTime;
    /** Devices that succeeded in it. */
    succeeded: number;
    /** Devices that failed in it. */
    failed: number;
  }[];
}
/** The times at which commands are made and published. What is not delivered at the end of a window is taken back, and goes again in the next one. */
export interface RolloutWindow {
  /**
   * The days on which a window begins; all by default.
   *
   * @minItems 1
   * @maxItems 7
   */
  days?: ('mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun')[];
  /** Time of day. */
  from: string;
  /** Time of day; if it is not after `from`, on the next day. */
  to: string;
  /** IANA name, such as `Asia/Tokyo`. */
  timeZone: string;
}
/** Pauses the rollout in the commit of the result with which it becomes true. */
export interface RolloutAbortRule {
  /** The share of failures among the results from which on the rollout is paused. */
  failedPercent: number;
  /** The number of results before which the rule does not count. */
  minimumResults: number;
  /**
   * The codes of errors that count as failures; by default all except `EXPIRED`.
   *
   * @minItems 1
   * @maxItems 50
   */
  codes?: string[];
}
/** When a success is final. Until then the device is `confirming`, and counts neither as a success nor as a failure. For setApn, setWifi, installSoftware and updateFirmware. */
export interface RolloutConfirm {
  /** Seconds after its result within which the device has to be heard of again, else it has failed with SILENT. Its first 30 seconds do not count. */
  seenAgainWithin: number;
  /** True: the device has to report the version as well, else it has failed with VERSION_LOST. For installSoftware and updateFirmware. */
  versionKept?: boolean;
}
/** Query of a rollout. */
export interface RolloutDetailQuery {
  /** `true`: the answer has the results over time as well, of the same moment. */
  results?: 'true' | 'false';
}
/** A page of the devices of a rollout: by deviceId, or, with `state`, in the order in which they are served. */
export interface RolloutDeviceList {
  devices: {
    deviceId: DeviceId;
    /** The number of its stage, from 1. */
    stage: number;
    state: RolloutDeviceState;
    /** The status of its transaction; null without one. */
    status: string | null;
    /** Its latest transaction; null without one. */
    transactionId: number | null;
    /** The number of its transactions. */
    attempts: number;
    /** The code of its failure or refusal. Of an unfinished device `NO_PLACE`: its command is not published yet, because `maxUnfinished` devices are under way, or because it is not connected. */
    code: string | null;
    updatedAt: UtcDateTime;
  }[];
}
/** A rollout in a list. */
export interface RolloutRow {
  rolloutId: RolloutId;
  applicationId: ApplicationId;
  label: string | null;
  operation: RolloutOperation;
  /** The subject of its commands, without secrets: package@version, or a few words. */
  subject: string | null;
  state: RolloutState;
  reason: RolloutReason;
  /** The number of the last stage that has begun, from 1; 0 before the first. */
  stage: number;
  /** The number of stages. */
  stages: number;
  /** The number of devices. */
  devices: number;
  counts: RolloutCounts;
  createdAt: UtcDateTime;
  startedAt: UtcDateTimeOrNull;
  endedAt: UtcDateTimeOrNull;
}
/** A page of rollouts, the newest first. */
export interface RolloutRowList {
  rollouts: RolloutRow[];
}
/** A stage: a share of all devices, or a number of them. The devices that no stage takes make a last one. */
export interface RolloutStage {
  /** The share of all devices of the rollout. */
  percent?: number;
  /** The number of devices. */
  count?: number;
  /** What must be true before the next stage begins, beside one success: by default 95 percent, and no soak. */
  continueWhen?: {
    /** The share of the stage's devices that must have succeeded. Devices that were unchanged, refused or cancelled do not count, and no command that expired. */
    succeededPercent: number;
    /** Seconds that must pass after that. */
    soakFor?: number;
    /** The number of results without which the share does not count, `EXPIRED` is none of them; or all devices that had something to do, if they are fewer. By default half of these, at most 20. */
    minimumResults?: number;
  };
  /** True: the next stage begins only when somebody has approved this one. `{ "by": "other" }`: a person who has neither started the rollout nor changed or resumed it last. */
  approval?:
    | boolean
    | {
        by: 'other';
      };
}
/** A transaction with its command and its webhook. */
export interface TransactionDetail {
  transactionId: TransactionId;
  deviceId: DeviceId;
  applicationId: ApplicationId;
  operation: Operation;
  /** The subject of the transaction, without secrets: package@version, or a few words. */
  subject: string | null;
  status: TransactionStatus;
  /** The number of times that the command was published. */
  attempts: number;
  /** The progress that the device reported, in percent. */
  progress: number | null;
  createdAt: UtcDateTime;
  publishedAt: UtcDateTimeOrNull;
  deliveredAt: UtcDateTimeOrNull;
  updatedAt: UtcDateTime;
  completedAt: UtcDateTimeOrNull;
  /** The error of a failed transaction; null otherwise. */
  error: {
    code: string;
    message: string;
  } | null;
  /** The reason why the device will not answer this unfinished transaction, judged by its last reported status; null otherwise. */
  warning: {
    code: 'FIRMWARE_TOO_OLD';
    message: string;
  } | null;
  /** The delivery of the webhook that reports the result; null before the end, or if it was removed. */
  deliveryId: string | null;
  /** The parameters of the command, with dots for passwords; null when the transaction has ended. */
  parameters: {} | null;
  /** The result that the device reported. */
  result: {} | null;
  /** The webhook that reports the result; null before the end, or if it was removed. */
  webhook: DeliveryRowOrNull;
  /** The time until which the command must be delivered. Present only with `expireIn`. */
  expiresAt?: UtcDateTime;
  /** Seconds from the delivery in which the device must give a final result. Present only with `answerWithin`. */
  answerWithin?: number;
  /** The time until which the device must give a final result. Present only with `answerWithin`, after the delivery. */
  answerBy?: UtcDateTime;
  /** The trace of OpenTelemetry that the transaction belongs to, if its call was traced. */
  traceId?: string;
  /** The transaction that took the place of this one. Present only with the code `SUPERSEDED`. */
  supersededBy?: TransactionId;
  /** The result that the device sent after the transaction had ended without it (`EXPIRED`, `NO_ANSWER`, `SUPERSEDED`, or cancelled). It changed nothing in the transaction, and no webhook reports it. Present only when there is one. */
  late?: {
    status: 'succeeded' | 'failed';
    at: UtcDateTime;
    /** The result that the device reported. */
    result?: {};
    /** The error of a `failed` result. */
    error?: {
      code: string;
      message: string;
    };
  };
  /** The rollout that made it. Present only with a rollout. */
  rolloutId?: RolloutId;
}
/** A page of transactions. A page can be shorter than its limit, or even empty, without being the last. */
export interface TransactionRowList {
  transactions: TransactionRow[];
}
/** A Wi-Fi network. The password has 8 to 63 bytes in UTF-8, or 64 hexadecimal digits, with WPA; 5 or 13 characters, or 10 or 26 hexadecimal digits, with WEP; OPEN needs none. */
export interface WifiEntry {
  /** Network name, 1 to 32 bytes in UTF-8. */
  ssid: string;
  password?: string;
  security: 'OPEN' | 'WEP' | 'WPA2' | 'WPA3' | 'WPA2_WPA3';
}
/** Objects of administration. They need the token of an administrator. */
export interface FileAdministration {
  /** @maxItems 200 */
  developers?: FileDeveloper[];
  /** @maxItems 200 */
  people?: FilePerson[];
}
/** A developer with the contract, the applications, the people and the enrolment batches. */
export interface FileDeveloper {
  developerId: DeveloperId;
  name?: Name;
  deviceLimit?: DeviceLimit;
  softwareSignatures?: SignatureRule;
  certificateChange?: CertificateRule;
  /** @maxItems 200 */
  applications?: FileApplication[];
  /** @maxItems 200 */
  members?: FileMember[];
  /** @maxItems 200 */
  enrolmentBatches?: FileEnrolmentBatch[];
  /** True: it is removed, if it is there. Only the identity counts then. */
  absent?: boolean;
}
/** An application of a developer. */
export interface FileApplication {
  applicationId: ApplicationId;
  /** It is given when the application is made, and cannot be changed. */
  name?: Name;
  authentication?: ApplicationAuthentication;
  /** The file that its secret is written to when it is made, with the mode 0600; its path is relative to this file. It must not exist before. */
  secretTo?: string;
  /** True: it is removed, if it is there. Only the identity counts then. */
  absent?: boolean;
}
/** A person of a developer. The person is found by the name. */
export interface FileMember {
  name: Name;
  role?: MemberRole;
  /** Days for which the token is valid; by default 90. */
  expiresInDays?: number;
  /** The file that the token is written to when it is made, with the mode 0600; its path is relative to this file. It must not exist before. */
  tokenTo?: string;
  /** True: what cannot be changed in place is ended, and made anew. Without it such a difference stops the apply. */
  replace?: boolean;
  /** True: it is removed, if it is there. Only the identity counts then. */
  absent?: boolean;
}
/** An enrolment batch. It is found by its name, among those that are open. */
export interface FileEnrolmentBatch {
  name: Name;
  /** The end of the code, in the next 366 days. */
  expiresAt?: Moment;
  /** The most devices that may enrol with the code. */
  mostDevices?: number;
  approval?: EnrolmentApproval;
  /**
   * The beginnings of the deviceIds that may enrol: a whole deviceId, or its first digits, such as the eight of a type allocation code. Without them any device may.
   *
   * @minItems 1
   * @maxItems 1000
   */
  deviceIds?: string[];
  /** Whether devices that are registered already may enrol, too, if they have never logged in. */
  registered?: boolean;
  /** The certificate with which the devices of the batch enrol, in PEM: the one that they all have, or the CA that has signed a certificate of each, with the deviceId as common name. Then the batch has no code. */
  claimCertificate?: string;
  /** The device CA of the developer that signs a client certificate for each device. Then the devices send a certification request, and get no credential. */
  authorityId?: AuthorityId;
  /** The days for which these certificates are valid, at most until the end of the CA; 365 without it. */
  certificateDays?: number;
  /** The file that its code is written to when it is made, with the mode 0600; its path is relative to this file. It must not exist before. */
  codeTo?: string;
  /** True: what cannot be changed in place is ended, and made anew. Without it such a difference stops the apply. */
  replace?: boolean;
  /** True: it is removed, if it is there. Only the identity counts then. */
  absent?: boolean;
}
/** Somebody who administers the service. */
export interface FilePerson {
  name?: Name;
  role?: Role;
  /** Whether the tokens of the person are refused. */
  disabled?: boolean;
  personId: PersonId;
  /** True: it is removed, if it is there. Only the identity counts then. */
  absent?: boolean;
}
/** A file of `lapel plan` and `lapel apply`. A folder of such files is one configuration. A field that no file names is not touched. */
export interface Configuration {
  /** The application that the files are for. An apply to another one is refused. */
  application?: ApplicationId;
  settings?: ApplicationSettingsUpdate;
  /** @maxItems 100 */
  endpoints?: FileEndpoint[];
  /** @maxItems 200 */
  tags?: FileTagging[];
  /** @maxItems 200 */
  packages?: FilePackage[];
  /** @maxItems 100 */
  rollouts?: FileRollout[];
  /**
   * The lists of this file that are whole: what is there and not in such a list is removed. No other file may have such a list.
   *
   * @maxItems 2
   */
  exclusive?: ('endpoints' | 'rollouts')[];
  administration?: FileAdministration;
}
/** The changes of the settings. A setting that is left out stays, and null removes it. */
export interface ApplicationSettingsUpdate {
  /** The results of transactions, and events of devices. Without it no transaction can be created. */
  deviceEvent?: SettingUrl;
  /** Events of calls. */
  callEvent?: SettingUrl;
  /** Results of recordings. */
  callFileSendEvent?: SettingUrl;
  /** Requests for the upload URLs of recordings. */
  callRecGetMultiPresignedUrl?: SettingUrl;
  /** Results of file uploads of devices. */
  fileUploadEvent?: SettingUrl;
  /** Requests for the upload URLs of files. */
  fileUploadGetUrl?: SettingUrl;
  /**
   * @deprecated
   * Deprecated: the service never sends anything to this URL. Served until the release 2026-10.
   */
  remoteSupportEvent?: SettingUrl;
}
/** An endpoint. It is found by its `endpointId`, else by its `description`. */
export interface FileEndpoint {
  /** The endpoint that is meant; then its `description` can be changed. */
  endpointId?: EndpointId;
  /** The URL that gets the events. */
  url?: string;
  /** The types that the endpoint gets; empty: all. */
  types?: EventTypeFilter;
  /** The name by which the endpoint is found: no two of the application may have the same. It is shown to people. */
  description?: string;
  enabled?: boolean;
  ordered?: EndpointOrder;
  /** The most new events in a second; null: no limit. Further attempts of an event are not counted. */
  ratePerSecond?: number | null;
  signatures?: SignatureSchemes;
  /** What happens to the events that it missed, when the apply enables it again. */
  missed?: 'send' | 'skip';
  /** The file that its secret is written to when it is made, with the mode 0600; its path is relative to this file. It must not exist before. */
  secretTo?: string;
  /** True: it is removed, if it is there. Only the identity counts then. */
  absent?: boolean;
}
/** Tags of all devices that a selector matches. */
export interface FileTagging {
  /** A name for the plan. */
  name: Name;
  devices: DeviceSelector;
  tags: TagPatch;
  /** True: devices that have one of these tags and do not match lose it. */
  exclusive?: boolean;
  /** The most devices that an apply may change; by default 1000. */
  mostDevices?: number;
}
/** A package with its versions. */
export interface FilePackage {
  package: PackageName;
  displayName?: DisplayName;
  /** @maxItems 200 */
  versions?: FileVersion[];
  /** True: it is removed, if it is there. Only the identity counts then. */
  absent?: boolean;
}
/** A version of a package. */
export interface FileVersion {
  version: VersionName;
  description?: Description;
  /** What a device must have reported, so that the version can be installed on it; null: nothing. */
  requires?: {
    firmwareVersion: VersionRange;
  } | null;
  /** The version of the package whose devices this one brings back to what they had before: a revert of a rollout of that version installs this one. Android refuses lower version codes, so it is the former software, built again with a higher one. */
  revertOf?: string | null;
  /** The binary. Its SHA-256 is compared with that of the binary that is stored; a stored one is never replaced; its path is relative to this file. */
  file?: string;
  /** The signature of the binary, as `lapel app sign --no-upload --json` prints it; its path is relative to this file. */
  signature?: string;
  /** True: its distribution is started. False: it is stopped. */
  distributed?: boolean;
  /** True: it is removed, if it is there. Only the identity counts then. */
  absent?: boolean;
}
/** A continuous rollout: devices that begin to match later join it. It is found by its label, among those that have not ended. */
export interface FileRollout {
  /** The name by which the rollout is found: no two that go on may have the same. */
  label: string;
  operation?: RolloutOperation;
  /**
   * The body of the operation, as for a single device.
   *
   * @maxItems 100
   */
  parameters?: {} | unknown[];
  devices?: DeviceSelector;
  /**
   * By default one stage with all devices.
   *
   * @maxItems 20
   */
  stages?: RolloutStage[];
  ratePerMinute?: RolloutRate;
  /** The most devices that may be carrying out a command at a time, as far as the service knows: a command that was published holds a place until it has a result. Devices that are not connected hold none. With an abort rule 100 by default, else there is no bound. */
  maxUnfinished?: number;
  window?: RolloutWindow;
  abort?: RolloutAbortRule;
  /** Which failures are tried again. */
  retry?: {
    /**
     * The codes of errors after which a device gets another command.
     *
     * @minItems 1
     * @maxItems 50
     */
    codes: string[];
    /** The most commands of a device. */
    attempts: number;
    /** Seconds between the failure and the next command. */
    after: number;
  };
  confirm?: RolloutConfirm;
  health?: RolloutHealthRules;
  /** `automatic`: when a health rule stops the rollout, its devices are brought back, as by the request to revert it. */
  revert?: 'automatic';
  expireIn?: ExpireIn;
  answerWithin?: AnswerWithin;
  /** Seconds in which each device has to reach the service with its new list, else it takes its former list again and has failed with REVERTED. For setWifi and setApn. */
  revertAfter?: RevertAfter;
  /** True: each command ends older unfinished commands of the same operation for its device. */
  supersede?: boolean;
  /** True: of the devices of a stage, connected ones come first. */
  preferConnected?: boolean;
  /** True: what cannot be changed in place is ended, and made anew. Without it such a difference stops the apply. */
  replace?: boolean;
  /** True: it is removed, if it is there. Only the identity counts then. */
  absent?: boolean;
}
/** A plan of `lapel plan`: the changes that `lapel apply` would make. */
export interface FilesPlan {
  format: 'lapel-plan-1';
  /** The account of the application; null if the files have nothing of an application. */
  application: {
    applicationId: string;
    url: string;
  } | null;
  /** The address of administration; null if the files have nothing of it. */
  administration: {
    url: string;
  } | null;
  /** Of the steps, with the states that they have seen, and of the refused differences: two plans with one digest are equal. */
  digest: string;
  /** The changes in their order. */
  steps: {
    kind:
      | 'developer'
      | 'application'
      | 'member'
      | 'enrolment batch'
      | 'person'
      | 'settings'
      | 'endpoint'
      | 'package'
      | 'version'
      | 'tags'
      | 'rollout';
    name: string;
    /** The file that declares the object; null for an object of no file. */
    file: string | null;
    line: number | null;
    action: 'create' | 'change' | 'replace' | 'remove';
    /** The fields that change. */
    changes: {
      field: string;
      /** The value now; null for an object that is made. */
      before: unknown;
      /** The value of the file, with its references; null for an object that is removed. */
      after: unknown;
    }[];
    notes: string[];
    /** The state that the step depends on: an entity tag, or a digest. */
    seen: string;
  }[];
  /** Differences that an apply cannot make. With one of them it makes no change. */
  refused: {
    kind:
      | 'developer'
      | 'application'
      | 'member'
      | 'enrolment batch'
      | 'person'
      | 'settings'
      | 'endpoint'
      | 'package'
      | 'version'
      | 'tags'
      | 'rollout';
    name: string;
    /** The file that declares the object; null for an object of no file. */
    file: string | null;
    line: number | null;
    reason: string;
  }[];
  /** Fields that the service does not show. */
  notCompared: {
    kind:
      | 'developer'
      | 'application'
      | 'member'
      | 'enrolment batch'
      | 'person'
      | 'settings'
      | 'endpoint'
      | 'package'
      | 'version'
      | 'tags'
      | 'rollout';
    name: string;
    /** The file that declares the object; null for an object of no file. */
    file: string | null;
    line: number | null;
    field: string;
    reason: string;
  }[];
  /** Objects that no file names. */
  notTouched: {
    kind:
      | 'developer'
      | 'application'
      | 'member'
      | 'enrolment batch'
      | 'person'
      | 'settings'
      | 'endpoint'
      | 'package'
      | 'version'
      | 'tags'
      | 'rollout';
    count: number;
    /** Some of them. */
    names: string[];
  }[];
  /** The number of objects that are as the files say. */
  unchanged: number;
}
/** The answer of a device to a command; a repetition changes nothing. A wrong value in `progress`, `result` or `error` is left out, and the rest counts. An ack without a transactionId or a status is rejected. */
export interface Ack {
  transactionId: TransactionId;
  status: 'processing' | 'succeeded' | 'failed';
  /** In percent. */
  progress?: number;
  /** The result of the operation; each operation documents its result. At most 64 KiB as JSON. */
  result?: Record<string, unknown>;
  /** The error of a `failed` ack; ignored with any other status. Without a readable code it is `INTERNAL`. */
  error?: {
    /** Codes in use: DOWNLOAD_FAILED, VERSION_NAME_MISMATCH (installed nevertheless), VERSION_CODE_NOT_HIGHER, PACKAGE_NAME_MISMATCH, STORAGE_FULL, SIGNATURE_REJECTED, REVERTED, INVALID_PARAMETERS, UNSUPPORTED, INTERNAL. Other codes are passed on unchanged. */
    code?: string;
    /** A text for people. */
    message?: string;
  };
}
/** Parameters of `activate`. */
export interface ActivateParameters {
  applicationId: ApplicationId;
  clientId: ClientId;
}
/** Data of `bluetooth.connected` and `bluetooth.disconnected`: the Bluetooth device. */
export interface BluetoothEventData {
  macAddress: MacAddress;
  name: BluetoothName;
}
/** Parameters of `cancel`: none. */
export interface CancelParameters {}
/** A command for a device. `transactionId` and `issuedAt` together identify the command and are the same in every repetition: the device carries out each pair once, and answers a repetition with the same result. The same transactionId with another `issuedAt` is another command. `cancel` has both values of the command that it stops, and needs no answer. */
export interface Command {
  transactionId: TransactionId;
  operation:
    | 'activate'
    | 'deactivate'
    | 'setApn'
    | 'setWifi'
    | 'setLanguage'
    | 'getConnectivityState'
    | 'setConnectivityState'
    | 'listConnectivity'
    | 'pairBluetooth'
    | 'collectDiagnostics'
    | 'installSoftware'
    | 'updateFirmware'
    | 'cancel';
  parameters: JsonObject;
  issuedAt: UtcDateTime;
  /** The number of the publish: 1 at first, higher in every repetition. */
  attempt: number;
}
/** Parameters of `setConnectivityState`. A successful ack has the result `{ type, enabled }`. */
export interface ConnectivityStateParameters {
  type: ConnectivityType;
  enabled: boolean;
}
/** Parameters of `getConnectivityState` and `listConnectivity`. A successful ack of the first has the result `{ type, enabled }`, of the second `{ type, devices: [{ name, macAddress, paired, connected }] }`, where a name may be null. */
export interface ConnectivityTypeParameters {
  type: ConnectivityType;
}
/** Parameters of `deactivate`. */
export interface DeactivateParameters {
  applicationId: ApplicationId;
}
/** Parameters of `collectDiagnostics`. A successful ack has the result `{ files }`. */
export interface DiagnosticsParameters {
  kinds: DiagnosticKinds;
  note?: DiagnosticNote;
}
/** A fault in a message of the device. The message was dropped, or parts of it were left out, or it was repaired; `reason` says which. It got its PUBACK nevertheless, so that it does not come again, and the connection stays. */
export interface MessageFault {
  /** The topic that the device published to, cut after 256 characters. */
  topic: string;
  /** `parts of the message were left out.` if the rest was accepted, `the message was repaired.` if it was accepted after a repair of its bytes or its JSON; with any other text, nothing of the message was accepted. */
  reason: string;
  /**
   * The faults, at most 100; a last one, `...and more`, says that there are others.
   *
   * @maxItems 101
   */
  details: Fault[];
  transactionId?: TransactionId;
  eventId?: EventId;
  requestId?: RequestId;
}
/** An event on a device. */
export interface DeviceEvent {
  eventId: EventId;
  /** The type of the event. It decides which setting gets the webhook, and the form of `data`. */
  type: string;
  /** The time of the event by the device's clock: ISO 8601 with an offset or `Z`, as 2026-11-20T09:30:00.123Z, from 1970 to 2199. An event with any other value, or without one, is taken with its time of arrival; the webhook repeats the value as `deviceTime`, and the errors topic tells the fault. */
  occurredAt?: {
    [k: string]: unknown;
  };
  /** An object whose form `type` decides, nested at most 32 levels deep. A `custom.` event with other data, or without any, is taken with `{}`. */
  data: Record<string, unknown>;
}
/** Data of `fileUpload.failed`. */
export interface FileUploadFailedData {
  fileId: FileId;
  name: FileName;
  error: DeviceError;
}
/** Data of `fileUpload.succeeded`. */
export interface FileUploadSucceededData {
  fileId: FileId;
  name: FileName;
  size: FileSize;
  sha256?: UploadedSha256;
}
/** Data of the response to `fileUploadUrl`. */
export interface FileUploadUrl {
  uploadUrl: UploadAddress;
  method: UploadMethod;
  headers: UploadHeaders;
  expiresAt?: UtcDateTime;
}
/** Data of the request `fileUploadUrl`: the file that the device wants to upload. */
export interface FileUploadUrlRequest {
  fileId: FileId;
  name: FileName;
  size: FileSize;
  contentType: ContentType;
}
/** Parameters of `installSoftware` and `updateFirmware`: the version to install, and its download URL. The URL is made at each delivery of the command; if it has expired, the device asks for another one (`softwareDownloadUrl`). The device installs the file only if its size and SHA-256 match. A signed version has `signature` and `signatureKeyId`, which a device with trusted keys of its own verifies before it installs the file. */
export interface InstallParameters {
  package: PackageName;
  version: VersionName;
  url: Url;
  expiresAt: UtcDateTime;
  size: FileSize;
  sha256: Sha256;
  signature?: SoftwareSignature;
  signatureKeyId?: SoftwareKeyId;
}
/** Parameters of `pairBluetooth`. A successful ack has the result `{ name, macAddress }`, where the name may be null. */
export interface PairBluetoothParameters {
  macAddress: MacAddress;
}
/** Data of `recording.failed`: the recordings of a call could not be saved. */
export interface RecordingFailedData {
  callId: CallId;
  error: DeviceError;
}
/** Data of `recording.saved`: the recordings of a call were uploaded to their URLs. */
export interface RecordingSavedData {
  callId: CallId;
  /**
   * One entry for each recording; `movieFile` is the file name for which the URL was requested.
   *
   * @minItems 1
   * @maxItems 100
   */
  connections: {
    connectionId: ConnectionId;
    movieFile: FileName;
    size?: FileSize;
    sha256?: UploadedSha256;
  }[];
}
/** Data of the response to `recordingUploadUrls`: a URL for each name, in the order of the request. */
export interface RecordingUploadUrls {
  /**
   * @minItems 1
   * @maxItems 32
   */
  urls: {
    name: FileName;
    uploadUrl: UploadAddress;
    method: UploadMethod;
    headers: UploadHeaders;
    expiresAt?: UtcDateTime;
  }[];
}
/** Data of the request `recordingUploadUrls`: the recordings of a call that the device wants to upload. */
export interface RecordingUploadUrlsRequest {
  callId: CallId;
  files: RecordedFiles;
}
/** A request of a device. The answer has the same requestId. */
export interface DeviceRequest {
  requestId: RequestId;
  type: string;
  data: JsonObject;
}
/** Answer to a request: data or an error. Codes in use: NOT_ACTIVATED, NOT_CONFIGURED (a setting that the feature needs has no URL), UPLOAD_URL_FAILED, BUSY (a bound is reached; ask again later), DISTRIBUTION_STOPPED, BINARY_DELETED, SIGNATURE_MISSING, SIGNATURE_INVALID, CERTIFICATE_CHANGED, CERTIFICATE_UNREADABLE, INVALID_PARAMETERS, UNSUPPORTED, INTERNAL. */
export interface DeviceResponse {
  requestId: string;
  data?: JsonObject;
  error?: DeviceError;
}
/** Result of `collectDiagnostics`: the files that were uploaded, one for each kind. */
export interface CollectDiagnosticsResult {
  /**
   * @minItems 1
   * @maxItems 3
   */
  files: DiagnosticFile[];
}
/** Result of `getConnectivityState`: whether Bluetooth is on. */
export interface GetConnectivityStateResult {
  type: ConnectivityType;
  /** True if Bluetooth is on. */
  enabled: boolean;
}
/** Result of `installSoftware`: the installed package and version, as the file names them. */
export interface InstallSoftwareResult {
  package: PackageName;
  version: string;
  /** Android version code. */
  versionCode: number;
}
/** Result of `listConnectivity`: the Bluetooth devices that are in reach or paired. */
export interface ListConnectivityResult {
  type: ConnectivityType;
  /** @maxItems 1000 */
  devices: {
    name: BluetoothName;
    macAddress: MacAddress;
    paired: boolean;
    connected: boolean;
  }[];
}
/** The operation has no result. If the ack has one, it is passed on unchanged. */
export interface NoResult {}
/** Result of `pairBluetooth`: the Bluetooth device that is paired now. */
export interface PairBluetoothResult {
  name: BluetoothName;
  macAddress: MacAddress;
}
/** Result of `setConnectivityState`: whether Bluetooth is on now. */
export interface SetConnectivityStateResult {
  type: ConnectivityType;
  /** True if Bluetooth is on. */
  enabled: boolean;
}
/** Result of `updateFirmware`: the firmware that the device runs now. The device also reports its new `firmwareVersion` on `status`. */
export interface UpdateFirmwareResult {
  package: PackageName;
  version: VersionName;
}
/** Parameters of `setApn`: the complete list of the device's access point names. */
export interface SetApnParameters {
  apns: ApnEntry[];
  /** Seconds from the change in which the device has to log in over a new connection with this list. It answers `succeeded` only then. If it does not, it takes its former list again, and answers `failed` with `REVERTED`. */
  revertAfter?: number;
}
/** Parameters of `setLanguage`. */
export interface SetLanguageParameters {
  lang: LanguageTag;
}
/** Parameters of `setWifi`: the complete list of the device's networks. */
export interface SetWifiParameters {
  networks: WifiEntry[];
  /** Seconds from the change in which the device has to log in over a new connection with this list. It answers `succeeded` only then. If it does not, it takes its former list again, and answers `failed` with `REVERTED`. */
  revertAfter?: number;
}
/** Data of the response to `softwareDownloadUrl`: the new URL of the file, with its signature if the version has one. */
export interface SoftwareDownloadUrl {
  url: Url;
  expiresAt: UtcDateTime;
  size: FileSize;
  sha256: Sha256;
  signature?: SoftwareSignature;
  signatureKeyId?: SoftwareKeyId;
}
/** Data of the request `softwareDownloadUrl`: the unfinished installation that needs a new URL. */
export interface SoftwareDownloadUrlRequest {
  transactionId: TransactionId;
}
/** Any part of the state of a device. A field that is left out stays as it was last reported. */
export interface ReportedStatus {
  /** BCP 47 tag. */
  lang?: string;
  firmwareVersion?: string;
  managementClientVersion?: string;
  battery?: {
    /** In percent. */
    level: number;
    charging: boolean;
  };
  /** In bytes. */
  storage?: {
    total: number;
    free: number;
  };
  network?: {
    type: string;
    ssid: string | null;
    /** In dBm. */
    rssi: number | null;
  };
  bluetooth?: {
    enabled: boolean;
  };
  /** @maxItems 1000 */
  software?: {
    package: string;
    version: string;
    versionCode: number;
  }[];
}
/** The body that activates a device. Without a clientId the service makes one. */
export interface ActivationRequest {
  clientId?: ClientId;
}
/** The activation status of a device. */
export interface ActivationStatus {
  status: 'activated' | 'deactivated';
  clientId?: ClientId;
}
/** The body that registers software and issues an upload URL. */
export interface AppUpload {
  package: PackageName;
  version: VersionName;
  /** The size of the binary in bytes; the PUT must have exactly this size. */
  fileSize: number;
}
/** The URL to upload registered software. */
export interface AppUploadUrls {
  urlList: UploadUrlEntry[];
  /** Whether the version has a file already; the upload overwrites it. */
  appFileExists: boolean;
  /** The bytes of one part. This is the whole file, because there is no multipart upload. */
  chunkPartSize: number;
  /** Always null, because there is no multipart upload. */
  uploadId: string | null;
}
/** Presigned URL for one HTTP PUT of the binary, at most 5 GB; `Content-Type: application/vnd.android.package-archive` is recommended. */
export interface UploadUrlEntry {
  /** The URL for the PUT. */
  uploadUrl: string;
  /** Start of validity (Unix time in seconds). */
  startTimestamp: number;
  /** End of validity (Unix time in seconds). */
  endTimestamp: number;
  /** Validity in seconds. */
  expireIn: number;
}
/** The settings of an application. Settings without a value are left out, and so is the authenticationKey until one is issued. */
export interface ApplicationSettings {
  authenticationKey?: AuthenticationKey;
  deviceEvent?: Url;
  callEvent?: Url;
  callFileSendEvent?: Url;
  callRecGetMultiPresignedUrl?: Url;
  fileUploadEvent?: Url;
  fileUploadGetUrl?: Url;
  /**
   * @deprecated
   * Deprecated: the service never sends anything to this URL. Served until the release 2026-10.
   */
  remoteSupportEvent?: Url;
}
/** The new authenticationKey. Webhooks are signed with it from now on, and for 24 hours also with the former key, so that receivers can change without a gap. */
export interface AuthenticationKeyAnswer {
  authenticationKey: AuthenticationKey;
}
/** Metadata of the token service (RFC 8414 2). */
export interface AuthorizationServerMetadata {
  issuer: Url;
  token_endpoint: Url;
  jwks_uri: Url;
  scopes_supported: string[];
  response_types_supported: string[];
  grant_types_supported: string[];
  token_endpoint_auth_methods_supported: string[];
  /** True when applications can get tokens with certificates, to which the tokens are then bound (RFC 8705 3.3). */
  tls_client_certificate_bound_access_tokens?: boolean;
}
/** The software that the application can distribute, ordered by package, newest version first. Only userPackages has pages; systemPackages has the three newest versions of each package. */
export interface AvailableSoftware {
  userPackages: AvailableVersionRecord[];
  systemPackages: AvailableVersionRecord[];
  total: Total;
  /** The value of the request, or the default. */
  offset: number;
  /** The value of the request, or the default. */
  limit: number;
}
/** A version that can be distributed, with its package. */
export interface AvailableVersionRecord {
  package: PackageName;
  displayName: DisplayName;
  version: VersionName;
  description: Description;
  /** True if the distribution of the version is started. */
  distributable: boolean;
  registerDate: LocalDateTime;
  updateDate: LocalDateTime;
}
/** Query of the software that the application can distribute, with its defaults filled in. */
export interface AvailableSoftwareQuery {
  package?: PackageName;
  mode?: ListMode;
  /** The number of rows to skip. */
  offset: number;
  /** The largest number of rows in the answer. */
  limit: number;
}
/** The state of a binary in the object store at this moment. */
export interface BinaryStatus {
  package: PackageName;
  version: VersionName;
  /** Whether the version has a binary. */
  appFileExists: boolean;
  /** The size of the binary in bytes; null without a binary. */
  fileSize: number | null;
  /** SHA-256 of the binary in hexadecimal digits, by which a caller sees whether it is the file that it has; null without a binary, and until it is computed, which begins when somebody asks. */
  sha256: string | null;
  uploadDate: LocalDateTimeOrNull;
  /** Whether the service has read the uploaded file, which it does once it finds it in the object store. Until then `warning` is null. */
  inspected: boolean;
  /** The difference between the binary and its registration: devices will report an error for it. Null if there is no difference, or no binary. */
  warning: string | null;
  /**
   * SHA-256 of the certificates with which the APK is signed (APK Signature Scheme v2 or v3), as `apksigner verify --print-certs` prints them. Empty without such a certificate, and until the file was read.
   *
   * @maxItems 10
   */
  certificates: ApkCertificate[];
  /** The state of the signature of the version. `none`: it has none. `valid`: it verifies for the stored file. `unchecked`: there is no file yet, or its SHA-256 is not known yet. `invalid`: it does not verify, and the version is not distributed. */
  signature: 'none' | 'valid' | 'unchecked' | 'invalid';
}
/** The Bluetooth device to pair with, as the list of Bluetooth devices names it. */
export interface BluetoothPairing {
  macAddress: MacAddress;
}
/** Query of the Bluetooth state and of the list of Bluetooth devices. */
export interface ConnectivityQuery {
  type: ConnectivityType;
  expireIn?: ExpireIn;
  answerWithin?: AnswerWithin;
  supersede?: Supersede;
}
/** The body that turns Bluetooth on or off. */
export interface ConnectivityState {
  type: ConnectivityType;
  /** True turns Bluetooth on, false off. */
  enabled: boolean;
}
/** A webhook delivery with its state. */
export interface Delivery {
  deliveryId: DeliveryId;
  /** The device that the webhook is about; null if it is about none. */
  deviceId: string | null;
  /** The transaction whose result the webhook reports; null for other events. */
  transactionId: number | null;
  /** The type of the event. */
  type: string;
  setting: WebhookSetting;
  /** The URL of the last attempt; null before the first. */
  url: string | null;
  status: DeliveryStatus;
  /** The number of attempts. A redelivery sets it to 0. */
  attempts: number;
  /** The status code of the answer to the last attempt; null if there was no answer. */
  lastStatusCode: number | null;
  /** The reason why the last attempt failed, for people. */
  lastError: string | null;
  nextAttemptAt: LocalDateTimeOrNull;
  createdAt: LocalDateTime;
}
/** A page of deliveries, newest first. */
export interface DeliveryList {
  deliveries: Delivery[];
  total: TotalIfKnown;
}
/** Query of the list of webhook deliveries, with its defaults filled in. */
export interface DeliveryListQuery {
  status?: DeliveryStatus;
  setting?: WebhookSetting;
  /** Only deliveries that were created at this moment or later. */
  since?: EitherTime;
  /** Only deliveries that were created before this moment. */
  until?: EitherTime;
  after?: DeliveryId;
  /** The number of rows to skip. */
  offset: number;
  /** The largest number of rows in the answer. */
  limit: number;
}
/** How many devices a selector matches now, and what they have. */
export interface DeviceCount {
  /** The devices that match. */
  matching: number;
  /** Those of them that are connected now. */
  connected: number;
  /** True if only a sample of the devices was counted, because the application has more than 10,000. */
  estimate: boolean;
  /**
   * The matching devices by their installed version of the package, the most frequent 50 first; absent without a package.
   *
   * @maxItems 50
   */
  versions?: {
    /** Null: the package is not installed. */
    version: string | null;
    /** The number of devices. */
    devices: number;
  }[];
  /**
   * The matching devices by their firmware version, the most frequent 50 first.
   *
   * @maxItems 50
   */
  firmwareVersions: {
    /** Null: none was reported. */
    version: string | null;
    /** The number of devices. */
    devices: number;
  }[];
}
/** Asks how many devices a selector matches. */
export interface DeviceCountRequest {
  devices: DeviceSelector;
  /** The package whose installed versions are counted. By default the `package` of the selector. */
  versionsOf?: PackageName;
}
/** The status of a device. `lastSeenAt` is the time at which the service last received anything from the device (after a crash of the service it can be a minute old). `reportedAt` is the time of the device's last status report. A field that the device has not reported is null. */
export interface DeviceStatus {
  deviceId: DeviceId;
  /** Whether the device has a connection now. */
  connected: boolean;
  lastSeenAt: LocalDateTimeOrNull;
  /** BCP 47 tag. */
  lang: string | null;
  firmwareVersion: string | null;
  managementClientVersion: string | null;
  battery: {
    /** In percent. */
    level: number;
    charging: boolean;
  } | null;
  /** In bytes. */
  storage: {
    total: number;
    free: number;
  } | null;
  network: {
    type: string;
    ssid: string | null;
    /** In dBm. */
    rssi: number | null;
  } | null;
  bluetooth: {
    enabled: boolean;
  } | null;
  /** @maxItems 1000 */
  software:
    | {
        package: string;
        version: string;
        versionCode: number;
      }[]
    | null;
  reportedAt: LocalDateTimeOrNull;
}
/** A page of the status of the application's activated devices, ordered by deviceId. */
export interface DeviceStatusList {
  devices: DeviceStatus[];
  total: Total;
}
/** Query of the list of device status, with its defaults filled in. */
export interface DeviceStatusQuery {
  after?: DeviceId;
  /** The number of rows to skip. */
  offset: number;
  /** The largest number of rows in the answer. */
  limit: number;
}
/** The diagnostics that a device is to collect and to upload. */
export interface DiagnosticsRequest {
  kinds: DiagnosticKinds;
  note?: DiagnosticNote;
}
/** The started distribution. */
export interface DistributionStarted {
  package: PackageName;
  version: VersionName;
  /** Always true. */
  distributable: boolean;
  distributionDate: DistributionDate;
}
/** The state of a distribution. */
export interface DistributionStatus {
  /** True if the distribution of the version is started. */
  distributable: boolean;
  /**
   * @deprecated
   * Deprecated: use `distributable` instead. Served until the release 2026-09.
   */
  exist?: boolean;
  distributionDate?: DistributionDate;
}
/** A place to which events of the application are sent. */
export interface Endpoint {
  endpointId: EndpointId;
  /** The URL that gets the events. */
  url: string;
  /** The types that the endpoint gets; empty: all. */
  types: EventTypeFilter;
  /** For people. */
  description: string;
  ordered: EndpointOrder;
  /** The most new events in a second; null: no limit. Further attempts of an event are not counted. */
  ratePerSecond: number | null;
  enabled: boolean;
  /** `failing`: the service disabled it, because for five days nothing was accepted. `asked`: somebody did. Null while it is enabled. */
  disabledReason: 'failing' | 'asked' | null;
  signatures: SignatureSchemes;
  /** For `v1a`: the keys that verify, the present one first, as `whpk_` and as JWK (RFC 8037). Two while the key changes. */
  publicKeys: {
    publicKey: string;
    jwk: {
      kty: 'OKP';
      crv: 'Ed25519';
      x: string;
      alg: 'EdDSA';
      use: 'sig';
    };
  }[];
  /** When its secret was replaced last. For a day the former one signs as well. */
  secretReplacedAt: LocalDateTimeOrNull;
  /** The last event of the stream that it has taken, or left out by its types. */
  after: EventSequence;
  /** Up to this event some were removed, because they were too old, before the endpoint took or sent them; 0: none was. */
  passedOver: EventSequence;
  /** Since when no attempt was accepted; null: the last one was. */
  failingSince: LocalDateTimeOrNull;
  /** Of the last attempt that failed. */
  lastStatusCode: number | null;
  lastError: string | null;
  /** How it does. */
  state: {
    /** Events of its types that it has not taken yet; 10000 stands for that many or more. */
    behind: number;
    /** Events that wait for their next attempt; 10000 stands for that many or more. */
    pending: number;
    /** Events that wait for another event of their device, or for the endpoint; 10000 stands for that many or more. */
    blocked: number;
    /** The age of the oldest event that it has not got; 0 when it has all. */
    seconds: number;
    /** Attempts of the last 24 hours that were accepted. */
    delivered: number;
    /** Attempts of the last 24 hours that were not. */
    failed: number;
  };
  /** The devices of an ordered endpoint whose events wait for an earlier one, at most 100 of them. */
  blockedDevices: {
    deviceId: DeviceId;
    /** The event that they wait for. */
    blockedBy: EventSequence;
    /** How many wait. */
    waiting: number;
  }[];
  replay: ReplayOrNull;
  createdAt: LocalDateTime;
  updatedAt: LocalDateTime;
}
/** A new endpoint. */
export interface EndpointCreate {
  /** The URL that gets the events. */
  url: string;
  /** The types that the endpoint gets; empty: all. */
  types?: EventTypeFilter;
  /** For people. */
  description?: string;
  enabled?: boolean;
  ordered?: EndpointOrder & string;
  /** The most new events in a second; null: no limit. Further attempts of an event are not counted. */
  ratePerSecond?: number | null;
  signatures?: SignatureSchemes;
}
/** An endpoint with its secret. */
export interface EndpointCreated {
  endpointId: EndpointId;
  /** The URL that gets the events. */
  url: string;
  /** The types that the endpoint gets; empty: all. */
  types: EventTypeFilter;
  /** For people. */
  description: string;
  ordered: EndpointOrder;
  /** The most new events in a second; null: no limit. Further attempts of an event are not counted. */
  ratePerSecond: number | null;
  enabled: boolean;
  /** `failing`: the service disabled it, because for five days nothing was accepted. `asked`: somebody did. Null while it is enabled. */
  disabledReason: 'failing' | 'asked' | null;
  signatures: SignatureSchemes;
  /** For `v1a`: the keys that verify, the present one first, as `whpk_` and as JWK (RFC 8037). Two while the key changes. */
  publicKeys: {
    publicKey: string;
    jwk: {
      kty: 'OKP';
      crv: 'Ed25519';
      x: string;
      alg: 'EdDSA';
      use: 'sig';
    };
  }[];
  /** When its secret was replaced last. For a day the former one signs as well. */
  secretReplacedAt: LocalDateTimeOrNull;
  /** The last event of the stream that it has taken, or left out by its types. */
  after: EventSequence;
  /** Up to this event some were removed, because they were too old, before the endpoint took or sent them; 0: none was. */
  passedOver: EventSequence;
  /** Since when no attempt was accepted; null: the last one was. */
  failingSince: LocalDateTimeOrNull;
  /** Of the last attempt that failed. */
  lastStatusCode: number | null;
  lastError: string | null;
  /** How it does. */
  state: {
    /** Events of its types that it has not taken yet; 10000 stands for that many or more. */
    behind: number;
    /** Events that wait for their next attempt; 10000 stands for that many or more. */
    pending: number;
    /** Events that wait for another event of their device, or for the endpoint; 10000 stands for that many or more. */
    blocked: number;
    /** The age of the oldest event that it has not got; 0 when it has all. */
    seconds: number;
    /** Attempts of the last 24 hours that were accepted. */
    delivered: number;
    /** Attempts of the last 24 hours that were not. */
    failed: number;
  };
  /** The devices of an ordered endpoint whose events wait for an earlier one, at most 100 of them. */
  blockedDevices: {
    deviceId: DeviceId;
    /** The event that they wait for. */
    blockedBy: EventSequence;
    /** How many wait. */
    waiting: number;
  }[];
  replay: ReplayOrNull;
  createdAt: LocalDateTime;
  updatedAt: LocalDateTime;
  /** For `v1`: the secret, `whsec_` and base64. It is shown here only. Null for `v1a`. */
  secret: string | null;
}
/** Deliveries to an endpoint, the newest event first. */
export interface EndpointDeliveryList {
  deliveries: {
    sequence: EventSequence;
    eventId: DeliveryId;
    /** Null for an event about no device. */
    deviceId: string | null;
    type: string;
    status: EndpointDeliveryStatus;
    attempts: number;
    nextAttemptAt: LocalDateTimeOrNull;
    lastStatusCode: number | null;
    lastError: string | null;
    /** The event of the same device that this one waits for; null when it waits for none. */
    blockedBy: number | null;
    /** When the endpoint took the event. */
    createdAt: LocalDateTime;
    updatedAt: LocalDateTime;
  }[];
  /** The `before` of the next page; null at the end. */
  next: number | null;
}
/** Query of the deliveries to an endpoint, with its defaults filled in. */
export interface EndpointDeliveryListQuery {
  status?: EndpointDeliveryStatus;
  deviceId?: DeviceId;
  /** Only events before this one: the `next` of the page before. */
  before?: EventSequence;
  /** The largest number of rows in the answer. */
  limit: number;
}
/** All places to which events of the application are sent. */
export interface EndpointList {
  /** The endpoints, the oldest first. */
  endpoints: Endpoint[];
  /** The URLs of the settings, which are changed with the settings. */
  settings: {
    setting: WebhookSetting;
    url: string | null;
  }[];
}
/** The scheme of the new secret; without it the one of before. */
export interface EndpointSecretReplace {
  signatures?: SignatureSchemes;
}
/** The test event. */
export interface EndpointTestAnswer {
  eventId: DeliveryId;
}
/** The properties of an endpoint that change. */
export interface EndpointUpdate {
  /** The URL that gets the events. */
  url?: string;
  /** The types that the endpoint gets; empty: all. */
  types?: EventTypeFilter;
  /** For people. */
  description?: string;
  /** False: its events wait. Whoever enables it again says with `missed` what happens to them. */
  enabled?: boolean;
  /** What happens to the events that came while the endpoint was disabled, and to those that waited before: `send` or `skip`. Required when it is enabled, and only permitted then. */
  missed?: 'send' | 'skip';
  ordered?: EndpointOrder;
  /** The most new events in a second; null: no limit. Further attempts of an event are not counted. */
  ratePerSecond?: number | null;
}
/** The credential of the device; or, in a batch with a device CA, its certificate. A credential is shown only here. */
export interface Enrolment {
  deviceId: DeviceId;
  credential?: Credential;
  /** The client certificate of the device, in PEM, with the deviceId as common name. */
  certificate?: string;
  /** The certificate of the CA that has signed it, in PEM. */
  authorityCertificate?: string;
}
/** A person must approve the device. It asks again, with the same nonce, after the seconds in `Retry-After`. */
export interface EnrolmentPending {
  state: 'pending';
}
/** A device asks for its credential, with the code of its batch; or with its certificate, and the `batchId` in place of the code. */
export interface EnrolmentRequest {
  deviceId: DeviceId;
  code?: EnrolmentCode;
  nonce: EnrolmentNonce;
  batchId?: BatchId;
  csr?: CertificationRequest;
}
/** A reader of the stream that keeps its place in the service. */
export interface EventConsumer {
  name: ConsumerName;
  /** The `sequence` of the last event that it has handled. */
  after: EventSequence;
  /** Its distance from the end of the stream. */
  lag: {
    /** The events that it has not handled; 10000 stands for that many or more. */
    events: number;
    /** The age of the oldest of them. */
    seconds: number;
  };
  /** `behind`: an event has waited for it for an hour. `ending`: such an event is soon removed, because it is old: within three days, or the last quarter of the time for which events are kept. `lost`: one was removed before the consumer handled it. `abandoned`: the same, and it was not moved for as long as events are kept (30 days, if they are kept for ever). */
  state: 'current' | 'behind' | 'ending' | 'lost' | 'abandoned';
  /** A sentence for people: what is wrong, and what to do. Null if it keeps up. */
  attention: string | null;
  /** When it was moved last. */
  updatedAt: LocalDateTime;
}
/** The consumers of an application. */
export interface EventConsumerList {
  /** By name. */
  consumers: EventConsumer[];
}
/** The new place of a consumer. */
export interface EventConsumerUpdate {
  /** The `sequence` of the last event that it has handled; 0: none. */
  after: EventSequence;
}
/** A page of the stream of events. */
export interface EventList {
  /** In order. */
  events: StreamEvent[];
  /** The `after` of the next page. */
  next: EventSequence;
  /** Whether the next page is there already; a page of few `types` can have no events and say so. */
  more: boolean;
}
/** An event as a webhook has it, with its identifier, which is also the `webhook-id`. */
export interface StreamEvent {
  eventId: DeliveryId;
  /** The type of the event, such as `transaction.succeeded`. */
  type: string;
  /** The moment at which the event happened. */
  timestamp: UtcDateTime;
  /** The data of the event, by its type, as webhooks have it. */
  data: {};
  sequence: EventSequence;
  deviceSequence?: DeviceSequence;
}
/** Query of the stream of events, with its defaults filled in. */
export interface EventListQuery {
  /** The `sequence` of the last event that the reader has. */
  after?: EventSequence;
  /** Where a reader without `after` begins: at the oldest event that is kept, or behind the newest one. */
  from: 'oldest' | 'latest';
  /** Only events of these types: up to 16, separated by commas. A type with `.*` at its end stands for all that begin with it, such as `transaction.*`. */
  types?: string;
  deviceId?: DeviceId;
  /** The largest number of events in the answer. */
  limit: number;
  /** Seconds that the answer may wait for the next event, if there is none yet. */
  wait: number;
}
/** Query of an activation and of a deactivation: the times in which the command must be delivered and answered. An activation or deactivation supersedes no other. */
export interface ExpiryQuery {
  expireIn?: ExpireIn;
  answerWithin?: AnswerWithin;
}
/** The firmware that can be distributed, ordered by package, newest version first. */
export interface FirmwareList {
  firmwareVersions: {
    package: PackageName;
    version: VersionName;
  }[];
}
/** The firmware that the device last reported. */
export interface FirmwareState {
  /** The firmware package of the device; null if it cannot be found in the list of firmware. */
  package: string | null;
  version: string | null;
  /** Whether the list of firmware has a newer version of this package. */
  updatable: boolean;
}
/** The hardware properties of a device. If they are not registered, `model` and `camera` are null, and a MAC address is left out. */
export interface DeviceHardware {
  deviceId: DeviceId;
  model: {
    name?: string;
    identifier?: string;
    description?: string;
    shape?: string;
  } | null;
  /** @maxItems 32 */
  camera:
    | {
        direction?: string;
        mountedPosition?: string;
        resolution?: {
          /** Largest number of pixels in this direction. */
          maxWidth: number;
          /** Largest number of pixels in this direction. */
          maxHeight: number;
        };
      }[]
    | null;
  macAddressWifi?: MacAddress;
  macAddressBluetooth?: MacAddress;
}
/** The version to install. For a firmware update it is a version in the list of firmware. */
export interface InstallRequest {
  package: PackageName;
  version: VersionName;
}
/** Public keys of the access tokens (RFC 7517). */
export interface JsonWebKeySet {
  keys: {
    kty: 'EC';
    crv: 'P-256';
    x: string;
    y: string;
    kid: string;
    alg: 'ES256';
    use: 'sig';
  }[];
}
/** The new language of the device. */
export interface LanguageSetting {
  lang: LanguageTag;
}
/** Query of an operation that changes a network of the device: the terms of the command. All are optional. */
export interface NetworkQuery {
  expireIn?: ExpireIn;
  answerWithin?: AnswerWithin;
  supersede?: Supersede;
  revertAfter?: RevertAfter;
}
/** Whose token it is, and what it permits. */
export interface OwnAccess {
  applicationId: ApplicationId;
  applicationName: Name;
  developerId: DeveloperId;
  developerName: Name;
  /** What the token permits. */
  scopes: string[];
  /** The person of the developer whose token it is; null for an access token of the application. */
  member: {
    memberId: MemberId;
    name: Name;
    role: MemberRole;
    expiresAt: UtcDateTime;
  } | null;
}
/** A page of the audit log of an application. */
export interface OwnAuditList {
  entries: {
    /** Number of the entry; later entries have larger ones. */
    auditId: number;
    /** The time at which the request arrived. */
    at: UtcDateTime;
    /** Who made the change: the application itself, administration, or the service. */
    by: 'application' | 'administration' | 'service';
    /** The person of the developer who asked with a token of their own; null for others. */
    person: string | null;
    /** Who did what, in a sentence for people. Programs read `action`. */
    sentence: string;
    /** The method and the path template of the request. `REFUSED api`: requests for access tokens with a wrong secret; `details` has their number within a minute (`count`). */
    action: string;
    /** The path of the request, cut after 1024 characters. */
    resource: string;
    /** The status code of the answer. Null for entries of the service, and while there is no answer. */
    status: number | null;
    /** Details of the change: the values that it changed (`before` and `after`; secrets are named and not shown), the secrets that it replaced (`replaced`); for refused requests the `code`, and the number of equal ones within a minute. */
    details: {} | null;
    /** The IP address of the client; null for administration and for the service itself. */
    address: string | null;
    /** The request id in the answer. */
    requestId: string;
  }[];
}
/** Query of the audit log of an application, with its defaults filled in. */
export interface OwnAuditQuery {
  /** Only entries of this moment or later. */
  since?: Moment;
  /** Only entries before this moment. */
  until?: Moment;
  /** Only entries older than this one; take it from the `Link` of the page before. */
  after?: number;
  /** The largest number of rows in the answer. */
  limit: number;
}
/** Query of the devices of the application, with its defaults filled in. */
export interface OwnDeviceQuery {
  /** Only devices whose deviceId begins with this text. */
  prefix?: string;
  /** Only devices in this state. */
  activation?: 'deactivated' | 'activating' | 'activated';
  /**
   * Only devices with these tags; repeat the parameter for several. Of several values of one key the device must have one. `!key` selects devices without a tag of this key.
   *
   * @maxItems 32
   */
  tag?: TagTerm[];
  /** `true`: only devices that are connected now; `false`: only devices that are not connected. */
  connected?: 'true' | 'false';
  /** Only devices that last reported this firmware version; an empty value selects devices that have reported none. */
  firmware?: string;
  /** Only devices that last reported this firmware version. */
  firmwareVersion?: FirmwareVersion;
  /** Only devices that last reported another firmware version, or none. */
  firmwareVersionNot?: FirmwareVersion;
  /** Only devices whose last reported firmware version is in this SemVer range. */
  firmwareVersionRange?: VersionRange;
  /** Only devices that last reported this language, such as `ja-JP`; upper and lower case count as equal. */
  lang?: string;
  /** Only devices of this rollout of the application. */
  rollout?: RolloutId;
  /** Only devices in this state in the rollout; needs `rollout`. */
  memberState?: RolloutDeviceState;
  /** Only devices whose battery was last reported at this level, in percent, or above. */
  batteryAtLeast?: number;
  /** Only devices that last reported that their battery is being charged (`true`), or that it is not (`false`). */
  charging?: 'true' | 'false';
  /** Only devices that last reported a network of this type, such as `wifi`. */
  networkType?: string;
  /** Only devices that last reported at least so many bytes of free storage. */
  storageFreeAtLeast?: number;
  /** Only devices that last reported this package as installed. */
  package?: PackageName;
  /** Only devices with this version of the package; needs `package`. */
  version?: VersionName;
  /** Only devices with another version of the package, or without the package; needs `package`. */
  versionNot?: VersionName;
  /** Only devices whose version of the package is in this SemVer range; needs `package`. */
  versionRange?: VersionRange;
  /** Only devices whose battery was last reported below this level, in percent. */
  batteryBelow?: number;
  /** Only devices whose battery was last reported at this level, in percent, or above. */
  batteryFrom?: number;
  /** Only devices that have sent nothing for at least this time, or never sent anything. */
  notSeenFor?: Duration;
  lastSeenWithin?: SeenWithin;
  percent?: Percent;
  salt?: Salt;
  /** The order: by identifier; by the time at which a device was last seen (devices that were never seen come first); or by that time in descending order. The order uses the stored time, which is up to a minute old. */
  sort: 'deviceId' | 'lastSeen' | '-lastSeen';
  /** The beginning of the page; take it from the `Link` of the page before. */
  after?: string;
  /** The largest number of rows in the answer. */
  limit: number;
}
/** The activated devices of the application, and its commands. The answer is kept for ten seconds. */
export interface OwnFleet {
  at: UtcDateTime;
  /** True if only a sample of the devices was counted, because the application has more than 10,000. Then all numbers of devices are estimates; those of commands never are. */
  estimate: boolean;
  devices: {
    /** The activated devices. */
    activated: number;
    /** Those of them that are connected now. */
    connected: number;
  };
  /**
   * The devices by their firmware version, the most frequent 50 first.
   *
   * @maxItems 50
   */
  firmwareVersions: {
    /** Null: none was reported. */
    version: string | null;
    /** The number of devices. */
    devices: number;
  }[];
  /**
   * The devices by the level of their battery, the fullest first.
   *
   * @maxItems 11
   */
  battery: {
    /** A range of ten percent, such as `80-89`. Null: none was reported. */
    level: string | null;
    /** The number of devices. */
    devices: number;
  }[];
  /**
   * The five packages that most devices have installed, with the devices by version, the most frequent 50 first.
   *
   * @maxItems 5
   */
  packages: {
    package: PackageName;
    /** The number of devices. */
    devices: number;
    /** @maxItems 50 */
    versions: {
      /** As the devices reported it. */
      version: string;
      /** The number of devices. */
      devices: number;
    }[];
  }[];
  commands: {
    /** The commands that are not finished. */
    waiting: number;
    /** The commands that failed since `failedSince`. */
    failed: number;
    /** 24 hours before the numbers were counted. */
    failedSince: UtcDateTime;
  };
}
/** Query of the devices of a version, with its defaults filled in. */
export interface OwnInstallationQuery {
  /** Only devices in this state. */
  state?: 'installed' | 'waiting' | 'failed';
  /** Only devices that failed with this error code. */
  errorCode?: string;
  /** Only devices that have been in their state since this moment or later. */
  since?: Moment;
  /** Only devices that have been in their state since before this moment. */
  until?: Moment;
  /** Only devices after this one, in the order of the list. */
  after?: DeviceId;
  /** The largest number of rows in the answer. */
  limit: number;
}
/** Query of the transactions of the application, with its defaults filled in. */
export interface OwnTransactionQuery {
  /** `true`: only unfinished transactions, oldest first. Otherwise all transactions, newest first. */
  unfinished?: 'true' | 'false';
  /** Only transactions with this operation. */
  operation?: Operation;
  /** Only transactions of this device. */
  deviceId?: DeviceId;
  /** Only transactions of this rollout. */
  rolloutId?: RolloutId;
  /** Only transactions in this state. */
  status?: TransactionStatus;
  /** Only transactions that are at least this old. */
  olderThan?: Duration;
  /** Only transactions of this moment or later: of their end, when failures are listed (`status=failed` or `errorCode`), otherwise of their creation. */
  since?: Moment;
  /** Only transactions before this moment. */
  until?: Moment;
  /** Only transactions that ended with this error code, the last one first. */
  errorCode?: string;
  /** Only installations of this package. */
  package?: PackageName;
  /** Only installations of this version of the package. */
  version?: VersionName;
  /** `true`: only unfinished transactions with a warning, because their device will not answer. */
  warning?: 'true' | 'false';
  /** The order of creation: `createdAt` with the oldest first, or `-createdAt` with the newest first. By default unfinished transactions have the oldest first, all others the newest. Failures (`status=failed` or `errorCode`) of all devices come by their ends alone. */
  sort?: 'createdAt' | '-createdAt';
  /** The page begins after this transaction, in the order of the list. */
  after?: number;
  /** The largest number of rows in the answer. */
  limit: number;
}
/** A package. */
export interface PackageRecord {
  package: PackageName;
  displayName: DisplayName;
  registerDate: LocalDateTime;
  updateDate: LocalDateTime;
}
/** The body that registers a package. */
export interface PackageCreate {
  package: PackageName;
  displayName?: DisplayName;
}
/** A page of the packages of the developer, ordered by name. */
export interface PackageList {
  packages: PackageRecord[];
  total: Total;
}
/** The new display name of a package; null removes it. */
export interface PackageUpdate {
  displayName?: DisplayName;
}
/** The number of deliveries that will be sent again; with `dryRun`, that would be. */
export interface Redelivered {
  redelivered: number;
}
/** The deliveries to send again: those that were created from `since` (inclusive) to `until` (exclusive). Without `status`: all undelivered ones that were attempted, which are exhausted, gone, or waiting for another attempt. */
export interface RedeliveryRange {
  since?: EitherTime;
  until?: EitherTime;
  status?: DeliveryStatus;
  setting?: WebhookSetting;
  /** True: the deliveries are only counted. */
  dryRun?: boolean;
}
/** The next certificate of the device. The present one is valid until the device logs in with this one. */
export interface Renewal {
  deviceId: DeviceId;
  /** The client certificate of the device, in PEM, with the deviceId as common name. */
  certificate: string;
  /** The certificate of the CA that has signed it, in PEM. */
  authorityCertificate: string;
}
/** A device asks for its next certificate, and shows the present one in TLS. */
export interface RenewalRequest {
  deviceId: DeviceId;
  csr: CertificationRequest;
}
/** The replay that was begun, or with `dryRun` only its number of events. */
export interface ReplayAnswer {
  /** How many events are sent again; 100000 stands for that many or more. */
  events: number;
  replay: ReplayOrNull;
}
/** The events that are sent again: those behind `after` or made since `since`, up to `until`. Without `after` and `since`: all that are kept. Without `types`: those of the endpoint. */
export interface ReplayRequest {
  /** The `sequence` behind which the replay begins. */
  after?: EventSequence;
  /** The moment from which the events were made; not beside `after`. */
  since?: EitherTime;
  /** The moment before which the events were made. */
  until?: EitherTime;
  types?: EventTypeFilter;
  deviceId?: DeviceId;
  /** True: the events are only counted. */
  dryRun?: boolean;
}
/** Which stage is approved. */
export interface RolloutApproval {
  /** The number of the stage, from 1; by default the present one. With it the request can be repeated: a stage that is approved already stays as it is. */
  stage?: number;
}
/** One operation for many devices, in stages. */
export interface RolloutCreate {
  /** A name for people. */
  label?: string | null;
  operation: RolloutOperation;
  /**
   * The body of the operation, as for a single device.
   *
   * @maxItems 100
   */
  parameters: {} | unknown[];
  devices: DeviceSelector;
  /**
   * By default one stage with all devices.
   *
   * @maxItems 20
   */
  stages?: RolloutStage[];
  ratePerMinute?: RolloutRate;
  /** The most devices that may be carrying out a command at a time, as far as the service knows: a command that was published holds a place until it has a result. Devices that are not connected hold none. With an abort rule 100 by default, else there is no bound. */
  maxUnfinished?: number;
  window?: RolloutWindow;
  /** When the first stage begins; by default at once. */
  startAt?: Moment;
  abort?: RolloutAbortRule;
  /** Which failures are tried again. */
  retry?: {
    /**
     * The codes of errors after which a device gets another command.
     *
     * @minItems 1
     * @maxItems 50
     */
    codes: string[];
    /** The most commands of a device. */
    attempts: number;
    /** Seconds between the failure and the next command. */
    after: number;
  };
  confirm?: RolloutConfirm;
  health?: RolloutHealthRules;
  /** `automatic`: when a health rule stops the rollout, its devices are brought back, as by the request to revert it. */
  revert?: 'automatic';
  expireIn?: ExpireIn;
  answerWithin?: AnswerWithin;
  /** Seconds in which each device has to reach the service with its new list, else it takes its former list again and has failed with REVERTED. For setWifi and setApn. */
  revertAfter?: RevertAfter;
  /** True: each command ends older unfinished commands of the same operation for its device. */
  supersede?: boolean;
  /** True: devices that are activated, or begin to match, later join the last stage. Such a rollout ends only when it is cancelled. */
  continuous?: boolean;
  /** True: of the devices of a stage, connected ones come first. */
  preferConnected?: boolean;
  /** True: only answers what the rollout would be, with status 200. Nothing is stored or sent. */
  dryRun?: boolean;
}
/** A new rollout. */
export interface RolloutCreated {
  rolloutId: RolloutId;
  /** The number of its devices. */
  devices: number;
  warnings: RolloutWarnings;
}
/** Query of the devices of a rollout, with its defaults filled in. */
export interface RolloutDeviceQuery {
  /** Only devices in this state. */
  state?: RolloutDeviceState;
  /** Only devices with this code of an error; needs `state`. */
  code?: string;
  /** The beginning of the page; take it from the `Link` of the page before. */
  after?: string;
  /** The largest number of rows in the answer. */
  limit: number;
}
/** A rollout as it would begin now. Nothing of it is stored. */
export interface RolloutDryRun {
  /** The number of its devices. */
  devices: number;
  /** Those of them that are connected now. */
  connected: number;
  /** The numbers of devices of its stages. */
  stages: number[];
  /** The most devices that may be carrying out a command at a time; absent without a bound. */
  maxUnfinished?: number;
  /** True if the versions are those of a sample, because the application has more than 10,000 devices. */
  estimate: boolean;
  /**
   * The matching devices by their installed version of the package, the most frequent 50 first; absent without a package.
   *
   * @maxItems 50
   */
  versions?: {
    /** Null: the package is not installed. */
    version: string | null;
    /** The number of devices. */
    devices: number;
  }[];
  /**
   * The matching devices by their firmware version, the most frequent 50 first.
   *
   * @maxItems 50
   */
  firmwareVersions: {
    /** Null: none was reported. */
    version: string | null;
    /** The number of devices. */
    devices: number;
  }[];
  /**
   * Other rollouts at work that change the same on some of the devices: the same package, the firmware, or the same setting. The ten newest of this kind are compared.
   *
   * @maxItems 10
   */
  overlaps: {
    rolloutId: RolloutId;
    label: string | null;
    state: RolloutState;
    /** Devices of both that have no final result in the other rollout. */
    devices: number;
  }[];
  warnings: RolloutWarnings;
}
/** Query of the rollouts of the application, with its defaults filled in. */
export interface RolloutQuery {
  /** Only rollouts in this state. */
  state?: RolloutState;
  /** Only rollouts of this operation. */
  operation?: RolloutOperation;
  /** Only rollouts that have this device. */
  deviceId?: DeviceId;
  /** The beginning of the page; take it from the `Link` of the page before. */
  after?: RolloutId;
  /** The largest number of rows in the answer. */
  limit: number;
}
/** The number of devices that wait for another command; with `dryRun`, that would. */
export interface RolloutRetried {
  devices: number;
}
/** Which failed devices wait for another command. */
export interface RolloutRetry {
  /** Only those with this code; by default all. */
  code?: string;
  /** True: the devices are only counted. */
  dryRun?: boolean;
}
/** How a rollout is reverted. Without a rule, the new rollout has that of the reverted one; it has one stage and no window, and its commands do not expire. */
export interface RolloutRevert {
  /** True: also devices that answered that the command had failed; by default only those that have, or may have, what it gave. */
  failed?: boolean;
  /** The version that the devices get. For software, by default the one that was registered with `revertOf`; firmware needs it. */
  version?: VersionName;
  /** A name for people. */
  label?: string | null;
  /**
   * By default one stage with all devices.
   *
   * @maxItems 20
   */
  stages?: RolloutStage[];
  /** The most commands that are made in a minute. */
  ratePerMinute?: number;
  window?: RolloutWindow;
  abort?: RolloutAbortRule;
  confirm?: RolloutConfirm;
  expireIn?: ExpireIn;
  answerWithin?: AnswerWithin;
  /** As of a start; by default that of the reverted rollout. For setWifi and setApn. */
  revertAfter?: RevertAfter;
  /** True: answers what the revert would be, and does nothing. */
  dryRun?: boolean;
}
/** The revert of a rollout as it would begin now. Nothing of it is stored. */
export interface RolloutRevertDryRun {
  /** The number of its devices, with those that cannot be brought back. */
  devices: number;
  /** Those of them that are connected now. */
  connected: number;
  /** The numbers of devices of its stages. */
  stages: number[];
  leftOut: RolloutLeftOut;
  /** True: the rollout is at work, and would be cancelled. */
  cancels: boolean;
  /** The version that the devices would get; null where each gets its former settings. */
  version: string | null;
}
/** The rollout that brings the devices back. */
export interface RolloutReverted {
  /** The new rollout. */
  rolloutId: RolloutId;
  /** The number of its devices, with those that cannot be brought back. */
  devices: number;
  leftOut: RolloutLeftOut;
}
/** Changes of a rollout that is paused or scheduled; null removes a rule. */
export interface RolloutUpdate {
  /** A name for people. */
  label?: string | null;
  /** The new rate; null: none. */
  ratePerMinute?: number | {} | null;
  /** The most devices that may be carrying out a command at a time; null: no bound. */
  maxUnfinished?: number | null;
  /** The new window; null: at all times. */
  window?: {} | null;
  /** The new abort rule; null: none. */
  abort?: {} | null;
  /**
   * The new rules about the health of devices; null: none.
   *
   * @minItems 1
   * @maxItems 10
   */
  health?: RolloutHealthRule[] | null;
}
/** The detached signature of a version. */
export interface SignaturePut {
  keyId: SoftwareKeyId;
  sha256: Sha256;
  signature: SoftwareSignature;
}
/** The rules and keys of the developer, by which versions are distributed. Only administration changes them. */
export interface SoftwareTrust {
  softwareSignatures: SignatureRule;
  certificateChange: CertificateRule;
  keys: SoftwareKey[];
}
/** The outcome of a change of tags; with `dryRun`, that it would have. */
export interface Tagged {
  /** The devices that the selector matches. */
  matching: number;
  /** The devices whose tags are different now, or would be. */
  changed: number;
  /** The devices that stay as they were, because they would have more than 32 tags. */
  refused: number;
  /**
   * Some of the refused devices.
   *
   * @maxItems 10
   */
  refusedDevices: DeviceId[];
}
/** A change of the tags of many devices. */
export interface Tagging {
  devices: DeviceSelector;
  tags: TagPatch;
  /** True: the devices are only counted. */
  dryRun?: boolean;
}
/** Query of an operation that sends a command: the terms of the command. All are optional. */
export interface TermsQuery {
  expireIn?: ExpireIn;
  answerWithin?: AnswerWithin;
  supersede?: Supersede;
}
/** Answer of the token endpoint (RFC 6749 5.1). */
export interface TokenAnswer {
  access_token: string;
  token_type: 'bearer';
  /** Lifetime of the token in seconds. */
  expires_in: number;
  /** Scopes of the token, space-separated. */
  scope: string;
}
/** Error of the token endpoint (RFC 6749 5.2); `temporarily_unavailable` above its rate limit. */
export interface TokenError {
  error:
    | 'invalid_request'
    | 'invalid_client'
    | 'invalid_grant'
    | 'unauthorized_client'
    | 'unsupported_grant_type'
    | 'invalid_scope'
    | 'temporarily_unavailable';
  /** The error, as a text for people. */
  error_description?: string;
}
/** Form of the token endpoint (RFC 6749 4.4.2). The application authenticates with HTTP Basic, or with its certificate (RFC 8705) and `client_id`. */
export interface TokenRequest {
  grant_type: 'client_credentials';
  /** Space-separated list of scopes. */
  scope: string;
  /** The applicationId, if the application authenticates with its certificate. */
  client_id?: string;
}
/** A page of transactions, newest first. */
export interface TransactionList {
  transactions: TransactionRecord[];
  total: TotalIfKnown;
}
/** A transaction as the REST API shows it. */
export interface TransactionRecord {
  transactionId: TransactionId;
  deviceId: DeviceId;
  operation: Operation;
  status: TransactionStatus;
  /** The number of times that the command was published. */
  attempts: number;
  createdAt: LocalDateTime;
  updatedAt: LocalDateTime;
  deliveredAt: LocalDateTimeOrNull;
  completedAt: LocalDateTimeOrNull;
  /** The progress that the device reported, in percent. */
  progress: number | null;
  result: JsonObjectOrNull;
  /** The error of a failed transaction; null otherwise. */
  error: {
    code: string;
    message: string;
  } | null;
  /** The reason why the device will not answer this unfinished transaction, judged by its last reported status: `FIRMWARE_TOO_OLD`. Such a transaction stays until it is cancelled, and delays no other. Null otherwise. */
  warning: {
    code: 'FIRMWARE_TOO_OLD';
    message: string;
  } | null;
  /** The time until which the command must be delivered. Present only with `expireIn`. */
  expiresAt?: LocalDateTime;
  /** Seconds from the delivery in which the device must give a final result. Present only with `answerWithin`. */
  answerWithin?: number;
  /** The time until which the device must give a final result. Present only with `answerWithin`, after the delivery. */
  answerBy?: LocalDateTime;
  /** The transaction that took the place of this one. Present only with the code `SUPERSEDED`. */
  supersededBy?: TransactionId;
  /** The result that the device sent after the transaction had ended without it (`EXPIRED`, `NO_ANSWER`, `SUPERSEDED`, or cancelled). It changed nothing in the transaction, and no webhook reports it. Present only when there is one. */
  late?: {
    status: 'succeeded' | 'failed';
    at: LocalDateTime;
    /** The result that the device reported. */
    result?: {};
    /** The error of a `failed` result. */
    error?: {
      code: string;
      message: string;
    };
  };
  /** The rollout that made it. Present only with a rollout. */
  rolloutId?: RolloutId;
}
/** Query of the transactions of a device, with its defaults filled in. */
export interface TransactionListQuery {
  status?: TransactionStatus;
  operation?: Operation;
  /** Only transactions older than this one. */
  after?: number;
  /** The number of rows to skip. */
  offset: number;
  /** The largest number of rows in the answer. */
  limit: number;
}
/** The answer of every operation that acts on a device. The result is sent to deviceEvent. */
export interface TransactionResponse {
  transactionId: TransactionId;
}
/** The URL to upload the binary of a version. */
export interface UploadUrls {
  urlList: UploadUrlEntry[];
}
/** A version of a package. */
export interface VersionRecord {
  package: PackageName;
  version: VersionName;
  description: Description;
  /** The version whose devices this one brings back to what they had before; only if it is set. */
  revertOf?: VersionName;
  /** What a device must have reported, so that the version can be installed on it; only if it is set. */
  requires?: {
    firmwareVersion: VersionRange;
  };
  registerDate: LocalDateTime;
  updateDate: LocalDateTime;
  /** The state of the binary, in lists with `details=true`. */
  binary?: BinaryStatus;
  /** The state of the distribution, in lists with `details=true`. */
  distribution?: DistributionStatus;
}
/** The body that registers a version. */
export interface VersionCreate {
  version: VersionName;
  description?: Description;
  /** What a device must have reported, so that the version can be installed on it. */
  requires?: {
    firmwareVersion: VersionRange;
  };
}
/** A page of the versions of a package, newest first. */
export interface VersionList {
  versions: VersionRecord[];
  total: Total;
}
/** Query of the versions of a package, with its defaults filled in. */
export interface VersionListQuery {
  /** The number of rows to skip. */
  offset: number;
  /** The largest number of rows in the answer. */
  limit: number;
  /** `true`: with the state of each binary and distribution; then `limit` is at most 100. */
  details?: 'true' | 'false';
}
/** The signature of a version. */
export interface VersionSignature {
  keyId: SoftwareKeyId;
  sha256: Sha256;
  signature: SoftwareSignature;
  signedAt: UtcDateTime;
  /** Why the signature does not verify, for example because its key was revoked or the stored file is another one; null when nothing is known against it. */
  problem: string | null;
}
/** The new members of a version; null removes one. */
export interface VersionUpdate {
  description?: Description;
  /** What a device must have reported, so that the version can be installed on it; null: nothing. */
  requires?: {
    firmwareVersion: VersionRange;
  } | null;
  /** The version of the package whose devices this one brings back to what they had before: a revert of a rollout of that version installs this one. Android refuses lower version codes, so it is the former software, built again with a higher one. */
  revertOf?: string | null;
}
/** The setting whose URL gets a test event. */
export interface WebhookTest {
  setting: WebhookSetting;
}
/** The delivery of a test event. The list of deliveries shows its state. */
export interface WebhookTestSent {
  deliveryId: DeliveryId;
}
/** A Bluetooth device was connected to, or disconnected from, a device. */
export interface BluetoothEvent {
  type: 'bluetooth.connected' | 'bluetooth.disconnected';
  timestamp: UtcDateTime;
  sequence?: EventSequence;
  deviceSequence?: DeviceSequence;
  data: {
    macAddress: MacAddress;
    name: BluetoothName;
    eventId: EventId;
    deviceTime?: UnreadTime;
    applicationId: ApplicationId;
    deviceId: DeviceId;
  };
}
/** An event in a call. Further members are passed on unchanged from the device. */
export interface CallEvent {
  type: `call.${string}`;
  timestamp: UtcDateTime;
  sequence?: EventSequence;
  deviceSequence?: DeviceSequence;
  data: {
    callId: CallId;
    eventId: EventId;
    deviceTime?: UnreadTime;
    applicationId: ApplicationId;
    deviceId: DeviceId;
  };
}
/** An event that the device defines itself: a button was pressed, the battery is low. `data` is what the device sent, unchanged, except that the service sets eventId, applicationId and deviceId, and deviceTime where it could not read the time of the event. */
export interface CustomEvent {
  type: `custom.${string}`;
  timestamp: UtcDateTime;
  sequence?: EventSequence;
  deviceSequence?: DeviceSequence;
  data: {
    eventId: EventId;
    deviceTime?: UnreadTime;
    applicationId: ApplicationId;
    deviceId: DeviceId;
  };
}
/** A receiver of the application, which is the URL of a setting or an endpoint, fails (for half an hour, or a delivery to it was given up), has recovered, or was disabled, because it had failed for five days. The event is sent to another setting with another URL, and to endpoints. `since` is the time of the first failed attempt; `subject` and `text` can be sent as a mail. The deviceId in it is not a real device. */
export interface EndpointEvent {
  type: 'endpoint.failing' | 'endpoint.recovered' | 'endpoint.disabled';
  timestamp: UtcDateTime;
  sequence?: EventSequence;
  deviceSequence?: DeviceSequence;
  data: {
    applicationId: ApplicationId;
    deviceId: DeviceId;
    setting?: WebhookSetting;
    since: UtcDateTime;
    lastStatusCode: number | null;
    lastError: string;
    endpointId?: EndpointId;
    /** That of the endpoint. */
    description?: string;
    subject: string;
    text: string;
  };
}
/** Body of every webhook (Standard Webhooks). */
export interface WebhookEnvelope {
  type: string;
  timestamp: UtcDateTime;
  sequence?: EventSequence;
  deviceSequence?: DeviceSequence;
  data: {applicationId: string; deviceId: string} & Record<string, unknown>;
}
/** A file could not be uploaded. The code UPLOAD_URL_FAILED comes from the service: it got no upload URL from the application. */
export interface FileUploadFailed {
  type: 'fileUpload.failed';
  timestamp: UtcDateTime;
  sequence?: EventSequence;
  deviceSequence?: DeviceSequence;
  data: {
    fileId: FileId;
    name: FileName;
    error: DeviceError;
    eventId: EventId;
    deviceTime?: UnreadTime;
    applicationId: ApplicationId;
    deviceId: DeviceId;
  };
}
/** A file was uploaded. */
export interface FileUploadSucceeded {
  type: 'fileUpload.succeeded';
  timestamp: UtcDateTime;
  sequence?: EventSequence;
  deviceSequence?: DeviceSequence;
  data: {
    fileId: FileId;
    name: FileName;
    size: FileSize;
    sha256?: UploadedSha256;
    eventId: EventId;
    deviceTime?: UnreadTime;
    applicationId: ApplicationId;
    deviceId: DeviceId;
  };
}
/** The recordings of a call could not be saved. The code UPLOAD_URL_FAILED comes from the service: it got no upload URLs from the application. */
export interface RecordingFailed {
  type: 'recording.failed';
  timestamp: UtcDateTime;
  sequence?: EventSequence;
  deviceSequence?: DeviceSequence;
  data: {
    callId: CallId;
    error: DeviceError;
    eventId: EventId;
    deviceTime?: UnreadTime;
    applicationId: ApplicationId;
    deviceId: DeviceId;
  };
}
/** The recordings of a call are saved. */
export interface RecordingSaved {
  type: 'recording.saved';
  timestamp: UtcDateTime;
  sequence?: EventSequence;
  deviceSequence?: DeviceSequence;
  data: {
    callId: CallId;
    /**
     * @minItems 1
     * @maxItems 100
     */
    connections: {
      connectionId: ConnectionId;
      movieFile: FileName;
      /**
       * @deprecated
       * The same as movieFile; removed from the release 2026-11 on.
       */
      webmFile?: string;
      size?: FileSize;
      sha256?: UploadedSha256;
    }[];
    eventId: EventId;
    deviceTime?: UnreadTime;
    applicationId: ApplicationId;
    deviceId: DeviceId;
  };
}
/** A stage of a rollout has begun, or the rollout was paused, has completed, or was cancelled. The deviceId in it is not a real device. */
export interface RolloutEvent {
  type: 'rollout.stageStarted' | 'rollout.paused' | 'rollout.completed' | 'rollout.cancelled';
  timestamp: UtcDateTime;
  sequence?: EventSequence;
  deviceSequence?: DeviceSequence;
  data: {
    applicationId: ApplicationId;
    deviceId: DeviceId;
    rolloutId: RolloutId;
    label: string | null;
    operation: RolloutOperation;
    subject: string | null;
    /** The number of the last stage that has begun, from 1; 0 before the first. */
    stage: number;
    stages: number;
    by: RolloutActor;
    reason: RolloutReason;
    /** What the health rule saw that paused it; only with `HEALTH_RULE`. */
    health?: RolloutHealthFinding;
    devices: number;
    counts: RolloutCounts;
  };
}
/** A test event, which the application requested, for the URL of a setting or for an endpoint. The deviceId in it is not a real device. */
export interface TestEvent {
  type: 'test';
  timestamp: UtcDateTime;
  sequence?: EventSequence;
  deviceSequence?: DeviceSequence;
  data: {
    applicationId: ApplicationId;
    deviceId: DeviceId;
    setting?: WebhookSetting;
    endpointId?: EndpointId;
  };
}
/** A transaction as webhooks show it: the record of the REST API, with times in UTC. `expiresAt`, `answerWithin`, `answerBy` and `supersededBy` are present only in transactions with such terms. */
export interface WebhookTransactionRecord {
  transactionId: TransactionId;
  deviceId: DeviceId;
  operation: Operation;
  status: TransactionStatus;
  /** The number of times that the command was published. */
  attempts: number;
  createdAt: UtcDateTime;
  updatedAt: UtcDateTime;
  deliveredAt: UtcDateTimeOrNull;
  completedAt: UtcDateTimeOrNull;
  /** The progress that the device reported, in percent. */
  progress: number | null;
  result: JsonObjectOrNull;
  /** The error of a failed transaction; null otherwise. */
  error: {
    code: string;
    message: string;
  } | null;
  expiresAt?: UtcDateTime;
  /** Seconds from the delivery in which the device must give a final result. Present only with `answerWithin`. */
  answerWithin?: number;
  answerBy?: UtcDateTime;
  supersededBy?: TransactionId;
  rolloutId?: RolloutId;
}
/** A transaction has finished. */
export interface TransactionResult {
  type: 'transaction.succeeded' | 'transaction.failed' | 'transaction.cancelled';
  timestamp: UtcDateTime;
  sequence?: EventSequence;
  deviceSequence?: DeviceSequence;
  data: {
    applicationId: ApplicationId;
    deviceId: DeviceId;
    transaction: WebhookTransactionRecord;
  };
}
/** The answer of fileUploadGetUrl: the URL that the device uploads to. Further members are ignored. */
export interface UploadUrlAnswer {
  uploadUrl: UploadAddress;
  method?: UploadMethod;
  headers?: UploadHeaders;
  expiresAt?: DeviceTime;
}
/** The request to fileUploadGetUrl: a device needs an upload URL for a file. */
export interface UploadUrlRequest {
  type: 'fileUpload.url';
  timestamp: UtcDateTime;
  data: {
    fileId: FileId;
    name: FileName;
    size: FileSize;
    contentType: ContentType;
    applicationId: ApplicationId;
    deviceId: DeviceId;
  };
}
/** The answer of callRecGetMultiPresignedUrl: one upload URL for each requested name. Further members are ignored. */
export interface UploadUrlsAnswer {
  /** @maxItems 32 */
  urls: {
    name: FileName;
    uploadUrl: UploadAddress;
    method?: UploadMethod;
    headers?: UploadHeaders;
    expiresAt?: DeviceTime;
  }[];
}
/** The request to callRecGetMultiPresignedUrl: a device needs upload URLs for the recordings of a call. */
export interface UploadUrlsRequest {
  type: 'recording.urls';
  timestamp: UtcDateTime;
  data: {
    callId: CallId;
    files: RecordedFiles;
    applicationId: ApplicationId;
    deviceId: DeviceId;
  };
}
