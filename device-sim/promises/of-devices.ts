import { type Promised, promisesOf } from './promise.ts';

const { seen, tested } = promisesOf('devices.md');
const reference = promisesOf('reference.md');

/** The promises to devices. */
export const OF_DEVICES: readonly Promised[] = [
  seen('The credential of a registration is accepted.', 'register-a-device', 'login-given', ['smoke', 'turnover']),
  tested(
    'A deviceId has 15 digits with a check digit; another one is refused.',
    'register-a-device',
    'admin/resources.test.ts',
  ),

  seen(
    'A device that enrols with the code of its batch gets a credential, with which it can log in.',
    'enrolment',
    'enrolment-given',
    'promises',
  ),
  seen(
    'Before its first login a device that asks again gets another credential, and the one in the lost answer is invalid.',
    'enrolment',
    'enrolment-again',
    'promises',
  ),
  seen(
    'As long as a device has not logged in, another nonce cannot take its place.',
    'enrolment',
    'enrolment-nonce',
    'promises',
  ),
  seen('After its first login a device cannot enrol again.', 'enrolment', 'enrolment-once', 'promises'),
  seen('An unknown code is refused with 403.', 'enrolment', 'enrolment-code', 'promises'),
  tested(
    'A device that waits for a person is answered 202, and gets its credential after the approval.',
    'enrolment',
    'enrolment/enrolment.test.ts',
  ),
  tested('An expired, revoked or used up code is refused with 403.', 'enrolment', 'enrolment/enrolment.test.ts'),
  tested(
    'A device enrols with the certificate of its batch, or with one of the CA of its batch.',
    'enrolment',
    'enrolment/claims.test.ts',
  ),
  tested(
    'A batch with a device CA gives a certificate, which logs in without a password.',
    'a-certificate-in-place-of-a-credential',
    'enrolment/certificates.test.ts',
  ),
  tested(
    'A certificate is renewed for the present one; the old one ends with the first login of the new one.',
    'a-certificate-in-place-of-a-credential',
    'enrolment/renewals.test.ts',
  ),

  seen('A wrong credential is refused.', 'refused-logins', 'login-wrong', 'promises'),
  seen('A credential that was replaced is refused.', 'refused-logins', 'login-former', ['turnover', 'promises']),
  seen('A new credential, and the removal of a device, end its connection.', 'refused-logins', 'login-closed', [
    'turnover',
    'promises',
  ]),
  tested('A refused login is answered with the code that says why.', 'refused-logins', 'broker/access.test.ts'),
  tested(
    'Many refused logins from one address are answered later and later.',
    'refused-logins',
    'broker/waiting.test.ts',
  ),
  tested(
    'A new credential that waits for its first login leaves the old one valid until then.',
    'refused-logins',
    'devices/offered-credential.test.ts',
  ),
  tested(
    'A subscription to a topic of another device is refused with 0x80.',
    'refused-logins',
    'broker/access.test.ts',
  ),
  tested('A newer connection of a device closes the older one.', 'refused-logins', 'broker/connections.test.ts'),

  seen('A command is as its schema says.', 'topics-with-a-line-for-each', 'command-readable', 'smoke'),
  seen('A command has the operation and the parameters of its request.', 'the-first-connection', 'command-content', [
    'smoke',
    'promises',
  ]),
  seen('A command comes to its device, and to no other.', 'the-first-connection', 'command-device', 'smoke'),
  seen(
    'Commands of a device come in the order of their transactionIds.',
    'the-first-connection',
    'command-order',
    'smoke',
  ),
  seen(
    'An unfinished command comes again at each connection, with a higher `attempt` and the same `issuedAt`.',
    'the-first-connection',
    'command-attempt',
    'promises',
  ),
  seen(
    'A command whose answer has its PUBACK does not come on a later connection.',
    'unconfirmed-answers',
    'command-answered',
    'promises',
  ),
  seen('At most 16 commands are without a PUBACK or an answer.', 'mqtt', 'command-window', 'smoke'),
  seen(
    'A device that has a command gets its cancel, also if it was away meanwhile.',
    'cancel',
    'cancel-owed',
    'promises',
  ),
  seen('A cancel comes for a command that was stopped, and for no other.', 'cancel', 'cancel-needless', 'promises'),
  seen('A command that was stopped does not come on a later connection.', 'cancel', 'command-stopped', 'promises'),
  tested(
    'Each request of a device that has its PUBACK is answered; repeated within a minute, it gets the same answer.',
    'requests',
    'flow/requests.test.ts',
  ),
  tested('A message that has its PUBACK is stored.', 'unconfirmed-answers', 'flow/crash.test.ts'),

  tested(
    'Unknown members are ignored, and a wrong value costs the smallest optional part around it.',
    'how-the-service-reads-messages',
    'broker/messages.test.ts',
  ),
  tested(
    'A message that was left out in part, repaired or rejected is told on `errors`, with its id.',
    'how-the-service-reads-messages',
    'broker/foreign-bytes.test.ts',
  ),
  tested(
    'A message above 256 KiB gets its PUBACK and is told on `errors`; a packet above 4 MiB ends the connection.',
    'how-the-service-reads-messages',
    'broker/connections.test.ts',
  ),
  tested(
    'The signature of a command is that of its package, version and file.',
    'software-that-is-signed',
    'flow/signatures.test.ts',
  ),
  reference.tested(
    'A device above its rate is disconnected without a PUBACK.',
    'connections-of-devices',
    'broker/rate.test.ts',
  ),
  reference.tested(
    'A device that reads nothing for five seconds is disconnected.',
    'connections-of-devices',
    'socket-bounds.test.ts',
  ),
  reference.tested(
    'A connection that does not log in within ten seconds is closed.',
    'connections-of-devices',
    'broker/waiting.test.ts',
  ),
];
