import type { Metrics } from '../../metrics.ts';
import { needsAttention, type Raised, type RaiseReason } from '../../platform/database/number-floor.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import type { Audit } from './audit.ts';

const MESSAGES: Readonly<Record<RaiseReason, string>> = {
  start: 'numbers go on higher than any before, as at each start',
  copied_folder:
    'this data folder is a copy: devices must not connect to both the copy and the original, nor receivers get webhooks of both',
  other_file: 'the database file is not the one that was last used in this folder: it was restored or exchanged',
  server_start: 'the database server was restarted: numbers go on higher',
  other_database: 'this is another database than before: it was restored, promoted or copied',
};

interface Parts {
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Pick<Metrics, 'numbersRaised'>;
}

/**
 * Reports that the sequences of the database were raised above all numbers that may have been given out before (for
 * instance because a backup was restored), and the reason: in the metrics, the log and the audit log. If the audit log
 * does not exist yet, the entry is written when it does.
 */
export function createRaisedNumbers({ clock, ids, log, metrics }: Parts) {
  const waiting: Raised[] = [];
  let write: ((raised: Raised) => void) | undefined;
  let onOther = (): void => undefined;
  let onRestored: (() => void) | undefined;
  let wasRestored = false;

  function report(raised: Raised): void {
    const { reason, to } = raised;
    metrics.numbersRaised.inc({ reason });
    if (needsAttention(raised)) log.error({ reason, to }, `${MESSAGES[reason]}; numbers go on higher than any before`);
    else log.info({ reason, to }, MESSAGES[reason]);
    if (write) write(raised);
    else waiting.push(raised);
    if (reason === 'other_database') onOther();
    if (!needsAttention(raised)) return;
    wasRestored = true;
    onRestored?.();
  }

  return {
    /** Options for opening the database. */
    opening: {
      newLife: () => ({ lifeId: ids.next('life', clock.now()), nowMicros: clock.now() }),
      onRaised: report,
    },

    /** Connects the audit log: entries that were gathered before are written now, later ones at once. */
    writtenTo(audit: Audit): Audit {
      write = ({ reason, lifeId, to }) =>
        void audit.noted({ action: 'RAISE /numbers', resource: '/numbers', id: lifeId, details: { reason, to } });
      for (const raised of waiting.splice(0)) write(raised);
      return audit;
    },

    /**
     * Registers the function that is called when the database was restored, copied or exchanged; it is called at once if
     * that was found before.
     */
    onRestored(act: () => void): void {
      onRestored = act;
      if (wasRestored) act();
    },

    /** Registers the function that is called when the connection leads to another database than before. */
    onOther(act: () => void): void {
      onOther = act;
    },
  };
}
