// Generated from schemas/ by `npm run generate`; edit the schemas instead.

/**
 * Identifier of an application. It is a segment of paths: `.` and `..`, which clients resolve, are none.
 */
export type ApplicationId = string;
/**
 * Identifier of a developer. It is a segment of paths: `.` and `..`, which clients resolve, are none.
 */
export type DeveloperId = string;
/**
 * Name for people.
 */
export type Name = string;
/**
 * ISO 8601 local date-time with microseconds, in the time zone of the service.
 */
export type LocalDateTime = string;
/**
 * Secret of an application for the token endpoint. The service keeps only its hash.
 */
export type Secret = string;
/**
 * How many rows there are in all.
 */
export type Total = number;
/**
 * ISO 8601 date-time in UTC with microseconds.
 */
export type UtcDateTime = string;
/**
 * When its authenticationKey was issued.
 */
export type UtcDateTimeOrNull = string | null;
/**
 * Identifier of a developer. It is a segment of paths: `.` and `..`, which clients resolve, are none.
 */
export type DeveloperId1 = string;
/**
 * Identifier of an application. It is a segment of paths: `.` and `..`, which clients resolve, are none.
 */
export type ApplicationId1 = string;
/**
 * ISO 8601 date-time in UTC with microseconds.
 */
export type UtcDateTime1 = string;
/**
 * From this moment on.
 */
export type Moment = string;
/**
 * Before this moment.
 */
export type Moment1 = string;
/**
 * Name of a package: an Android package name.
 */
export type PackageName = string;
/**
 * Version of a package; SemVer 2.0.0 is recommended, other schemes sort as older than all SemVer versions. It is a segment of paths: `.` and `..`, which clients resolve, are none.
 */
export type VersionName = string;
/**
 * Name of a session of the console; it is no secret.
 */
export type ConsoleSessionId = string;
/**
 * ISO 8601 date-time in UTC with microseconds.
 */
export type UtcDateTime2 = string;
/**
 * ISO 8601 date-time in UTC with microseconds.
 */
export type UtcDateTime3 = string;
/**
 * ISO 8601 date-time in UTC with microseconds.
 */
export type UtcDateTime4 = string;
/**
 * MQTT password of a device. The service keeps only its hash.
 */
export type Credential = string;
/**
 * SHA-256 of a client certificate (of its DER), 64 hexadecimal digits in lower case: `openssl x509 -noout -fingerprint -sha256` without the colons.
 */
export type CertificateFingerprint = string;
/**
 * IMEI of a device: 15 digits whose last is the Luhn check digit.
 */
export type DeviceId = string;
/**
 * Number of a transaction; later ones are larger. Counted over the whole service: whoever makes transactions can tell from the gaps how many others there were. After a start of the service numbers go on much higher: up to 2^53 - 1, so 32 bits are too few.
 */
export type TransactionId = number;
/**
 * `pending`: to be attempted (again); `delivered`: answered with a 2xx; `exhausted`: every attempt failed; `gone`: answered with 410.
 */
export type DeliveryStatus = 'pending' | 'delivered' | 'exhausted' | 'gone';
/**
 * The setting of the application that holds the URL of a webhook.
 */
export type WebhookSetting = 'deviceEvent' | 'callEvent' | 'callFileSendEvent' | 'fileUploadEvent';
/**
 * Made from this moment on.
 */
export type Moment2 = string;
/**
 * Made before this moment.
 */
export type Moment3 = string;
/**
 * Identifier of a webhook delivery: the `webhook-id` of all its attempts.
 */
export type DeliveryId = string;
/**
 * Contracted number of devices; null without a contract.
 */
export type DeviceLimit = number | null;
/**
 * What a device is made of (op 9); every part may be unknown, and null is all unknown.
 */
export type HardwareProperties = {
  model?: {
    name?: string;
    identifier?: string;
    description?: string;
    shape?: string;
  } | null;
  /**
   * @maxItems 32
   */
  camera?:
    | {
        direction?: string;
        mountedPosition?: string;
        resolution?: {
          /**
           * Pixels.
           */
          maxWidth: number;
          /**
           * Pixels.
           */
          maxHeight: number;
        };
      }[]
    | null;
  macAddressWifi?: MacAddress;
  macAddressBluetooth?: MacAddress;
} | null;
/**
 * MAC address as colon-separated hexadecimal pairs.
 */
export type MacAddress = string;
/**
 * ISO 8601 date-time in UTC with microseconds; null when it has not happened.
 */
export type UtcDateTimeOrNull1 = string | null;
/**
 * Name of a package for people; null when it has none.
 */
export type DisplayName = string | null;
/**
 * Description of a version; null when it has none.
 */
export type Description = string | null;
/**
 * Name of a package: an Android package name.
 */
export type PackageName1 = string;
/**
 * Identifier of a developer. It is a segment of paths: `.` and `..`, which clients resolve, are none.
 */
export type DeveloperId2 = string;
/**
 * Identifier of an application. It is a segment of paths: `.` and `..`, which clients resolve, are none.
 */
export type ApplicationId2 = string;
/**
 * Name of a package: an Android package name.
 */
export type PackageName2 = string;
/**
 * Version of a package; SemVer 2.0.0 is recommended, other schemes sort as older than all SemVer versions. It is a segment of paths: `.` and `..`, which clients resolve, are none.
 */
export type VersionName1 = string;
/**
 * Only devices that were not heard of for so long, or never.
 */
export type Duration = string;
/**
 * ISO 8601 date-time in UTC with microseconds.
 */
export type UtcDateTime5 = string;
/**
 * ISO 8601 date-time in UTC, to the microsecond at most.
 */
export type Moment4 = string;
/**
 * ISO 8601 date-time in UTC with microseconds.
 */
export type UtcDateTime6 = string;
/**
 * ISO 8601 date-time in UTC with microseconds; null when it has not happened.
 */
export type UtcDateTimeOrNull2 = string | null;
/**
 * ISO 8601 date-time in UTC with microseconds; null when it has not happened.
 */
export type UtcDateTimeOrNull3 = string | null;
/**
 * Kind of a fault.
 */
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
/**
 * IMEI of a device: 15 digits whose last is the Luhn check digit.
 */
export type DeviceId1 = string;
/**
 * ISO 8601 date-time in UTC with microseconds.
 */
export type UtcDateTime7 = string;
/**
 * Identifier of a developer. It is a segment of paths: `.` and `..`, which clients resolve, are none.
 */
export type DeveloperId3 = string;
/**
 * ISO 8601 date-time in UTC with microseconds; null when it has not happened.
 */
export type UtcDateTimeOrNull4 = string | null;
/**
 * ISO 8601 date-time in UTC with microseconds; null when it has not happened.
 */
export type UtcDateTimeOrNull5 = string | null;
/**
 * ISO 8601 date-time in UTC with microseconds; null when it has not happened.
 */
export type UtcDateTimeOrNull6 = string | null;
/**
 * Only transactions with this operation.
 */
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
  | 'installSoftware'
  | 'updateFirmware';
/**
 * Identifier of an application. It is a segment of paths: `.` and `..`, which clients resolve, are none.
 */
export type ApplicationId3 = string;
/**
 * IMEI of a device: 15 digits whose last is the Luhn check digit.
 */
export type DeviceId2 = string;
/**
 * Only transactions in this state.
 */
export type TransactionStatus = 'queued' | 'delivered' | 'processing' | 'succeeded' | 'failed' | 'cancelled';
/**
 * Only transactions that were made so long ago, or longer.
 */
export type Duration1 = string;
/**
 * Version of a package; SemVer 2.0.0 is recommended, other schemes sort as older than all SemVer versions. It is a segment of paths: `.` and `..`, which clients resolve, are none.
 */
export type VersionName2 = string;
/**
 * Key that signs the webhooks of an application: `whsec_` and 32 random bytes in base64.
 */
export type AuthenticationKey = string;
/**
 * Name of a Bluetooth device; null when it has told none.
 */
export type BluetoothName = string | null;
/**
 * Identifier of a call, as the devices in it know it.
 */
export type CallId = string;
/**
 * Client identifier of an activation; unique among activated and activating devices. No control characters.
 */
export type ClientId = string;
/**
 * Identifier of one participant’s connection to a call.
 */
export type ConnectionId = string;
/**
 * What connects a device; only Bluetooth is supported.
 */
export type ConnectivityType = 'bluetooth';
/**
 * Media type of a file, as the device will send it.
 */
export type ContentType = string;
/**
 * The same, or null.
 */
export type DeliveryRowOrNull = {
  deliveryId: DeliveryId;
  applicationId: ApplicationId;
  deviceId: string | null;
  transactionId: number | null;
  setting: WebhookSetting;
  /**
   * The type of the event.
   */
  type: string;
  /**
   * Where the last attempt went; null before the first.
   */
  url: string | null;
  status: DeliveryStatus;
  /**
   * Attempts made; a redelivery begins at 0.
   */
  attempts: number;
  /**
   * What the last attempt was answered with; null when there was no answer.
   */
  lastStatusCode: number | null;
  /**
   * Why the last attempt failed, for people.
   */
  lastError: string | null;
  nextAttemptAt: UtcDateTimeOrNull1;
  createdAt: UtcDateTime;
  updatedAt: UtcDateTime;
} | null;
/**
 * ISO 8601 date-time with an offset or `Z`, to the precision of the device; from 1970 to 2199.
 */
export type DeviceTime = string;
/**
 * When distribution was started, ISO 8601 local date-time with microseconds; never before 2026-03-26. Left out while it is not started.
 */
export type DistributionDate = string;
/**
 * A length of time: a whole number of days, hours, minutes or seconds.
 */
export type Duration2 = string;
/**
 * Unique on the device; the same in a repetition.
 */
export type EventId = string;
/**
 * Identifier of a file that an app on the device uploads, made by the device.
 */
export type FileId = string;
/**
 * Name of a file that a device uploads.
 */
export type FileName = string;
/**
 * Bytes.
 */
export type FileSize = number;
/**
 * ISO 8601 date-time in UTC with microseconds; null when it has not happened.
 */
export type UtcDateTimeOrNull7 = string | null;
/**
 * An object whose members the service does not look at, nested at most 32 levels deep.
 */
export type JsonObject = Record<string, unknown>;
/**
 * An object whose members the service does not look at, or null.
 */
export type JsonObjectOrNull = Record<string, unknown> | null;
/**
 * Well-formed BCP 47 language tag (RFC 5646 2.1), as it is; 35 characters hold every tag that has a use (RFC 5646 4.4.1).
 */
export type LanguageTag = string;
/**
 * `latest`: only the newest version of each package.
 */
export type ListMode = 'latest';
/**
 * ISO 8601 local date-time with microseconds; null when it has not happened.
 */
export type LocalDateTimeOrNull = string | null;
/**
 * What a transaction does on its device.
 */
export type Operation1 =
  | 'activate'
  | 'deactivate'
  | 'setApn'
  | 'setWifi'
  | 'setLanguage'
  | 'getConnectivityState'
  | 'setConnectivityState'
  | 'listConnectivity'
  | 'pairBluetooth'
  | 'installSoftware'
  | 'updateFirmware';
