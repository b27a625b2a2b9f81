import { createHash, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
import { AsnParser, AsnSerializer, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_clientAuth,
  id_kp_serverAuth,
  KeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509';

const COMMON_NAME = '2.5.4.3';

/** The algorithm with which a key signs: its identifier, and its digest. */
interface Algorithm {
  identifier: AlgorithmIdentifier;
  digest: string;
}

const ecdsa = (last: number, digest: string): Algorithm => ({
  identifier: new AlgorithmIdentifier({ algorithm: `1.2.840.10045.4.3.${last}` }),
  digest,
});
const RSA: Algorithm = {
  identifier: new AlgorithmIdentifier({ algorithm: '1.2.840.113549.1.1.11', parameters: null }),
  digest: 'sha256',
};
const OF_CURVES: Readonly<Record<string, Algorithm>> = {
  prime256v1: ecdsa(2, 'sha256'),
  secp384r1: ecdsa(3, 'sha384'),
  secp521r1: ecdsa(4, 'sha512'),
};

/** The algorithm with which a key of a CA signs; undefined for a key that cannot be used. */
export function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): Algorithm | undefined {
  const { namedCurve, modulusLength = 0 } = asymmetricKeyDetails;
  if (asymmetricKeyType === 'ec') return OF_CURVES[namedCurve ?? ''];
  return asymmetricKeyType === 'rsa' && modulusLength >= 2048 && modulusLength <= 4096 ? RSA : undefined;
}

const commonName = (text: string): Name => {
  const value = new AttributeValue({ utf8String: text });
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: COMMON_NAME, value })])]);
};

const extension = (extnID: string, value: unknown, critical = false): Extension =>
  new Extension({ extnID, critical, extnValue: new OctetString(AsnSerializer.serialize(value)) });

const spkiOf = (key: KeyObject): SubjectPublicKeyInfo =>
  AsnParser.parse(key.export({ format: 'der', type: 'spki' }), SubjectPublicKeyInfo);

/** The identifier of a public key, by the first method of RFC 5280 4.2.1.2. */
const identifierOf = ({ subjectPublicKey }: SubjectPublicKeyInfo): ArrayBuffer =>
  new Uint8Array(createHash('sha1').update(Buffer.from(subjectPublicKey)).digest()).buffer;

/** The identifier of the key of a CA: the one in its certificate, by which others find it, or else the computed one. */
function identifierOfIssuer({ tbsCertificate }: Certificate): ArrayBuffer {
  const own = tbsCertificate.extensions?.find(({ extnID }) => extnID === id_ce_subjectKeyIdentifier);
  return own
    ? AsnParser.parse(own.extnValue.buffer, SubjectKeyIdentifier).buffer
    : identifierOf(tbsCertificate.subjectPublicKeyInfo);
}

/** A positive number of 126 random bits, without zeros at its beginning (RFC 5280 4.1.2.2). */
function serialNumber(random: Buffer): ArrayBuffer {
  const bytes = new Uint8Array(random);
  bytes[0] = ((bytes[0] as number) & 0x3f) | 0x40;
  return bytes.buffer;
}

const inSeconds = (micros: number): Date => new Date(Math.floor(micros / 1_000_000) * 1000);

interface Wanted {
  /** The common name, which is the whole subject. */
  name: string;
  publicKey: KeyObject;
  /** Microseconds since 1970. */
  from: number;
  until: number;
  /** 16 random bytes, from which the serial number is made. */
  random: Buffer;
}

async function made(
  { name, publicKey, from, until, random }: Wanted,
  { issuer, key, own }: { issuer: Name; key: KeyObject; own: readonly Extension[] },
): Promise<X509Certificate> {
  const algorithm = algorithmOf(key);
  if (!algorithm) throw new Error('a CA has a key with which nothing can be signed');
  const subjectPublicKeyInfo = spkiOf(publicKey);
  const identifier = new SubjectKeyIdentifier(identifierOf(subjectPublicKeyInfo));
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: serialNumber(random),
    signature: algorithm.identifier,
    issuer,
    validity: new Validity({ notBefore: inSeconds(from), notAfter: inSeconds(until) }),
    subject: commonName(name),
    subjectPublicKeyInfo,
    extensions: new Extensions([...own, extension(id_ce_subjectKeyIdentifier, identifier)]),
  });
  // The thread pool signs: an RSA key takes milliseconds.
  const bytes = Buffer.from(AsnSerializer.serialize(tbsCertificate));
  const signature = await promisify(sign)(algorithm.digest, bytes, key);
  const signatureValue = new Uint8Array(signature).buffer;
  const certificate = new Certificate({ tbsCertificate, signatureAlgorithm: algorithm.identifier, signatureValue });
  return new X509Certificate(Buffer.from(AsnSerializer.serialize(certificate)));
}

/** Makes a CA that signs itself, and no other CA. */
export function makeAuthority(wanted: Wanted, key: KeyObject): Promise<X509Certificate> {
  const usage = KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign;
  return made(wanted, {
    issuer: commonName(wanted.name),
    key,
    own: [
      extension(id_ce_basicConstraints, new BasicConstraints({ cA: true, pathLenConstraint: 0 }), true),
      extension(id_ce_keyUsage, new KeyUsage(usage), true),
    ],
  });
}

interface Issuer {
  certificate: X509Certificate;
  key: KeyObject;
}

/** Signs a certificate for one purpose, and for nothing else. */
function signFor(
  purpose: string,
  wanted: Wanted,
  { certificate, key }: Issuer,
  more: readonly Extension[] = [],
): Promise<X509Certificate> {
  const ca = AsnParser.parse(certificate.raw, Certificate);
  const keyIdentifier = new KeyIdentifier(identifierOfIssuer(ca));
  return made(wanted, {
    issuer: ca.tbsCertificate.subject,
    key,
    own: [
      extension(id_ce_basicConstraints, new BasicConstraints({ cA: false }), true),
      extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.digitalSignature), true),
      extension(id_ce_extKeyUsage, new ExtendedKeyUsage([purpose])),
      extension(id_ce_authorityKeyIdentifier, new AuthorityKeyIdentifier({ keyIdentifier })),
      ...more,
    ],
  });
}

/** Signs the certificate of a client, for nothing else than its logins. */
export const signClient = (wanted: Wanted, authority: Issuer): Promise<X509Certificate> =>
  signFor(id_kp_clientAuth, wanted, authority);

const nameOf = (host: string): GeneralName =>
  new GeneralName(isIP(host) === 0 ? { dNSName: host } : { iPAddress: host });

/** Signs the certificate of a server that is reached by these names and IP addresses. */
export const signServer = (wanted: Wanted, authority: Issuer, hosts: readonly string[]): Promise<X509Certificate> => {
  const names = new SubjectAlternativeName(hosts.map(nameOf));
  return signFor(id_kp_serverAuth, wanted, authority, [extension(id_ce_subjectAltName, names)]);
};
