import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { isLowOrder } from '@lapel/schemas/base/low-order';
import { CertificationRequest } from '@peculiar/asn1-csr';
import { AsnParser, AsnSerializer } from '@peculiar/asn1-schema';

const PEM =
  /^\s*-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]+)-----END (?:NEW )?CERTIFICATE REQUEST-----\s*$/;

/** The signature algorithms: the type of their keys, and their digest. */
const ALGORITHMS: Readonly<Record<string, { type: string; digest: string | null }>> = {
  '1.2.840.10045.4.3.2': { type: 'ec', digest: 'sha256' },
  '1.2.840.10045.4.3.3': { type: 'ec', digest: 'sha384' },
  '1.2.840.10045.4.3.4': { type: 'ec', digest: 'sha512' },
  '1.2.840.113549.1.1.11': { type: 'rsa', digest: 'sha256' },
  '1.2.840.113549.1.1.12': { type: 'rsa', digest: 'sha384' },
  '1.2.840.113549.1.1.13': { type: 'rsa', digest: 'sha512' },
  '1.3.101.112': { type: 'ed25519', digest: null },
};

/** Elements and levels of a request, of which 50 and 8 are usual. 8 KiB of empty elements would take 40 ms without a bound. */
const BOUNDS = { maxNodes: 400, maxDepth: 16, parseEmbedded: false };

const CURVES = ['prime256v1', 'secp384r1'];
/** A larger exponent would make a verification slow. */
const MOST_EXPONENT = 2n ** 32n;

const NOT_READABLE = 'Value should be a certification request (PKCS #10) in PEM';
const OTHER_KEY = 'The key should be EC (P-256 or P-384), Ed25519, or RSA with 2048 to 4096 bits';
const NOT_SIGNED = 'The signature should be that of the key in the request, with SHA-256, SHA-384 or SHA-512';

/** Whether the service signs certificates for such a key. */
function isGoodKey(key: KeyObject): boolean {
  const { asymmetricKeyType, asymmetricKeyDetails = {} } = key;
  const { namedCurve, modulusLength = 0, publicExponent = 0n } = asymmetricKeyDetails;
  if (asymmetricKeyType === 'ec') return CURVES.includes(namedCurve ?? '');
  if (asymmetricKeyType === 'rsa')
    return modulusLength >= 2048 && modulusLength <= 4096 && publicExponent >= 3n && publicExponent <= MOST_EXPONENT;
  return asymmetricKeyType === 'ed25519' && !isLowOrder(key);
}

/**
 * Reads the public key of a certification request (RFC 2986) that has proved to have the private one. A text says what is
 * wrong with it. The subject and the extensions that it asks for are not read: the service decides about them.
 */
export function readCertificationRequest(pem: string): KeyObject | string {
  const [, base64] = PEM.exec(pem) ?? [];
  if (base64 === undefined) return NOT_READABLE;
  let request: CertificationRequest;
  try {
    request = AsnParser.parse(Buffer.from(base64, 'base64'), CertificationRequest, { berOptions: BOUNDS });
  } catch {
    return NOT_READABLE;
  }
  const { certificationRequestInfo: info, certificationRequestInfoRaw: signed, signatureAlgorithm } = request;
  const algorithm = ALGORITHMS[signatureAlgorithm.algorithm];
  if (!algorithm || !signed) return NOT_SIGNED;
  try {
    const spki = Buffer.from(AsnSerializer.serialize(info.subjectPKInfo));
    const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
    if (!isGoodKey(key)) return OTHER_KEY;
    const isSigned =
      algorithm.type === key.asymmetricKeyType &&
      verify(algorithm.digest, Buffer.from(signed), key, Buffer.from(request.signature));
    return isSigned ? key : NOT_SIGNED;
  } catch {
    return OTHER_KEY;
  }
}
