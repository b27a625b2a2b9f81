import type { IncomingHttpHeaders } from 'node:http';
import { COMMAND_LINE } from '@lapel/schemas/base/version';
import type { Audit } from '../../core/audit/audit.ts';
import type { Actor } from '../../core/audit/audit-row.ts';
import type { SecretReads } from '../../core/audit/secret-reads.ts';
import { seesPayloads } from '../../core/people/roles.ts';
import type { Changes } from '../http/changes.ts';
import { MCP_PATH } from '../mcp/answers.ts';
import type { Administrator } from './authorize.ts';

/**
 * Says who made a change. The command line is recognised by its `User-Agent`, which any holder of a token could send as
 * well: it is only noted in the audit log and gives no rights.
 */
export function actorOf(caller: Administrator, headers: IncomingHttpHeaders): Actor {
  const { person } = caller;
  if (caller.kind === 'session') return { kind: 'session', name: caller.sessionId, person };
  const isCommandLine = headers['user-agent']?.startsWith(`${COMMAND_LINE}/`) ?? false;
  return { kind: isCommandLine ? 'command line' : 'token', name: null, person };
}

/** Who reads, for the entries of reads: a person counts once, whatever their tokens and sessions. */
export const readerOf = ({ kind, name, person }: Actor): string => person?.personId ?? `${kind} ${name ?? ''}`;

/**
 * Records every change through administration in the audit log, whether carried out or refused, and reads of payloads by
 * those who see them.
 */
export const createAdminChanges = ({
  audit,
  secretReads,
}: {
  audit: Pick<Audit, 'begin'>;
  secretReads: SecretReads;
}): Changes<Administrator> => ({
  // A change by an assistant is recorded as the request that its tool makes.
  has: ({ method, path, showsSecret = false }) => (method !== 'GET' && path !== MCP_PATH) || showsSecret,
  begin({ caller, headers, ...change }) {
    const actor = actorOf(caller, headers);
    const begin = () => audit.begin({ ...change, actor });
    if (change.method !== 'GET') return begin();
    if (!seesPayloads(caller.role)) return undefined;
    return secretReads.record('person', { who: readerOf(actor), what: change.path }, begin);
  },
});