/**
 * Files of one call, each name once.
 *
 * @minItems 1
 * @maxItems 32
 */
export type RecordedFiles = RecordedFile[];
/**
 * Identifier of a request, made by the device; its answer carries it.
 */
export type RequestId = string;
/**
 * Absolute `https` URL without credentials, where the service calls the developer (also `http` where the service allows it); null removes it.
 */
export type SettingUrl = string | null;
/**
 * SHA-256 of a file as it is stored, hexadecimal.
 */
export type Sha256 = string;
/**
 * How many rows match in all; null when that could be found only by looking at more than 10,000 rows, or with a filter at more than 2,000.
 */
export type TotalIfKnown = number | null;
/**
 * queued: stored, not yet with the device. delivered: the device confirmed the command. processing: the device said so. The other three are final.
 */
export type TransactionStatus1 = 'queued' | 'delivered' | 'processing' | 'succeeded' | 'failed' | 'cancelled';
/**
 * The same, or null.
 */
export type DeliveryRowOrNull1 = {
  deliveryId: DeliveryId;
  applicationId: ApplicationId;
  deviceId: string | null;
  transactionId: number | null;
  setting: WebhookSetting;
  /**
   * The type of the event.
   */
  type: string;
  /**
   * Where the last attempt went; null before the first.
   */
  url: string | null;
  status: DeliveryStatus;
  /**
   * Attempts made; a redelivery begins at 0.
   */
  attempts: number;
  /**
   * What the last attempt was answered with; null when there was no answer.
   */
  lastStatusCode: number | null;
  /**
   * Why the last attempt failed, for people.
   */
  lastError: string | null;
  nextAttemptAt: UtcDateTimeOrNull1;
  createdAt: UtcDateTime;
  updatedAt: UtcDateTime;
} | null;
/**
 * Where a device uploads to: an absolute `https` URL without credentials (also `http` where the service allows it).
 */
export type UploadAddress = string;
/**
 * Headers that the upload must carry, by name. Host, Content-Length and those of a connection (hop-by-hop) are refused.
 */
export type UploadHeaders = Record<string, string>;
/**
 * How the upload is made; PUT when an answer leaves it out.
 */
export type UploadMethod = 'PUT' | 'POST';
/**
 * Absolute URL.
 */
export type Url = string;
/**
 * Data of `call.started`, `call.ended` and any other `call.` event: which call. Further members are passed on as they are.
 */
export type CallEventData = {callId: string} & Record<string, unknown>;
/**
 * Data of `custom.` events, which are a device's own (an SOS button, a low battery, tampering): any object of at most 32 KiB as JSON, nested at most 32 levels deep. It is passed on as it is.
 */
export type CustomEventData = Record<string, unknown>;
/**
 * Body of op 10: all access point names that the device shall have.
 *
 * @maxItems 32
 */
export type ApnSettings = ApnEntry[];
/**
 * Absolute URL.
 */
export type Url1 = string;
/**
 * Absolute `https` URL without credentials, where the service calls the developer (also `http` where the service allows it); null removes it.
 */
export type SettingUrl1 = string | null;
/**
 * Absolute `https` URL without credentials, where the service calls the developer (also `http` where the service allows it); null removes it.
 */
export type SettingUrl2 = string | null;
/**
 * Absolute `https` URL without credentials, where the service calls the developer (also `http` where the service allows it); null removes it.
 */
export type SettingUrl3 = string | null;
/**
 * Absolute `https` URL without credentials, where the service calls the developer (also `http` where the service allows it); null removes it.
 */
export type SettingUrl4 = string | null;
/**
 * Absolute `https` URL without credentials, where the service calls the developer (also `http` where the service allows it); null removes it.
 */
export type SettingUrl5 = string | null;
/**
 * Absolute `https` URL without credentials, where the service calls the developer (also `http` where the service allows it); null removes it.
 */
export type SettingUrl6 = string | null;
/**
 * Absolute `https` URL without credentials, where the service calls the developer (also `http` where the service allows it); null removes it.
 */
export type SettingUrl7 = string | null;
/**
 * ISO 8601 date-time in UTC, to the microsecond at most.
 */
export type Moment5 = string;
/**
 * ISO 8601 date-time in UTC, to the microsecond at most.
 */
export type Moment6 = string;
/**
 * Name of a package: an Android package name.
 */
export type PackageName3 = string;
/**
 * Version of a package; SemVer 2.0.0 is recommended, other schemes sort as older than all SemVer versions. It is a segment of paths: `.` and `..`, which clients resolve, are none.
 */
export type VersionName3 = string;
/**
 * A length of time: a whole number of days, hours, minutes or seconds.
 */
export type Duration3 = string;
/**
 * IMEI of a device: 15 digits whose last is the Luhn check digit.
 */
export type DeviceId3 = string;
/**
 * What a transaction does on its device.
 */
export type Operation2 =
  | 'activate'
  | 'deactivate'
  | 'setApn'
  | 'setWifi'
  | 'setLanguage'
  | 'getConnectivityState'
  | 'setConnectivityState'
  | 'listConnectivity'
  | 'pairBluetooth'
  | 'installSoftware'
  | 'updateFirmware';
/**
 * IMEI of a device: 15 digits whose last is the Luhn check digit.
 */
export type DeviceId4 = string;
/**
 * queued: stored, not yet with the device. delivered: the device confirmed the command. processing: the device said so. The other three are final.
 */
export type TransactionStatus2 = 'queued' | 'delivered' | 'processing' | 'succeeded' | 'failed' | 'cancelled';
/**
 * A length of time: a whole number of days, hours, minutes or seconds.
 */
export type Duration4 = string;
/**
 * Body of op 11: all Wi-Fi networks that the device shall know, at most 100.
 *
 * @maxItems 100
 */
export type WifiSettings = WifiEntry[];

/**
 * The type of every schema, by its name: `rest/wifi-settings` is `schemas/rest/wifi-settings.json`.
 */
export interface SchemaTypes {
  'admin/application': ApplicationAnswer;
  'admin/application-create': ApplicationCreate;
  'admin/application-created': ApplicationCreated;
  'admin/application-list': ApplicationList;
  'admin/application-row': ApplicationRow;
  'admin/application-row-list': ApplicationRowList;
  'admin/application-row-query': ApplicationRowQuery;
  'admin/application-secret': ApplicationSecret;
  'admin/audit-entry': AuditEntry;
  'admin/audit-list': AuditList;
  'admin/audit-query': AuditQuery;
  'admin/binary-warning-list': BinaryWarningList;
  'admin/console-login': ConsoleLogin;
  'admin/console-session': ConsoleSession;
  'admin/console-session-list': ConsoleSessionList;
  'admin/console-session-state': ConsoleSessionState;
  'admin/credential-replace': CredentialReplace;
  'admin/credential-replaced': CredentialReplaced;
  'admin/delivery-query': DeliveryQuery;
  'admin/developer': DeveloperAnswer;
  'admin/developer-create': DeveloperCreate;
  'admin/developer-details': DeveloperDetails;
  'admin/developer-list': DeveloperList;
  'admin/developer-update': DeveloperUpdate;
  'admin/device': DeviceAnswer;
  'admin/device-connection': DeviceConnection;
  'admin/device-delete-query': DeviceDeleteQuery;
  'admin/device-list': DeviceList;
  'admin/device-register': DeviceRegister;
  'admin/device-registered': DeviceRegistered;
  'admin/device-status': FleetDeviceStatus;
  'admin/device-transaction-query': DeviceTransactionQuery;
  'admin/device-update': DeviceUpdate;
  'admin/firmware-version-list': FirmwareVersionList;
  'admin/fleet-breakdown': FleetBreakdown;
  'admin/fleet-breakdown-query': FleetBreakdownQuery;
  'admin/fleet-device-query': FleetDeviceQuery;
  'admin/fleet-history': FleetHistory;
  'admin/fleet-history-query': FleetHistoryQuery;
  'admin/fleet-summary': FleetSummary;
  'admin/health': Health;
  'admin/imported-device': ImportedDevice;
  'admin/installation-query': InstallationQuery;
  'admin/line-query': LineQuery;
  'admin/package-row': PackageRow;
  'admin/package-row-list': PackageRowList;
  'admin/package-row-query': PackageRowQuery;
  'admin/receiver': Receiver;
  'admin/receiver-list': ReceiverList;
  'admin/receiver-query': ReceiverQuery;
  'admin/redelivery-range': FleetRedeliveryRange;
  'admin/search-query': SearchQuery;
  'admin/search-results': SearchResults;
  'admin/service-software-put': ServiceSoftwarePut;
  'admin/service-software-version': ServiceSoftwareVersion;
  'admin/setting-list': SettingList;
  'admin/system-package-list': SystemPackageList;
  'admin/transaction-query': TransactionQuery;
  'admin/transactions-cancel': TransactionsCancel;
  'admin/transactions-cancelled': TransactionsCancelled;
  'admin/version-row': VersionRow;
  'admin/version-row-list': VersionRowList;
  'admin/version-row-query': VersionRowQuery;
  'common/apn-entry': ApnEntry;
  'common/application-id': ApplicationId;
  'common/authentication-key': AuthenticationKey;
  'common/bluetooth-name': BluetoothName;
  'common/call-id': CallId;
  'common/certificate-fingerprint': CertificateFingerprint;
  'common/client-id': ClientId;
  'common/connection-id': ConnectionId;
  'common/connectivity-type': ConnectivityType;
  'common/console-session-id': ConsoleSessionId;
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
  'common/device-row': DeviceRow;
  'common/device-row-list': DeviceRowList;
  'common/device-time': DeviceTime;
  'common/display-name': DisplayName;
  'common/distribution-date': DistributionDate;
  'common/duration': Duration2;
  'common/event-id': EventId;
  'common/fault': Fault;
  'common/fault-type': FaultType;
  'common/feed-query': FeedQuery;
  'common/file-id': FileId;
  'common/file-name': FileName;
  'common/file-size': FileSize;
  'common/hardware-properties': HardwareProperties;
  'common/installation-counts': InstallationCounts;
  'common/installations': InstallationList;
  'common/json-object': JsonObject;
  'common/json-object-or-null': JsonObjectOrNull;
  'common/language-tag': LanguageTag;
  'common/list-mode': ListMode;
  'common/local-date-time': LocalDateTime;
  'common/local-date-time-or-null': LocalDateTimeOrNull;
  'common/mac-address': MacAddress;
  'common/message-error': MessageError;
  'common/moment': Moment4;
  'common/name': Name;
  'common/operation': Operation1;
  'common/package-name': PackageName;
  'common/paging-query': PagingQuery;
  'common/reason-error': ReasonError;
  'common/recorded-file': RecordedFile;
  'common/recorded-files': RecordedFiles;
  'common/request-id': RequestId;
  'common/secret': Secret;
  'common/setting-url': SettingUrl;
  'common/sha256': Sha256;
  'common/total': Total;
  'common/total-if-known': TotalIfKnown;
  'common/transaction-detail': TransactionDetail;
  'common/transaction-id': TransactionId;
  'common/transaction-row': TransactionRow;
  'common/transaction-row-list': TransactionRowList;
  'common/transaction-status': TransactionStatus1;
  'common/upload-address': UploadAddress;
  'common/upload-headers': UploadHeaders;
  'common/upload-method': UploadMethod;
  'common/url': Url;
  'common/utc-date-time': UtcDateTime;
  'common/utc-date-time-or-null': UtcDateTimeOrNull1;
  'common/version-name': VersionName;
  'common/webhook-setting': WebhookSetting;
  'common/wifi-entry': WifiEntry;
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
  'rest/device-status': DeviceStatus;
  'rest/device-status-list': DeviceStatusList;
  'rest/device-status-query': DeviceStatusQuery;
  'rest/distribution-started': DistributionStarted;
  'rest/distribution-status': DistributionStatus;
  'rest/firmware-list': FirmwareList;
  'rest/firmware-state': FirmwareState;
  'rest/hardware-properties': DeviceHardware;
  'rest/install-request': InstallRequest;
  'rest/jwks': JsonWebKeySet;
  'rest/language-setting': LanguageSetting;
  'rest/own-device-query': OwnDeviceQuery;
  'rest/own-installation-query': OwnInstallationQuery;
  'rest/own-transaction-query': OwnTransactionQuery;
  'rest/package': PackageRecord;
  'rest/package-create': PackageCreate;
  'rest/package-list': PackageList;
  'rest/package-update': PackageUpdate;
  'rest/redelivered': Redelivered;
  'rest/redelivery-range': RedeliveryRange;
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
  'webhooks/test-event': TestEvent;
  'webhooks/transaction-record': WebhookTransactionRecord;
  'webhooks/transaction-result': TransactionResult;
  'webhooks/upload-url-answer': UploadUrlAnswer;
  'webhooks/upload-url-request': UploadUrlRequest;
  'webhooks/upload-urls-answer': UploadUrlsAnswer;
  'webhooks/upload-urls-request': UploadUrlsRequest;
}
/**
 * An application.
 */
