import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { isRecord } from '../mqtt/messages.ts';
import type { Certificate } from './certificate.ts';

/** The type of the payload, which is signed with it. */
const TYPE = 'application/vnd.lapel.test-report.v1+json';

/** The most signatures that are tried: each goes over the whole report, and a stranger may have made the file. */
const MOST_SIGNATURES = 16;

/** A signed report: an envelope of DSSE v1, so that other programs can check it as well. */
interface Envelope {
  readonly payloadType: string;
  /** The report, as Base64 of its JSON. */
  readonly payload: string;
  readonly signatures: readonly { readonly keyid: string; readonly sig: string }[];
}

/** The bytes that are signed (DSSE v1, "PAE"): they name the type, so a signature fits no other kind of document. */
const signedBytes = (payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`DSSEv1 ${TYPE.length} ${TYPE} ${payload.length} `), payload]);

/** The identifier of a public key: the SHA-256 of its SubjectPublicKeyInfo, in hexadecimal digits. */
export const keyIdOf = (publicKey: KeyObject): string =>
  createHash('sha256')
    .update(publicKey.export({ format: 'der', type: 'spki' }))
    .digest('hex');

/** Signs a report with a private key of ed25519; returns the text of the file. */
export function seal(certificate: Certificate, privateKey: KeyObject): string {
  const payload = Buffer.from(JSON.stringify(certificate));
  const envelope: Envelope = {
    payloadType: TYPE,
    payload: payload.toString('base64'),
    signatures: [
      {
        keyid: keyIdOf(createPublicKey(privateKey)),
        sig: sign(null, signedBytes(payload), privateKey).toString('base64'),
      },
    ],
  };
  return `${JSON.stringify(envelope)}\n`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Opens a signed report with a public key of ed25519. A returned string says why it is not to be believed. */
export function open(text: string, publicKey: KeyObject): Certificate | string {
  const envelope = parse(text);
  if (!isRecord(envelope) || envelope['payloadType'] !== TYPE) return 'it is no signed report of a test';
  const { payload: encoded, signatures } = envelope as { payload: unknown; signatures: unknown };
  if (typeof encoded !== 'string' || !Array.isArray(signatures)) return 'it has no payload, or no signatures';
  if (signatures.length > MOST_SIGNATURES) return `it has more than ${MOST_SIGNATURES} signatures`;
  const payload = Buffer.from(encoded, 'base64');
  const isSigned = signatures.some(
    (one: unknown) =>
      isRecord(one) &&
      typeof one['sig'] === 'string' &&
      verify(null, signedBytes(payload), publicKey, Buffer.from(one['sig'], 'base64')),
  );
  if (!isSigned) return `no signature is one of the key ${keyIdOf(publicKey)}`;
  // Only who has the private key can have written it, so its form is that of this program.
  const certificate = parse(payload.toString());
  return isRecord(certificate) ? (certificate as unknown as Certificate) : 'its payload is no report';
}
