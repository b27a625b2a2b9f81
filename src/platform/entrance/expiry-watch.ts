import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { readRevoked } from './revoked.ts';
import { firstToExpire, type TlsFiles } from './tls-files.ts';

interface Parts {
  clock: Pick<Clock, 'now'>;
  log: Log;
  metrics: ExpiryMetrics;
}

export type ExpiryMetrics = Pick<Metrics, 'certificateExpires' | 'certificateExpiry' | 'revocationListLeft'>;

const DAY = 86_400;
/** The days before the end of a certificate at which the log warns, once for each certificate. */
const WARNINGS = [7, 30];
/** A certificate for a few days is not warned about from its first day: not before this part of its life is left. */
const LAST_PART = 1 / 3;
const OF_CERTIFICATES = {
  soon: 'a certificate expires soon: replace its files',
  ended: 'a certificate has expired: clients refuse it until it is replaced',
};
const OF_LISTS = {
  soon: 'a revocation list is out of date soon: replace its file',
  ended: 'a revocation list is out of date: no client certificate of its CA is accepted until it is replaced',
};

/** A certificate or revocation list of a listener, and its times in seconds since 1970. */
export interface Certificate {
  listener: string;
  file: 'cert' | 'client_ca' | 'client_crl';
  begins: number;
  expires: number;
}

interface Watched extends Certificate {
  fingerprint: string;
}

/** The file of a listener that ends first, of each kind. */
function watchedOf({
  listener,
  files: { cert, clientCa, clientCrl },
}: {
  listener: string;
  files: TlsFiles;
}): Watched[] {
  const list = clientCrl && readRevoked(clientCrl).firstToExpire;
  return [
    ...(cert ? [{ listener, file: 'cert' as const, ...firstToExpire(cert) }] : []),
    ...(clientCa ? [{ listener, file: 'client_ca' as const, ...firstToExpire(clientCa) }] : []),
    ...(list ? [{ listener, file: 'client_crl' as const, ...list }] : []),
  ];
}

/** Tells in the log and in metrics when the certificates of listeners expire. All times are in seconds. */
export function createExpiryWatch({ clock, log, metrics }: Parts) {
  const told = new Set<string>();
  let watched: Watched[] = [];
  let current: unknown[] = [];

  const now = (): number => clock.now() / 1_000_000;

  /** The days of the warning that is due for a certificate, 0 when it has expired; undefined when none is due. */
  function due({ begins, expires }: Watched): number | undefined {
    const left = expires - now();
    if (left <= 0) return 0;
    return WARNINGS.find((days) => left <= Math.min(days * DAY, (expires - begins) * LAST_PART));
  }

  function warn(one: Watched): void {
    const { listener, file, fingerprint, expires } = one;
    const days = due(one);
    if (days === undefined) return;
    const key = `${listener} ${file} ${fingerprint} ${days}`;
    if (told.has(key)) return;
    told.add(key);
    const line = { listener, file, expires: new Date(expires * 1000).toISOString() };
    const texts = file === 'client_crl' ? OF_LISTS : OF_CERTIFICATES;
    if (days === 0) log.error(line, texts.ended);
    else log.warn({ ...line, daysLeft: Math.floor((expires - now()) / DAY) }, texts.soon);
  }

  return {
    /** Takes the certificates that are in use, and warns of those that expire soon. Called again and again. */
    tell(files: readonly { listener: string; files: TlsFiles }[]): void {
      const contents = files.map((one) => one.files);
      if (contents.length !== current.length || contents.some((one, index) => one !== current[index])) {
        current = contents;
        watched = files.flatMap(watchedOf);
      }
      for (const one of watched) warn(one);
    },

    /** The certificates that are in use. */
    list: (): Certificate[] =>
      watched.map(({ listener, file, begins, expires }) => ({ listener, file, begins, expires })),

    /** Sets the metrics. */
    measure(): void {
      for (const { listener, file, begins, expires } of watched) {
        if (file === 'client_crl') {
          metrics.revocationListLeft.set({ listener }, (expires - now()) / (expires - begins));
          continue;
        }
        metrics.certificateExpires.set({ listener, file }, Math.round(expires - now()));
        if (listener === 'mqtts' || listener === 'ws') metrics.certificateExpiry.set({ file }, expires);
      }
    },
  };
}