export interface ApplicationAnswer {
  applicationId: ApplicationId;
  developerId: DeveloperId;
  name: Name;
  createdAt: LocalDateTime;
}
/**
 * A new application of a developer.
 */
export interface ApplicationCreate {
  applicationId?: ApplicationId;
  name: Name;
}
/**
 * The new application; its secret is shown here only.
 */
export interface ApplicationCreated {
  applicationId: ApplicationId;
  name: Name;
  secret: Secret;
}
/**
 * A page of the applications of a developer.
 */
export interface ApplicationList {
  applications: ApplicationAnswer[];
  total: Total;
}
/**
 * An application in the list of all.
 */
export interface ApplicationRow {
  applicationId: ApplicationId;
  developerId: DeveloperId;
  name: Name;
  createdAt: UtcDateTime;
  /**
   * How many devices are activated for it.
   */
  activated: number;
  keyReplacedAt: UtcDateTimeOrNull;
  /**
   * An authenticationKey was issued.
   */
  hasKey: boolean;
  /**
   * Where its webhooks go; null: nowhere.
   */
  settings: {
    deviceEvent: string | null;
    callEvent: string | null;
    callFileSendEvent: string | null;
    callRecGetMultiPresignedUrl: string | null;
    fileUploadEvent: string | null;
    fileUploadGetUrl: string | null;
  };
}
/**
 * A page of applications.
 */
export interface ApplicationRowList {
  applications: ApplicationRow[];
}
/**
 * Query of the applications of all developers, with the defaults filled in.
 */
export interface ApplicationRowQuery {
  developerId?: DeveloperId1;
  after?: ApplicationId1;
  /**
   * How many rows to answer at most.
   */
  limit: number;
}
/**
 * The new secret, shown here only; the old one is void at once.
 */
export interface ApplicationSecret {
  secret: Secret;
}
/**
 * Who changed what, and when. Never a body.
 */
export interface AuditEntry {
  /**
   * Rises with time.
   */
  auditId: number;
  at: UtcDateTime1;
  actor: {
    /**
     * A session of the console, the administrator token, the command line (with the token), an application; or the service itself, which raised its numbers (`RAISE /numbers`: see docs/operations.md).
     */
    kind: 'session' | 'token' | 'command line' | 'application' | 'service';
    /**
     * The session, or the application.
     */
    name: string | null;
  };
  /**
   * The method, and the template of the path.
   */
  action: string;
  /**
   * The path, of which at most 1024 characters are kept.
   */
  resource: string;
  /**
   * Of the answer; null while there is none, or when the service ended before it.
   */
  status: number | null;
  /**
   * How many were changed, where one request changes many; why numbers were raised (`reason`), and behind which transactionId they go on (`to`); for what an application was refused, how often it was refused the same within a minute (`repeated`), and for which `code`.
   */
  details: {} | null;
  /**
   * Also on its answer, and on its log line; of the service itself the name of the life that the database began.
   */
  requestId: string;
}
/**
 * A page of changes, the newest first.
 */
export interface AuditList {
  entries: AuditEntry[];
}
/**
 * Which changes.
 */
export interface AuditQuery {
  since?: Moment;
  until?: Moment1;
  /**
   * A kind of who changed something, or the name of one.
   */
  actor?: string;
  /**
   * What the path begins with.
   */
  resource?: string;
  /**
   * Only rows behind this one.
   */
  after?: number;
  /**
   * How many rows to answer at most.
   */
  limit: number;
}
/**
 * Uploads whose file says something else than was registered: by package and version.
 */
export interface BinaryWarningList {
  warnings: {
    package: PackageName;
    version: VersionName;
    warning: string;
    /**
     * What the file says of itself; null when it could not be read.
     */
    found: {
      package: string;
      versionName: string | null;
      versionCode: number | null;
    } | null;
    readAt: LocalDateTime;
  }[];
  total: Total;
}
/**
 * Opens a session of the console of administration.
 */
export interface ConsoleLogin {
  /**
   * The administrator token.
   */
  token: string;
}
/**
 * A session of the console of administration.
 */
export interface ConsoleSession {
  sessionId: ConsoleSessionId;
  createdAt: UtcDateTime;
  lastUsedAt: UtcDateTime2;
  expiresAt: UtcDateTime;
  /**
   * Where it was opened from: of the browser, or of the proxy before the service.
   */
  address: string;
  /**
   * It is the session that asks.
   */
  own: boolean;
}
/**
 * The sessions of the console that are good; who was used last comes first.
 */
export interface ConsoleSessionList {
  sessions: ConsoleSession[];
}
/**
 * How long a session of the console is good.
 */
export interface ConsoleSessionState {
  expiresAt: UtcDateTime3;
  idleUntil: UtcDateTime4;
}
/**
 * A new credential; without one the service makes one. From now on a client certificate is as good as it only when its fingerprint is named here.
 */
export interface CredentialReplace {
  credential?: Credential;
  certificateFingerprint?: CertificateFingerprint;
}
/**
 * The new credential, shown here only; the old one is void at once.
 */
export interface CredentialReplaced {
  credential: Credential;
}
/**
 * Which webhooks.
 */
export interface DeliveryQuery {
  applicationId?: ApplicationId;
  deviceId?: DeviceId;
  transactionId?: TransactionId;
  status?: DeliveryStatus;
  setting?: WebhookSetting;
  since?: Moment2;
  until?: Moment3;
  after?: DeliveryId;
  /**
   * How many rows to answer at most.
   */
  limit: number;
}
/**
 * A developer and the contract.
 */
export interface DeveloperAnswer {
  developerId: DeveloperId;
  name: Name;
  deviceLimit: DeviceLimit;
}
/**
 * A new developer. Without an identifier the service makes one; without a limit there is no contract.
 */
export interface DeveloperCreate {
  developerId?: DeveloperId;
  name: Name;
  deviceLimit?: DeviceLimit;
}
/**
 * A developer, the contract, and what it has of what has a quota.
 */
export interface DeveloperDetails {
  developerId: DeveloperId;
  name: Name;
  deviceLimit: DeviceLimit;
  /**
   * What it has.
   */
  usage: {
    /**
     * Packages.
     */
    packages: number;
    /**
     * Versions of all of them.
     */
    versions: number;
    /**
     * Bytes of binaries, those included that an upload URL was given out for.
     */
    storedBytes: number;
  };
  /**
   * What it may have.
   */
  quotas: {
    /**
     * Packages, null without a quota.
     */
    packages: number | null;
    /**
     * Versions of all of them, null without a quota.
     */
    versions: number | null;
    /**
     * Bytes of binaries, those included that an upload URL was given out for, null without a quota.
     */
    storedBytes: number | null;
  };
}
/**
 * A page of developers.
 */
export interface DeveloperList {
  developers: DeveloperAnswer[];
  total: Total;
}
/**
 * What changes about a developer; a null limit ends the contract.
 */
export interface DeveloperUpdate {
  name?: Name;
  deviceLimit?: DeviceLimit;
}
/**
 * A device as the administration shows it.
 */
export interface DeviceAnswer {
  deviceId: DeviceId;
  developerId: DeveloperId;
  activation: 'deactivated' | 'activating' | 'activated';
  /**
   * Where it is activated or activating.
   */
  applicationId: string | null;
  clientId: string | null;
  hardwareProperties: HardwareProperties;
  /**
   * It cannot connect.
   */
  blocked: boolean;
  /**
   * Which client certificates are as good as its credential: any of a CA of the service that names the device, only the one with the fingerprint, or none.
   */
  certificates: 'any' | 'named' | 'none';
  /**
   * SHA-256, 64 hexadecimal digits; null unless `certificates` is `named`.
   */
  certificateFingerprint: string | null;
  createdAt: LocalDateTime;
}
/**
 * The connection and the session of a device. What only another node knows is null.
 */
export interface DeviceConnection {
  connected: boolean;
  since: UtcDateTimeOrNull1;
  /**
   * Where it connects from.
   */
  address: string | null;
  transport: 'mqtt' | 'mqtts' | 'ws' | 'wss' | null;
  /**
   * 0: none.
   */
  keepAliveSeconds: number | null;
  protocol: '3.1' | '3.1.1' | '5' | null;
  session: {
    /**
     * It will find its session when it comes back.
     */
    present: boolean;
    subscriptions: string[];
  };
  lastSeenAt: UtcDateTimeOrNull1;
  /**
   * The node that it is connected to; null where there is one only.
   */
  node: string | null;
}
/**
 * Query of the removal of a device.
 */
export interface DeviceDeleteQuery {
  /**
   * `true`: also a device that is activated, or has unfinished transactions.
   */
  force?: 'true' | 'false';
}
/**
 * A page of the devices of a developer.
 */
export interface DeviceList {
  devices: DeviceAnswer[];
  total: Total;
}
/**
 * A new device of a developer. Without a credential the service makes one.
 */
