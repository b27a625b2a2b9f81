import type { Breakage } from '../breakage.ts';

/** Calls, logins and signatures that are accepted or made against the rules. */
export const REFUSAL: readonly Breakage[] = [
  {
    name: 'scope-not-checked',
    about: 'A token may do everything, whatever its scopes are.',
    kind: 'refusal',
    patches: [
      {
        file: 'edge/api/authorize.ts',
        search: '!scopes.has(scope)) throw',
        replacement: 'scopes.size === 0) throw',
      },
    ],
    play: 'everyday',
    figures: ['wrong'],
    cause: /the answer to a call with a token that lacks the scope has the wrong answer\.status: 200 instead of 403/,
  },
  {
    name: 'signature-of-tokens-not-verified',
    about: 'The claims of an access token are believed without its signature.',
    kind: 'refusal',
    patches: [
      {
        file: 'core/applications/access-tokens.ts',
        search: 'const { payload, protectedHeader } = await jwtVerify(',
        replacement: `const part = (text, index) => JSON.parse(Buffer.from(text.split('.')[index], 'base64url').toString());
    const { payload, protectedHeader } = await (async (text) => ({ payload: part(text, 1), protectedHeader: part(text, 0) }))(`,
      },
    ],
    play: 'everyday',
    figures: ['wrong'],
    cause: /the answer to a call with a token that was changed has the wrong answer\.status: 200 instead of 401/,
  },
  {
    name: 'devices-of-other-developers-reachable',
    about: 'An application can call devices that belong to another developer.',
    kind: 'refusal',
    patches: [
      {
        file: 'core/devices/activation.ts',
        search: 'if (device?.developerId !== developerId) throw',
        replacement: 'if (!device) throw',
      },
    ],
    play: 'everyday',
    figures: ['wrong'],
    cause: /the answer to a call for a device of another developer has the wrong answer\.code: "DEVICE_NOT_ACTIVATED"/,
  },
  {
    name: 'idempotency-key-ignored',
    about: 'A call that is repeated with its Idempotency-Key makes another transaction.',
    kind: 'refusal',
    patches: [
      {
        file: 'edge/api/commands.ts',
        search: 'if (key === undefined) return',
        replacement: `if (key !== '') return`,
      },
    ],
    play: 'everyday',
    figures: ['wrong'],
    cause: /an Idempotency-Key .* has the wrong answer\.transactionId: \d+ instead of \d+/,
  },
  {
    name: 'idempotency-key-without-its-request',
    about: 'An Idempotency-Key returns the first answer to any other call, too.',
    kind: 'refusal',
    patches: [
      {
        file: 'core/transactions/idempotency.ts',
        search: 'const same = kept.requestHash.equals(requestHash);',
        replacement: 'const same = true;',
      },
    ],
    play: 'everyday',
    figures: ['wrong'],
    cause: /an Idempotency-Key that is repeated with another request has the wrong answer\.status: 200 instead of 422/,
  },
  {
    name: 'expired-tokens-accepted',
    about: 'A token that was verified once is accepted for ever. Tokens are valid for 5 s here.',
    kind: 'refusal',
    patches: [
      {
        file: 'core/applications/access-tokens.ts',
        search: 'const TOKEN_LIFETIME_SECONDS = 3600;',
        replacement: 'const TOKEN_LIFETIME_SECONDS = 5;',
      },
      {
        file: 'core/applications/access-tokens.ts',
        search: 'if (known && clock.now() < known.expiresAt && (',
        replacement: 'if (known && (',
      },
    ],
    play: 'everyday',
    figures: ['wrong'],
    cause: /the answer to a call with the first token of the run has the wrong answer\.status: 200 instead of 401/,
  },
  {
    name: 'expired-urls-served',
    about: 'A download URL is valid a thousand times as long as it says. It says 2 s here.',
    kind: 'refusal',
    patches: [
      {
        file: 'core/transactions/installation.ts',
        search: 'const URL_LIFETIME_SECONDS = 3600;',
        replacement: 'const URL_LIFETIME_SECONDS = 2;',
      },
      {
        file: 'platform/objects/request-signature.ts',
        search: 'if (clock.wall() >= signedAt + validity * 1_000_000) throw',
        replacement: 'if (clock.wall() >= signedAt + validity * 1_000_000_000) throw',
      },
    ],
    play: 'everyday',
    figures: ['wrong'],
    cause: /the answer to the download URL \S+ of transaction \d+ .* after its expiry, .*\.status: 200 instead of 403/,
  },
  {
    name: 'retries-signed-for-the-first-attempt',
    about: 'The signature of a repeated webhook is over the time of its first attempt.',
    kind: 'refusal',
    patches: [
      {
        file: 'core/webhooks/signature.ts',
        search: 'signatureOf(preparedOf(key), text)',
        replacement: "signatureOf(preparedOf(key), [id, firstTime(id, nowMicros), body].join('.'))",
      },
      {
        file: 'core/webhooks/signature.ts',
        search: '/** Signs notifications.',
        replacement: `const times = new Map();
function firstTime(id, nowMicros) {
  if (!times.has(id)) times.set(id, String(Math.floor(nowMicros / 1_000_000)));
  return times.get(id);
}

/** Signs notifications.`,
      },
    ],
    play: 'receiver',
    figures: ['forged'],
    cause: /a webhook is not genuine/,
  },
  {
    name: 'wrong-credential-accepted',
    about: 'A device can log in with a wrong credential.',
    kind: 'refusal',
    patches: [
      {
        file: 'edge/mqtt/authentication.ts',
        search: `if (found === 'good') return undefined;`,
        replacement: `if (found !== 'blocked') return undefined;`,
      },
    ],
    play: 'faulty',
    figures: ['violations'],
    cause: /the service accepted a wrong credential/,
  },
];
