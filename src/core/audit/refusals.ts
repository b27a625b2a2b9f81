import type { DomainError, ErrorCode } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import { addressGroup } from '../../runtime/socket-bounds.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Audit } from './audit.ts';
import type { AuditObject } from './audit-repository.ts';

/**
 * The refusals that are recorded: somebody has tried what they may not. An expired token or session is not one. Refusals
 * that name a person are recorded as well.
 */
const RECORDED: ReadonlySet<ErrorCode> = new Set([
  'ADMIN_TOKEN_INVALID',
  'CLIENT_INVALID',
  'ROLE_INSUFFICIENT',
  'CONSOLE_REQUEST_FORGED',
  'SIGN_IN_FORGED',
  'SIGN_IN_REFUSED',
  'SIGN_IN_NO_ROLE',
  'SIGN_IN_DISABLED',
]);
/** Milliseconds within which equal refusals share one entry. */
const COUNTED_FOR_MS = 60_000;
/** The most different refusals that are counted apart in a minute; all others share one entry. */
export const MOST_KINDS = 20;

/** A request that was refused. */
export interface Refused {
  listener: string;
  method: string;
  path: string;
  requestId: string;
  address: string;
}

interface Counted {
  code: ErrorCode | 'OTHERS';
  sample: Refused;
  /** The person that the caller is, and the application that they are or claim to be, or asked for. */
  about: readonly AuditObject[];
  /** The identity of the caller at the provider through which they tried to sign in. */
  subject: string | undefined;
  at: Micros;
  count: number;
}

interface Parts {
  audit: Pick<Audit, 'noted'>;
  clock: Clock;
  ids: Ids;
  metrics: Pick<Metrics, 'refusedCalls'>;
}

const APPLICATION_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** The objects that a refusal is about. A name that cannot be an identifier is left out. */
function objectsOf({ values }: DomainError): AuditObject[] {
  const { personId, applicationId } = values;
  const isName = typeof applicationId === 'string' && APPLICATION_ID.test(applicationId);
  return [
    ...(typeof personId === 'string' ? [{ kind: 'person' as const, id: personId }] : []),
    ...(isName ? [{ kind: 'application' as const, id: applicationId }] : []),
  ];
}

/**
 * Records refused calls and failed logins in the audit log: how many of the same kind came within a minute, and the first
 * of them as a sample. A flood of them makes a bounded number of entries.
 */
export function createRefusals({ audit, clock, ids, metrics }: Parts) {
  let counted = new Map<string, Counted>();
  let cancel = (): void => undefined;

  function note({ code, sample, about, subject, at, count }: Counted): Promise<void> {
    const { listener, method, path, requestId, address } = sample;
    return audit.noted({
      action: `REFUSED ${listener}`,
      resource: path,
      id: requestId || ids.next('refused', at),
      address,
      at,
      details: { code, count, method, ...(subject !== undefined && { subject }) },
      about,
    });
  }

  async function flush(): Promise<void> {
    cancel();
    const all = counted;
    counted = new Map();
    await Promise.all(Array.from(all.values(), note)); // while the database is away, each waits and is told
  }

  return {
    /** Counts a refused request, if it is one that is recorded. */
    count(error: DomainError, sample: Refused): void {
      const { code } = error;
      const about = objectsOf(error);
      if (!RECORDED.has(code) && !about.some(({ kind }) => kind === 'person')) return;
      metrics.refusedCalls.inc({ code });
      if (counted.size === 0) cancel = clock.after(COUNTED_FOR_MS, () => void flush());
      const kind = `${sample.listener} ${code} ${about[0]?.id ?? ''} ${addressGroup(sample.address)}`;
      const isOther = !counted.has(kind) && counted.size >= MOST_KINDS;
      const key = isOther ? 'others' : kind;
      const known = counted.get(key);
      if (known) known.count += 1;
      else
        counted.set(key, {
          code: isOther ? 'OTHERS' : code,
          sample,
          about: isOther ? [] : about,
          subject: isOther || typeof error.values['subject'] !== 'string' ? undefined : error.values['subject'],
          at: clock.now(),
          count: 1,
        });
    },

    [Symbol.asyncDispose]: flush,
  };
}

export type Refusals = ReturnType<typeof createRefusals>;
