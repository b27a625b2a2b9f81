import { DomainError } from '@lapel/schemas/contracts/errors';

/** Errors of the storage, not of a statement: a full disk, one that cannot be read or written, a lock of another process. */
const STORAGE = /^SQLITE_(FULL|IOERR|CANTOPEN|READONLY|NOMEM|BUSY|PROTOCOL)/;

export const isStorageFault = (cause: unknown): boolean =>
  STORAGE.test((cause as { code?: string } | undefined)?.code ?? '');

/** The error for the units of a commit that failed: nothing was written, and a later attempt may succeed. */
export const unavailable = (cause: unknown): DomainError => new DomainError('DATABASE_UNAVAILABLE', { cause });
