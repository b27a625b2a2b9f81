import type { IncomingHttpHeaders } from 'node:http';
import type { Audit } from '../../core/audit/audit.ts';
import type { Actor } from '../../core/audit/audit-row.ts';
import { COMMAND_LINE } from '../../runtime/version.ts';
import type { Changes } from '../http/changes.ts';
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

/** Records every change through administration in the audit log, whether carried out or refused. */
export const createAdminChanges = (audit: Pick<Audit, 'begin'>): Changes<Administrator> => ({
  has: ({ method }) => method !== 'GET',
  begin: ({ caller, headers, ...change }) => audit.begin({ ...change, actor: actorOf(caller, headers) }),
});
