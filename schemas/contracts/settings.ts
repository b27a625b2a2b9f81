/** The kinds of values of settings. */
export type Kind =
  | 'text'
  | 'port'
  | 'count'
  | 'number'
  | 'flag'
  | 'url'
  | 'level'
  | 'timeZone'
  | 'release'
  | 'endpoint'
  | 'hosts'
  | 'database'
  | 'networks'
  | 'proxyHeader'
  | 'listeners'
  | 'mqttUrls'
  | 'headerName'
  | 'syslog';

export interface Setting {
  /** The name in the environment; on the command line it is `--kebab-case` without the prefix. */
  name: `LAPEL_${string}`;
  /** `first`: one of the ten that a service for others needs. `advanced`: few services set it. */
  rank?: 'first' | 'advanced';
  kind: Kind;
  /** The default value; null when there is none, or when it is computed at start, as the description says. */
  fallback: string | null;
  description: string;
  /** True when the value must never be shown. */
  secret?: true;
  /** True when all nodes of a cluster must have the same value, because a caller may reach any of them. */
  shared?: true;
}

/** Every setting of the service, as `lapel serve --help --all` and docs/reference.md list them. */
// biome-ignore format: a table is read by its rows
export const SETTINGS = [
  { name: 'LAPEL_DATA_DIR', rank: 'first', kind: 'text', fallback: './data', description: 'Folder of the database, the administrator token, the embedded object store with its key, and the lock file' },
  { name: 'LAPEL_DATABASE_URL', kind: 'database', fallback: null, description: 'URL of a PostgreSQL database, which is used instead of the embedded SQLite: `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, with options such as `?sslmode=verify-full`. The database must exist; the service creates its tables. With several hosts (`HOST:PORT,HOST:PORT`) the service uses the one that accepts writes' },
  { name: 'LAPEL_DATABASE_URL_FILE', kind: 'text', fallback: null, description: 'File with the value of `LAPEL_DATABASE_URL`, which holds a password: for secrets of containers and credentials of systemd. Each new connection reads user and password from it again' },
  { name: 'LAPEL_DATABASE_WAIT', rank: 'advanced', kind: 'number', fallback: '30', description: 'Seconds that the start waits for a PostgreSQL server that does not answer or accept writes yet; 0 does not wait' },
  { name: 'LAPEL_ENCRYPTION_KEY_FILE', rank: 'first', kind: 'text', fallback: null, description: 'File of the keys with which secrets are encrypted in the database: a line `ID KEY` for each, the newest first, where KEY is 32 bytes in base64. Without keys secrets are stored as they are' },
  { name: 'LAPEL_ENCRYPTION_KEY_COMMAND', rank: 'advanced', kind: 'text', fallback: null, description: 'Command of the shell whose output is such a file; it is run at the start, and at a rotation of the key. For keys that a vault or a KMS keeps' },
  { name: 'LAPEL_HTTP_HOST', rank: 'first', kind: 'text', fallback: '127.0.0.1', description: 'Address of the REST API and the token endpoint' },
  { name: 'LAPEL_ALLOW_PLAIN_HTTP', kind: 'flag', fallback: 'false', description: 'Allows the REST API, administration and the embedded object store to listen without TLS on addresses that are not loopback. A proxy in front of them must then provide it' },
  { name: 'LAPEL_HTTP_TLS_CERT', rank: 'first', kind: 'text', fallback: null, description: 'File of the certificate (and its chain) of the REST API, which then speaks HTTPS; PEM. This and all other TLS files are read again after a SIGHUP, and within ten seconds after they have changed' },
  { name: 'LAPEL_HTTP_TLS_KEY', rank: 'first', kind: 'text', fallback: null, description: 'File of the private key of that certificate; PEM' },
  { name: 'LAPEL_HTTP_TLS_CLIENT_CA', rank: 'advanced', kind: 'text', fallback: null, description: 'File of a CA: the REST API then accepts only clients with a certificate of this CA; PEM' },
  { name: 'LAPEL_ADMIN_TLS_CERT', kind: 'text', fallback: null, description: 'File of the certificate (and its chain) of administration and its console, which then speak HTTPS; PEM' },
  { name: 'LAPEL_ADMIN_TLS_KEY', kind: 'text', fallback: null, description: 'File of the private key of that certificate; PEM' },
  { name: 'LAPEL_ADMIN_TLS_CLIENT_CA', rank: 'advanced', kind: 'text', fallback: null, description: 'File of a CA: administration then accepts only clients with a certificate of this CA, also for `/healthz`, `/readyz` and `/metrics` there; PEM' },
  { name: 'LAPEL_OBJECTS_TLS_CERT', kind: 'text', fallback: null, description: 'File of the certificate (and its chain) of the embedded object store, which then speaks HTTPS; PEM' },
  { name: 'LAPEL_OBJECTS_TLS_KEY', kind: 'text', fallback: null, description: 'File of the private key of that certificate; PEM' },
  { name: 'LAPEL_OBJECTS_TLS_CLIENT_CA', rank: 'advanced', kind: 'text', fallback: null, description: 'File of a CA: the embedded object store then accepts only clients with a certificate of this CA; PEM' },
  { name: 'LAPEL_HSTS_SECONDS', rank: 'advanced', kind: 'number', fallback: '31536000', description: 'Seconds for which browsers shall use only TLS (`Strict-Transport-Security`). It is sent only while the REST API, administration and the embedded object store all have TLS files; 0 never sends it' },
  { name: 'LAPEL_APPLICATION_CA', kind: 'text', fallback: null, description: 'File of the CA that signs the certificates of applications, with its intermediate certificates: an application may then get its tokens with a certificate whose name administration has registered (`tls_client_auth`, RFC 8705); PEM' },
  { name: 'LAPEL_APPLICATION_CRL', rank: 'advanced', kind: 'text', fallback: null, description: 'File of the revocation lists of these certificates, one CRL for each CA of the file; PEM' },
  { name: 'LAPEL_APPLICATION_SELF_SIGNED', rank: 'advanced', kind: 'flag', fallback: 'false', shared: true, description: 'Whether an application may get its tokens with a certificate that administration itself has registered, whichever CA has signed it (`self_signed_tls_client_auth`, RFC 8705)' },
  { name: 'LAPEL_ENROLMENT_CERTIFICATES', rank: 'advanced', kind: 'flag', fallback: 'false', shared: true, description: 'Whether devices may enrol with a certificate in place of the code: the one of their batch, or one that the CA of their batch has signed' },
  { name: 'LAPEL_CLIENT_CERT_HEADER', rank: 'advanced', kind: 'headerName', fallback: null, description: 'Header in which the proxies of `LAPEL_TRUST_PROXY` pass on the certificate of their client: `Client-Cert` (RFC 9440), or one with the certificate as percent-encoded PEM. The proxies must remove this header from requests of clients. Without it, clients show their certificates to the REST API itself' },
  { name: 'LAPEL_TRUST_PROXY', kind: 'networks', fallback: null, description: 'Addresses of the proxies in front of the service, separated by commas: IP addresses, networks such as `10.0.0.0/8`, or `loopback`. Bounds, log and audit log are then about the client that such a proxy names, in the headers of HTTP or by the PROXY protocol' },
  { name: 'LAPEL_PROXY_HEADER', rank: 'advanced', kind: 'proxyHeader', fallback: 'any', description: 'Headers in which the proxies name the client: `forwarded` (RFC 7239), `x-forwarded` (`X-Forwarded-For` and `X-Forwarded-Host`), or `any`. With `any`, a request whose headers contradict each other counts for the proxy itself' },
  { name: 'LAPEL_PROXY_PROTOCOL', rank: 'advanced', kind: 'listeners', fallback: null, description: 'Listeners whose connections all begin with a header of the PROXY protocol, version 1 or 2: `api`, `admin`, `objects`, `mqtt`, `mqtts`, `ws`, separated by commas. They accept only connections of `LAPEL_TRUST_PROXY`' },
  { name: 'LAPEL_HTTP_PORT', kind: 'port', fallback: '8080', description: 'Port of the REST API and the token endpoint; 0 picks a free one' },
  { name: 'LAPEL_HTTP_NAMES', kind: 'hosts', fallback: null, description: 'Host names that requests to the REST API may have in `Host`, separated by commas; so may MQTT over WebSocket from a browser. IP addresses, `localhost` and the hosts of `LAPEL_PUBLIC_URL` and `LAPEL_CONSOLE_URL` are always accepted. Requests with another `Host` are refused' },
  { name: 'LAPEL_HTTP_MAX_CONNECTIONS', rank: 'advanced', kind: 'count', fallback: null, description: 'Most connections to the REST API; by default an eighth of the limit of open files, but at most 1024' },
  { name: 'LAPEL_HTTP_ADDRESS_CONNECTIONS', rank: 'advanced', kind: 'count', fallback: null, description: 'Most connections to the REST API from one address; by default half of `LAPEL_HTTP_MAX_CONNECTIONS`. Behind a proxy of `LAPEL_TRUST_PROXY` it is the most requests of one client at a time. Behind another proxy all connections come from its address, so set both to the same number' },
  { name: 'LAPEL_ADMIN_HOST', kind: 'text', fallback: '127.0.0.1', description: 'Address of administration, `/metrics`, `/healthz` and `/readyz`' },
  { name: 'LAPEL_ADMIN_PORT', kind: 'port', fallback: '8081', description: 'Port of administration; 0 picks a free one' },
  { name: 'LAPEL_METRICS_HOST', rank: 'advanced', kind: 'text', fallback: '127.0.0.1', description: 'Address of a listener that has only `/metrics`, `/healthz` and `/readyz`, over plain HTTP' },
  { name: 'LAPEL_METRICS_PORT', rank: 'advanced', kind: 'port', fallback: null, description: 'Port of that listener; 0 picks a free one; off by default. Administration answers these paths as well' },
  { name: 'LAPEL_ADMIN_NAMES', kind: 'hosts', fallback: null, description: 'Host names that requests for administration may have in `Host`, separated by commas. IP addresses, `localhost` and the hosts of `LAPEL_CONSOLE_URL` and `LAPEL_PUBLIC_URL` are always accepted. Requests with another `Host` are refused, except to `/healthz` and `/readyz`' },
  { name: 'LAPEL_ADMIN_TOKEN', kind: 'text', fallback: null, secret: true, shared: true, description: 'Administrator token, 32 characters or more; by default created at first start and kept in the file `admin-token` of the data folder. It counts as an owner without a name, until an owner lets it be refused' },
  { name: 'LAPEL_ADMIN_TOKEN_FILE', kind: 'text', fallback: null, description: 'File with the value of `LAPEL_ADMIN_TOKEN`: for secrets of containers and credentials of systemd. It is read again when it has changed. A second line may have the token of before, which is accepted as well' },
  { name: 'LAPEL_SIGN_IN_PROVIDERS', kind: 'text', fallback: null, secret: true, shared: true, description: 'Providers of OpenID Connect with which people sign in to the console of administration: a JSON array, see [operations](operations.md#sign-in-with-openid-connect)' },
  { name: 'LAPEL_SIGN_IN_PROVIDERS_FILE', kind: 'text', fallback: null, description: 'File with the value of `LAPEL_SIGN_IN_PROVIDERS`' },
  { name: 'LAPEL_MQTT_HOST', kind: 'text', fallback: '127.0.0.1', description: 'Address of plain MQTT' },
  { name: 'LAPEL_MQTT_PORT', kind: 'port', fallback: '1883', description: 'Port of plain MQTT; 0 picks a free one' },
  { name: 'LAPEL_ALLOW_PLAIN_MQTT', kind: 'flag', fallback: 'false', description: 'Allows MQTT without TLS on an address that is not loopback' },
  { name: 'LAPEL_MQTTS_HOST', rank: 'first', kind: 'text', fallback: '127.0.0.1', description: 'Address of MQTT over TLS' },
  { name: 'LAPEL_MQTTS_PORT', rank: 'first', kind: 'port', fallback: null, description: 'Port of MQTT over TLS, 8883 by convention; 0 picks a free one; off by default' },
  { name: 'LAPEL_TLS_CERT', rank: 'first', kind: 'text', fallback: null, description: 'File of the certificate (and its chain) for MQTT over TLS and WebSocket; PEM' },
  { name: 'LAPEL_TLS_KEY', rank: 'first', kind: 'text', fallback: null, description: 'File of the private key of the certificate; PEM' },
  { name: 'LAPEL_MQTT_CLIENT_CA', kind: 'text', fallback: null, description: 'File of a CA: devices may log in with a client certificate of this CA instead of a password, with the deviceId as common name; PEM' },
  { name: 'LAPEL_DEVICE_CERTIFICATES', kind: 'flag', fallback: 'false', shared: true, description: 'Whether the service signs client certificates for devices: those of enrolment batches with a device CA. MQTT over TLS and WebSocket then ask devices for a certificate, and accept without a password the one that was signed for the device' },
  { name: 'LAPEL_MQTT_CLIENT_CRL', rank: 'advanced', kind: 'text', fallback: null, description: 'File of the revocation lists of client certificates, one CRL for each CA of the chain in `LAPEL_MQTT_CLIENT_CA`; PEM. After a SIGHUP the service reads all TLS files again' },
  { name: 'LAPEL_MQTT_WS_HOST', kind: 'text', fallback: '127.0.0.1', description: 'Address of MQTT over WebSocket; over TLS when `LAPEL_TLS_CERT` is set' },
  { name: 'LAPEL_MQTT_WS_PORT', kind: 'port', fallback: null, description: 'Port of MQTT over WebSocket, 8083 by convention; 0 picks a free one; off by default' },
  { name: 'LAPEL_MQTT_PUBLIC_URL', kind: 'mqttUrls', fallback: null, shared: true, description: 'URLs with which devices reach the service, for the documents that makers of devices read: `mqtts://mqtt.example.com:8883`, several with different schemes separated by commas; by default those of the listeners' },
  { name: 'LAPEL_MQTT_MAX_CONNECTIONS', rank: 'advanced', kind: 'count', fallback: null, description: 'Most MQTT connections; by default what the limit of open files leaves after the connections of the other listeners and the files of the service itself' },
  { name: 'LAPEL_MQTT_ADDRESS_LOGINS', rank: 'advanced', kind: 'number', fallback: null, description: 'Most connections of one address that have not logged in; by default 1000, but no limit for loopback addresses and those of `LAPEL_TRUST_PROXY`, where a proxy with the connections of all devices may run; 0 is no limit' },
  { name: 'LAPEL_MQTT_LOGIN_SECONDS', rank: 'advanced', kind: 'count', fallback: '10', description: 'Seconds within which a device must send its CONNECT, counted from the start of the connection or the end of its TLS handshake; delays of the service itself do not count' },
  { name: 'LAPEL_DEVICE_RATE_LIMIT', kind: 'number', fallback: '100', shared: true, description: 'Messages per second of one device; twice as many at once after a pause. Status, events, requests, SUBSCRIBE and UNSUBSCRIBE count together; acks that answer no command have a limit of the same size. A message counts as one, and as one more for each 16 KiB or 64 topic filters. A device above the limit is disconnected, and sends its unacknowledged messages again later; 0 is no limit' },
  { name: 'LAPEL_MQTT_5', kind: 'flag', fallback: 'true', shared: true, description: 'Whether devices may speak MQTT 5 besides 3.1 and 3.1.1. Without it a CONNECT of MQTT 5 is refused with the reason code 0x84' },
  { name: 'LAPEL_HAND_OVER_RATE', rank: 'advanced', kind: 'number', fallback: '10', description: 'In a cluster: connections per second that a node closes, so that their devices connect to other nodes, while it has over a tenth more devices than the mean of all nodes; 0 closes none' },
  { name: 'LAPEL_DEVICE_EVENT_MIB', rank: 'advanced', kind: 'number', fallback: '16', shared: true, description: 'MiB of events of one device that may be stored at once, and then again as many per day. Further events are refused, which the device learns on its errors topic; 0 is no limit' },
  { name: 'LAPEL_APPLICATION_EVENT_MIB', rank: 'advanced', kind: 'number', fallback: '4096', shared: true, description: 'MiB of events of all devices of one application together that may be stored at once, and then again as many per day; 0 is no limit' },
  { name: 'LAPEL_PUBLIC_URL', rank: 'first', kind: 'url', fallback: null, shared: true, description: '`{base_url}`: the URL of the service in Location headers and as the issuer of tokens; by default `http://HOST:PORT`, or `https` with `LAPEL_HTTP_TLS_CERT`' },
  { name: 'LAPEL_CONSOLE_URL', kind: 'url', fallback: null, description: 'URL of the console of administration when it is behind a proxy: providers of sign-ins lead back to it. The embedded object store accepts uploads from pages at this URL; by default, of this console only from pages at `http://HOST:PORT` of administration' },
  { name: 'LAPEL_OBJECTS_HOST', kind: 'text', fallback: '127.0.0.1', description: 'Address of the embedded object store, which developers upload to and devices download from' },
  { name: 'LAPEL_OBJECTS_PORT', kind: 'port', fallback: '8082', description: 'Port of the embedded object store; 0 picks a free one' },
  { name: 'LAPEL_OBJECTS_URL', kind: 'url', fallback: null, shared: true, description: 'Address, without a path, with which upload and download URLs begin; needed when developers and devices reach the object store at another address than the service does' },
  { name: 'LAPEL_S3_ENDPOINT', kind: 'url', fallback: null, shared: true, description: 'URL of an S3-compatible object store, which is used instead of the embedded one; its credentials come from the AWS credential chain' },
  { name: 'LAPEL_S3_REGION', kind: 'text', fallback: 'us-east-1', shared: true, description: 'Region of the object store' },
  { name: 'LAPEL_S3_BUCKET', kind: 'text', fallback: 'lapel', shared: true, description: 'Bucket of the object store; it must exist' },
  { name: 'LAPEL_RESERVED_PACKAGE_PREFIX', rank: 'advanced', kind: 'text', fallback: 'com.lapel.', shared: true, description: '`{reserved_package_prefix}`: prefix of package names that developers cannot register' },
  { name: 'LAPEL_DEVELOPER_PACKAGES', rank: 'advanced', kind: 'number', fallback: '1000', shared: true, description: 'Packages that a developer may have; 0 is no limit' },
  { name: 'LAPEL_DEVELOPER_VERSIONS', rank: 'advanced', kind: 'number', fallback: '10000', shared: true, description: 'Versions that a developer may have, of all packages together; 0 is no limit' },
  { name: 'LAPEL_DEVELOPER_STORED_GIB', rank: 'advanced', kind: 'number', fallback: '100', shared: true, description: 'GiB of binaries that a developer may have, including those whose upload URL was issued; 0 is no limit' },
  { name: 'LAPEL_API_RELEASE', rank: 'advanced', kind: 'release', fallback: '2026-11', shared: true, description: 'Release of the interface that the service offers, `YYYY-MM`. An earlier release still has the deprecated features that later releases have removed' },
  { name: 'LAPEL_RATE_LIMIT', kind: 'number', fallback: '200', shared: true, description: 'Requests per second of one application; twice as many at once after a pause; 0 is no limit' },
  { name: 'LAPEL_ASSISTANTS', rank: 'advanced', kind: 'flag', fallback: 'true', shared: true, description: 'Whether applications may use assistants at `/mcp` of the REST API, with their own tokens (see docs/assistants.md)' },
  { name: 'LAPEL_ADMIN_ASSISTANTS', rank: 'advanced', kind: 'flag', fallback: 'false', shared: true, description: 'Whether people of administration may use assistants at `/mcp` of administration, with their own tokens (see docs/assistants.md)' },
  { name: 'LAPEL_FEED_STREAMS', rank: 'advanced', kind: 'count', fallback: '256', description: 'Most open streams of changes, which the console reads: this many for the API, and as many for administration. At the limit a new stream ends another one: the oldest of the application with most streams, of the developer with most streams' },
  { name: 'LAPEL_DEVICE_ACTION_LIMIT', rank: 'advanced', kind: 'count', fallback: '1000000', shared: true, description: 'Most devices of one device action, which changes all devices that match a filter. An action that finds more changes none' },
  { name: 'LAPEL_TOKEN_RATE_LIMIT', rank: 'advanced', kind: 'number', fallback: '20', shared: true, description: 'Requests to the token endpoint per second of one application; twice as many at once after a pause; 0 is no limit' },
  { name: 'LAPEL_ENROLMENT_RATE_LIMIT', rank: 'advanced', kind: 'number', fallback: '20', shared: true, description: 'Requests for enrolment per second with the code of one batch, and four times as many with all codes of one developer; twice as many at once after a pause; 0 is no limit. Requests with wrong codes count as wrong credentials' },
  { name: 'LAPEL_FAILED_LOGIN_LIMIT', rank: 'advanced', kind: 'number', fallback: '50', shared: true, description: 'Requests with wrong credentials per second from one address, and for one application; twice as many at once after a pause. Further ones are answered 429, with a delay of a second. Correct credentials are always accepted; 0 is no limit' },
  { name: 'LAPEL_LEGACY_ISSUER', rank: 'advanced', kind: 'text', fallback: null, shared: true, description: 'The `iss` in the tokens of a legacy identity provider, whose access tokens are then accepted too' },
  { name: 'LAPEL_LEGACY_JWKS_URL', rank: 'advanced', kind: 'endpoint', fallback: null, shared: true, description: 'URL of the keys of the legacy identity provider (RFC 7517); needed with `LAPEL_LEGACY_ISSUER`' },
  { name: 'LAPEL_LEGACY_SCOPE_BASE', rank: 'advanced', kind: 'text', fallback: null, shared: true, description: '`{legacy_scope_base}`: the scopes of legacy tokens are `BASE/applications.r` and so on; needed with `LAPEL_LEGACY_ISSUER`' },
  { name: 'LAPEL_LEGACY_AUDIENCE', rank: 'advanced', kind: 'text', fallback: null, shared: true, description: 'Audience that the `aud` of legacy tokens must contain; by default a token has no `aud`, or one that contains `LAPEL_PUBLIC_URL`' },
  { name: 'LAPEL_TIME_ZONE', kind: 'timeZone', fallback: null, shared: true, description: 'Time zone of the local date-times in REST bodies; by default the time zone of the machine' },
  { name: 'LAPEL_ALLOW_HTTP_WEBHOOKS', kind: 'flag', fallback: 'false', shared: true, description: 'Allows `http` webhook URLs on hosts that are not loopback' },
  { name: 'LAPEL_WEBHOOK_ALLOW_PRIVATE', kind: 'flag', fallback: 'false', shared: true, description: 'Allows webhook URLs whose host has a loopback, private or link-local address; the metadata addresses of clouds are never allowed' },
  { name: 'LAPEL_WEBHOOK_DIRECT', rank: 'advanced', kind: 'flag', fallback: 'true', description: 'Sends webhooks, and requests for upload URLs, with the client of the service, which keeps connections. `false`: with the HTTP client of Node, each on a connection of its own, which costs more; for a receiver that does not work with the first' },
  { name: 'LAPEL_WEBHOOKS_HELD', rank: 'advanced', kind: 'flag', fallback: 'false', shared: true, description: 'Sends no webhooks: they are stored, and are sent by the next start without this setting. For a look at a restored database before its receivers hear from it' },
  { name: 'LAPEL_RETENTION_DAYS', kind: 'number', fallback: '90', shared: true, description: 'Days after which a finished transaction is removed, unless its webhook or its cancellation still has to be sent; 0 keeps transactions for ever' },
  { name: 'LAPEL_DELIVERY_RETENTION_DAYS', kind: 'number', fallback: '30', shared: true, description: 'Days after which an event is removed from the stream, with its finished webhook delivery; until then it can be read, and sent again; 0 keeps them for ever' },
  { name: 'LAPEL_AUDIT_RETENTION_DAYS', kind: 'number', fallback: '400', shared: true, description: 'Days after which an entry of the audit log is removed; 0 keeps entries for ever' },
  { name: 'LAPEL_AUDIT_SYSLOG', kind: 'syslog', fallback: null, shared: true, description: 'Receiver of the audit log as syslog messages (RFC 5424): `tls://HOST:6514`, `tcp://HOST:601` or `udp://HOST:514`. With TLS and TCP nothing is lost while it is away' },
  { name: 'LAPEL_AUDIT_SYSLOG_CA', rank: 'advanced', kind: 'text', fallback: null, description: 'File of the CA of this receiver, for `tls`; PEM; by default the CAs of Node' },
  { name: 'LAPEL_ALARM_URL', kind: 'text', fallback: null, secret: true, shared: true, description: 'URL that is told of alarms by POST: when one begins or becomes worse, again while it lasts, and when it is over. URLs of chat systems are secrets, so this one is not shown' },
  { name: 'LAPEL_ALARM_URL_FILE', rank: 'advanced', kind: 'text', fallback: null, description: 'File with the value of `LAPEL_ALARM_URL`' },
  { name: 'LAPEL_ALARM_KEY', rank: 'advanced', kind: 'text', fallback: null, secret: true, shared: true, description: 'Key with which messages to `LAPEL_ALARM_URL` are signed as Standard Webhooks: `whsec_` and 24 to 64 bytes in base64; without it they are not signed' },
  { name: 'LAPEL_ALARM_KEY_FILE', rank: 'advanced', kind: 'text', fallback: null, description: 'File with the value of `LAPEL_ALARM_KEY`' },
  { name: 'LAPEL_ALARM_TEMPLATE', rank: 'advanced', kind: 'text', fallback: null, shared: true, description: 'Body of the messages to `LAPEL_ALARM_URL`, JSON in which `{text}` stands for the sentence: `{"text":"{text}"}` for Slack, Mattermost and Google Chat, `{"content":"{text}"}` for Discord' },
  { name: 'LAPEL_CONNECTION_RETENTION_DAYS', rank: 'advanced', kind: 'number', fallback: '30', shared: true, description: 'Days for which connections of devices, their ends and refused logins are kept for the story of a device; 0 keeps them for ever' },
  { name: 'LAPEL_SAMPLE_RETENTION_DAYS', kind: 'number', fallback: '0', shared: true, description: 'Days for which samples of what devices report (battery, signal, free storage, versions) are kept, for plots over time: one an hour, after seven days one for six hours, after 30 days one a day; 90 suits most; 0 stores none, and removes those there are' },
  { name: 'LAPEL_LOG_LEVEL', kind: 'level', fallback: 'info', description: 'The least important log lines that are written: `fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`' },
] as const satisfies readonly Setting[];

