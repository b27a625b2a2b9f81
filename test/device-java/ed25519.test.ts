import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import t from 'tap';
import { missing } from '../installed.ts';
import { runClass } from './java.ts';

/** RFC 8032, section 7.1: tests 1, 2, 3 and SHA(abc). */
const VECTORS: [key: string, message: string, signature: string][] = [
  [
    'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    '',
    'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  ],
  [
    '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    '72',
    '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  ],
  [
    'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
    'af82',
    '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
  ],
  [
    'ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf',
    'ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f',
    'dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704',
  ],
];
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

/** The same signature with the order of the group added to its number, which section 5.1.7 forbids. */
function malleated(signature: Buffer): Buffer {
  const number = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex')}`) + ORDER;
  const other = Buffer.from(number.toString(16).padStart(64, '0'), 'hex').reverse();
  return Buffer.concat([signature.subarray(0, 32), other]);
}

const flipped = (bytes: Buffer, at: number): Buffer => {
  const other = Buffer.from(bytes);
  other[at]! ^= 1;
  return other;
};

t.test(
  'the device library in Java tells good signatures of Ed25519 from others',
  { skip: missing.java() },
  async (t) => {
    const given: [title: string, parts: Buffer[], isGood: boolean][] = VECTORS.map((parts, at) => [
      `vector ${at}`,
      parts.map((hex) => Buffer.from(hex, 'hex')),
      true,
    ]);
    for (let length = 0; length < 20; length++) {
      const { publicKey, privateKey } = generateKeyPairSync('ed25519');
      const key = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
      const message = randomBytes(17 * length);
      const signature = sign(null, message, privateKey);
      given.push(
        [`a signature of ${message.length} bytes`, [key, message, signature], true],
        ['another message', [key, Buffer.concat([message, Buffer.alloc(1)]), signature], false],
        ['another R', [key, message, flipped(signature, length)], false],
        ['another S', [key, message, flipped(signature, 32 + length)], false],
        ['another key', [flipped(key, length), message, signature], false],
        ['a number that is too large', [key, message, malleated(signature)], false],
        ['a short signature', [key, message, signature.subarray(1)], false],
      );
    }
    given.push(['no signature', [Buffer.alloc(32, 1), Buffer.alloc(0), Buffer.alloc(0)], false]);
    given.push(['a key that is no point', [Buffer.alloc(32, 0xff), Buffer.alloc(0), Buffer.alloc(64)], false]);
    const lines = given.map(([, parts]) => `${parts.map((part) => part.toString('base64')).join(' ')}\n`);
    const answers = (await runClass('Lines', ['ed25519'], lines.join(''))).trim().split('\n');
    for (const [at, [title, , isGood]] of given.entries()) t.equal(answers[at], String(isGood), title);
  },
);
