import type { IncomingHttpHeaders } from 'node:http';
import type { Audit } from '../../core/audit/audit.ts';
import type { Actor } from '../../core/audit/audit-repository.ts';
import { COMMAND_LINE } from '../../runtime/version.ts';
import type { Changes } from '../http/changes.ts';
import type { Administrator } from './authorize.ts';

/** Who has the token and says to be the command line is believed: it is no proof, and takes nothing from anybody. */
function actorOf(caller: Administrator, headers: IncomingHttpHeaders): Actor {
  if (caller.kind === 'session') return { kind: 'session', name: caller.sessionId };
  const isCommandLine = headers['user-agent']?.startsWith(`${COMMAND_LINE}/`) ?? false;
  return { kind: isCommandLine ? 'command line' : 'token', name: null };
}

/** Every change through administration is written down: carried out, or refused. */
export const createAdminChanges = (audit: Pick<Audit, 'begin'>): Changes<Administrator> => ({
  has: ({ method }) => method !== 'GET',
  begin: ({ caller, headers, ...change }) => audit.begin({ ...change, actor: actorOf(caller, headers) }),
});
