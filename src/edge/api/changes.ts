import type { Application } from '../../core/applications/application-repository.ts';
import type { Audit } from '../../core/audit/audit.ts';
import type { Changes } from '../http/changes.ts';

/**
 * The scope of changes to the application itself: its settings, key, packages, versions, distributions, webhooks.
 * Commands to devices are not among them: they are recorded as transactions.
 */
const OWN = 'svc:application:write';
/** Rollouts change many devices, and so are recorded, too. */
const ROLLOUTS = '/v1/applications/{applicationId}/rollouts';

/** Records the changes that an application makes to itself in the audit log. */
export const createApiChanges = (audit: Pick<Audit, 'begin'>): Changes<Application> => ({
  has: ({ method, path, scope }) => method !== 'GET' && (scope === OWN || path.startsWith(ROLLOUTS)),
  begin: ({ caller, ...change }) =>
    audit.begin({ ...change, actor: { kind: 'application', name: caller.applicationId } }),
});
