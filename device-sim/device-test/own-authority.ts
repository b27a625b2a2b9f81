import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, X509Certificate } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeAuthority, signClient, signServer } from '@lapel/schemas/base/certificates';
import { UsageError } from '../usage-error.ts';

/** A certificate and its key; PEM. */
export interface Pair {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

/** The certificates that a test makes for a device which connects over TLS. */
export interface OwnAuthority extends Disposable {
  /** The file of the CA, which the device must trust. */
  readonly caFile: string;
  readonly ca: string;
  readonly server: Pair;
  /** The same names, signed by a CA that the device does not know. */
  readonly stranger: Pair;
  /** The files of the client certificate of the device, and of its key. */
  readonly device: { readonly certFile: string; readonly keyFile: string };
}

interface Authority {
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
}

const NAME = 'lapel-sim device';
const DAY_MICROSECONDS = 86_400_000_000;
const CA_DAYS = 3650;
const DAYS = 365;
/** A kept certificate is made anew when less is left of it. */
const LEAST_DAYS = 30;
/** Clocks of devices may be behind. */
const BEFORE_DAYS = 1;

const pemOf = (key: KeyObject): string => key.export({ format: 'pem', type: 'pkcs8' }).toString();

/** A new key on the curve P-256, and the content of a certificate of it. */
function wantedFor(name: string, days: number) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const now = Date.now() * 1000;
  const times = { from: now - BEFORE_DAYS * DAY_MICROSECONDS, until: now + days * DAY_MICROSECONDS };
  return { wanted: { name, publicKey, ...times, random: randomBytes(16) }, privateKey };
}

async function newAuthority(): Promise<Authority> {
  const { wanted, privateKey } = wantedFor(NAME, CA_DAYS);
  return { certificate: await makeAuthority(wanted, privateKey), key: privateKey };
}

async function serverOf(authority: Authority, hosts: readonly string[]): Promise<Pair> {
  const { wanted, privateKey } = wantedFor(NAME, DAYS);
  return { cert: (await signServer(wanted, authority, hosts)).toString(), key: pemOf(privateKey) };
}

const lasts = ({ validTo }: X509Certificate): boolean =>
  Date.parse(validTo) * 1000 > Date.now() * 1000 + LEAST_DAYS * DAY_MICROSECONDS;

/** The certificate and key of two files; undefined if there are none, or if they end soon. */
function kept(certFile: string, keyFile: string): Authority | undefined {
  if (!existsSync(certFile) || !existsSync(keyFile)) return undefined;
  const certificate = new X509Certificate(readFileSync(certFile));
  const key = createPrivateKey(readFileSync(keyFile));
  return certificate.checkPrivateKey(key) && lasts(certificate) ? { certificate, key } : undefined;
}

function write(certFile: string, keyFile: string, { certificate, key }: Authority): void {
  writeFileSync(certFile, certificate.toString());
  writeFileSync(keyFile, pemOf(key), { mode: 0o600 });
  chmodSync(keyFile, 0o600); // the file may have been there
}

/** The CA of the folder, which stays the same from test to test, and the certificate that it gives the device. */
async function fill(folder: string, deviceId: string) {
  const file = (name: string): string => join(folder, name);
  const [caFile, caKey] = [file('ca.pem'), file('ca.key')];
  const authority = kept(caFile, caKey) ?? (await newAuthority());
  write(caFile, caKey, authority);
  const device = { certFile: file(`${deviceId}.pem`), keyFile: file(`${deviceId}.key`) };
  const known = kept(device.certFile, device.keyFile);
  if (!known?.certificate.verify(authority.certificate.publicKey)) {
    const { wanted, privateKey } = wantedFor(deviceId, DAYS);
    write(device.certFile, device.keyFile, {
      certificate: await signClient(wanted, authority),
      key: privateKey,
    });
  }
  return { authority, caFile, device };
}

/**
 * Makes the certificates in a folder, or takes those that are there. Without a folder they are in a temporary one, which
 * is removed at the end of the test. Throws a UsageError.
 */
export async function openOwnAuthority(
  folder: string | null,
  { deviceId, hosts }: { deviceId: string; hosts: readonly string[] },
): Promise<OwnAuthority> {
  const used = folder ?? mkdtempSync(join(tmpdir(), 'lapel-sim-device-'));
  try {
    mkdirSync(used, { recursive: true });
    const { authority, caFile, device } = await fill(used, deviceId);
    return {
      caFile,
      ca: authority.certificate.toString(),
      server: await serverOf(authority, hosts),
      stranger: await serverOf(await newAuthority(), hosts),
      device,
      [Symbol.dispose]() {
        if (folder === null) rmSync(used, { recursive: true, force: true });
      },
    };
  } catch (error) {
    throw new UsageError('--certificates', `${used} cannot be used: ${(error as Error).message}`);
  }
}
