import assert from 'node:assert/strict';
import { generateKeyPairSync, KeyObject, sign } from 'node:crypto';
import { readCertificationRequest } from '../../../src/core/authorities/certification-request.ts';
import type { FuzzedParser } from '../parser.ts';

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const SPKI = publicKey.export({ format: 'der', type: 'spki' });
const SHA256 = Buffer.from('300a06082a8648ce3d040302', 'hex');

/** An element of DER with this tag. */
function element(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const length = body.length < 0x80 ? [body.length] : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

const pemOf = (der: Buffer): string =>
  `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;

/** A request whose signed part are these bytes, with a valid signature. */
const signed = (part: Buffer): string =>
  pemOf(element(0x30, part, SHA256, element(0x03, Buffer.from([0]), sign('sha256', part, privateKey))));

const VERSION = Buffer.from('020100', 'hex');
const named = (value: string): Buffer =>
  element(0x30, element(0x31, element(0x30, Buffer.from('0603550403', 'hex'), element(0x0c, Buffer.from(value)))));
const extensions = Buffer.from('300f06092a864886f70d01090e3102', 'hex');
const parts = ['any', 'x'.repeat(200), 'größer-日本'].flatMap((name) => [
  element(0x30, VERSION, named(name), SPKI, element(0xa0)),
  element(0x30, VERSION, named(name), SPKI),
  element(0x30, VERSION, element(0x30), SPKI, element(0xa0, extensions, Buffer.from('3000', 'hex'))),
]);

/** Certification requests: the signed part is changed, and signed again, so that the change reaches what is read behind. */
export const csr: FuzzedParser = {
  documents: parts.filter((part) => readCertificationRequest(signed(part)) instanceof KeyObject),
  words: ['-----BEGIN CERTIFICATE REQUEST-----', '-----END CERTIFICATE REQUEST-----', '\u0030\u0080', '\u00a0\u0080'],
  read(input) {
    for (const text of [pemOf(input), input.toString('latin1')])
      assert.equal(typeof readCertificationRequest(text), 'string', 'bytes without a signature are refused');
    const read = readCertificationRequest(signed(input));
    if (typeof read === 'string') return false;
    assert.ok(read.equals(publicKey), 'of a request that is accepted the key has signed it');
    return true;
  },
};
