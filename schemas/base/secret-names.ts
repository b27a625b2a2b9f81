/** The text that replaces a secret. */
export const HIDDEN = '••••';

// A name is secret when it contains one of these. Upper and lower case, and the characters between words, do not
// matter: `wifiPassword`, `X-Api-Key`, `sim_psk`.
const ANYWHERE = (
  'password passwd passphrase passcode pincode secret credential token jwt cookie authorization signature psk ' +
  'apikey authkey accesskey privatekey sharedkey signingkey authenticationkey notificationkey encryptionkey ' +
  'networkkey securitykey wifikey wepkey'
).split(' ');
// A name is secret when one of its words is one of these: `simPin`, `wifi_pwd`. They must be whole words, because they
// are parts of harmless words as well (`pin` in `shipping`).
const AS_A_WORD = new Set(['pin', 'puk', 'pwd', 'pass', 'otp']);
// A name is secret when it is one of these, with nothing before or after. The user name at an access point is as secret
// as the password beside it.
const AS_A_NAME = new Set(['key', 'auth', 'user', 'username']);

const wordsOf = (name: string): string[] =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]/);

/**
 * Whether a field of this name holds a secret. The log, the console, the feed, administration and the audit log share
 * this one list.
 */
export function isSecretName(name: string): boolean {
  const words = wordsOf(name);
  const joined = words.join('');
  return (
    AS_A_NAME.has(joined) || words.some((word) => AS_A_WORD.has(word)) || ANYWHERE.some((part) => joined.includes(part))
  );
}
