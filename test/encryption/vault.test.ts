import t from 'tap';
import { parseKeys } from '../../src/platform/encryption/key-ring.ts';
import { createVault, keyIdOf } from '../../src/platform/encryption/vault.ts';

const PLACE = ['rollouts', 'asked', 'rol_1'] as const;
const TEXT = 'a password, パスワード, \u{1f511}';
const key = (keyId: string, byte = 1) => ({ keyId, secret: Buffer.alloc(32, byte) });

t.test('a value is read at its place only, and only as it was written', async (t) => {
  const vault = createVault();
  t.equal(vault.seal(PLACE, TEXT), TEXT, 'without a key it is stored as it is');
  vault.setKeys([key('k1')]);
  vault.writeWith('k1');
  const stored = vault.seal(PLACE, TEXT);
  t.equal(keyIdOf(stored), 'k1');
  t.equal(stored.length, vault.lengthOf(TEXT));
  t.equal(vault.open(PLACE, stored), TEXT);
  t.not(vault.seal(PLACE, TEXT), stored, 'equal texts are stored differently');
  for (const place of [
    ['rollouts', 'asked', 'rol_2'],
    ['rollouts', 'plan', 'rol_1'],
    ['rolloutsasked', '', 'rol_1'],
  ] as const)
    t.throws(() => vault.open(place, stored), /was changed, or is that of another row/);
  const begin = 'enc:v1:k1:'.length;
  const bytes = Buffer.from(stored.slice(begin), 'base64');
  for (const [index] of bytes.entries()) {
    const changed = Buffer.from(bytes);
    changed[index] = (changed[index] ?? 0) ^ 1;
    t.throws(() => vault.open(PLACE, `enc:v1:k1:${changed.toString('base64')}`), /was changed/);
  }
  for (const length of [0, 10, 16, 28, 43, 44]) {
    const short = `enc:v1:k1:${bytes.subarray(0, length).toString('base64')}`;
    t.throws(() => vault.open(PLACE, short), /was changed/, `${length} bytes`);
  }
});

t.test('a former key is read while it is there; another key of the same name is not taken for it', async (t) => {
  const vault = createVault();
  vault.setKeys([key('k1')]);
  vault.writeWith('k1');
  const stored = vault.seal(PLACE, TEXT);
  vault.setKeys([key('k2', 2), key('k1')]);
  vault.writeWith('k2');
  t.equal(keyIdOf(vault.seal(PLACE, TEXT)), 'k2');
  t.equal(vault.open(PLACE, stored), TEXT);
  vault.setKeys([key('k2', 2)]);
  t.throws(() => vault.open(PLACE, stored), { code: 'ENCRYPTION_KEY_MISSING', message: /the encryption key k1,/ });
  vault.setKeys([key('k2', 2), key('k1', 9)]);
  t.throws(() => vault.open(PLACE, stored), /was changed/);
});

t.test('a file of keys names its faulty line, and shows nothing of it', async (t) => {
  const good = Buffer.alloc(32, 7).toString('base64');
  t.match(parseKeys(`# newest\nb ${good}\r\n\n  a\t${good.replace('=', '')}\n`), [{ keyId: 'b' }, { keyId: 'a' }]);
  for (const [text, message] of [
    ['', 'there is no key'],
    ['# only a comment\n', 'there is no key'],
    [`a ${good} c`, 'line 1 is not "ID KEY"'],
    ['a', 'line 1 is not "ID KEY"'],
    [`a ${good}\na ${good}`, 'line 2: the id a comes twice'],
    [`a:b ${good}`, 'line 1: an id has 1 to 32 letters, digits, dots, underscores and hyphens'],
    [`a ${good.slice(4)}`, 'line 1: the key a is not 32 bytes in base64'],
    [`a ${'g'.repeat(64)}`, 'line 1: the key a is not 32 bytes in base64'],
  ] as const)
    t.throws(() => parseKeys(text), { message }, text);
});