export interface DeviceRegister {
  deviceId: DeviceId;
  hardwareProperties?: HardwareProperties;
  credential?: Credential;
}
/**
 * The new device; its credential is shown here only.
 */
export interface DeviceRegistered {
  deviceId: DeviceId;
  credential: Credential;
}
/**
 * What a device last reported, field by field, and what is installed on it.
 */
export interface FleetDeviceStatus {
  deviceId: DeviceId;
  reportedAt: UtcDateTimeOrNull1;
  fields: {
    /**
     * As in the status message of the device.
     */
    name: string;
    /**
     * As it was reported.
     */
    value: {} | unknown[] | string | number | boolean | null;
    at: UtcDateTime;
  }[];
  software: {
    package: string;
    version: string;
    /**
     * installed: it reported this version. waiting: a transaction that installs it is unfinished. failed: the last one failed.
     */
    state: 'installed' | 'waiting' | 'failed';
    /**
     * Why it failed.
     */
    errorCode: string | null;
    since: UtcDateTime;
  }[];
}
/**
 * Query of the transactions of a device, with the defaults filled in.
 */
export interface DeviceTransactionQuery {
  /**
   * `true`: only its queue, in order. Else all of them, newest first.
   */
  unfinished?: 'true' | 'false';
  /**
   * Where the page begins: behind this transaction, in the order of the list.
   */
  after?: number;
  /**
   * How many rows to answer at most.
   */
  limit: number;
}
/**
 * What changes about a device; hardware properties are replaced as a whole, null removes them.
 */
export interface DeviceUpdate {
  hardwareProperties?: HardwareProperties;
  developerId?: DeveloperId;
  /**
   * True: its connection is closed, and it cannot connect any more (CONNACK 5), with its credential or a certificate. What it is told to do waits.
   */
  blocked?: boolean;
}
/**
 * A page of firmware versions: by package, newest version first.
 */
export interface FirmwareVersionList {
  firmwareVersions: ServiceSoftwareVersion[];
  total: Total;
}
/**
 * A version of a system package or of firmware.
 */
export interface ServiceSoftwareVersion {
  package: PackageName;
  displayName: DisplayName;
  version: VersionName;
  description: Description;
  registerDate: LocalDateTime;
  updateDate: LocalDateTime;
}
/**
 * How many devices have what; kept for ten seconds.
 */
export interface FleetBreakdown {
  by: 'firmware' | 'battery' | 'version' | 'package' | 'developer' | 'application' | 'activation';
  at: UtcDateTime;
  /**
   * The largest first.
   *
   * @maxItems 50
   */
  groups: {
    /**
     * Of the battery in tens of percent, as `80-89`; null: devices that have reported none, or are for no application.
     */
    value: string | null;
    devices: number;
  }[];
  /**
   * Devices in groups that are not shown; of packages, of which a device has several, counted for each.
   */
  others: number;
}
/**
 * By what devices are counted.
 */
export interface FleetBreakdownQuery {
  by: 'firmware' | 'battery' | 'version' | 'package' | 'developer' | 'application' | 'activation';
  package?: PackageName1;
}
/**
 * Query of the devices of all developers, with the defaults filled in.
 */
export interface FleetDeviceQuery {
  /**
   * Only devices whose deviceId begins so.
   */
  prefix?: string;
  developerId?: DeveloperId2;
  applicationId?: ApplicationId2;
  /**
   * Only devices in this state.
   */
  activation?: 'deactivated' | 'activating' | 'activated';
  /**
   * `true`: only devices that are connected now; `false`: only those that are not.
   */
  connected?: 'true' | 'false';
  /**
   * Only devices that last reported this firmware version; empty: those that have reported none.
   */
  firmware?: string;
  package?: PackageName2;
  version?: VersionName1;
  /**
   * Only devices whose battery was last reported below this level, in percent.
   */
  batteryBelow?: number;
  /**
   * Only devices whose battery was last reported at this level, in percent, or above.
   */
  batteryFrom?: number;
  notSeenFor?: Duration;
  /**
   * The order: by identifier, by when they were last heard of (never comes first), or by that the other way round. When a device was heard of is stored within a minute, and sorted by what is stored.
   */
  sort: 'deviceId' | 'lastSeen' | '-lastSeen';
  /**
   * Where the page begins: what the `Link` of the page before says.
   */
  after?: string;
  /**
   * How many rows to answer at most.
   */
  limit: number;
}
/**
 * Figures over time.
 */
export interface FleetHistory {
  /**
   * Between two points: more than was asked for where there would be too many points, or nothing finer is kept.
   */
  stepSeconds: number;
  points: {
    at: UtcDateTime5;
    devices: number;
    activated: number;
    connected: number;
    /**
     * Commands that devices must still hear of.
     */
    due: number;
    /**
     * Age of the oldest of them.
     */
    oldestDueSeconds: number;
    /**
     * Webhooks that are pending.
     */
    pending: number;
    failingReceivers: number;
    /**
     * Transactions made in the time.
     */
    created: number;
    finished: number;
    /**
     * Of those that finished.
     */
    failed: number;
    /**
     * Attempts of webhooks that failed in the time.
     */
    attemptsFailed: number;
    /**
     * How late the event loop was, of all nodes the latest.
     */
    loopP99Ms: number | null;
  }[];
}
/**
 * From when on.
 */
export interface FleetHistoryQuery {
  since: Moment4;
  /**
   * Seconds between two points at least.
   */
  step: number;
}
/**
 * The fleet in figures; they are kept for ten seconds.
 */
export interface FleetSummary {
  at: UtcDateTime6;
  devices: {
    total: number;
    activated: number;
    connected: number;
  };
  transactions: {
    unfinished: number;
    oldestAt: UtcDateTimeOrNull2;
  };
  deliveries: {
    pending: number;
    oldestDueAt: UtcDateTimeOrNull3;
  };
  receivers: {
    /**
     * Whose last attempt failed.
     */
    failing: number;
    /**
     * For which something due waits for longer than half a minute.
     */
    slow: number;
  };
  /**
   * What 99 of 100 of the latest commits of this node took at most; null when there was none.
   */
  commitP99Ms: number | null;
  /**
   * How late the event loop of this node was in the last ten seconds, but for one look in a hundred; null before the first ten.
   */
  loopP99Ms: number | null;
  nodes: number;
  version: string;
}
/**
 * Answer of the probes.
 */
export interface Health {
  status: 'ok' | 'unavailable';
  /**
   * What is not ready, and why; only with `unavailable`.
   *
   * @minItems 1
   */
  problems?: {
    /**
     * As `database`, `api` or `files`.
     */
    part: string;
    /**
     * For people.
     */
    reason: string;
  }[];
}
/**
 * What became of a line of an import: the device and its credential, or what is wrong with the line.
 */
export interface ImportedDevice {
  /**
   * Of what was sent; the first is 1.
   */
  line: number;
  deviceId?: DeviceId;
  credential?: Credential;
  /**
   * A Message error or a Reason error, as the registration of one device would be answered with.
   */
  error?: {
    message?: string;
    reason?: string;
    details?: Fault[];
  };
}
/**
 * One fault of an input.
 */
export interface Fault {
  /**
   * Path to the faulty field: `body`, `query` or `pathParameters`, then names; array positions as strings.
   */
  loc: string[];
  /**
   * What is wrong: a sentence for people.
   */
  msg: string;
  type: FaultType;
}
/**
 * Query of the devices of a version, with the defaults filled in.
 */
export interface InstallationQuery {
  /**
   * Software, or firmware.
   */
  line: 'software' | 'firmware';
  /**
   * Only devices in this state.
   */
  state?: 'installed' | 'waiting' | 'failed';
  after?: DeviceId1;
  /**
   * How many rows to answer at most.
   */
  limit: number;
}
/**
 * Whether software or firmware is meant.
 */
export interface LineQuery {
  /**
   * Software, or firmware.
   */
  line: 'software' | 'firmware';
}
/**
 * A package in the list of all.
 */
export interface PackageRow {
  /**
   * Software, or firmware.
   */
  line: 'software' | 'firmware';
  package: PackageName;
  /**
   * Whose it is; null: the service’s own.
   */
  developerId: string | null;
  displayName: string | null;
  /**
   * Every application of the developer may distribute it.
   */
  forAll: boolean;
  /**
   * How many there are.
   */
  versions: number;
  /**
   * The newest version.
   */
  newest: string | null;
  updatedAt: UtcDateTime7;
}
/**
 * A page of packages.
 */
export interface PackageRowList {
  packages: PackageRow[];
}
/**
 * Query of all packages, with the defaults filled in.
 */
export interface PackageRowQuery {
  /**
   * Only software, or only firmware.
   */
  line?: 'software' | 'firmware';
  developerId?: DeveloperId3;
  /**
   * Where the page begins: what the `Link` of the page before says.
   */
  after?: string;
  /**
   * How many rows to answer at most.
   */
  limit: number;
}
/**
 * Where webhooks go: a setting of an application.
 */
export interface Receiver {
  applicationId: ApplicationId;
  setting: WebhookSetting;
  /**
   * Null when it is not set any more.
   */
  url: string | null;
  /**
   * `failing`: the last attempt failed. `slow`: something due waits for longer than half a minute.
   */
  state: 'healthy' | 'slow' | 'failing';
  pending: number;
  oldestDueAt: UtcDateTimeOrNull4;
  failingSince: UtcDateTimeOrNull5;
  /**
   * Of the attempt that failed last; null when it is not failing, or there was no answer.
   */
  lastStatusCode: number | null;
  /**
   * Why it failed, for people.
   */
  lastError: string | null;
  nextAttemptAt: UtcDateTimeOrNull6;
}
/**
 * A page of receivers by application and setting; they are looked for every ten seconds at most.
 */
export interface ReceiverList {
  receivers: Receiver[];
}
/**
 * Which receivers.
 */
export interface ReceiverQuery {
  state?: 'healthy' | 'slow' | 'failing';
  /**
   * Where the page begins: what the `Link` of the page before says.
   */
  after?: string;
  /**
   * How many rows to answer at most.
   */
  limit: number;
}
/**
 * Which deliveries to send again: made from `since` (inclusive) to `until` (exclusive). Without `status`: those given up, exhausted or gone.
 */
export interface FleetRedeliveryRange {
  since?: Moment4;
  until?: Moment4;
  status?: DeliveryStatus;
  setting?: WebhookSetting;
}
/**
 * What is looked for.
 */
export interface SearchQuery {
  /**
   * The beginning of a deviceId, a transactionId, a deliveryId, or a part of an identifier or a name.
   */
  q: string;
}
/**
 * What was found, 20 at most.
 */
export interface SearchResults {
  results: {
    kind: 'device' | 'transaction' | 'delivery' | 'application' | 'developer' | 'package';
    id: string;
    /**
     * Of a device and an application its developer, of a transaction its device, of a delivery its application, of a package its line.
     */
    parent: string | null;
  }[];
}
/**
 * Texts of a system package or firmware version; what is left out stays, null removes it.
 */
