/** A rule for devices. `level`: it is about devices of this version of MQTT only. */
export interface Rule {
  readonly must: string;
  readonly why: string;
  readonly level?: 5;
}

/**
 * The rules of docs/devices.md, by the names of their anchors there. `npm run generate` writes the table of that page
 * from this one. A test of a device names the rule that the device broke.
 */
export const RULES = {
  login: {
    must: 'Its client id and user name are the deviceId, and `clean` is false; with MQTT 5 its Session Expiry Interval is above 0. Its password is the credential; or it has none, and shows a client certificate with the deviceId as common name',
    why: 'nobody else can be this device, and its subscriptions stay',
  },
  mqtt: {
    must: 'It speaks MQTT 3.1.1 or 5, and answers each message of the service with a PUBACK, in the order of the messages',
    why: 'a faulty packet ends the connection, and at most 16 commands are without a PUBACK',
  },
  'server-certificate': {
    must: 'Over TLS it checks the certificate of the service, by the CA that it was given, before it sends its CONNECT',
    why: 'somebody on the way could play the service, and would get the credential and the messages',
  },
  disconnects: {
    must: 'With MQTT 5, it connects again after each DISCONNECT of the service, also after 0x8E and 0x9C',
    why: 'the service sends 0x9C to move a device, and waits for it at the same address',
    level: 5,
  },
  'reason-codes': {
    must: 'With MQTT 5, it sends a message again, later, if its PUBACK had 0x97, and does not repeat one that was refused with another reason code',
    why: 'a message above the rate was not carried out; one that is at fault stays so',
    level: 5,
  },
  'keep-alive': {
    must: 'Its CONNECT has a keep-alive interval, and it sends a packet in each interval',
    why: 'a connection that died unnoticed is found only by its silence',
  },
  silence: {
    must: 'It gives up a connection on which no answer comes to its PINGREQ, before twice its keep-alive interval is over, and connects again',
    why: 'in a tunnel a connection can end without a word, and the device would wait for ever',
  },
  topics: {
    must: 'It subscribes to `commands`, `responses` and `errors` with QoS 1, and publishes with QoS 1, to its own topics only',
    why: 'with QoS 1, no message is lost on the way',
  },
  subscriptions: {
    must: 'It subscribes to its topics at **every** login, also when the CONNACK says that its session is present',
    why: 'a login that was cut off, or a restored service, can have a session without subscriptions: the device would get no command any more, and not notice',
  },
  messages: {
    must: 'Its messages are as their schemas say',
    why: 'the service leaves out a wrong part, or rejects the message',
  },
  answers: {
    must: 'It answers each command once it is done: `succeeded` with the result of the operation, or `failed` with a code',
    why: 'a command without an answer is sent again at each connection',
  },
  order: {
    must: 'It carries out commands one after another, in the order in which they arrive',
    why: 'a later setting takes the place of an earlier one',
  },
  'command-identity': {
    must: 'It identifies a command by its `transactionId` **and** its `issuedAt`: the same number with another `issuedAt` is another command',
    why: 'a service that has lost all its data gives out the same numbers again',
  },
  once: {
    must: 'It carries out each command **once**, even if the device crashes: it stores its acknowledgement on its disk before it sends it',
    why: 'the service sends every unfinished command again at each connection, with a higher `attempt`',
  },
  memory: {
    must: 'It keeps its acknowledgements for **30 days**, or the last **1,000** of them',
    why: 'the service repeats no older command',
  },
  'large-numbers': {
    must: 'It keeps a transactionId in 64 bits, or as a double',
    why: 'numbers go up to 2^53 - 1',
  },
  'repeated-commands': {
    must: 'It answers a repeated command with its stored acknowledgement',
    why: 'the acknowledgement may not have arrived the first time',
  },
  'unconfirmed-answers': {
    must: 'It sends an acknowledgement until the PUBACK arrives, also on the next connection',
    why: 'the service has not stored an acknowledgement before its PUBACK',
  },
  cancel: {
    must: '`cancel` stops a command that has not begun. The device answers neither the cancel nor that command',
    why: 'a cancel has no number of its own: its `transactionId` and `issuedAt` name the command to stop',
  },
  'unknown-parts': {
    must: 'An unknown operation fails with `UNSUPPORTED`; unknown members of messages are ignored',
    why: 'the service may be newer than the firmware',
  },
  'unreadable-messages': {
    must: 'A message that the device cannot read gets its PUBACK and changes nothing',
    why: 'one message must not stop all that follow it',
  },
  values: {
    must: 'It takes every value that the schemas allow: the longest, empty ones, and all of Unicode',
    why: 'customers choose the names and passwords',
  },
  events: {
    must: 'Each event has its own `eventId`, and the device sends it until the PUBACK arrives',
    why: 'the service recognises a repetition for 30 days',
  },
  requests: {
    must: 'Each request has its own `requestId`; its answer may come again until the device sends the PUBACK, also on the next connection',
    why: 'a request with a PUBACK is always answered; a `requestId` that is repeated within a minute gets the same answer',
  },
  downloads: {
    must: 'It downloads to a file, and installs the file only if its size and SHA-256 are the `size` and `sha256` of the command; otherwise it fails with `DOWNLOAD_FAILED`',
    why: 'a download can end early, or give another file',
  },
  signatures: {
    must: 'A device with a trusted key of its own installs software only if that key has signed package, version and SHA-256 of the command; otherwise it fails with `SIGNATURE_REJECTED`',
    why: 'a thief who breaks into the service can send commands, but cannot sign',
  },
  'former-networks': {
    must: 'A list of networks or access points that comes with `revertAfter` is answered `succeeded` only over a new connection, with that list in use. Without one within so many seconds the device takes its former list again, and fails with `REVERTED`',
    why: 'a wrong list would cut the device off, and nobody could send it another one',
  },
  status: {
    must: 'It reports its status at each connection',
    why: 'the service shows the last report',
  },
  'error-reports': {
    must: 'It reads `errors` and logs the messages',
    why: 'the service reports a faulty message only there; the connection stays open',
  },
  'reconnect-pauses': {
    must: 'It connects again after each lost connection, and waits between two attempts, longer each time, up to a limit',
    why: 'after an outage a whole fleet connects at once',
  },
} as const satisfies Record<string, Rule>;

export type RuleName = keyof typeof RULES;

/** The place of a rule in the documents. */
export const placeOf = (rule: RuleName): string => `docs/devices.md#${rule}`;

/** The text of a rule without its marks of Markdown. */
export const plainRule = (rule: RuleName): string => RULES[rule].must.replaceAll(/\*\*|`/g, '');
