import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { missing } from '../installed.ts';

const DAY = 86_400_000;

/** The reason why tests with certificates are skipped; openssl makes them. */
export const skip = missing.openssl();

/** A time in the format of openssl's index: `261121093000Z`. */
const asn1Time = (date: Date): string =>
  `${date
    .toISOString()
    .replaceAll(/[-:T]|\.\d+/g, '')
    .slice(2)}`;

/** A certificate authority in a folder, which signs and revokes certificates. */
export function createAuthority(folder: string, name: string) {
  const file = (suffix: string): string => join(folder, `${name}-${suffix}`);
  const openssl = (...args: string[]): void => {
    const { status, stderr } = spawnSync('openssl', args);
    if (status !== 0) throw new Error(stderr.toString());
  };
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...newKey, '-keyout', file('ca.key'), '-out', file('ca.pem'), '-subj', `/CN=${name}`);
  function writeList(serials: readonly string[], { begins, ends }: { begins: number; ends: number }): string {
    const timeIn = (milliseconds: number): string => asn1Time(new Date(Date.now() + milliseconds));
    const line = (serial: string): string => `R\t${timeIn(DAY)}\t${timeIn(-DAY)}\t${serial}\tunknown\t/CN=x\n`;
    writeFileSync(file('index'), serials.map(line).join(''));
    writeFileSync(file('index.attr'), '');
    writeFileSync(file('ca.cnf'), `[ca]\ndefault_ca=own\n[own]\ndatabase=${file('index')}\ndefault_md=sha256\n`);
    const signer = ['-keyfile', file('ca.key'), '-cert', file('ca.pem')];
    const times = ['-crl_lastupdate', timeIn(begins), '-crl_nextupdate', timeIn(ends)];
    openssl('ca', '-gencrl', '-config', file('ca.cnf'), ...signer, ...times, '-out', file('crl.pem'));
    return file('crl.pem');
  }
  return {
    ca: file('ca.pem'),
    /** The certificate of the authority, which it has signed itself. */
    own: () => ({ cert: readFileSync(file('ca.pem')), key: readFileSync(file('ca.key')) }),
    sign(commonName: string, label = commonName, days = 30, names = 'IP:127.0.0.1') {
      const [certFile, keyFile, config] = ['pem', 'key', 'cnf'].map((suffix) => file(`${label}.${suffix}`)) as [
        string,
        string,
        string,
      ];
      writeFileSync(
        config,
        `[req]\ndistinguished_name=any\nx509_extensions=own\n[any]\n[own]\nsubjectAltName=${names}\n`,
      );
      const signer = ['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-days', String(days)];
      const made = ['req', '-config', config, '-subj', `/CN=${commonName}`, ...newKey, '-keyout', keyFile];
      // One program makes the key and the certificate, because to start one takes far longer than its work.
      if (days > 0) openssl(...made, '-x509', ...signer, '-out', certFile);
      else {
        openssl(...made, '-out', certFile); // a request, as only the other program makes a certificate of the past
        openssl('x509', '-req', '-in', certFile, '-extfile', config, '-extensions', 'own', ...signer, '-out', certFile);
      }
      const cert = readFileSync(certFile);
      const { serialNumber, fingerprint256 } = new X509Certificate(cert);
      const fingerprint = fingerprint256.replaceAll(':', '').toLowerCase();
      return { certFile, keyFile, cert, key: readFileSync(keyFile), serialNumber, fingerprint };
    },
    /** Writes a CRL that revokes these certificates, for a month; returns its file. */
    revoke: (...serials: string[]): string => writeList(serials, { begins: -60_000, ends: 30 * DAY }),
    /** Writes a CRL that revokes nothing, and begins and ends so many milliseconds from now. */
    writeList: (times: { begins: number; ends: number }): string => writeList([], times),
  };
}