export interface ServiceSoftwarePut {
  displayName?: DisplayName;
  description?: Description;
}
/**
 * The settings of the service, as in effect. What is secret in them is not shown.
 */
export interface SettingList {
  settings: {
    name: string;
    /**
     * Null: worked out at start, or off.
     */
    value: string | null;
    /**
     * False: by default.
     */
    isSet: boolean;
    /**
     * Its value is not shown.
     */
    secret: boolean;
    description: string;
  }[];
}
/**
 * A page of the versions of system packages: by package, newest version first.
 */
export interface SystemPackageList {
  systemPackages: ServiceSoftwareVersion[];
  total: Total;
}
/**
 * Query of all transactions, with the defaults filled in.
 */
export interface TransactionQuery {
  /**
   * `true`: only unfinished ones, oldest first. Else all of them, newest first.
   */
  unfinished?: 'true' | 'false';
  operation?: Operation;
  applicationId?: ApplicationId3;
  deviceId?: DeviceId2;
  status?: TransactionStatus;
  olderThan?: Duration1;
  /**
   * `true`: only unfinished ones that their device will not answer.
   */
  warning?: 'true' | 'false';
  /**
   * Where the page begins: behind this transaction, in the order of the list.
   */
  after?: number;
  /**
   * How many rows to answer at most.
   */
  limit: number;
}
/**
 * Which transactions to cancel.
 */
export interface TransactionsCancel {
  /**
   * @minItems 1
   * @maxItems 1000
   */
  transactionIds: TransactionId[];
}
/**
 * What became of each, in the order of the request.
 */
export interface TransactionsCancelled {
  results: {
    transactionId: TransactionId;
    cancelled: boolean;
    /**
     * Why not: the code of the error.
     */
    code?: string;
  }[];
}
/**
 * A version with its binary and its devices.
 */
export interface VersionRow {
  version: VersionName;
  description: string | null;
  createdAt: UtcDateTime;
  updatedAt: UtcDateTime;
  distributing: boolean;
  distributionStartedAt: UtcDateTimeOrNull1;
  /**
   * Null: there is none. Its fields are null while the object store does not answer.
   */
  binary: {
    sizeBytes: number | null;
    /**
     * Null while it is being made.
     */
    sha256: string | null;
    /**
     * As the file says; null while nobody has looked.
     */
    foundPackage: string | null;
    foundVersion: string | null;
  } | null;
  /**
   * How the file differs from what was registered.
   */
  warning: string | null;
  devices: InstallationCounts;
}
/**
 * How many devices have a version, wait for it, failed at it; as of the last ten seconds.
 */
export interface InstallationCounts {
  /**
   * They last reported this version.
   */
  installed: number;
  /**
   * An unfinished transaction installs it on them.
   */
  waiting: number;
  /**
   * It failed on them, and they neither have it nor wait for it.
   */
  failed: number;
}
/**
 * A page of versions, newest first.
 */
export interface VersionRowList {
  versions: VersionRow[];
}
/**
 * Query of the versions of a package, with the defaults filled in.
 */
export interface VersionRowQuery {
  /**
   * Software, or firmware.
   */
  line: 'software' | 'firmware';
  after?: VersionName2;
  /**
   * How many rows to answer at most.
   */
  limit: number;
}
/**
 * One access point name; the fields are those of an Android APN.
 */
export interface ApnEntry {
  name: string;
  apn: string;
  proxy?: string;
  port?: string;
  user?: string;
  server?: string;
  password?: string;
  mmsc?: string;
  /**
   * Mobile country code.
   */
  mcc?: string;
  /**
   * Mobile network code.
   */
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
/**
 * A webhook, what is sent, and what came of its failed attempts.
 */
export interface DeliveryDetail {
  deliveryId: DeliveryId;
  applicationId: ApplicationId;
  deviceId: string | null;
  transactionId: number | null;
  setting: WebhookSetting;
  /**
   * The type of the event.
   */
  type: string;
  /**
   * Where the last attempt went; null before the first.
   */
  url: string | null;
  status: DeliveryStatus;
  /**
   * Attempts made; a redelivery begins at 0.
   */
  attempts: number;
  /**
   * What the last attempt was answered with; null when there was no answer.
   */
  lastStatusCode: number | null;
  /**
   * Why the last attempt failed, for people.
   */
  lastError: string | null;
  nextAttemptAt: UtcDateTimeOrNull1;
  createdAt: UtcDateTime;
  updatedAt: UtcDateTime;
  /**
   * What is sent, the same in every attempt.
   */
  body: string;
  /**
   * What every attempt has in common; empty before the first. `webhook-timestamp` and the signatures are made anew for each.
   */
  headers: {
    [k: string]: string;
  };
  /**
   * The newest first, 20 at most.
   *
   * @maxItems 20
   */
  failedAttempts: {
    /**
     * A redelivery begins at 1.
     */
    attempt: number;
    at: UtcDateTime;
    statusCode: number | null;
    error: string | null;
    durationMs: number;
    /**
     * How the answer began, 4 KiB at most; null when there was none, and when there was no room for more of the application's answers.
     */
    answer: string | null;
  }[];
}
/**
 * A webhook in a list, and what became of it.
 */
export interface DeliveryRow {
  deliveryId: DeliveryId;
  applicationId: ApplicationId;
  deviceId: string | null;
  transactionId: number | null;
  setting: WebhookSetting;
  /**
   * The type of the event.
   */
  type: string;
  /**
   * Where the last attempt went; null before the first.
   */
  url: string | null;
  status: DeliveryStatus;
  /**
   * Attempts made; a redelivery begins at 0.
   */
  attempts: number;
  /**
   * What the last attempt was answered with; null when there was no answer.
   */
  lastStatusCode: number | null;
  /**
   * Why the last attempt failed, for people.
   */
  lastError: string | null;
  nextAttemptAt: UtcDateTimeOrNull1;
  createdAt: UtcDateTime;
  updatedAt: UtcDateTime;
}
/**
 * A page of webhooks, newest first.
 */
export interface DeliveryRowList {
  deliveries: DeliveryRow[];
}
/**
 * Why a device could not do something. Codes in use: DOWNLOAD_FAILED, VERSION_NAME_MISMATCH, VERSION_CODE_NOT_HIGHER, PACKAGE_NAME_MISMATCH, STORAGE_FULL, INVALID_PARAMETERS, UNSUPPORTED, INTERNAL.
 */
export interface DeviceError {
  code: string;
  message: string;
}
/**
 * A device in a list.
 */
export interface DeviceRow {
  deviceId: DeviceId;
  developerId: DeveloperId;
  /**
   * Where it is activated or activating.
   */
  applicationId: string | null;
  activation: 'deactivated' | 'activating' | 'activated';
  /**
   * It cannot connect.
   */
  blocked: boolean;
  connected: boolean;
  lastSeenAt: UtcDateTimeOrNull1;
  /**
   * The firmware version that it last reported.
   */
  firmware: string | null;
  /**
   * Percent, as last reported.
   */
  battery: number | null;
  /**
   * Its unfinished transactions.
   */
  unfinished: number;
}
/**
 * A page of devices. It can be shorter than its limit, even empty, and still not the last one.
 */
export interface DeviceRowList {
  devices: DeviceRow[];
}
/**
 * What a reader of the feed wants to see.
 */
export interface FeedQuery {
  /**
   * Topics with commas between them. `fleet` (of administration): the summary, once a second. `devices:ID;ID`: these devices, 200 at most. `transactions`: all of them; `transactions:ID;ID`: these, 200 at most. `receivers`: receivers of webhooks that are slow or fail. `software:PACKAGE@VERSION;...`: how many devices have, wait for and failed at a version (`firmware/PACKAGE@VERSION` for firmware), 20 at most. `device:ID`: the messages of a device, of 4 at most. Names are percent-encoded.
   */
  topics: string;
}
/**
 * How many devices have a version, wait for it, failed at it (as of the last ten seconds), and a page of them.
 */
export interface InstallationList {
  /**
   * They last reported this version.
   */
  installed: number;
  /**
   * An unfinished transaction installs it on them.
   */
  waiting: number;
  /**
   * It failed on them, and they neither have it nor wait for it.
   */
  failed: number;
  /**
   * Of those that failed, by the code of the error.
   */
  errors: {
    code: string;
    devices: number;
  }[];
  devices: {
    deviceId: DeviceId;
    state: 'installed' | 'waiting' | 'failed';
    errorCode: string | null;
    since: UtcDateTimeOrNull7;
  }[];
}
/**
 * Error that needs one sentence.
 */
export interface MessageError {
  /**
   * What happened.
   */
  message: string;
}
/**
 * Query of every list, as numbers and with the defaults filled in.
 */
export interface PagingQuery {
  /**
   * How many rows to leave out.
   */
  offset: number;
  /**
   * How many rows to answer at most.
   */
  limit: number;
}
/**
 * Error with all faults of the request.
 */
export interface ReasonError {
  /**
   * What happened; lower case, ends with a full stop.
   */
  reason: string;
  /**
   * Every fault that was found, up to 100; one more, `...and more`, says that there are others.
   *
   * @maxItems 101
   */
  details: Fault[];
}
/**
 * A file that a device wants to upload.
 */
export interface RecordedFile {
  name: FileName;
  size: FileSize;
  contentType: ContentType;
}
/**
 * A transaction, what its device was told, and its webhook.
 */
export interface TransactionDetail {
  transactionId: TransactionId;
  deviceId: DeviceId;
  applicationId: ApplicationId;
  operation: Operation1;
  /**
   * What it is about, without secrets: package@version, or a few words.
   */
  subject: string | null;
  status: TransactionStatus1;
  /**
   * How often the command was published.
   */
  attempts: number;
  /**
   * Percent, as the device said.
   */
  progress: number | null;
  createdAt: UtcDateTime;
  publishedAt: UtcDateTimeOrNull1;
  deliveredAt: UtcDateTimeOrNull1;
  updatedAt: UtcDateTime;
  completedAt: UtcDateTimeOrNull1;
  /**
   * Why it failed; null otherwise.
   */
  error: {
    code: string;
    message: string;
  } | null;
  /**
   * Why the device will not answer an unfinished transaction, by what it last reported. Null otherwise.
   */
  warning: {
    code: 'FIRMWARE_TOO_OLD';
    message: string;
  } | null;
  /**
   * The webhook of its end.
   */
  deliveryId: string | null;
  /**
   * What the device is told, passwords as dots; null when the transaction has ended.
   */
  parameters: {} | null;
  /**
   * What the device said of it.
   */
  result: {} | null;
  webhook: DeliveryRowOrNull1;
}
/**
 * A transaction in a list.
 */
export interface TransactionRow {
  transactionId: TransactionId;
  deviceId: DeviceId;
  applicationId: ApplicationId;
  operation: Operation1;
  /**
   * What it is about, without secrets: package@version, or a few words.
   */
  subject: string | null;
  status: TransactionStatus1;
  /**
   * How often the command was published.
   */
  attempts: number;
  /**
   * Percent, as the device said.
   */
  progress: number | null;
  createdAt: UtcDateTime;
  publishedAt: UtcDateTimeOrNull1;
  deliveredAt: UtcDateTimeOrNull1;
  updatedAt: UtcDateTime;
  completedAt: UtcDateTimeOrNull1;
  /**
   * Why it failed; null otherwise.
   */
  error: {
    code: string;
    message: string;
  } | null;
  /**
   * Why the device will not answer an unfinished transaction, by what it last reported. Null otherwise.
   */
  warning: {
    code: 'FIRMWARE_TOO_OLD';
    message: string;
  } | null;
  /**
   * The webhook of its end.
   */
  deliveryId: string | null;
}
/**
 * A page of transactions. It can be shorter than its limit, even empty, and still not the last one.
 */
export interface TransactionRowList {
  transactions: TransactionRow[];
}
/**
 * One Wi-Fi network. The password has 8 to 63 characters with WPA and 5 or 13 with WEP; OPEN needs none.
 */
export interface WifiEntry {
  /**
   * Network name, 1 to 32 bytes in UTF-8.
   */
  ssid: string;
  password?: string;
  security: 'OPEN' | 'WEP' | 'WPA2' | 'WPA3' | 'WPA2_WPA3';
}
/**
 * What became of a command; repeating it changes nothing. What is wrong in `progress`, `result` or `error` is left out, and the rest counts; without a transactionId or a status it is rejected.
 */
export interface Ack {
  transactionId: TransactionId;
  status: 'processing' | 'succeeded' | 'failed';
  /**
   * Percent.
   */
  progress?: number;
  /**
   * What the operation says of itself: see its results. At most 64 KiB as JSON.
   */
  result?: Record<string, unknown>;
  /**
   * Why it failed; only looked at in a `failed`. Without a code that can be read it is `INTERNAL`.
   */
  error?: {
    /**
     * Codes in use: DOWNLOAD_FAILED, VERSION_NAME_MISMATCH (installed all the same), VERSION_CODE_NOT_HIGHER, PACKAGE_NAME_MISMATCH, STORAGE_FULL, INVALID_PARAMETERS, UNSUPPORTED, INTERNAL; others are passed on as they are.
     */
    code?: string;
    /**
     * For people.
     */
    message?: string;
  };
}
/**
 * Parameters of `activate`.
 */
export interface ActivateParameters {
  applicationId: ApplicationId;
  clientId: ClientId;
}
/**
 * Data of `bluetooth.connected` and `bluetooth.disconnected`: which Bluetooth device.
 */
export interface BluetoothEventData {
  macAddress: MacAddress;
  name: BluetoothName;
}
/**
 * Parameters of `cancel`: none.
 */
export interface CancelParameters {}
/**
 * What a device shall do. `transactionId` and `issuedAt` together are the identity of a command, the same in every repetition: the device does each pair once and answers a repeated one with the result it had; a transactionId with another `issuedAt` is another command. `cancel` has both of the command that it stops, and needs no answer.
 */
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
    | 'installSoftware'
    | 'updateFirmware'
    | 'cancel';
  parameters: JsonObject;
  issuedAt: UtcDateTime;
  /**
   * 1 at first; higher in every repetition.
   */
  attempt: number;
}
/**
 * Parameters of `setConnectivityState`. A success has the result `{ type, enabled }`.
 */
