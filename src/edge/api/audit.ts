import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { AuditEntry } from '../../core/audit/audit-repository.ts';
import { toUtc } from '../../runtime/clock.ts';
import { sentenceOf } from '../../views/change-sentences.ts';
import { periodOf } from '../http/moment.ts';
import { nextPageAfter } from '../http/paging.ts';
import type { Answer, Input } from '../http/route.ts';
import type { ApiServices, Caller } from './services.ts';

type Row = SchemaTypes['rest/own-audit-list']['entries'][number];

const AUTHORS: Readonly<Record<Row['by'], string>> = {
  application: 'The application',
  administration: 'Administration',
  service: 'The service',
};

/** Makes the entry that an application sees: not who of administration it was, and from where. */
function ownEntry(entry: AuditEntry, applicationId: string): Row {
  const { auditId, at, actorKind, action, resource, status, details, address, requestId, personName } = entry;
  const objects = [{ kind: 'application', id: applicationId, name: 'this application' }] as const;
  const by = actorKind === 'application' || actorKind === 'service' ? actorKind : 'administration';
  return {
    auditId,
    at: toUtc(at),
    by,
    person: by === 'application' ? personName : null,
    sentence: sentenceOf(
      { ...entry, displayName: null, objects },
      (by === 'application' ? personName : null) ?? AUTHORS[by],
    ),
    action,
    resource,
    status,
    details,
    address: by === 'administration' ? null : address,
    requestId,
  };
}

/**
 * Lists the changes of an application: its own, those of administration, and requests with a wrong secret. An
 * application that has the id of a removed one does not see what happened to that one.
 */
export async function listOwnAudit(
  { audit }: Pick<ApiServices, 'audit'>,
  input: Input<{ applicationId: string }, unknown, SchemaTypes['rest/own-audit-query'], Caller>,
): Promise<Answer> {
  const { params, query, caller } = input;
  const { since: _since, until: _until, ...page } = query;
  const { since = 0, ...period } = periodOf(query);
  const { rows, next } = await audit.list({
    ...page,
    ...period,
    since: Math.max(since, caller.createdAt),
    about: { kind: 'application', id: params.applicationId },
    offset: 0,
  });
  const body: SchemaTypes['rest/own-audit-list'] = { entries: rows.map((row) => ownEntry(row, params.applicationId)) };
  return { status: 200, headers: next ? nextPageAfter(input, query, next) : {}, body };
}
