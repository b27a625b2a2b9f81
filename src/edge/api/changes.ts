import type { Audit } from '../../core/audit/audit.ts';
import type { SecretReads } from '../../core/audit/secret-reads.ts';
import type { Changes } from '../http/changes.ts';
import { type Caller, seesKey } from './services.ts';

/**
 * The scope of changes to the application itself: its settings, key, packages, versions, distributions, webhooks.
 * Commands to devices are not among them: they are recorded as transactions.
 */
const OWN = 'svc:application:write';
/** Consumers are moved all the time, while events are read: that is no change of the application. */
const CONSUMERS = '/v1/applications/{applicationId}/events/consumers';
/** Rollouts change many devices, and notes are deleted by others than their authors, so both are recorded, too. */
const ROLLOUTS = '/v1/applications/{applicationId}/rollouts';
const NOTES = '/v1/applications/{applicationId}/devices/{deviceId}/notes';

/**
 * Records the changes that an application makes to itself in the audit log, and reads of its key.
 */
export const createApiChanges = ({
  audit,
  secretReads,
}: {
  audit: Pick<Audit, 'begin'>;
  secretReads: SecretReads;
}): Changes<Caller> => ({
  has({ method, path, scope, showsSecret = false }) {
    if (showsSecret) return true;
    if (method === 'GET' || (method === 'PUT' && path.startsWith(CONSUMERS))) return false;
    return scope === OWN || path.startsWith(ROLLOUTS) || path.startsWith(NOTES);
  },
  begin({ caller, ...change }) {
    const { applicationId, authenticationKey, member } = caller;
    const person = member && { personId: member.memberId, name: member.name, tokenName: null };
    const actor = { kind: 'application', name: applicationId, ...(person && { person }) } as const;
    const begin = () => audit.begin({ ...change, actor });
    if (change.method !== 'GET') return begin();
    if (authenticationKey === null || !seesKey(caller)) return undefined;
    const who = member?.memberId ?? applicationId;
    return secretReads.record(member ? 'person' : 'application', { who, what: change.path }, begin);
  },
});