export interface ConnectivityStateParameters {
  type: ConnectivityType;
  enabled: boolean;
}
/**
 * Parameters of `getConnectivityState` and `listConnectivity`. A success of the first has the result `{ type, enabled }`, of the second `{ type, devices: [{ name, macAddress, paired, connected }] }`, where a name may be null.
 */
export interface ConnectivityTypeParameters {
  type: ConnectivityType;
}
/**
 * Parameters of `deactivate`.
 */
export interface DeactivateParameters {
  applicationId: ApplicationId;
}
/**
 * What was wrong with a message of the device: it was dropped, or parts of it were left out (the reason says which). It was acknowledged all the same, so that it does not come again, and the connection stays.
 */
export interface MessageFault {
  /**
   * Where the device published it; cut after 256 characters.
   */
  topic: string;
  /**
   * What happened: `parts of the message were left out.` when the rest was taken, anything else when nothing was.
   */
  reason: string;
  /**
   * What is wrong: at most 100 faults, and one `...and more` when there are others.
   *
   * @maxItems 101
   */
  details: Fault[];
  transactionId?: TransactionId;
  eventId?: EventId;
  requestId?: RequestId;
}
/**
 * Something happened on a device.
 */
export interface DeviceEvent {
  eventId: EventId;
  /**
   * What happened; it decides where the notification goes and what `data` holds.
   */
  type: string;
  occurredAt: DeviceTime;
  data: JsonObject;
}
/**
 * Data of `fileUpload.failed`.
 */
export interface FileUploadFailedData {
  fileId: FileId;
  name: FileName;
  error: DeviceError;
}
/**
 * Data of `fileUpload.succeeded`.
 */
export interface FileUploadSucceededData {
  fileId: FileId;
  name: FileName;
  size: FileSize;
}
/**
 * Data of the response to `fileUploadUrl`.
 */
export interface FileUploadUrl {
  uploadUrl: UploadAddress;
  method: UploadMethod;
  headers: UploadHeaders;
  expiresAt?: UtcDateTime;
}
/**
 * Data of the request `fileUploadUrl`: the file that needs an upload URL.
 */
export interface FileUploadUrlRequest {
  fileId: FileId;
  name: FileName;
  size: FileSize;
  contentType: ContentType;
}
/**
 * Parameters of `installSoftware` and `updateFirmware`: what to install and where to get it. The URL is made at each delivery; a device whose URL has expired asks for another (`softwareDownloadUrl`). What is downloaded is installed only when its size and its SHA-256 are these.
 */
export interface InstallParameters {
  package: PackageName;
  version: VersionName;
  url: Url;
  expiresAt: UtcDateTime;
  size: FileSize;
  sha256: Sha256;
}
/**
 * Parameters of `pairBluetooth`. A success has the result `{ name, macAddress }`, where the name may be null.
 */
export interface PairBluetoothParameters {
  macAddress: MacAddress;
}
/**
 * Data of `recording.failed`: the recordings of a call could not be saved.
 */
export interface RecordingFailedData {
  callId: CallId;
  error: DeviceError;
}
/**
 * Data of `recording.saved`: the recordings of a call are where the URLs led.
 */
export interface RecordingSavedData {
  callId: CallId;
  /**
   * One for each recording; `movieFile` is the name that its URL was asked for.
   *
   * @minItems 1
   * @maxItems 100
   */
  connections: {
    connectionId: ConnectionId;
    movieFile: FileName;
  }[];
}
/**
 * Data of the response to `recordingUploadUrls`: a URL for each name, in the order asked for.
 */
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
/**
 * Data of the request `recordingUploadUrls`: the recordings of a call that need upload URLs.
 */
export interface RecordingUploadUrlsRequest {
  callId: CallId;
  files: RecordedFiles;
}
/**
 * A device asks for something; the answer carries the same requestId.
 */
export interface DeviceRequest {
  requestId: RequestId;
  type: string;
  data: JsonObject;
}
/**
 * Answer to a request: data, or an error. Codes in use: NOT_ACTIVATED, NOT_CONFIGURED (a setting that the feature needs is not set), UPLOAD_URL_FAILED, BUSY (a bound; ask again later), DISTRIBUTION_STOPPED, BINARY_DELETED, INVALID_PARAMETERS, UNSUPPORTED, INTERNAL.
 */
export interface DeviceResponse {
  requestId: string;
  data?: JsonObject;
  error?: DeviceError;
}
/**
 * Result of `getConnectivityState`: whether it is switched on.
 */
export interface GetConnectivityStateResult {
  type: ConnectivityType;
  /**
   * True: switched on.
   */
  enabled: boolean;
}
/**
 * Result of `installSoftware`: what is installed now, as the package says of itself.
 */
export interface InstallSoftwareResult {
  package: PackageName;
  version: string;
  /**
   * Android version code.
   */
  versionCode: number;
}
/**
 * Result of `listConnectivity`: the Bluetooth devices that are in reach, or paired.
 */
export interface ListConnectivityResult {
  type: ConnectivityType;
  /**
   * @maxItems 1000
   */
  devices: {
    name: BluetoothName;
    macAddress: MacAddress;
    paired: boolean;
    connected: boolean;
  }[];
}
/**
 * No result: the ack has none. One that is there is passed on as it is.
 */
export interface NoResult {}
/**
 * Result of `pairBluetooth`: whom the device is paired with now.
 */
export interface PairBluetoothResult {
  name: BluetoothName;
  macAddress: MacAddress;
}
/**
 * Result of `setConnectivityState`: how it is switched now.
 */
export interface SetConnectivityStateResult {
  type: ConnectivityType;
  /**
   * True: switched on.
   */
  enabled: boolean;
}
/**
 * Result of `updateFirmware`: what the device runs now. It reports its new `firmwareVersion` on `status`, too.
 */
export interface UpdateFirmwareResult {
  package: PackageName;
  version: VersionName;
}
/**
 * Parameters of `setApn`: all access point names that the device shall have.
 */
export interface SetApnParameters {
  apns: ApnEntry[];
}
/**
 * Parameters of `setLanguage`.
 */
export interface SetLanguageParameters {
  lang: LanguageTag;
}
/**
 * Parameters of `setWifi`: all networks that the device shall know.
 */
export interface SetWifiParameters {
  networks: WifiEntry[];
}
/**
 * Data of the response to `softwareDownloadUrl`: where the file of the install is now.
 */
export interface SoftwareDownloadUrl {
  url: Url;
  expiresAt: UtcDateTime;
  size: FileSize;
  sha256: Sha256;
}
/**
 * Data of the request `softwareDownloadUrl`: the unfinished install that needs a fresh URL.
 */
export interface SoftwareDownloadUrlRequest {
  transactionId: TransactionId;
}
/**
 * Any part of the state of a device; what is left out stays as last reported.
 */
export interface ReportedStatus {
  /**
   * BCP 47 tag.
   */
  lang?: string;
  firmwareVersion?: string;
  managementClientVersion?: string;
  battery?: {
    /**
     * Percent.
     */
    level: number;
    charging: boolean;
  };
  /**
   * Bytes.
   */
  storage?: {
    total: number;
    free: number;
  };
  network?: {
    type: string;
    ssid: string | null;
    /**
     * dBm.
     */
    rssi: number | null;
  };
  bluetooth?: {
    enabled: boolean;
  };
  /**
   * @maxItems 1000
   */
  software?: {
    package: string;
    version: string;
    versionCode: number;
  }[];
}
/**
 * Body of op 5. Without a clientId the service makes one.
 */
export interface ActivationRequest {
  clientId?: ClientId;
}
/**
 * Answer of op 4.
 */
export interface ActivationStatus {
  status: 'activated' | 'deactivated';
  clientId?: ClientId;
}
/**
 * Body of op 23.
 */
