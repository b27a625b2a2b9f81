import type { Metrics } from '../../metrics.ts';
import { needsAttention, type Raised, type RaiseReason } from '../../platform/database/number-floor.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import type { Audit } from './audit.ts';

const WORDS: Readonly<Record<RaiseReason, string>> = {
  start: 'numbers go on higher, as at each start',
  copied_folder: 'this data folder is a copy: the same devices and receivers must never meet it and the original',
  other_file: 'the database is not the one that was last used in this folder: it was restored or exchanged',
  server_start: 'the server of the database was started again: numbers go on higher',
  other_database: 'the database is another one than before: it was restored, promoted or copied',
};

interface Parts {
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Pick<Metrics, 'numbersRaised'>;
}

/** Tells people that numbers were raised, and why. The first can be told before there is an audit log to write it to. */
export function createRaisedNumbers({ clock, ids, log, metrics }: Parts) {
  const waiting: Raised[] = [];
  let write: ((raised: Raised) => void) | undefined;
  let onOther = (): void => undefined;

  function told(raised: Raised): void {
    const { reason, to } = raised;
    metrics.numbersRaised.inc({ reason });
    if (needsAttention(raised)) log.error({ reason, to }, `${WORDS[reason]}; numbers go on higher than any of before`);
    else log.info({ reason, to }, WORDS[reason]);
    if (write) write(raised);
    else waiting.push(raised);
    if (reason === 'other_database') onOther();
  }

  return {
    /** For whoever opens the database. */
    opening: {
      newLife: () => ({ lifeId: ids.next('life', clock.now()), nowMicros: clock.now() }),
      onRaised: told,
    },

    /** From here on there is an audit log. */
    writtenTo(audit: Audit): Audit {
      write = ({ reason, lifeId, to }) =>
        void audit.noted({ action: 'RAISE /numbers', resource: '/numbers', id: lifeId, details: { reason, to } });
      for (const raised of waiting.splice(0)) write(raised);
      return audit;
    },

    /** What is to be done when the process goes on with another database than before. */
    onOther(act: () => void): void {
      onOther = act;
    },
  };
}
