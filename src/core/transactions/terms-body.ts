import { answerBy, canExpire } from './terms.ts';
import { type Late, lateOf, type TransactionRecord, type TransactionSummary } from './transaction-record.ts';

type FormatTime = (micros: number) => string;

interface TermsBody {
  expiresAt?: string;
  answerWithin?: number;
  answerBy?: string;
  supersededBy?: number;
}

/** A transaction without terms has none of the members, so its body costs nothing more. */
const NONE: TermsBody & LateBody = {};

/** The members of a transaction's body that show its terms. `formatTime` formats the times. */
export function termsBody(record: TransactionSummary, formatTime: FormatTime): TermsBody {
  const { expiresAt, answerWithin, supersededBy } = record;
  if (supersededBy === null && !canExpire(record)) return NONE;
  const by = answerBy(record);
  return {
    ...(expiresAt !== null && { expiresAt: formatTime(expiresAt) }),
    ...(answerWithin !== null && { answerWithin }),
    ...(by !== null && { answerBy: formatTime(by) }),
    ...(supersededBy !== null && { supersededBy }),
  };
}

interface LateBody {
  late?: Omit<Late, 'at'> & { at: string };
}

/** The member that shows the result of the device after the service itself had ended the transaction. */
export function lateBody(record: Pick<TransactionRecord, 'late'>, formatTime: FormatTime): LateBody {
  const late = lateOf(record);
  return late === null ? NONE : { late: { ...late, at: formatTime(late.at) } };
}
