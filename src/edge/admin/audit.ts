import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { AuditObject } from '../../core/audit/audit-repository.ts';
import { toUtc } from '../../runtime/clock.ts';
import type { NamedEntry } from '../../views/audit.ts';
import { sentenceOf } from '../../views/change-sentences.ts';
import { periodOf } from '../http/moment.ts';
import { nextPageAfter } from '../http/paging.ts';
import type { Answer } from '../http/route.ts';
import type { AdminServices, At } from './services.ts';
import { shownTo } from './shown.ts';

type Services = Pick<AdminServices, 'audit' | 'auditNames'>;

/** Makes the body of an entry of the audit log. */
export function auditBody(named: NamedEntry): SchemaTypes['admin/audit-entry'] {
  const { at, actorKind, actorName, displayName, personId, personName: _, tokenName, ...entry } = named;
  const actor = { kind: actorKind, name: actorName, displayName, personId, token: tokenName };
  return { ...entry, at: toUtc(at), actor, sentence: sentenceOf(named) };
}

/** Reads `KIND:ID`, which its schema has checked. */
export function objectOf(about: string): AuditObject {
  const colon = about.indexOf(':');
  return { kind: about.slice(0, colon) as AuditObject['kind'], id: about.slice(colon + 1) };
}

/** Lists the audit log, newest first. */
export async function listAudit(
  { audit, auditNames }: Services,
  input: At<never, never, 'admin/audit-query'>,
): Promise<Answer> {
  const { since: _since, until: _until, about, ...rest } = input.query;
  const object = about === undefined ? {} : { about: objectOf(about) };
  const { rows, next } = await audit.list({ ...rest, ...periodOf(input.query), ...object, offset: 0 });
  const body: SchemaTypes['admin/audit-list'] = {
    entries: (await auditNames(rows)).map(auditBody).map(shownTo(input.caller).auditEntry),
  };
  return { status: 200, headers: next ? nextPageAfter(input, input.query, next) : {}, body };
}
