import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { Attributes, CertificationRequest, CertificationRequestInfo } from '@peculiar/asn1-csr';
import { AsnParser, AsnSerializer } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  Name,
  RelativeDistinguishedName,
  SubjectPublicKeyInfo,
} from '@peculiar/asn1-x509';

const COMMON_NAME = '2.5.4.3';
const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';

const bytesOf = (value: unknown): Buffer => Buffer.from(AsnSerializer.serialize(value));

function signed(name: string, publicKey: KeyObject, privateKey: KeyObject): Buffer {
  const value = new AttributeValue({ utf8String: name });
  const certificationRequestInfo = new CertificationRequestInfo({
    subject: new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: COMMON_NAME, value })])]),
    subjectPKInfo: AsnParser.parse(publicKey.export({ format: 'der', type: 'spki' }), SubjectPublicKeyInfo),
    attributes: new Attributes(),
  });
  const signature = new Uint8Array(sign('sha256', bytesOf(certificationRequestInfo), privateKey)).buffer;
  const signatureAlgorithm = new AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 });
  return bytesOf(new CertificationRequest({ certificationRequestInfo, signatureAlgorithm, signature }));
}

/** Makes a key on the curve P-256, and a certification request (PKCS #10) for it, both in PEM. */
export function makeCertificationRequest(name: string): { key: string; csr: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const lines =
    signed(name, publicKey, privateKey)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  const csr = ['-----BEGIN CERTIFICATE REQUEST-----', ...lines, '-----END CERTIFICATE REQUEST-----', ''].join('\n');
  return { key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(), csr };
}
