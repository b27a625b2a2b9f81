import { a, type Child, code, div, small, use, type VNode } from '../base/elements.ts';
import { counted } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { readMetrics } from '../base/metrics.ts';
import { addressOf } from '../base/place.ts';
import { badge, card } from './show.ts';
import { rowsTable } from './table.ts';

/** Milliseconds between two reads of the certificates: they are about days. */
const EVERY = 300_000;
const DAY = 86_400;
/** The days before its end in which a certificate is shown as a warning, and as a fault. */
const [WARN, FAULT] = [30, 7];

interface Certificate {
  listener: string;
  file: string;
  seconds: number;
}

const certificatesIn = (values: Map<string, number>): Certificate[] =>
  [...values].flatMap(([name, seconds]) => {
    const found = /^lapel_certificate_expires_seconds\{listener="(\w+)",file="(\w+)"\}$/.exec(name);
    return found ? [{ listener: found[1]!, file: found[2]!, seconds }] : [];
  });

function stateOf({ seconds }: Certificate): VNode {
  const days = Math.floor(seconds / DAY);
  if (seconds <= 0) return badge('bad', 'expired');
  const words = `${counted(days, 'day')} left`;
  return badge(days < FAULT ? 'bad' : days < WARN ? 'warn' : 'good', words);
}

function Certificates({ onlyEnding }: { onlyEnding: boolean }): Child {
  const load = useLoad('certificates', async (signal) => certificatesIn(await readMetrics(signal)), { every: EVERY });
  const found = load.state.value.value ?? [];
  const shown = onlyEnding ? found.filter(({ seconds }) => seconds < WARN * DAY) : found;
  if (shown.length === 0) return null;
  return card(
    {
      title: onlyEnding ? 'Certificates that expire soon' : 'Certificates',
      bare: true,
      ...(onlyEnding && { side: a({ class: 'small', href: addressOf(['health']) }, 'Health') }),
    },
    rowsTable({
      label: 'Certificates',
      rows: shown,
      keyOf: ({ listener, file }) => `${listener} ${file}`,
      columns: [
        {
          name: 'Listener',
          kind: 'lead',
          cell: ({ listener, file }) =>
            div(null, code(null, listener), file === 'cert' ? null : small(null, 'CA of client certificates')),
        },
        { name: 'Valid', kind: 'short', cell: stateOf },
      ],
    }),
  );
}

/** The certificates of all listeners of this node; nothing when it has none. */
export const certificatesCard = (): VNode => use(Certificates, { onlyEnding: false });

/** The certificates that expire within 30 days; nothing when there are none. */
export const endingCertificates = (): VNode => use(Certificates, { onlyEnding: true });
