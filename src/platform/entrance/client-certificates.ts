import { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Clock } from '../../runtime/clock.ts';
import { commonNameOf, endOf, isSignedBy, thumbprintOf } from '../../runtime/given-certificate.ts';
import type { Networks } from '../../runtime/networks.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Secured } from './certificates.ts';
import { clientAddress } from './client-address.ts';
import { readRevoked } from './revoked.ts';
import { certificatesIn, type TlsFiles } from './tls-files.ts';

/** The certificate of a client, who has proved to have its key: to this service, or to a trusted proxy. */
export interface ShownCertificate {
  /** The SHA-256 of the certificate in DER, base64url: the `x5t#S256` of RFC 8705 3.1. */
  thumbprint: string;
  /** The subject in the form of RFC 4514. */
  subject: string;
  /** The common name in the subject; undefined when there is none, or more than one. */
  commonName: string | undefined;
  /** Whether a subjectAltName has this host name. */
  hasDns(name: string): boolean;
  /** Whether a subjectAltName has this URI. */
  hasUri(uri: string): boolean;
  validFrom: Micros;
  validTo: Micros;
  /** Whether this CA has signed it itself. */
  isSignedBy(issuer: X509Certificate): boolean;
  /** True when a CA of LAPEL_APPLICATION_CA has signed it, and no revocation list names it. */
  isTrusted: boolean;
}

interface Parts {
  clock: Pick<Clock, 'now'>;
  /** The CA and the revocation lists for certificates of applications; undefined without a CA. */
  authority: Secured | undefined;
  selfSigned: boolean;
  /** LAPEL_ENROLMENT_CERTIFICATES: whether devices may enrol by certificate. */
  enrolment: boolean;
  /** LAPEL_CLIENT_CERT_HEADER, in lower case: the header in which proxies pass on the certificates of their clients. */
  header: string | null;
  /** The addresses of the proxies. */
  trusted: Networks | null;
}

export type ClientCertificates = ReturnType<typeof createClientCertificates>;

/** The most characters of a certificate in a header. */
const LONGEST_TEXT = 12_288;

const BYTES = /^:([A-Za-z0-9+/]+={0,2}):$/;
const PEM = /^-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*$/;

const authorities = new WeakMap<Socket, TlsFiles>();

/** Remembers the files with which the certificate of a connection was verified. */
export const setAuthority = (socket: Socket, files: TlsFiles): void => void authorities.set(socket, files);

/** Node writes one part of the subject in each line, the most general one first, with the escapes of RFC 2253. */
const subjectOf = ({ subject }: X509Certificate): string =>
  (subject ?? '')
    .split('\n')
    .reverse()
    .map((part) => part.replaceAll(' + ', '+'))
    .join(',');

/** Node quotes names with commas or quotation marks. An URI has neither, so a text with such a name has no known URI. */
const hasUri = ({ subjectAltName = '' }: X509Certificate, uri: string): boolean =>
  !subjectAltName.includes('"') && subjectAltName.split(', ').includes(`URI:${uri}`);

/**
 * Reads a certificate as Client-Cert of RFC 9440 (`:base64:`), or as PEM that is percent-encoded, as nginx writes it. The
 * text must be one certificate and nothing else: a proxy that adds its header to that of its client makes a list of both.
 */
function readHeader(text: string): X509Certificate | undefined {
  if (text.length > LONGEST_TEXT) return undefined;
  try {
    const [, bytes] = BYTES.exec(text) ?? [];
    if (bytes !== undefined) return new X509Certificate(Buffer.from(bytes, 'base64'));
    const pem = decodeURIComponent(text);
    return PEM.test(pem) ? new X509Certificate(pem) : undefined;
  } catch {
    return undefined;
  }
}

/** A reader of the files of the CA, which remembers their content. */
function createAuthority(secured: Secured, clock: Pick<Clock, 'now'>) {
  const read = (files: TlsFiles) => ({
    files,
    issuers: files.clientCa ? certificatesIn(files.clientCa) : [],
    revoked: files.clientCrl && readRevoked(files.clientCrl),
  });
  let known = read(secured.files());
  secured.onChange((files) => {
    known = read(files);
  });
  /**
   * Whether a list names the certificate, or its CA has no list that is in date. TLS asks the same of a new connection; so
   * it holds for open ones, and for those that a proxy has accepted.
   */
  const isRevoked = (certificate: X509Certificate): boolean =>
    known.revoked !== undefined &&
    (known.revoked.has(certificate) || !known.revoked.covers(certificate, clock.now() / 1_000_000));
  return {
    files: () => known.files,
    isRevoked,
    /** Whether a CA of the files, which is valid and not revoked, has signed the certificate itself. */
    hasSigned: (certificate: X509Certificate): boolean =>
      known.issuers.some(
        (issuer) => clock.now() < endOf(issuer) && !isRevoked(issuer) && isSignedBy(certificate, issuer),
      ),
  };
}

/**
 * Finds the certificate that the client of a request has shown. A connection of a trusted proxy carries requests of many
 * clients, so only the header tells the certificate there, and on all other connections the header is not read.
 */
export function createClientCertificates({ clock, authority: secured, selfSigned, enrolment, header, trusted }: Parts) {
  const authority = secured && createAuthority(secured, clock);
  const read = new WeakMap<Socket, X509Certificate | null>();

  /** `verdict`: that of TLS, by the present files; undefined when there is none, and the files decide. */
  function shown(certificate: X509Certificate, verdict: boolean | undefined): ShownCertificate {
    return {
      thumbprint: thumbprintOf(certificate),
      subject: subjectOf(certificate),
      commonName: commonNameOf(certificate),
      hasDns: (name) => certificate.checkHost(name, { subject: 'never', wildcards: false }) !== undefined,
      hasUri: (uri) => hasUri(certificate, uri),
      validFrom: Date.parse(certificate.validFrom) * 1000,
      validTo: endOf(certificate),
      isSignedBy: (issuer) => isSignedBy(certificate, issuer),
      // Computed when it is asked for: most certificates are known by their thumbprint.
      get isTrusted() {
        return (
          authority !== undefined && !authority.isRevoked(certificate) && (verdict ?? authority.hasSigned(certificate))
        );
      },
    };
  }

  function ofSocket(socket: Socket): ShownCertificate | undefined {
    if (!(socket instanceof TLSSocket)) return undefined;
    // TLS says `authorized` of a session that is resumed without a certificate, so the certificate itself decides.
    let certificate = read.get(socket);
    if (certificate === undefined) {
      certificate = socket.getPeerX509Certificate() ?? null;
      read.set(socket, certificate);
    }
    if (certificate === null) return undefined;
    const isPresent = authorities.get(socket) === authority?.files();
    return shown(certificate, isPresent ? socket.authorized : undefined);
  }

  return {
    /** The ways to prove who an application is, by their names of RFC 8705. */
    methods: [...(authority ? ['tls_client_auth'] : []), ...(selfSigned ? ['self_signed_tls_client_auth'] : [])],

    /** Whether devices may enrol by certificate. */
    areClaims: enrolment,

    of({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): ShownCertificate | undefined {
      if (!trusted?.has(clientAddress(socket))) return ofSocket(socket);
      const text = header === null ? undefined : headers[header];
      const certificate = typeof text === 'string' ? readHeader(text) : undefined;
      return certificate && shown(certificate, undefined);
    },
  };
}
