import { DomainError } from '../../../errors.ts';

/** What no statement is at fault for: a full disk, one that cannot be read or written, a lock that somebody else has. */
const GROUND = /^SQLITE_(FULL|IOERR|CANTOPEN|READONLY|NOMEM|BUSY|PROTOCOL)/;

export const isOfGround = (cause: unknown): boolean =>
  GROUND.test((cause as { code?: string } | undefined)?.code ?? '');

/** What those are told whose commit could not be made: nothing of it was, and later it may. */
export const unavailable = (cause: unknown): DomainError => new DomainError('DATABASE_UNAVAILABLE', { cause });
