import { type Micros, SECOND } from '../../runtime/units.ts';
import { isFinished, type TransactionStatus } from './transaction.ts';

/** The terms under which an application sends a command. Without terms a command waits for ever. */
export interface Terms {
  /** Seconds in which the command must be delivered. */
  expireIn?: number;
  /** Seconds from the delivery in which the device must answer. */
  answerWithin?: number;
  /** True: the command takes the place of older unfinished commands of the same operation. */
  supersede?: boolean;
  /** Seconds in which the device has to reach the service with a new list of a network; the command carries them. */
  revertAfter?: number;
}

/** The terms of a revert: those that are asked for, and for the rest those of the reverted rollout that bound an answer. */
export const termsOfRevert = (
  { answerWithin, revertAfter }: Terms,
  asked: Pick<Terms, 'expireIn' | 'answerWithin' | 'revertAfter'> = {},
): Terms => ({
  ...(answerWithin !== undefined && { answerWithin }),
  ...(revertAfter !== undefined && { revertAfter }),
  ...asked,
});

/** The stored terms of a transaction. */
export interface StoredTerms {
  /** The time until which the command must be delivered. */
  expiresAt: Micros | null;
  /** Seconds from the delivery in which the device must answer. */
  answerWithin: number | null;
}

/** The terms of a transaction that is stored at `createdAt`. */
export const storedTerms = ({ expireIn, answerWithin }: Terms, createdAt: Micros): StoredTerms => ({
  expiresAt: expireIn === undefined ? null : createdAt + expireIn * SECOND,
  answerWithin: answerWithin ?? null,
});

/** Whether the transaction can expire. */
export const canExpire = ({ expiresAt, answerWithin }: StoredTerms): boolean =>
  expiresAt !== null || answerWithin !== null;

/** The time until which the device must answer; null before the delivery, and without `answerWithin`. */
export const answerBy = ({
  deliveredAt,
  answerWithin,
}: {
  deliveredAt: Micros | null;
  answerWithin: number | null;
}): Micros | null => (deliveredAt === null || answerWithin === null ? null : deliveredAt + answerWithin * SECOND);

/** The time at which the service ends the transaction, unless something happens before; null when nothing does. */
export function endsAt(
  transaction: StoredTerms & { status: TransactionStatus; deliveredAt: Micros | null },
): Micros | null {
  if (isFinished(transaction.status)) return null;
  return transaction.status === 'queued' ? transaction.expiresAt : answerBy(transaction);
}

/** An end that the service itself decides, while the device may still carry out the command. */
export interface EarlyEnd {
  status: 'failed' | 'cancelled';
  code: 'EXPIRED' | 'NO_ANSWER' | 'SUPERSEDED';
  message: string;
}

const EXPIRED: EarlyEnd = {
  status: 'failed',
  code: 'EXPIRED',
  message: 'the command was not delivered before expiresAt.',
};
const NO_ANSWER: EarlyEnd = {
  status: 'failed',
  code: 'NO_ANSWER',
  message: 'the device has received the command, and gave no result before answerBy.',
};

/** The end of a transaction that is superseded. */
export const SUPERSEDED: EarlyEnd = {
  status: 'cancelled',
  code: 'SUPERSEDED',
  message: 'a newer command of the same operation took the place of this one.',
};

/** The end of a transaction whose time has passed; null when its time has not passed. */
export function expiryOf(transaction: Parameters<typeof endsAt>[0], now: Micros): EarlyEnd | null {
  const at = endsAt(transaction);
  if (at === null || at > now) return null;
  return transaction.status === 'queued' ? EXPIRED : NO_ANSWER;
}