export interface AppUpload {
  package: PackageName;
  version: VersionName;
  /**
   * Bytes of the binary; the PUT must have exactly so many.
   */
  fileSize: number;
}
/**
 * Answer of op 23.
 */
export interface AppUploadUrls {
  urlList: UploadUrlEntry[];
  /**
   * Whether there is a file, which the upload overwrites.
   */
  appFileExists: boolean;
  /**
   * Bytes of a part: the whole file, for there is no multipart upload.
   */
  chunkPartSize: number;
  /**
   * Null: there is no multipart upload.
   */
  uploadId: string | null;
}
/**
 * Presigned URL for one HTTP PUT of the binary, at most 5 GB; `Content-Type: application/vnd.android.package-archive` is recommended.
 */
export interface UploadUrlEntry {
  /**
   * Where to PUT.
   */
  uploadUrl: string;
  /**
   * Start of validity (Unix time in seconds).
   */
  startTimestamp: number;
  /**
   * End of validity (Unix time in seconds).
   */
  endTimestamp: number;
  /**
   * Validity in seconds.
   */
  expireIn: number;
}
/**
 * Answer of op 1. A setting that has no value is left out, and so is the key before op 3.
 */
export interface ApplicationSettings {
  authenticationKey?: AuthenticationKey;
  deviceEvent?: Url;
  callEvent?: Url;
  callFileSendEvent?: Url;
  callRecGetMultiPresignedUrl?: Url;
  fileUploadEvent?: Url;
  fileUploadGetUrl?: Url;
  remoteSupportEvent?: Url1;
}
/**
 * Body of op 2. A setting that is left out stays; null removes it.
 */
export interface ApplicationSettingsUpdate {
  deviceEvent?: SettingUrl1;
  callEvent?: SettingUrl2;
  callFileSendEvent?: SettingUrl3;
  callRecGetMultiPresignedUrl?: SettingUrl4;
  fileUploadEvent?: SettingUrl5;
  fileUploadGetUrl?: SettingUrl6;
  remoteSupportEvent?: SettingUrl7;
}
/**
 * Answer of op 3. The key before it is void at once.
 */
export interface AuthenticationKeyAnswer {
  authenticationKey: AuthenticationKey;
}
/**
 * Metadata of the token service (RFC 8414 2).
 */
export interface AuthorizationServerMetadata {
  issuer: Url;
  token_endpoint: Url;
  jwks_uri: Url;
  scopes_supported: string[];
  response_types_supported: string[];
  grant_types_supported: string[];
  token_endpoint_auth_methods_supported: string[];
}
/**
 * Answer of op 24: by package, newest version first. Paging is of userPackages; systemPackages has the three newest versions of each package.
 */
export interface AvailableSoftware {
  userPackages: AvailableVersionRecord[];
  systemPackages: AvailableVersionRecord[];
  total: Total;
  /**
   * As asked for, or the default.
   */
  offset: number;
  /**
   * As asked for, or the default.
   */
  limit: number;
}
/**
 * A version that can be distributed, with its package.
 */
export interface AvailableVersionRecord {
  package: PackageName;
  displayName: DisplayName;
  version: VersionName;
  description: Description;
  /**
   * True when distribution of the version is started.
   */
  distributable: boolean;
  registerDate: LocalDateTime;
  updateDate: LocalDateTime;
}
/**
 * Query of op 24, as numbers and with the defaults filled in.
 */
export interface AvailableSoftwareQuery {
  package?: PackageName;
  mode?: ListMode;
  /**
   * How many rows to leave out.
   */
  offset: number;
  /**
   * How many rows to answer at most.
   */
  limit: number;
}
/**
 * Answer of op 20, as the object store says now.
 */
export interface BinaryStatus {
  package: PackageName;
  version: VersionName;
  /**
   * Whether there is a binary.
   */
  appFileExists: boolean;
  /**
   * Bytes; null without a binary.
   */
  fileSize: number | null;
  uploadDate: LocalDateTimeOrNull;
  /**
   * Whether the service has looked into this upload, which it does when it first sees it; until then `warning` is null.
   */
  inspected: boolean;
  /**
   * How the binary differs from what was registered: devices will report an error for it. Null when it does not, and without a binary.
   */
  warning: string | null;
}
/**
 * Body of Bluetooth pairing: the device to pair with, as the connectivity list names it.
 */
export interface BluetoothPairing {
  macAddress: MacAddress;
}
/**
 * Query of the connectivity state and list.
 */
export interface ConnectivityQuery {
  type: ConnectivityType;
}
/**
 * Body of the change of the connectivity state.
 */
export interface ConnectivityState {
  type: ConnectivityType;
  /**
   * On or off.
   */
  enabled: boolean;
}
/**
 * A webhook and what became of it.
 */
export interface Delivery {
  deliveryId: DeliveryId;
  /**
   * Null where it is of no device.
   */
  deviceId: string | null;
  /**
   * Whose end it tells; null for another event.
   */
  transactionId: number | null;
  /**
   * The type of the event.
   */
  type: string;
  setting: WebhookSetting;
  /**
   * Where the last attempt went; null before the first.
   */
  url: string | null;
  status: DeliveryStatus;
  /**
   * Attempts made; a redelivery begins at 0.
   */
  attempts: number;
  /**
   * What the last attempt was answered with; null when there was no answer.
   */
  lastStatusCode: number | null;
  /**
   * Why the last attempt failed, for people.
   */
  lastError: string | null;
  nextAttemptAt: LocalDateTimeOrNull;
  createdAt: LocalDateTime;
}
/**
 * A page of deliveries, newest first.
 */
export interface DeliveryList {
  deliveries: Delivery[];
  total: TotalIfKnown;
}
/**
 * Query of the delivery log, as numbers and with the defaults filled in.
 */
export interface DeliveryListQuery {
  status?: DeliveryStatus;
  setting?: WebhookSetting;
  since?: Moment5;
  until?: Moment6;
  after?: DeliveryId;
  /**
   * How many rows to leave out.
   */
  offset: number;
  /**
   * How many rows to answer at most.
   */
  limit: number;
}
/**
 * Answer of op 7. `lastSeenAt` is when the service last heard anything of the device (after a crash of the service it can be a minute old), `reportedAt` when the device last reported its status; a field that it has not reported is null.
 */
export interface DeviceStatus {
  deviceId: DeviceId;
  /**
   * Whether the device has a connection now.
   */
  connected: boolean;
  lastSeenAt: LocalDateTimeOrNull;
  /**
   * BCP 47 tag.
   */
  lang: string | null;
  firmwareVersion: string | null;
  managementClientVersion: string | null;
  battery: {
    /**
     * Percent.
     */
    level: number;
    charging: boolean;
  } | null;
  /**
   * Bytes.
   */
  storage: {
    total: number;
    free: number;
  } | null;
  network: {
    type: string;
    ssid: string | null;
    /**
     * dBm.
     */
    rssi: number | null;
  } | null;
  bluetooth: {
    enabled: boolean;
  } | null;
  /**
   * @maxItems 1000
   */
  software:
    | {
        package: string;
        version: string;
        versionCode: number;
      }[]
    | null;
  reportedAt: LocalDateTimeOrNull;
}
/**
 * Answer of op 8: a page of the activated devices of the application, by deviceId.
 */
export interface DeviceStatusList {
  devices: DeviceStatus[];
  total: Total;
}
/**
 * Query of op 8, as numbers and with the defaults filled in.
 */
export interface DeviceStatusQuery {
  after?: DeviceId;
  /**
   * How many rows to leave out.
   */
  offset: number;
  /**
   * How many rows to answer at most.
   */
  limit: number;
}
/**
 * Answer of op 26.
 */
export interface DistributionStarted {
  package: PackageName;
  version: VersionName;
  /**
   * True.
   */
  distributable: boolean;
  distributionDate: DistributionDate;
}
/**
 * Answer of op 25.
 */
export interface DistributionStatus {
  /**
   * True when distribution of the version is started.
   */
  distributable: boolean;
  /**
   * @deprecated
   * Deprecated: use distributable. Served until the release 2026-09.
   */
  exist?: boolean;
  distributionDate?: DistributionDate;
}
/**
 * Answer of op 29: by package, newest version first.
 */
export interface FirmwareList {
  firmwareVersions: {
    package: PackageName;
    version: VersionName;
  }[];
}
/**
 * The firmware of a device as it last reported it.
 */
export interface FirmwareState {
  /**
   * Null when no package of op 29's list can be told.
   */
  package: string | null;
  version: string | null;
  /**
   * Whether op 29's list has a newer version of the package.
   */
  updatable: boolean;
}
/**
 * Answer of op 9. `model` and `camera` are null, and a MAC address is left out, when not registered.
 */
export interface DeviceHardware {
  deviceId: DeviceId;
  model: {
    name?: string;
    identifier?: string;
    description?: string;
    shape?: string;
  } | null;
  /**
   * @maxItems 32
   */
  camera:
    | {
        direction?: string;
        mountedPosition?: string;
        resolution?: {
          /**
           * Pixels.
           */
          maxWidth: number;
          /**
           * Pixels.
           */
          maxHeight: number;
        };
      }[]
    | null;
  macAddressWifi?: MacAddress;
  macAddressBluetooth?: MacAddress;
}
/**
 * Op 28: the version to install. Firmware updates name a version of op 29's list.
 */
export interface InstallRequest {
  package: PackageName;
  version: VersionName;
}
/**
 * Public keys of the access tokens (RFC 7517).
 */
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
/**
 * Body of the language setting.
 */
export interface LanguageSetting {
  lang: LanguageTag;
}
/**
 * Query of the devices of the application, with the defaults filled in.
 */
export interface OwnDeviceQuery {
  /**
   * Only devices whose deviceId begins so.
   */
  prefix?: string;
  /**
   * Only devices in this state.
   */
  activation?: 'deactivated' | 'activating' | 'activated';
  /**
   * `true`: only devices that are connected now; `false`: only those that are not.
   */
  connected?: 'true' | 'false';
  /**
   * Only devices that last reported this firmware version; empty: those that have reported none.
   */
  firmware?: string;
  package?: PackageName3;
  version?: VersionName3;
  /**
   * Only devices whose battery was last reported below this level, in percent.
   */
  batteryBelow?: number;
  /**
   * Only devices whose battery was last reported at this level, in percent, or above.
   */
  batteryFrom?: number;
  notSeenFor?: Duration3;
  /**
   * The order: by identifier, by when they were last heard of (never comes first), or by that the other way round. When a device was heard of is stored within a minute, and sorted by what is stored.
   */
  sort: 'deviceId' | 'lastSeen' | '-lastSeen';
  /**
   * Where the page begins: what the `Link` of the page before says.
   */
  after?: string;
  /**
   * How many rows to answer at most.
   */
  limit: number;
}
/**
 * Query of the devices of a version, with the defaults filled in.
 */
