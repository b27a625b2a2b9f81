import { createPublicKey } from 'node:crypto';
import { signatureFailure } from '@lapel/device-sim/files/signature';
import t from 'tap';
import { FORGERIES } from '../../software/forgeries.ts';
import { createKeyPair, sha256Of, signatureOf } from '../../software/signing.ts';

const NAME = { package: 'com.example.camera', version: '1.0.0' };
const SHA256 = sha256Of('the file');

t.test('a device with a key of its own takes what that key has signed, and nothing else', async (t) => {
  const [first, second] = [createKeyPair(), createKeyPair()];
  const keys = [first, second].map(({ publicKey }) => createPublicKey(publicKey));
  for (const key of [first, second])
    t.equal(signatureFailure(keys, NAME, signatureOf(key, NAME, SHA256)), undefined, 'also of the key in reserve');
  for (const { title, forge } of FORGERIES) {
    const { signature } = forge({ key: first, ...NAME, sha256: SHA256 }) ?? {};
    t.match(signatureFailure(keys, NAME, { sha256: SHA256, signature }), { code: 'SIGNATURE_REJECTED' }, title);
  }
  for (const signature of ['', 'x', 'A'.repeat(1_000_000), '\u0000', 'ÄÖÜ'])
    t.match(signatureFailure(keys, NAME, { sha256: SHA256, signature }), { code: 'SIGNATURE_REJECTED' });
});