export type SettingName = (typeof SETTINGS)[number]['name'];

/** A setting with the value that is in use, as text. */
export interface GivenSetting {
  name: SettingName;
  /** The value that was set, else the default; null when there is neither. */
  value: string | null;
  /** True when the value was set, by an option or in the environment. */
  isSet: boolean;
}

/** Whether the value of a setting is a secret, or can hold one. */
export const holdsSecret = ({ kind, secret }: Setting): boolean => secret === true || kind === 'database';

/**
 * Environment variables that the client commands of `lapel`, the simulator and the examples of the documents read. The
 * service ignores them, because it may be started in the same shell.
 */
export const CLIENTS_OWN = [
  'LAPEL_APPLICATION',
  'LAPEL_APPLICATION_SECRET',
  'LAPEL_AUTHENTICATION_KEY',
  'LAPEL_CREDENTIAL',
  'LAPEL_TRUSTED_KEY',
  'LAPEL_URL',
  'LAPEL_ADMIN_URL',
  'LAPEL_ENROLMENT_CODE',
  'LAPEL_PROFILE',
  'LAPEL_SIGNING_KEY',
];

/** Settings that had another name before. */
export const RENAMED: Readonly<Record<string, SettingName>> = { LAPEL_HOST: 'LAPEL_HTTP_HOST' };

/** The option of a setting: `LAPEL_HTTP_PORT` becomes `http-port`. */
export const optionName = (setting: string): string =>
  setting.slice('LAPEL_'.length).toLowerCase().replaceAll('_', '-');
