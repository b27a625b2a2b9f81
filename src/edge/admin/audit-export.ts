import { Readable } from 'node:stream';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { periodOf } from '../http/moment.ts';
import { NO_STORE } from '../http/no-store.ts';
import type { Answer } from '../http/route.ts';
import { auditBody, objectOf } from './audit.ts';
import type { AdminServices, At } from './services.ts';
import { shownTo } from './shown.ts';

type Services = Pick<AdminServices, 'audit' | 'auditNames'>;

/** Entries that one step of an export reads. */
const AT_ONCE = 500;

/**
 * Sends the entries of the audit log as lines of JSON, the newest first. The next entries are read when the client has
 * taken those before, so an export of any length takes little memory.
 */
export function exportAudit(
  { audit, auditNames }: Services,
  { query, caller }: At<never, never, 'admin/audit-export-query'>,
): Answer {
  const { since: _since, until: _until, about, ...rest } = query;
  const filter = { ...rest, ...periodOf(query), ...(about !== undefined && { about: objectOf(about) }) };
  const { auditEntry } = shownTo(caller);

  async function* lines(): AsyncIterable<string> {
    let next: { after?: number; offset: number } | undefined = { offset: 0 };
    while (next) {
      const page: Awaited<ReturnType<typeof audit.list>> = await audit.list({ ...filter, ...next, limit: AT_ONCE });
      const entries = (await auditNames(page.rows)).map(auditBody).map(auditEntry);
      if (entries.length > 0) yield entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
      next = page.next && { ...page.next, after: Number(page.next.after) };
    }
  }

  return {
    status: 200,
    headers: { ...NO_STORE, 'Content-Type': 'application/x-ndjson' },
    body: Readable.from(lines()),
  };
}

/** Checks the chain of hashes of the audit log, and an end of it that was noted before. */
export async function verifyAudit(
  { audit }: Services,
  { query }: At<never, never, 'admin/audit-verification-query'>,
): Promise<Answer> {
  const { position, hash } = query;
  const known = position === undefined || hash === undefined ? undefined : { position, hash };
  const body: SchemaTypes['admin/audit-verification'] = await audit.verify(known);
  return { status: 200, headers: NO_STORE, body };
}
