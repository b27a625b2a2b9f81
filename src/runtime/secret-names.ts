/** Stands for what is secret. */
export const HIDDEN = '••••';

// Anywhere in a name, whatever its letters and the signs between them: `wifiPassword`, `X-Api-Key`, `sim_psk`.
const ANYWHERE = (
  'password passwd passphrase passcode pincode secret credential token jwt cookie authorization signature psk ' +
  'apikey authkey accesskey privatekey sharedkey signingkey authenticationkey notificationkey encryptionkey ' +
  'networkkey securitykey wifikey wepkey'
).split(' ');
// As a word of a name: `simPin`, `wifi_pwd`; shorter ones are in words that say something else.
const AS_A_WORD = new Set(['pin', 'puk', 'pwd', 'pass', 'otp']);
// As a whole name; who logs in at an access point is as secret as the password beside it.
const AS_A_NAME = new Set(['key', 'auth', 'user', 'username']);

const wordsOf = (name: string): string[] =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]/);

/** Whether what has this name is secret: the one list for the log, the console, the feed, administration and the audit log. */
export function isSecretName(name: string): boolean {
  const words = wordsOf(name);
  const joined = words.join('');
  return (
    AS_A_NAME.has(joined) || words.some((word) => AS_A_WORD.has(word)) || ANYWHERE.some((part) => joined.includes(part))
  );
}
