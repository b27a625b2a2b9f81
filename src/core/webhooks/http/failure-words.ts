const LONGEST_ERROR = 200;

interface Described extends NodeJS.ErrnoException {
  address?: unknown;
  /** Of errors of the TLS library: the reason in words. */
  reason?: unknown;
}

/** Errors of a certificate whose own words name addresses, or say less. */
const CERTIFICATE: Readonly<Record<string, string>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate of the receiver is for another name',
  CERT_HAS_EXPIRED: 'the certificate of the receiver has expired',
  CERT_NOT_YET_VALID: 'the certificate of the receiver is not valid yet',
};
/** The words of the TLS library begin with an address of this process: `80AB7CE17F:error:0A00010B:SSL routines:...`. */
const OF_LIBRARY = /^[\dA-F]+:error:[\dA-F]+:[^:]*:[^:]*:([^:]*)/i;

/**
 * The reason why there is no answer, in words for the application. It never names the address of a host, or an address of
 * this process.
 */
export function describe(cause: Described): string {
  // A name with several addresses fails with one error for each, in an AggregateError without a message of its own.
  const [first] = cause instanceof AggregateError ? (cause.errors as Described[]) : [];
  if (first) return describe(first);
  if (cause.address !== undefined) return `${cause.syscall ?? 'connect'} ${cause.code ?? 'failed'}`;
  const code = typeof cause.code === 'string' ? cause.code : '';
  const text = CERTIFICATE[code] ?? ofTls(cause, code) ?? (cause.message === '' ? cause.name : cause.message);
  return (code === '' || text.includes(code) ? text : `${text} (${code})`).slice(0, LONGEST_ERROR);
}

function ofTls({ reason, message }: Described, code: string): string | undefined {
  const fromLibrary = OF_LIBRARY.exec(message)?.[1];
  if (fromLibrary === undefined && !code.startsWith('ERR_SSL_')) return undefined;
  const words = typeof reason === 'string' && reason !== '' ? reason : (fromLibrary ?? 'an error of TLS');
  return `the TLS connection could not be made: ${words}`;
}
