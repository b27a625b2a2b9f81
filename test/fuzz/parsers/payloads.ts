import assert from 'node:assert/strict';
import { isSecretName } from '@lapel/schemas/base/secret-names';
import { withoutSecrets } from '@lapel/schemas/base/without-secrets';
import { beginningOf, SHOWN, shownPayload } from '../../../src/edge/feed/redact-payload.ts';
import type { FuzzedParser } from '../parser.ts';

/** The value of each secret in the documents. */
const SECRET = 'hunter2';
const timesIn = (text: string): number => text.split(SECRET).length - 1;

/** A name without quotation marks, colons or escapes: texts may be cut off, so they are read without a parser of JSON. */
const isPlain = (name: string): boolean => /^[\w-]+$/.test(name);

/** How often the secret is the value of a member with a plain secret name, or is anywhere within such a value. */
function hiddenTimes(value: unknown, isSecret = false): number {
  if (typeof value === 'string') return isSecret ? timesIn(value) : 0;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce(
    (sum, [name, one]) => sum + hiddenTimes(one, isSecret || (isPlain(name) && isSecretName(name))),
    0,
  );
}

function parsed(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** The reader of payloads that hides secrets from people; it reads text of every kind, of which JSON is one. */
export const payload: FuzzedParser = {
  documents: [
    `{"ssid":"lobby","password":"${SECRET}"}`,
    `{"list":[{"simPin": "${SECRET}", "n":1}, {"apn":{"user":"${SECRET}","auth":["${SECRET}"]}}], "text":"a \\"b\\" ü"}`,
    ` { "credential" :\n"${SECRET}" , "deep":{"a":{"\\u0070assword":"x ${SECRET} \\\\"}}}`,
  ].map((text) => Buffer.from(text)),
  words: [
    '"',
    '\\',
    '\\"',
    ':',
    ',',
    '{',
    '}',
    '[',
    ']',
    "'",
    '=',
    '&',
    'https://a/?',
    ' ',
    '\n',
    'token',
    '\\u0070',
    '\ufeff',
  ],
  read(input) {
    const text = input.toString();
    const { payload: shown } = shownPayload(beginningOf(input));
    assert.ok(shown.length <= SHOWN && shown.isWellFormed(), 'a payload is shown shortened, and as text');
    const json = parsed(text);
    if (json === undefined) return false;
    // A secret that also stands elsewhere may be shown there.
    if (timesIn(text) === hiddenTimes(json.value)) {
      assert.equal(timesIn(shown), 0, 'no secret is shown of a text');
      assert.equal(timesIn(JSON.stringify(withoutSecrets(json.value))), 0, 'no secret is shown of a value');
    }
    return true;
  },
};
