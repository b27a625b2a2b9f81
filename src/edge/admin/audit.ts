import type { AuditEntry } from '../../core/audit/audit-repository.ts';
import type { SchemaTypes } from '../../platform/contracts/types.ts';
import { toUtc } from '../../runtime/clock.ts';
import { momentOf } from '../http/moment.ts';
import { nextPageAfter } from '../http/paging.ts';
import type { Answer } from '../http/route.ts';
import type { AdminServices, At } from './services.ts';

/** Makes the body of an entry of the audit log. */
export const auditBody = ({ at, actorKind, actorName, ...entry }: AuditEntry): SchemaTypes['admin/audit-entry'] => ({
  ...entry,
  at: toUtc(at),
  actor: { kind: actorKind, name: actorName },
});

/** Lists the audit log, newest first. */
export async function listAudit(
  { audit }: AdminServices,
  input: At<never, never, 'admin/audit-query'>,
): Promise<Answer> {
  const { since: _since, until: _until, ...rest } = input.query;
  const [since, until] = [momentOf(input.query, 'since'), momentOf(input.query, 'until')];
  const bounds = { ...(since !== undefined && { since }), ...(until !== undefined && { until }) };
  const { rows, next } = await audit.list({ ...rest, ...bounds, offset: 0 });
  const body: SchemaTypes['admin/audit-list'] = {
    entries: rows.map(auditBody),
  };
  return { status: 200, headers: next ? nextPageAfter(input, input.query, next) : {}, body };
}