export interface OwnInstallationQuery {
  /**
   * Only devices in this state.
   */
  state?: 'installed' | 'waiting' | 'failed';
  after?: DeviceId3;
  /**
   * How many rows to answer at most.
   */
  limit: number;
}
/**
 * Query of the transactions of the application, with the defaults filled in.
 */
export interface OwnTransactionQuery {
  /**
   * `true`: only unfinished ones, oldest first. Else all of them, newest first.
   */
  unfinished?: 'true' | 'false';
  operation?: Operation2;
  deviceId?: DeviceId4;
  status?: TransactionStatus2;
  olderThan?: Duration4;
  /**
   * `true`: only unfinished ones that their device will not answer.
   */
  warning?: 'true' | 'false';
  /**
   * Where the page begins: behind this transaction, in the order of the list.
   */
  after?: number;
  /**
   * How many rows to answer at most.
   */
  limit: number;
}
/**
 * A package.
 */
export interface PackageRecord {
  package: PackageName;
  displayName: DisplayName;
  registerDate: LocalDateTime;
  updateDate: LocalDateTime;
}
/**
 * Body of op 13.
 */
export interface PackageCreate {
  package: PackageName;
  displayName?: DisplayName;
}
/**
 * Answer of op 12: a page of the packages of the developer, by name.
 */
export interface PackageList {
  packages: PackageRecord[];
  total: Total;
}
/**
 * Body of op 14; null removes the display name.
 */
export interface PackageUpdate {
  displayName?: DisplayName;
}
/**
 * How many deliveries are sent again.
 */
export interface Redelivered {
  redelivered: number;
}
/**
 * Which deliveries to send again: made from `since` (inclusive) to `until` (exclusive). Without `status`: all that are not delivered and were attempted: exhausted, gone, or waiting for another attempt.
 */
export interface RedeliveryRange {
  since?: LocalDateTime;
  until?: LocalDateTime;
  status?: DeliveryStatus;
  setting?: WebhookSetting;
}
/**
 * Answer of the token endpoint (RFC 6749 5.1).
 */
export interface TokenAnswer {
  access_token: string;
  token_type: 'bearer';
  /**
   * Seconds.
   */
  expires_in: number;
  /**
   * Scopes of the token, space-separated.
   */
  scope: string;
}
/**
 * Error of the token endpoint (RFC 6749 5.2); `temporarily_unavailable` above its rate limit.
 */
export interface TokenError {
  error:
    | 'invalid_request'
    | 'invalid_client'
    | 'invalid_grant'
    | 'unauthorized_client'
    | 'unsupported_grant_type'
    | 'invalid_scope'
    | 'temporarily_unavailable';
  /**
   * What is wrong, for people.
   */
  error_description?: string;
}
/**
 * Form of the token endpoint (RFC 6749 4.4.2). The application authenticates with HTTP Basic.
 */
export interface TokenRequest {
  grant_type: 'client_credentials';
  /**
   * Space-separated list of scopes.
   */
  scope: string;
}
/**
 * A page of transactions, newest first.
 */
export interface TransactionList {
  transactions: TransactionRecord[];
  total: TotalIfKnown;
}
/**
 * A transaction as the REST API shows it.
 */
export interface TransactionRecord {
  transactionId: TransactionId;
  deviceId: DeviceId;
  operation: Operation1;
  status: TransactionStatus1;
  /**
   * How often the command was published.
   */
  attempts: number;
  createdAt: LocalDateTime;
  updatedAt: LocalDateTime;
  deliveredAt: LocalDateTimeOrNull;
  completedAt: LocalDateTimeOrNull;
  /**
   * Percent, as the device said.
   */
  progress: number | null;
  result: JsonObjectOrNull;
  /**
   * Why it failed; null otherwise.
   */
  error: {
    code: string;
    message: string;
  } | null;
  /**
   * Why the device will not answer an unfinished transaction, by what it last reported: `FIRMWARE_TOO_OLD`. Such a transaction stays until it is cancelled; it holds nothing up. Null otherwise.
   */
  warning: {
    code: 'FIRMWARE_TOO_OLD';
    message: string;
  } | null;
}
/**
 * Query of the transaction list, as numbers and with the defaults filled in.
 */
export interface TransactionListQuery {
  status?: TransactionStatus1;
  operation?: Operation1;
  /**
   * Only transactions older than this one.
   */
  after?: number;
  /**
   * How many rows to leave out.
   */
  offset: number;
  /**
   * How many rows to answer at most.
   */
  limit: number;
}
/**
 * Answer of every operation that acts on a device; the result follows at deviceEvent.
 */
export interface TransactionResponse {
  transactionId: TransactionId;
}
/**
 * Answer of op 22.
 */
export interface UploadUrls {
  urlList: UploadUrlEntry[];
}
/**
 * A version of a package.
 */
export interface VersionRecord {
  package: PackageName;
  version: VersionName;
  description: Description;
  registerDate: LocalDateTime;
  updateDate: LocalDateTime;
}
/**
 * Body of op 17.
 */
export interface VersionCreate {
  version: VersionName;
  description?: Description;
}
/**
 * Answer of op 16: a page of the versions of a package, newest first.
 */
export interface VersionList {
  versions: VersionRecord[];
  total: Total;
}
/**
 * Body of op 18; null removes the description.
 */
export interface VersionUpdate {
  description?: Description;
}
/**
 * Where to send a test event.
 */
export interface WebhookTest {
  setting: WebhookSetting;
}
/**
 * The delivery of a test event; the log shows what becomes of it.
 */
export interface WebhookTestSent {
  deliveryId: DeliveryId;
}
/**
 * A Bluetooth device was connected to, or disconnected from, a device.
 */
export interface BluetoothEvent {
  type: 'bluetooth.connected' | 'bluetooth.disconnected';
  timestamp: UtcDateTime;
  data: {
    macAddress: MacAddress;
    name: BluetoothName;
    eventId: EventId;
    applicationId: ApplicationId;
    deviceId: DeviceId;
  };
}
/**
 * Something happened in a call; further members are as the device sent them.
 */
export interface CallEvent {
  type: `call.${string}`;
  timestamp: UtcDateTime;
  data: {
    callId: CallId;
    eventId: EventId;
    applicationId: ApplicationId;
    deviceId: DeviceId;
  };
}
/**
 * Something of a device's own happened: a button was pressed, the battery is low. `data` has what the device sent, as it is; eventId, applicationId and deviceId are the service's, whatever the device says.
 */
export interface CustomEvent {
  type: `custom.${string}`;
  timestamp: UtcDateTime;
  data: {
    eventId: EventId;
    applicationId: ApplicationId;
    deviceId: DeviceId;
  };
}
/**
 * A receiver of the application fails (for half an hour, or something for it was given up), or is well again. Sent to another setting, whose URL is another one. `since` is the first attempt that failed. Its device does not exist.
 */
export interface EndpointEvent {
  type: 'endpoint.failing' | 'endpoint.recovered';
  timestamp: UtcDateTime;
  data: {
    applicationId: ApplicationId;
    deviceId: DeviceId;
    setting: WebhookSetting;
    since: UtcDateTime;
    lastStatusCode: number | null;
    lastError: string;
  };
}
/**
 * Body of every webhook (Standard Webhooks).
 */
export interface WebhookEnvelope {
  type: string;
  timestamp: UtcDateTime;
  data: {applicationId: string; deviceId: string} & Record<string, unknown>;
}
/**
 * A file could not be uploaded; the code UPLOAD_URL_FAILED is the service's own: it got no upload URL.
 */
export interface FileUploadFailed {
  type: 'fileUpload.failed';
  timestamp: UtcDateTime;
  data: {
    fileId: FileId;
    name: FileName;
    error: DeviceError;
    eventId: EventId;
    applicationId: ApplicationId;
    deviceId: DeviceId;
  };
}
/**
 * A file was uploaded.
 */
export interface FileUploadSucceeded {
  type: 'fileUpload.succeeded';
  timestamp: UtcDateTime;
  data: {
    fileId: FileId;
    name: FileName;
    size: FileSize;
    eventId: EventId;
    applicationId: ApplicationId;
    deviceId: DeviceId;
  };
}
/**
 * The recordings of a call could not be saved; the code UPLOAD_URL_FAILED is the service's own: it got no upload URL.
 */
export interface RecordingFailed {
  type: 'recording.failed';
  timestamp: UtcDateTime;
  data: {
    callId: CallId;
    error: DeviceError;
    eventId: EventId;
    applicationId: ApplicationId;
    deviceId: DeviceId;
  };
}
/**
 * The recordings of a call are saved.
 */
export interface RecordingSaved {
  type: 'recording.saved';
  timestamp: UtcDateTime;
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
       * The same as movieFile; gone from the release 2026-11 on.
       */
      webmFile?: string;
    }[];
    eventId: EventId;
    applicationId: ApplicationId;
    deviceId: DeviceId;
  };
}
/**
 * Sent when the application asks for it. Its device does not exist.
 */
export interface TestEvent {
  type: 'test';
  timestamp: UtcDateTime;
  data: {
    applicationId: ApplicationId;
    deviceId: DeviceId;
    setting: WebhookSetting;
  };
}
/**
 * A transaction as webhooks show it: the same record with times in UTC.
 */
export interface WebhookTransactionRecord {
  transactionId: TransactionId;
  deviceId: DeviceId;
  operation: Operation1;
  status: TransactionStatus1;
  /**
   * How often the command was published.
   */
  attempts: number;
  createdAt: UtcDateTime;
  updatedAt: UtcDateTime;
  deliveredAt: UtcDateTimeOrNull1;
  completedAt: UtcDateTimeOrNull1;
  /**
   * Percent, as the device said.
   */
  progress: number | null;
  result: JsonObjectOrNull;
  /**
   * Why it failed; null otherwise.
   */
  error: {
    code: string;
    message: string;
  } | null;
}
/**
 * A transaction has finished.
 */
export interface TransactionResult {
  type: 'transaction.succeeded' | 'transaction.failed' | 'transaction.cancelled';
  timestamp: UtcDateTime;
  data: {
    applicationId: ApplicationId;
    deviceId: DeviceId;
    transaction: WebhookTransactionRecord;
  };
}
/**
 * What fileUploadGetUrl answers: where the device uploads to. Further members are not looked at.
 */
export interface UploadUrlAnswer {
  uploadUrl: UploadAddress;
  method?: UploadMethod;
  headers?: UploadHeaders;
  expiresAt?: DeviceTime;
}
/**
 * POST to fileUploadGetUrl: a device needs an upload URL for a file.
 */
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
/**
 * What callRecGetMultiPresignedUrl answers: an upload URL for each name asked for, once. Further members are not looked at.
 */
export interface UploadUrlsAnswer {
  /**
   * @maxItems 32
   */
  urls: {
    name: FileName;
    uploadUrl: UploadAddress;
    method?: UploadMethod;
    headers?: UploadHeaders;
    expiresAt?: DeviceTime;
  }[];
}
/**
 * POST to callRecGetMultiPresignedUrl: a device needs upload URLs for the recordings of a call.
 */
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
